// From gathered cells to the row that is returned.
#include "engine/row_assembly.h"

#include <algorithm>

#include "format/visibility.h"

namespace tandem::engine {

RowAssembly::RowAssembly(const ReadShape& shape)
    : shape_(shape),
      decodes_all_families_(shape.merged.families().size() == shape.table->families.size()) {}

void RowAssembly::Append(const MemRow* row) {
  const auto first = static_cast<ptrdiff_t>(gathered_.size());
  Memstore::Cells(row, shape_.point.sequence, &gathered_);
  if (decodes_all_families_) return;
  const auto unwanted = std::remove_if(
      gathered_.begin() + first, gathered_.end(),
      [this](const format::Cell& cell) { return !shape_.DecodesFamily(cell.family); });
  gathered_.erase(unwanted, gathered_.end());
}

void RowAssembly::Merge() {
  if (!std::is_sorted(gathered_.begin(), gathered_.end(), format::CellLess)) {
    std::sort(gathered_.begin(), gathered_.end(), format::CellLess);
  }
  merged_.clear();
  format::VisibleCells(gathered_, shape_.table->families, shape_.point, &merged_);
  visible_ = merged_;
  is_settled_ = false;
}

bool RowAssembly::returns_cells() {
  return std::any_of(visible_.begin(), visible_.end(),
                     [this](const format::Cell& cell) { return IsReturned(cell); });
}

RowView RowAssembly::Project(std::string_view key) {
  returned_.clear();
  if (!is_settled_) {
    ProjectVersions();
  } else if (shape_.returns_all) {
    for (const format::Cell& cell : visible_) returned_.push_back(ToReturned(cell));
  } else {
    for (const format::Cell& cell : visible_) {
      if (IsReturned(cell)) returned_.push_back(ToReturned(cell));
    }
  }
  return {key, returned_};
}

// Returns the newest versions of each column that is asked for.
void RowAssembly::ProjectVersions() {
  const format::Cell* previous = nullptr;
  uint32_t versions = 0;  // Of the present column so far.
  bool is_returned = true;
  for (const format::Cell& cell : visible_) {
    if (previous != nullptr && format::SameColumn(*previous, cell)) {
      ++versions;
    } else {
      versions = 1;
      is_returned = IsReturned(cell);
    }
    previous = &cell;
    if (is_returned && versions <= shape_.versions) returned_.push_back(ToReturned(cell));
  }
}

bool RowAssembly::IsReturned(const format::Cell& cell) {
  if (shape_.returns_all) return true;
  if (returned_columns_ == nullptr || returned_columns_->id != cell.family) {
    returned_columns_ = shape_.returned.Find(cell.family);
  }
  return returned_columns_ != nullptr && returned_columns_->Contains(cell.qualifier);
}

Cell RowAssembly::ToReturned(const format::Cell& cell) {
  if (family_ == nullptr || family_->id != cell.family) {
    for (const format::FamilyRecord& record : shape_.table->families) {
      if (record.id == cell.family) family_ = &record;
    }
  }
  return {family_->options.name, cell.qualifier, cell.timestamp, cell.value};
}

}  // namespace tandem::engine
