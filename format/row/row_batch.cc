// Decoded rows are kept as offsets until the batch is read, since keys and cells move as they grow.
#include "format/row/row_batch.h"

#include <algorithm>
#include <iterator>

#include "tandem/limits.h"

namespace tandem::format {
namespace {

constexpr size_t kUsualCells = 4 * RowBatch::kRowsMax;
constexpr size_t kUsualKeyBytes = 32 * RowBatch::kRowsMax;

}  // namespace

RowBatch::RowBatch() {
  cells_.reserve(kUsualCells);
  keys_.reserve(kUsualKeyBytes);
  pins_.reserve(kRowsMax);
}

void RowBatch::Clear() {
  size_ = 0;
  keys_.clear();
  cells_.clear();
  pins_.clear();
  pinned_bytes_ = 0;
}

std::span<const RowView> RowBatch::rows() {
  for (size_t i = 0; is_decoded() && i < size_; ++i) {
    const Begins &from = begins_[i], to = begins_[i + 1];
    rows_[i] = {std::string_view(keys_).substr(from.key, to.key - from.key),
                std::span(cells_).subspan(from.cell, to.cell - from.cell)};
  }
  return std::span(rows_).first(size_);
}

bool RowBatch::AppendCells(const RowBlockRef& block, uint32_t slot, const Projection& wanted,
                           std::string_view family) {
  Pin(block);
  return block->AppendPlain(slot, wanted, family, &cells_);
}

// The families of a row take turns, each with its own block.
void RowBatch::Pin(const RowBlockRef& block) {
  constexpr ptrdiff_t kFamilies = 4;
  const auto last = pins_.end() - std::min<ptrdiff_t>(kFamilies, std::ssize(pins_));
  if (std::find(last, pins_.end(), block) != pins_.end()) return;
  pins_.push_back(block);
  pinned_bytes_ += block->raw_bytes;
}

// Whether the qualifiers and values of the row that is being added exceed one piece.
bool RowBatch::ExceedsPiece() const {
  const size_t first = begins_[size_].cell;
  // Values are in the blocks.
  const uint64_t most = pinned_bytes_ + (cells_.size() - first) * kQualifierBytesMax;
  if (most <= kRowPieceBytes) return false;
  uint64_t bytes = 0;
  for (size_t i = first; i < cells_.size(); ++i) {
    bytes += cells_[i].qualifier.size() + cells_[i].value.size();
  }
  return bytes > kRowPieceBytes;
}

bool RowBatch::End(bool is_plain, bool needs_cells) {
  const bool fits = is_plain && !ExceedsPiece();
  const bool has_cells = cells_.size() > begins_[size_].cell;
  if (fits && (has_cells || !needs_cells)) {
    begins_[++size_] = {keys_.size(), cells_.size()};
  } else {
    keys_.resize(begins_[size_].key);
    cells_.resize(begins_[size_].cell);
  }
  return fits;
}

}  // namespace tandem::format
