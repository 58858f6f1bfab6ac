// What a flush records of the rows of a file while it has them in hand, so that the search for
// overlaps that follows it need not read them back: their keys, and up to which timestamp each of
// them kills the postings of an indexed column in older files (rule 13).
//
// Rows are grouped in chunks. A key is stored without what it shares with the one before.
// Timestamps are offsets from the least of their chunk, in as many bytes as these need: none where
// all rows of the chunk have the same. Columns that agree over a chunk, as those of rows that were
// written at once do, share their offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/region/overlaps.h"
#include "format/cell/cell.h"
#include "format/schema.h"

namespace tandem::engine {

/// In the place of a timestamp: the row kills nothing. A marker of exactly that timestamp counts as
/// none, which leaves alive what it kills.
inline constexpr int64_t kSupersedesNothing = std::numeric_limits<int64_t>::min();

/// Over some rows: the least and the greatest timestamp up to which one kills, and whether each
/// does. Rows that kill nothing are not in the bounds.
struct SupersededRange {
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = kSupersedesNothing;
  bool every = true;
};

/// Immutable. Threads: any.
class FlushedRows {
 public:
  class Recorder;
  class Cursor;
  /// A chunk ends with this many rows, or when its keys pass these bytes.
  static constexpr uint32_t kChunkRows = 512;
  static constexpr size_t kChunkKeyBytes = 64 * 1024;

  uint32_t row_count() const { return row_count_; }
  uint32_t chunk_count() const { return static_cast<uint32_t>(chunks_.size()); }
  /// Ordinal of the chunk's first row.
  uint32_t first(uint32_t chunk) const { return chunks_[chunk].first; }
  uint32_t row_count(uint32_t chunk) const {
    return (chunk + 1 < chunk_count() ? first(chunk + 1) : row_count_) - first(chunk);
  }
  uint64_t size_bytes() const;

  /// The place of a column among those of the record; nullopt when it is not one of them.
  std::optional<size_t> Find(const format::IndexColumnRecord& column) const;
  const SupersededRange& range(size_t column) const { return ranges_[column]; }
  const SupersededRange& range(uint32_t chunk, size_t column) const {
    return frames_[chunk * columns_.size() + column].range;
  }

 private:
  struct Column {
    format::FamilyId family;
    std::string qualifier;
    auto operator<=>(const Column&) const = default;
  };
  struct Chunk {
    std::unique_ptr<char[]> bytes;  // The keys, then the offsets of the columns.
    uint32_t first = 0;             // Ordinal of its first row.
  };
  struct Frame {
    SupersededRange range;
    uint32_t at = 0;     // In the bytes of the chunk.
    uint32_t width = 0;  // Bytes an offset takes.
  };
  FlushedRows() = default;
  int64_t NewestOf(const Frame& frame, const char* bytes, uint32_t slot) const;

  std::vector<Column> columns_;  // Sorted, distinct.
  std::vector<SupersededRange> ranges_;
  std::vector<Chunk> chunks_;
  std::vector<Frame> frames_;  // By chunk and column.
  uint32_t row_count_ = 0;
  size_t key_bytes_max_ = 0;
  uint64_t chunk_bytes_ = 0;  // With what the allocator takes.
  OverlapCharge charge_;
};

/// Makes a record row by row. When its memory is used up it lets go of everything and records no
/// more. Threads: one at a time.
class FlushedRows::Recorder {
 public:
  /// Of the columns that `table` has single-column indexes of. `memory` bounds the record.
  Recorder(const format::TableRecord& table, std::shared_ptr<OverlapMemory> memory);

  /// The next row as it stands in the file. Requires: keys rise, cells are sorted by CellLess.
  void AddRow(std::string_view key, std::span<const format::Cell> cells);
  /// The record; nullptr when memory did not suffice. The recorder is of no more use.
  std::shared_ptr<const FlushedRows> Finish();

 private:
  void AddKey(std::string_view key);
  void AddSuperseded(std::span<const format::Cell> cells);
  void FinishChunk();
  Frame FrameOf(std::span<const int64_t> newest);
  std::span<int64_t> NewestOf(size_t column) {
    return std::span(newest_).subspan(column * kChunkRows, chunk_rows_);
  }

  const std::shared_ptr<OverlapMemory> memory_;
  std::unique_ptr<FlushedRows> record_;  // nullptr: given up.
  uint32_t chunk_rows_ = 0;              // Of the chunk that grows.
  std::string bytes_;                    // Its bytes.
  std::vector<int64_t> newest_;          // Its timestamps by column and row.
  std::string last_key_;
};

/// Reads the rows of a record. Threads: one at a time. Lifetime: the record outlives it.
class FlushedRows::Cursor {
 public:
  explicit Cursor(const FlushedRows& record)
      : record_(record), key_(std::make_unique<char[]>(record.key_bytes_max_)) {}

  /// Moves before the first row of a chunk.
  void Enter(uint32_t chunk);
  /// Of the row at `slot` of the chunk. Requires: slots do not fall within a chunk. Lifetime: until
  /// the next call.
  std::string_view Key(uint32_t slot);
  /// The timestamp up to which the row kills, or kSupersedesNothing.
  int64_t Newest(uint32_t slot, size_t column) const {
    return record_.NewestOf(frames_[column], bytes_, slot);
  }

 private:
  const FlushedRows& record_;
  const char* bytes_ = nullptr;  // Of the chunk.
  const char* next_ = nullptr;   // Key of next_slot_.
  const Frame* frames_ = nullptr;
  uint32_t next_slot_ = 0;
  std::unique_ptr<char[]> key_;
  size_t key_bytes_ = 0;
};

}  // namespace tandem::engine
