// Most pieces of a row have no overflow value and are returned unchanged.
#include "format/cell/overflow_value_writer.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/cell/overflow_value.h"

namespace tandem::format {
namespace {

bool Overflows(const Cell& cell) {
  return cell.is_overflow() || cell.value.size() > kInlineValueBytesMax;
}

}  // namespace

Result<std::span<const Cell>> OverflowValueWriter::Place(std::span<const Cell> cells,
                                                         Compression compression) {
  if (std::none_of(cells.begin(), cells.end(), Overflows)) return cells;
  references_.clear();
  placed_.assign(cells.begin(), cells.end());
  for (Cell& cell : placed_) {
    if (Overflows(cell)) RETURN_IF_ERROR(PlaceValue(compression, &cell));
  }
  return std::span<const Cell>(placed_);
}

Status OverflowValueWriter::PlaceValue(Compression compression, Cell* cell) {
  if (!cell->is_overflow() && cell->value.size() > kOverflowValueBytesMax) {
    return Status::InvalidArgument("a value of " + std::to_string(cell->value.size()) +
                                   " bytes; the limit kOverflowValueBytesMax is " +
                                   std::to_string(kOverflowValueBytesMax));
  }
  ASSIGN_OR_RETURN(const OverflowReference reference,
                   cell->is_overflow() ? CopyOverflowValue(*cell, compression, out_)
                                       : WriteOverflowValue(cell->value, compression, out_));
  AppendOverflowReference(reference, &references_.emplace_back());
  cell->value = references_.back();
  cell->overflow_file = OverflowInFileBeingWritten();
  return {};
}

}  // namespace tandem::format
