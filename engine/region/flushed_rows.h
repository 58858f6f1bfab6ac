// What a flush records about the rows of a file, so that building overlaps afterwards need not read
// them back: the key of each row, and the timestamp up to which it supersedes the postings of each
// indexed column in older files (rule 13).
//
// Rows are grouped in chunks. A key is stored without the prefix that it shares with the key
// before. Timestamps are offsets from the smallest in their chunk, in 0, 1, 2, 4 or 8 bytes each: 0
// if all are equal. Columns with the same timestamps throughout a chunk, as when rows are written
// at once, share their offsets.
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

/// In place of a timestamp: the row supersedes nothing. A marker with exactly this timestamp is
/// ignored, so the postings that it supersedes stay alive.
inline constexpr int64_t kSupersedesNothing = std::numeric_limits<int64_t>::min();

/// Over a set of rows: the smallest and the largest timestamp up to which a row supersedes, and
/// whether every row does. Rows that supersede nothing do not affect the bounds.
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
  /// A chunk ends after this many rows, or when its keys exceed this many bytes.
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

  /// The index of a column in the record; nullopt if the record does not have it.
  std::optional<size_t> Find(const format::IndexColumnRecord& column) const;
  const SupersededRange& range(size_t column) const { return ranges_[column]; }
  const SupersededRange& range(uint32_t chunk, size_t column) const {
    return frames_[chunk * columns_.size() + column].range;
  }

 private:
  struct Column {
    format::FamilyId family;
    bool is_named = true;  // False: all columns of the family, which DeleteFamily alone supersedes.
    std::string qualifier;
    auto operator<=>(const Column&) const = default;
  };
  static Column ColumnOf(const format::IndexColumnRecord& column);
  struct Chunk {
    std::unique_ptr<char[]> bytes;  // The keys, then the offsets of the columns.
    uint32_t first = 0;             // Ordinal of its first row.
  };
  struct Frame {
    SupersededRange range;
    uint32_t at = 0;     // In the bytes of the chunk.
    uint32_t width = 0;  // Bytes per offset.
  };
  FlushedRows() = default;
  int64_t NewestOf(const Frame& frame, const char* bytes, uint32_t slot) const;

  std::vector<Column> columns_;  // Sorted, distinct.
  std::vector<SupersededRange> ranges_;
  std::vector<Chunk> chunks_;
  std::vector<Frame> frames_;  // By chunk and column.
  uint32_t row_count_ = 0;
  size_t key_bytes_max_ = 0;
  uint64_t chunk_bytes_ = 0;  // With allocator overhead.
  OverlapCharge charge_;
};

/// Builds a record row by row. When its memory is used up it frees everything and stops recording.
/// Threads: one at a time.
class FlushedRows::Recorder {
 public:
  /// Records the columns and families that `table` has indexes over alone. `memory` bounds the
  /// record.
  Recorder(const format::TableRecord& table, std::shared_ptr<OverlapMemory> memory);

  /// Adds the next row, with its cells as they are in the file. Requires: keys ascend, cells are
  /// sorted by CellLess.
  void AddRow(std::string_view key, std::span<const format::Cell> cells);
  /// The record; nullptr if memory did not suffice. The recorder must not be used afterwards.
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
  uint32_t chunk_rows_ = 0;              // In the current chunk.
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
  /// The key of the row at `slot` of the chunk. Requires: `slot` does not decrease within a chunk.
  /// Lifetime: until the next call.
  std::string_view Key(uint32_t slot);
  /// The timestamp up to which the row supersedes, or kSupersedesNothing.
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
