// Decoded rows are kept as offsets until the batch is read, since keys and cells move as they grow.
#include "format/row/row_batch.h"

#include <algorithm>
#include <iterator>

namespace tandem::format {
namespace {

constexpr size_t kUsualCells = 4 * RowBatch::kRowsMax;
constexpr size_t kUsualKeyBytes = 32 * RowBatch::kRowsMax;

}  // namespace

RowBatch::RowBatch() {
  cells_.Reserve(kUsualCells);
  keys_.Reserve(kUsualKeyBytes);
  pins_.reserve(kRowsMax);
}

void RowBatch::Clear() {
  size_ = 0;
  keys_.Clear();
  cells_.Clear();
  pins_.clear();
  pinned_bytes_ = 0;
}

std::span<const RowView> RowBatch::rows() {
  const size_t decoded = is_decoded() ? size_ : 0;
  for (size_t i = 0; i < decoded; ++i) {
    const Begins &from = begins_[i], &to = begins_[i + 1];
    rows_[i] = {std::string_view(keys_.data() + from.key, to.key - from.key),
                std::span(cells_.data() + from.cell, to.cell - from.cell)};
  }
  return std::span(rows_).first(size_);
}

bool RowBatch::AppendCells(const RowBlockRef& block, uint32_t slot, const Projection& wanted,
                           std::string_view family) {
  Pin(block);
  return block->AppendPlain(slot, wanted, family, &cells_);
}

// The families of a row take turns, each with its own block.
void RowBatch::PinAnother(const RowBlockRef& block) {
  constexpr ptrdiff_t kFamilies = 4;
  const auto last = pins_.end() - std::min<ptrdiff_t>(kFamilies, std::ssize(pins_));
  if (std::find(last, pins_.end(), block) != pins_.end()) return;
  pins_.push_back(block);
  pinned_bytes_ += block->raw_bytes;
}

bool RowBatch::AddUpdated(const RowBlockRef& block, uint32_t slot, const Projection& wanted,
                          std::string_view family, std::string_view key, std::span<const Cell> puts,
                          bool needs_cells) {
  Begin(key);
  const bool is_plain =
      AppendCells(block, slot, wanted, family) && PutOver(puts, wanted, family) && IsInPiece();
  return End(is_plain, needs_cells);
}

bool RowBatch::AddPuts(const Projection& wanted, std::string_view family, std::string_view key,
                       std::span<const Cell> puts, bool needs_cells) {
  Begin(key);
  const bool fits = PutOver(puts, wanted, family) && IsInPiece();
  return End(fits, needs_cells);
}

// Puts the wanted ones over the cells of the row that is being added. Both are in the order of
// their columns. False: a Put has the timestamp of the cell.
bool RowBatch::PutOver(std::span<const Cell> puts, const Projection& wanted,
                       std::string_view family) {
  size_t at = begins_[size_].cell;
  const Cell* newer = nullptr;
  for (const Cell& put : puts) {
    if (newer != nullptr && newer->qualifier == put.qualifier) continue;
    newer = &put;
    if (!wanted.all() && !wanted.WantsName(put.qualifier)) continue;
    while (at < cells_.size() && cells_.data()[at].qualifier < put.qualifier) ++at;
    if (at == cells_.size() || cells_.data()[at].qualifier != put.qualifier) {
      cells_.Extend(1);
      tandem::Cell* const cell = cells_.data() + at;
      std::copy_backward(cell, cells_.data() + cells_.size() - 1, cells_.data() + cells_.size());
      *cell = {family, put.qualifier, put.timestamp, put.value};
      continue;
    }
    tandem::Cell& cell = cells_.data()[at];
    if (cell.timestamp == put.timestamp) return false;
    if (cell.timestamp > put.timestamp) continue;
    cell.timestamp = put.timestamp;
    cell.value = put.value;
  }
  return true;
}

// Whether the qualifiers and values of the row that is being added are within one piece.
bool RowBatch::IsInPiece() const {
  uint64_t bytes = 0;
  for (const tandem::Cell& cell : cells_.all().subspan(begins_[size_].cell)) {
    bytes += cell.qualifier.size() + cell.value.size();
  }
  return bytes <= kRowPieceBytes;
}

}  // namespace tandem::format
