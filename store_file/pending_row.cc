// Order, limits and memory of a row in pieces.
#include "store_file/pending_row.h"

#include "base/status_macros.h"
#include "format/row/wide_row_writer.h"
#include "index/entries.h"

namespace tandem::format {
namespace {

Status Disorder() { return Status::Corruption("the cells of a row do not come in order"); }

}  // namespace

void RowPieces::Begin(std::string_view key) {
  key_ = key;
  family_.reset();
  deletes_.Clear();
  cells_.Clear();
  width_ = 0;
  indexed_.Clear();
  last_.reset();
}

Status RowPieces::BeginFamily(FamilyId family) {
  if (family_.has_value() && *family_ >= family) return Disorder();
  family_ = family;
  deletes_.Clear();
  cells_.Clear();
  width_ = 0;
  last_.reset();
  return {};
}

Status RowPieces::Add(std::span<const Cell> cells) {
  for (const Cell& cell : cells) {
    width_ += WidthOf(cell);
    KeepIndexed(*table_, cell, &indexed_);
    if (cell.kind == CellKind::kDeleteFamily) {
      deletes_.Add(cell);
    } else {
      RETURN_IF_ERROR(CheckOrder(cell));
      cells_.Add(cell);
    }
  }
  if (last_.has_value()) {  // Its bytes are valid only during this call.
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

std::span<const Cell> RowPieces::FamilyCells() {
  sorted_.clear();
  deletes_.AppendSorted(&sorted_);
  cells_.AppendSorted(&sorted_);
  return sorted_;
}

std::span<const Cell> RowPieces::Columns() {
  sorted_.clear();
  cells_.AppendSorted(&sorted_);
  return sorted_;
}

void RowPieces::DropColumns() {
  cells_.Clear();
  width_ = 0;
}

std::span<const Cell> RowPieces::FamilyDeletes() {
  sorted_.clear();
  deletes_.AppendSorted(&sorted_);
  return sorted_;
}

std::span<const Cell> RowPieces::IndexedCells() {
  sorted_.clear();
  indexed_.AppendSorted(&sorted_);
  return sorted_;
}

}  // namespace tandem::format
