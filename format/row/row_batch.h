// Rows as a read returns them, decoded many at a time: what a cursor costs for each row besides its
// bytes is paid once a batch.
//
// Most rows of a file are plain: Puts alone, one version of each column, no overflow value. They
// are decoded straight into what the user sees (RowBlock::AppendPlain). A batch of other rows
// consists of views of what their reader holds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "format/cell/projection.h"
#include "format/row/pod_array.h"
#include "format/row/row_block.h"
#include "tandem/limits.h"
#include "tandem/row.h"

namespace tandem::format {

/// Threads: one at a time.
class RowBatch {
 public:
  static constexpr size_t kRowsMax = 32;

  RowBatch();
  RowBatch(const RowBatch&) = delete;
  RowBatch& operator=(const RowBatch&) = delete;

  /// Forgets the rows, and the blocks that they are in.
  void Clear();
  size_t size() const { return size_; }
  /// It has kRowsMax rows, or pins more blocks than it should.
  bool is_full() const { return size_ == kRowsMax || pinned_bytes_ >= kPinnedBytesMax; }
  /// It has no more memory than batches of rows of usual size need.
  bool is_usual() const {
    return cells_.capacity() <= kUsualCellsMax && keys_.capacity() <= kUsualKeyBytesMax;
  }
  /// The rows in the order in which they were added. Lifetime: until the batch changes.
  std::span<const RowView> rows();

  /// Whether the last row has more pieces.
  bool continues() const { return !is_decoded() && size_ > 0 && rows_[size_ - 1].continues(); }

  /// Adds a view. Requires: !is_full(); no row was decoded. Lifetime: the view's bytes live as long
  /// as its maker says.
  void Add(const RowView& row) { rows_[size_++] = row; }

  // A decoded row: Begin, AppendCells for each family or AppendCell for each cell, then End.

  /// Begins a row with the key of row `slot` of the block. False: the key is malformed.
  /// Requires: !is_full(); no views were added.
  bool Begin(const RowBlock& block, uint32_t slot) { return block.AppendKey(slot, &keys_); }
  /// The same with a key, which is copied.
  void Begin(std::string_view key) {
    std::memcpy(keys_.Extend(key.size()), key.data(), key.size());
  }
  /// Appends a cell. Lifetime: its bytes outlive the rows.
  void AppendCell(const tandem::Cell& cell) { *cells_.Extend(1) = cell; }
  /// Appends the wanted cells of row `slot`, as cells of the family named `family`. False: the row
  /// is not plain, or malformed. Lifetime: the names of the projection and the family outlive the
  /// rows.
  bool AppendCells(const RowBlockRef& block, uint32_t slot, const Projection& wanted,
                   std::string_view family);
  /// Keeps the block as long as the rows, whose cells may lie in it.
  void Pin(const RowBlockRef& block) {
    if (pins_.empty() || pins_.back() != block) PinAnother(block);
  }
  /// All of it for a row of one family: Begin, AppendCells, End.
  bool AddPlain(const RowBlockRef& block, uint32_t slot, const Projection& wanted,
                std::string_view family, bool needs_cells) {
    Pin(block);
    return End(block->AppendPlainRow(slot, wanted, family, &keys_, &cells_), needs_cells);
  }
  /// Adds row `slot` with newer Puts of a memstore over it: of each column the newest. `puts` are
  /// of that family, by CellLess; `key` is that of the row. False, and then nothing is added: the
  /// row is not plain, or exceeds a piece, or the sequences decide, which are not decoded.
  /// Lifetime: as AppendCells; the bytes of the Puts outlive the rows.
  bool AddUpdated(const RowBlockRef& block, uint32_t slot, const Projection& wanted,
                  std::string_view family, std::string_view key, std::span<const Cell> puts,
                  bool needs_cells);
  /// Adds a row of a memstore alone: of each column of `puts`, which are by CellLess, the newest.
  /// False, and then nothing is added: it exceeds a piece. Lifetime: as AddUpdated.
  bool AddPuts(const Projection& wanted, std::string_view family, std::string_view key,
               std::span<const Cell> puts, bool needs_cells);
  /// Ends the row. `is_plain`: all of the above was true. With `needs_cells` a row without a cell
  /// is left out. False: the row is dropped; it has to be read by RowBlock::Cells, since it is not
  /// plain or exceeds a piece (kRowPieceBytes).
  bool End(bool is_plain, bool needs_cells) {
    const Begins& begin = begins_[size_];
    // Values are in the blocks.
    const size_t cells = cells_.size() - begin.cell;
    const bool fits =
        is_plain && (pinned_bytes_ + cells * kQualifierBytesMax <= kRowPieceBytes || IsInPiece());
    if (fits && (cells > 0 || !needs_cells)) {
      begins_[++size_] = {keys_.size(), cells_.size()};
    } else {
      keys_.Truncate(begin.key);
      cells_.Truncate(begin.cell);
    }
    return fits;
  }

 private:
  // Blocks that would be evicted otherwise.
  static constexpr size_t kPinnedBytesMax = 256 << 10;
  static constexpr size_t kUsualCellsMax = 16 * kRowsMax;
  static constexpr size_t kUsualKeyBytesMax = 64 * kRowsMax;

  // Where a decoded row begins, and the one before it ends.
  struct Begins {
    size_t key = 0, cell = 0;
  };

  bool is_decoded() const { return !keys_.empty(); }  // No key is empty.
  void PinAnother(const RowBlockRef& block);
  bool IsInPiece() const;
  bool PutOver(std::span<const Cell> puts, const Projection& wanted, std::string_view family);

  std::array<RowView, kRowsMax> rows_;
  size_t size_ = 0;
  std::array<Begins, kRowsMax + 1> begins_;  // Of the decoded rows, and of the next one.
  PodArray<char> keys_;
  PodArray<tandem::Cell> cells_;
  std::vector<RowBlockRef> pins_;
  size_t pinned_bytes_ = 0;
};

}  // namespace tandem::format
