// Deriving the columns that a read uses from its options.
#include "engine/source/read_schema.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

Result<format::FamilyId> FamilyNamed(const format::TableRecord& table, const std::string& name) {
  if (name.empty()) return table.first_family().id;
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

Result<ReadSchema> ReadSchema::Make(const TableView& view, const ReadOptions& options) {
  ASSIGN_OR_RETURN(ReadSchema schema, OfOneRow(view.table, PointOf(view.point, options), options));
  schema.matched = schema.single_source = schema.merged;
  schema.pieces = options.pieces;
  for (const ColumnSet::Family& family : schema.returned.families()) {
    for (const std::string& qualifier : family.qualifiers) schema.named.Add(family.id, qualifier);
  }
  return schema;
}

Result<ReadSchema> ReadSchema::OfOneRow(std::shared_ptr<const format::TableRecord> table,
                                        const format::ReadPoint& point,
                                        const ReadOptions& options) {
  if (options.versions == 0) return Status::InvalidArgument("versions is 0, expected 1 or more");
  ReadSchema schema;
  schema.table = std::move(table);
  schema.point = point;
  schema.versions = options.versions;
  schema.returns_all = options.columns.empty() && options.families.empty();
  if (schema.returns_all) schema.returned = ColumnSet::AllOf(*schema.table);
  for (const std::string& name : options.families) {
    ASSIGN_OR_RETURN(const format::FamilyId family, FamilyNamed(*schema.table, name));
    schema.returned.AddFamily(family);
  }
  for (const ColumnName& column : options.columns) {
    ASSIGN_OR_RETURN(const format::FamilyId family, FamilyNamed(*schema.table, column.family));
    schema.returned.Add(family, column.qualifier);
  }
  schema.merged = schema.returned;
  return schema;
}

void ReadSchema::ReturnNothing() {
  returns_all = false;
  returned = matched = single_source = merged = named = ColumnSet();
}

void ReadSchema::Decode(const ColumnSet& ordering, const BoundPredicate& predicate) {
  const ColumnSet decided_by = predicate.NamedColumns();
  named.Add(ordering);
  named.Add(decided_by);
  matched.Add(ordering);
  single_source.Add(ordering);
  single_source.Add(decided_by);
  single_source.Add(predicate.WholeFamilies());
  merged = single_source;
  every_row = predicate.MayAcceptAbsent();
  // With all cells of these families read, existence rarely has to be checked in others.
  if (every_row) merged.Widen();
}

std::string_view ReadSchema::FamilyName(format::FamilyId family) const {
  for (const format::FamilyRecord& record : table->families) {
    if (record.id == family) return record.options.name;
  }
  return {};
}

bool ReadSchema::ShowsNewestPuts() const {
  return versions == 1 && std::ranges::none_of(table->families, [](const auto& family) {
           return family.dropped || family.may_expire() || !family.former_limits.empty();
         });
}

}  // namespace tandem::engine
