// The rows of a store file in key order, for merges and checks that read a file from end to end:
// large sequential reads, past the block cache, so that such a reader neither waits for each block
// nor evicts what queries need.
//
// The key carrier gives keys and ordinals. Every other family has a cursor of its own, which moves
// when the row has cells of it; the key that its block holds must be the row's. A family reads
// adjacent blocks together: no read crosses a gap between its blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/cell/cell.h"
#include "format/cell/cell_stream.h"
#include "format/passed_pages.h"
#include "format/row/stored_row.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: `file` outlives it.
class RowStream {
 public:
  /// The window of all families together, for a stream that is read alone.
  static constexpr uint64_t kWindowBytes = 4 << 20;

  /// The rows [low, high) of `file`. Requires: low <= high <= file->row_count(). `window_bytes`:
  /// what all its families read at once; a family gets its part, 32 KiB to 1 MiB.
  RowStream(StoreFile* file, uint32_t low, uint32_t high, uint64_t window_bytes = kWindowBytes);
  RowStream(RowStream&&) noexcept;
  ~RowStream();

  /// Moves to the next row (the first call: to the first row); valid() is false after the last one.
  /// Errors: kCorruption (also when keys do not rise or families do not agree), kIoError.
  Status Next();
  bool valid() const { return valid_; }

  /// Leaves the system's cache as it was: pages that this stream brought into it go when it has
  /// passed them. Requires: before the first Next.
  void SparePageCache();
  /// Keeps blocks of one row as they are stored, for StoredRows. Requires: before the first Next.
  void KeepStoredRows() { keeps_stored_ = true; }
  /// Whether the system's cache had a block with cells of the current row before; true without
  /// SparePageCache, or if it is not known. Requires: valid().
  bool was_cached() const;

  /// Of the current row. Requires: valid().
  const std::string& key() const { return key_; }
  uint32_t ordinal() const { return next_ - 1; }
  /// Whether its cells of some family may not fit in memory (format/row/wide_row.h).
  bool is_wide() const;
  /// Appends its cells of all families. Requires: !is_wide(). Errors: kCorruption. Lifetime: views
  /// stay valid across the next call of Next.
  Status Cells(std::vector<Cell>* out) const;
  /// Appends the blocks that have exactly the row's cells of a family, and no other row. Requires:
  /// KeepStoredRows. Lifetime: as of Cells.
  void StoredRows(std::vector<StoredRow>* out) const;
  /// The same for a row of any width, in pieces, families one after the other. Errors: kCorruption.
  /// Lifetime: the stream outlives calls of Next, not the file.
  Result<std::unique_ptr<CellStream>> Stream() const;

  /// The key hashes in the heads of a wide row, family by family.
  std::vector<uint64_t> WideKeyHashes() const;

  /// Data blocks decoded so far.
  uint64_t blocks_read() const;

 private:
  class Cursor;
  Status Start();
  Status MoveFamilies();
  void LetPagesGo();
  uint64_t NeededFrom() const;

  StoreFile* file_;
  uint32_t next_;  ///< Ordinal after the current row.
  uint32_t end_;
  uint64_t window_bytes_;
  bool keeps_stored_ = false;
  bool started_ = false;
  bool valid_ = false;
  std::string key_, previous_key_;
  std::vector<std::unique_ptr<Cursor>> cursors_;  ///< Of families by id; of the keys at the end.
  Cursor* carrier_ = nullptr;
  std::unique_ptr<PassedPages> pages_;  ///< Null: it does not spare the cache.
  uint64_t looked_at_ = 0;              ///< The place of the carrier when pages were let go last,
  uint64_t needed_from_ = 0;            ///< and from where on blocks were needed then.
};

}  // namespace tandem::format
