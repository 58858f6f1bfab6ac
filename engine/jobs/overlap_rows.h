// The rows of the newer file of an overlap walk, block by block: their keys, and whether they make
// an older file's postings dead (rule 13). They come from the record of the flush or from the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/region/flushed_rows.h"
#include "format/schema.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time.
class NewerRows {
 public:
  struct Block {
    uint32_t first = 0;  ///< Ordinal of its first row.
    uint32_t count = 0;
  };
  /// How many rows of a set supersede.
  enum class Share : uint8_t { kNone, kSome, kAll };

  virtual ~NewerRows() = default;
  NewerRows(const NewerRows&) = delete;
  NewerRows& operator=(const NewerRows&) = delete;

  /// The indexes of the table that are over one column or family alone, numbered from 0.
  size_t index_count() const { return indexes_.size(); }
  format::IndexId index(size_t which) const { return indexes_[which]->id; }
  const format::IndexColumnRecord& column(size_t which) const {
    return indexes_[which]->columns[0];
  }

  virtual uint32_t block_count() const = 0;
  /// Blocks are asked for in order. Errors: kCorruption, kIoError.
  virtual Result<Block> BlockAt(uint32_t block) = 0;
  /// Moves to a block. Errors: kCorruption, kIoError.
  virtual Status Enter(uint32_t block) = 0;
  /// The key of the row at `slot` of the block. Requires: slots ascend within a block. Errors:
  /// kCorruption. Lifetime: until the next call.
  virtual Result<std::string_view> Key(uint32_t slot) = 0;
  /// Whether the row has a Put, DeleteColumn or DeleteFamily that touches the index's column with a
  /// timestamp at or above `timestamp`; of an index over a family, a DeleteFamily (rule 32). True
  /// is certain; false is not for a wide row. Errors: kCorruption, kIoError.
  virtual Result<bool> Supersedes(uint32_t slot, size_t which, int64_t timestamp) = 0;
  /// For how many rows of the file Supersedes is true; kSome if unknown without reading them.
  virtual Share ShareOfFile(size_t which, int64_t timestamp) const = 0;
  /// The same for the block.
  virtual Share ShareOfBlock(size_t which, int64_t timestamp) const = 0;

 protected:
  explicit NewerRows(const format::TableRecord& table);

 private:
  std::vector<const format::IndexRecord*> indexes_;
};

/// The rows of `file`, read past the cache. Cells are read only for rows that the clean bits, the
/// presence bits and the statistics leave undecided. Errors: kCorruption, kIoError. Lifetime: both
/// outlive it.
Result<std::unique_ptr<NewerRows>> NewFileRows(const format::TableRecord& table,
                                               format::StoreFile* file);
/// The rows of a record; nullptr if it lacks a column of an index. Lifetime: both outlive it.
std::unique_ptr<NewerRows> NewRecordedRows(const format::TableRecord& table,
                                           const FlushedRows& record);

}  // namespace tandem::engine
