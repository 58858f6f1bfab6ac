// The cells that an index with included columns keeps beside its entries: of each current entry a
// record of the row. Records are in the order of the entries, so that those of a range of values
// are together, and an entry's number (the cumulative count before it) finds its record.
//
// A record is a function of the row's cells in this file. It has the row's key and of each covered
// column (those of the index and those that it includes) the one Put, with its exact bytes: the key
// of an int64 is the same for 7 and 007. A row has an empty record if some covered column is more
// than one Put or has a marker, if a value is in an overflow block, or if the record would be
// longer than kIndexRecordBytesMax. Only a row that no other source has, and that is clean, is what
// its record says; every other row is read.
//
// A record that is not empty:
//   key      length varint, 1 or more, and bytes
//   then for each covered column, by family, then qualifier:
//   length   varint: 0 where the row has no Put of it, else the value's length and 1
//   time     varint, zigzag, only with a value: its timestamp, less that of the value before it in
//            the record (of the first: less 0), modulo 2^64
//   value    bytes
//
// Block of kind kIndexRecords: count = records n, at least 1; first = the number of record 0. Raw:
//   OFFSET SIZE FIELD    MEANING
//        0   4n ends     u32[]: where each record ends within `records`
//        +      records  one after the other, to the end of the block
// A block is closed when its records have about kIndexRecordBlockBytes.
//
// Stream of kind kIndexRecordDirectory, for B blocks, at least 1:
//   OFFSET SIZE FIELD         MEANING
//        0    4 records       R, all records: the current entries
//        4    4 block count   B
//        8   8B offsets       u64[]: of each block in the file, rising
//        +   4B stored sizes  u32[]: of each block, header included
//        +   4B firsts        u32[]: the number of the block's record 0, rising from 0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/byte_reader.h"
#include "format/cell/cell.h"
#include "format/coding.h"
#include "format/lazy_once.h"
#include "format/schema.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr size_t kIndexRecordBytesMax = 4096;
inline constexpr size_t kIndexRecordBlockBytes = 8192;

/// The covered columns of an index, by family, then qualifier, each once; none if it includes none.
std::vector<IncludedColumnRecord> CoveredColumns(const IndexRecord& index);

/// Appends the record of a row, or nothing if that is empty. Requires: `cells` is one row as the
/// file holds it, sorted by CellLess, at least the cells that concern the columns.
void AppendIndexRecord(std::span<const IncludedColumnRecord> columns, std::string_view row_key,
                       std::span<const Cell> cells, std::string* out);

/// The key of a record that is not empty, and what follows it; nullopt: it breaks its layout.
struct IndexRecordKey {
  std::string_view row_key, cells;
};
std::optional<IndexRecordKey> KeyOfIndexRecord(std::string_view record);

/// Reads one cell after the other. Threads: one at a time.
class IndexRecordCells {
 public:
  /// `cells` is what follows the key.
  explicit IndexRecordCells(std::string_view cells) : in_(cells) {}

  /// Reads what the record has of the next covered column; false: no Put.
  bool Next(int64_t* timestamp, std::string_view* value) {
    const uint64_t size = in_.Varint();
    if (size == 0) return false;
    timestamp_ += static_cast<uint64_t>(UnZigZag(in_.Varint()));
    *timestamp = static_cast<int64_t>(timestamp_);
    *value = in_.Bytes(size - 1);
    return true;
  }
  /// After all columns: whether the record keeps to its layout.
  bool done() const { return in_.done(); }

 private:
  ByteReader in_;
  uint64_t timestamp_ = 0;
};

/// Reads a record that is not empty: sets `*row_key` and appends its Puts, in the order of cells,
/// with sequence 0. False: it breaks its layout. Lifetime: views are into `record` and `columns`.
bool ReadIndexRecord(std::span<const IncludedColumnRecord> columns, std::string_view record,
                     std::string_view* row_key, std::vector<Cell>* cells);

/// Collects the records of a file's rows by ordinal, to be written by entry. Threads: one at a
/// time.
class IndexRecordCollector {
 public:
  explicit IndexRecordCollector(std::vector<IncludedColumnRecord> columns)
      : columns_(std::move(columns)) {}

