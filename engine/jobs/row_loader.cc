// See the header.
#include "engine/jobs/row_loader.h"

#include <algorithm>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/commit/new_value.h"

namespace tandem::engine {

Status RowLoader::Add(const RowView& view) {
  const bool is_first = !in_pieces_;
  if (is_first) RETURN_IF_ERROR(Begin(view));
  RETURN_IF_ERROR(Convert(view));
  if (is_first && !view.continues()) return writer_->AddRow(view.key(), cells_).status();
  if (is_first) RETURN_IF_ERROR(writer_->BeginRow(view.key()));
  in_pieces_ = view.continues();
  RETURN_IF_ERROR(writer_->AddCells(cells_));
  return in_pieces_ ? Status() : writer_->EndRow().status();
}

Status RowLoader::Begin(const RowView& view) {
  if (view.key() <= files_.last_key()) {
    return Status::Corruption("row " + base::Quote(view.key()) + " follows row " +
                              base::Quote(files_.last_key()) + ": the rows do not rise");
  }
  ASSIGN_OR_RETURN(writer_, files_.WriterFor(view.key()));
  ++rows_;
  return {};
}

// Sorted by the ids of this table: a row that comes whole may have them in another order.
Status RowLoader::Convert(const RowView& view) {
  cells_.clear();
  for (const Cell& from : view.cells()) {
    if (from.family != family_name_) {
      const Status found = FindFamily(from.family);
      if (!found.ok()) {
        return Status(found.code(),
                      "row " + base::Quote(view.key()) + ": " + std::string(found.message()));
      }
    }
    format::Cell cell;
    cell.family = family_;
    cell.qualifier = from.qualifier;
    cell.timestamp = from.timestamp;
    cell.value = from.value;
    if (checks_values_) RETURN_IF_ERROR(CheckIndexes(table_, view.key(), cell, cell.value));
    cells_.push_back(cell);
  }
  cell_count_ += cells_.size();
  format::SortCells(cells_);
  return {};
}

Status RowLoader::FindFamily(std::string_view name) {
  const format::FamilyRecord* family = table_.FindFamily(name);
  if (family == nullptr) {
    return Status::InvalidArgument("table " + base::Quote(table_.name) + " has no family " +
                                   base::Quote(name));
  }
  family_name_ = family->options.name;
  family_ = family->id;
  return {};
}

}  // namespace tandem::engine
