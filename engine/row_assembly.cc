// From gathered cells to the row that is returned.
#include "engine/row_assembly.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "format/visibility.h"

namespace tandem::engine {
namespace {

using Columns = std::optional<std::vector<std::string>>;

void SortUnique(std::vector<std::string>* names) {
  std::sort(names->begin(), names->end());
  names->erase(std::unique(names->begin(), names->end()), names->end());
}

void AddColumns(const std::vector<std::string>& more, Columns* columns) {
  if (!columns->has_value()) return;
  (*columns)->insert((*columns)->end(), more.begin(), more.end());
  SortUnique(&**columns);
}

format::Projection ProjectionOf(const Columns& columns, const FileSource& source) {
  return columns.has_value() ? format::Projection(source.data->names(), *columns)
                             : format::Projection(source.data->names());
}

}  // namespace

format::ReadPoint PointOf(const TableView& view, const ReadOptions& options) {
  format::ReadPoint point = view.point;
  point.since = options.since.value_or(point.since);
  point.as_of = options.as_of.value_or(point.as_of);
  return point;
}

Result<ReadShape> ReadShape::Make(const TableView& view, const ReadOptions& options) {
  if (options.versions == 0) return Status::InvalidArgument("versions is 0, expected 1 or more");
  ReadShape shape;
  shape.table = view.table;
  shape.point = PointOf(view, options);
  shape.versions = options.versions;
  if (options.columns.empty()) return shape;
  std::vector<std::string> qualifiers;
  for (const ColumnName& column : options.columns) {
    if (!column.family.empty() && view.table->FindFamily(column.family) == nullptr) {
      return Status::NotFound("table '" + view.table->name + "' has no family '" + column.family +
                              "'");
    }
    qualifiers.push_back(column.qualifier);
  }
  SortUnique(&qualifiers);
  shape.returned = shape.settled = shape.merged = std::move(qualifiers);
  return shape;
}

void ReadShape::Decode(std::vector<std::string> columns, bool existence) {
  AddColumns(columns, &settled);
  AddColumns(columns, &merged);
  if (existence) merged.reset();
}

FileColumns::FileColumns(const ReadShape& shape, const FileSource& source)
    : settled(ProjectionOf(shape.settled, source)), merged(ProjectionOf(shape.merged, source)) {}

void RowAssembly::Merge() {
  if (!std::is_sorted(gathered_.begin(), gathered_.end(), format::CellLess)) {
    std::sort(gathered_.begin(), gathered_.end(), format::CellLess);
  }
  merged_.clear();
  format::VisibleCells(gathered_, shape_.table->families, shape_.point, &merged_);
  visible_ = merged_;
  is_settled_ = false;
}

bool RowAssembly::returns_cells() const {
  return std::any_of(visible_.begin(), visible_.end(),
                     [this](const format::Cell& cell) { return IsReturned(cell); });
}

RowView RowAssembly::Project(std::string_view key) {
  returned_.clear();
  if (!is_settled_) {
    ProjectVersions();
  } else if (!shape_.returned.has_value()) {
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

Cell RowAssembly::ToReturned(const format::Cell& cell) {
  if (family_ == nullptr || family_->id != cell.family) {
    for (const format::FamilyRecord& record : shape_.table->families) {
      if (record.id == cell.family) family_ = &record;
    }
  }
  return {family_->options.name, cell.qualifier, cell.timestamp, cell.value};
}

}  // namespace tandem::engine
