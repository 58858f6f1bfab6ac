// The rows of the newer file of an overlap walk, block by block: their keys, and whether they make
// an older file's postings dead (rule 13). What the clean bits, the presence bits and the file's
// statistics decide needs no cell; for other rows the cells are looked at.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/file_window.h"
#include "format/projection.h"
#include "format/schema.h"
#include "format/store_file.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: `file` outlives it.
class NewerRows {
 public:
  explicit NewerRows(format::StoreFile* file) : file_(file) {}

  /// Adopts the single-column indexes of `table`, which are numbered from 0. Errors: kCorruption,
  /// kIoError.
  Status Open(const format::TableRecord& table);
  size_t index_count() const { return columns_.size(); }
  format::IndexId index(size_t which) const { return columns_[which].index; }
  const format::IndexColumnRecord& column(size_t which) const { return columns_[which].record; }

  uint32_t block_count() const { return carrier_->block_count(); }
  format::DataBlock BlockAt(uint32_t block) const { return carrier_->BlockAt(block); }
  /// Moves to a block of the key carrier: read past the cache, unless it is there. Errors:
  /// kCorruption, kIoError.
  Status Enter(uint32_t block);
  /// Of the row at `slot` of the block. Errors: kCorruption.
  Status Key(uint32_t slot, std::string* key) const { return rows_->Key(slot, key); }
  /// Whether the row has a Put, DeleteColumn or DeleteFamily that touches the index's column with a
  /// timestamp at or above `timestamp`; true is certain, false of a wide row is not. Errors:
  /// kCorruption, kIoError.
  Result<bool> Kills(uint32_t slot, size_t which, int64_t timestamp);
  /// Whether every row of the file certainly does.
  bool AllKill(size_t which, int64_t timestamp) const;
  /// Whether no row of the file does.
  bool NoneKills(size_t which, int64_t timestamp) const;

 private:
  struct Column {
    format::IndexId index;
    format::IndexColumnRecord record;
    const format::Bitmap* present = nullptr;  // nullptr: the file has no section of the index.
    bool is_everywhere = false;               // Every row is present.
    // Of the column's Puts in the file; as wide as can be where that is unknown.
    int64_t min_timestamp = std::numeric_limits<int64_t>::min();
    int64_t max_timestamp = std::numeric_limits<int64_t>::max();
  };

  // A family of indexed columns.
  struct Family {
    const format::DataSection* data = nullptr;
    std::vector<std::string> qualifiers;  // Sorted.
    std::optional<format::Projection> columns;
    uint32_t block = 0;  // That was looked at last.
    format::RowBlockRef rows;
  };

  Status AddColumn(const format::IndexRecord& index);
  Status OpenFamilies();
  Status LookAtCells(uint32_t slot);
  Status AppendCells(uint32_t slot, Family* family);
  Status AppendCells(const format::RowBlock& rows, uint32_t slot, const Family& family);

  format::StoreFile* file_;
  std::vector<Column> columns_;
  const format::Bitmap* clean_ = nullptr;  // nullptr: every row is clean.
  std::vector<Family> families_;           // Does not change once its projections stand.
  const format::DataSection* carrier_ = nullptr;
  std::optional<format::FileWindow> window_;
  format::RowBlockRef rows_;
  std::vector<bool> looked_at_;                 // By slot.
  std::vector<std::optional<int64_t>> newest_;  // By slot and column: the newest that kills.
  std::vector<format::Cell> cells_;
};

}  // namespace tandem::engine