  /// Requires: ordinals rise over calls.
  void Add(Ordinal ordinal, std::string_view row_key, std::span<const Cell> cells);
  /// Empty for rows that were not added.
  std::string_view Of(uint32_t ordinal) const;
  uint64_t memory_bytes() const { return pieces_bytes_ + places_.capacity() * sizeof(Place); }
  /// Up to the last one that was added.
  size_t rows() const { return places_.size(); }
  void Clear();

 private:
  // Records lie one after the other in pieces of memory that do not move; a small file needs few.
  struct Place {
    uint32_t piece = 0, begin = 0, size = 0;
  };

  std::vector<IncludedColumnRecord> columns_;
  std::vector<std::string> pieces_;
  uint64_t pieces_bytes_ = 0;
  std::vector<Place> places_;  // By ordinal.
  std::string record_;
};

/// Writes the records of an index. Lifetime: `out` outlives it. Threads: one at a time.
class IndexRecordsWriter {
 public:
  IndexRecordsWriter(IndexId index, Compression compression, SectionWriter* out)
      : index_(index), compression_(compression), out_(out) {}

  /// Adds that of the next entry. Errors: those of SectionWriter.
  Status Add(std::string_view record);
  /// Writes the rest, and the directory. Without records there is no section.
  Status Finish();

 private:
  Status FinishBlock();
  Status WriteGroup();

  const IndexId index_;
  const Compression compression_;
  SectionWriter* const out_;
  uint32_t records_ = 0;          // So far.
  std::string ends_, bytes_;      // Of the block that fills.
  BlockGroup group_;              // Blocks that are compressed together.
  std::vector<uint32_t> firsts_;  // Of finished blocks.
  std::vector<BlockHandle> placed_;
};

/// The records of an index in a file. Threads: any. Lifetime: `file` outlives it.
class IndexRecords {
 public:
  /// nullptr when the file has none. `entries`: the current ones. Errors: kCorruption.
  static Result<std::unique_ptr<IndexRecords>> Open(const BlockFile& file,
                                                    const std::vector<SectionEntry>& sections,
                                                    IndexId index, uint64_t entries);

  /// Records that are in one block.
  struct Part {
    BlockRef block;
    uint32_t first = 0, count = 0;  ///< Places in the block.

    /// Requires: i < count. Lifetime: the block.
    std::string_view At(uint32_t i) const { return RecordAt(*block, first + i); }
  };
  /// Appends the records of the entries [first, first + count), part by part. Errors: kCorruption,
  /// kIoError.
  Status ReadRange(uint64_t first, uint64_t count, std::vector<Part>* parts) const;
  /// One record after the other, bypassing the cache. Threads: one at a time.
  class Cursor {
   public:
    explicit Cursor(const IndexRecords& records) : records_(records) {}
    /// Sets `*record` to the next one, until Next; false at the end. Errors: as ReadRange.
    Result<bool> Next(std::string_view* record);

   private:
    const IndexRecords& records_;
    size_t number_ = 0;  // Of the next block.
    BlockRef block_;
    uint32_t at_ = 0;  // In block_.
  };
  /// Of both sections, as stored.
  uint64_t size_bytes() const { return records_.size_bytes + directory_.size_bytes; }
  uint64_t count() const { return entries_; }

 private:
  struct Directory {
    std::vector<BlockHandle> blocks;
    std::vector<uint32_t> firsts;
  };
  static std::string_view RecordAt(const Block& block, uint32_t place) {
    const std::string_view raw = block.raw();
    const auto end_of = [raw](size_t i) { return LoadAt<uint32_t>(raw, i * sizeof(uint32_t)); };
    const size_t begin = place == 0 ? 0 : end_of(place - 1);
    return {raw.data() + size_t{block.count} * sizeof(uint32_t) + begin, end_of(place) - begin};
  }
  Result<const Directory*> Load() const;
  Status ReadBlock(const Directory& directory, size_t number, bool cached, BlockRef* block) const;

  IndexRecords(const BlockFile& file, const SectionEntry& records, const SectionEntry& directory,
               uint64_t entries)
      : file_(file), records_(records), directory_(directory), entries_(entries) {}

  const BlockFile& file_;
  const SectionEntry records_, directory_;
  const uint64_t entries_;
  mutable LazyOnce<base::Charged<Directory>> loaded_;
};

}  // namespace tandem::format
