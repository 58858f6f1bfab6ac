// Order, limits and memory of a row in pieces.
#include "format/row_pieces.h"

#include "base/status_macros.h"
#include "format/row_block_writer.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

Status Disorder() { return Status::Corruption("the cells of a row do not come in order"); }

}  // namespace

void RowPieces::Begin(std::string_view key) {
  key_ = key;
  bytes_bound_ = RowBytesBound(key, {});
  family_.reset();
  deletes_.Clear();
  cells_.Clear();
  indexed_.Clear();
  last_.reset();
}

Status RowPieces::BeginFamily(FamilyId family) {
  if (family_.has_value() && *family_ >= family) return Disorder();
  family_ = family;
  deletes_.Clear();
  cells_.Clear();
  last_.reset();
  return {};
}

Status RowPieces::Add(std::span<const Cell> cells) {
  bytes_bound_ += RowBytesBound({}, cells);
  if (bytes_bound_ > kRowBytesMax) {
    return Status::Unsupported("a row of up to " + std::to_string(bytes_bound_) +
                               " bytes; the limit kRowBytesMax is " + std::to_string(kRowBytesMax));
  }
  for (const Cell& cell : cells) {
    if (IsIndexed(cell)) indexed_.Add(cell);
    if (cell.kind == CellKind::kDeleteFamily) {
      deletes_.Add(cell);
    } else {
      RETURN_IF_ERROR(CheckOrder(cell));
      cells_.Add(cell);
    }
  }
  if (last_.has_value()) {  // Its bytes end with this call.
    last_qualifier_ = last_->qualifier;
    last_->qualifier = last_qualifier_;
  }
  return {};
}

Status RowPieces::CheckOrder(const Cell& cell) {
  if (last_.has_value() && !CellLess(*last_, cell)) return Disorder();
  last_ = cell;
  return {};
}

bool RowPieces::IsIndexed(const Cell& cell) const {
  for (const IndexRecord& index : table_->indexes) {
    for (const IndexColumnRecord& column : index.columns) {
      if (column.family != cell.family) continue;
      if (cell.kind == CellKind::kDeleteFamily || cell.qualifier == column.qualifier) return true;
    }
  }
  return false;
}

std::span<const Cell> RowPieces::FamilyCells() {
  sorted_.clear();
  deletes_.AppendSorted(&sorted_);
  cells_.AppendSorted(&sorted_);
  return sorted_;
}

std::span<const Cell> RowPieces::IndexedCells() {
  sorted_.clear();
  indexed_.AppendSorted(&sorted_);
  return sorted_;
}

}  // namespace tandem::format
