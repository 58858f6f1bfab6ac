// The rows of a store file in key order, for merges and checks that read a file from end to end:
// large sequential reads, past the block cache, so that such a reader neither waits for each block
// nor drives out what queries need.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/block_file.h"
#include "format/cell.h"
#include "format/file_window.h"
#include "format/row_block.h"
#include "format/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: `file` outlives it.
class RowStream {
 public:
  /// The rows [low, high) of `file`. Requires: low <= high <= file->row_count().
  RowStream(StoreFile* file, uint32_t low, uint32_t high);

  /// Moves to the next row (at first to the first); afterwards valid() is false behind the last
  /// one. Errors: kCorruption (also when keys do not rise), kIoError.
  Status Next();
  bool valid() const { return valid_; }

  /// Of the row it stands on. Requires: valid().
  const std::string& key() const { return key_; }
  uint32_t ordinal() const { return next_ - 1; }
  /// Appends its cells. Errors: kCorruption. Lifetime: views stay good across the next call of
  /// Next.
  Status Cells(std::vector<Cell>* out) const;

  /// Data blocks decoded so far.
  uint64_t blocks_read() const { return blocks_read_; }

 private:
  Status Start();
  Status LoadBlock();

  StoreFile* file_;
  uint32_t next_;  ///< Ordinal after the current row.
  uint32_t end_;
  bool started_ = false;
  bool valid_ = false;
  std::string key_, previous_key_;
  const DataSection* data_ = nullptr;
  uint32_t block_number_ = 0;
  RowBlockRef block_;
  RowBlockRef previous_block_;  ///< Keeps the cells of the row before alive.
  std::optional<FileWindow> window_;
  uint64_t blocks_read_ = 0;
};

}  // namespace tandem::format
