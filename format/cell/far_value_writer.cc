// Most pieces of a row have no far value and are returned unchanged.
#include "format/cell/far_value_writer.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/cell/far_value.h"

namespace tandem::format {
namespace {

bool BelongsFar(const Cell& cell) {
  return cell.is_far() || cell.value.size() > kNearValueBytesMax;
}

}  // namespace

Result<std::span<const Cell>> FarPlacer::Place(std::span<const Cell> cells,
                                               Compression compression) {
  if (std::none_of(cells.begin(), cells.end(), BelongsFar)) return cells;
  references_.clear();
  placed_.assign(cells.begin(), cells.end());
  for (Cell& cell : placed_) {
    if (BelongsFar(cell)) RETURN_IF_ERROR(PlaceValue(compression, &cell));
  }
  return std::span<const Cell>(placed_);
}

Status FarPlacer::PlaceValue(Compression compression, Cell* cell) {
  if (!cell->is_far() && cell->value.size() > kFarValueBytesMax) {
    return Status::InvalidArgument("a value of " + std::to_string(cell->value.size()) +
                                   " bytes; the limit kFarValueBytesMax is " +
                                   std::to_string(kFarValueBytesMax));
  }
  ASSIGN_OR_RETURN(const FarReference reference,
                   cell->is_far() ? CopyFarValue(*cell, compression, out_)
                                  : WriteFarValue(cell->value, compression, out_));
  AppendFarReference(reference, &references_.emplace_back());
  cell->value = references_.back();
  cell->far_file = FarInFileBeingWritten();
  return Status();
}

}  // namespace tandem::format
