// Deriving the columns that a read uses from its options.
#include "engine/source/read_shape.h"

#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

Result<format::FamilyId> FamilyNamed(const format::TableRecord& table, const std::string& name) {
  if (name.empty()) return table.families.front().id;
  const format::FamilyRecord* family = table.FindFamily(name);
  if (family != nullptr) return family->id;
  return Status::NotFound("table '" + table.name + "' has no family '" + name + "'");
}

}  // namespace

format::ReadPoint PointOf(format::ReadPoint point, const ReadOptions& options) {
  point.since = options.since.value_or(point.since);
  point.as_of = options.as_of.value_or(point.as_of);
  return point;
}

Result<ReadShape> ReadShape::Make(const TableView& view, const ReadOptions& options) {
  ASSIGN_OR_RETURN(ReadShape shape, OfOneRow(view.table, PointOf(view.point, options), options));
  shape.matched = shape.single_source = shape.merged;
  shape.pieces = options.pieces;
  for (const ColumnSet::Family& family : shape.returned.families()) {
    for (const std::string& qualifier : family.qualifiers) shape.named.Add(family.id, qualifier);
  }
  return shape;
}

Result<ReadShape> ReadShape::OfOneRow(std::shared_ptr<const format::TableRecord> table,
                                      const format::ReadPoint& point, const ReadOptions& options) {
  if (options.versions == 0) return Status::InvalidArgument("versions is 0, expected 1 or more");
  ReadShape shape;
  shape.table = std::move(table);
  shape.point = point;
  shape.versions = options.versions;
  shape.returns_all = options.columns.empty() && options.families.empty();
  if (shape.returns_all) shape.returned = ColumnSet::AllOf(*shape.table);
  for (const std::string& name : options.families) {
    ASSIGN_OR_RETURN(const format::FamilyId family, FamilyNamed(*shape.table, name));
    shape.returned.AddFamily(family);
  }
  for (const ColumnName& column : options.columns) {
    ASSIGN_OR_RETURN(const format::FamilyId family, FamilyNamed(*shape.table, column.family));
    shape.returned.Add(family, column.qualifier);
  }
  shape.merged = shape.returned;
  return shape;
}

void ReadShape::ReturnNothing() {
  returns_all = false;
  returned = matched = single_source = merged = named = ColumnSet();
}

void ReadShape::Decode(const ColumnSet& ordering, const ColumnSet& predicate,
                       bool may_accept_absent) {
  named.Add(ordering);
  named.Add(predicate);
  matched.Add(ordering);
  single_source.Add(ordering);
  single_source.Add(predicate);
  merged = single_source;
  every_row = may_accept_absent;
  // With all cells of these families read, existence rarely has to be checked in others.
  if (every_row) merged.Widen();
}

std::string_view ReadShape::FamilyName(format::FamilyId family) const {
  for (const format::FamilyRecord& record : table->families) {
    if (record.id == family) return record.options.name;
  }
  return {};
}

}  // namespace tandem::engine
