// See dependent_writes.h.
#include "engine/transaction/dependent_writes.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "engine/commit/delete_cell.h"
#include "engine/commit/new_value.h"

namespace tandem::engine {
namespace {

using Kind = PlannedOperation::Kind;
using TableRecord = format::TableRecord;

std::shared_ptr<const TableRecord> TableOf(const WritePlan& plan, format::TableId id) {
  const auto found = std::find_if(plan.tables.begin(), plan.tables.end(),
                                  [id](const auto& table) { return table->record->id == id; });
  return (*found)->record;  // Planning put every table there.
}

const std::string& FamilyName(const TableRecord& table, const format::Cell& column) {
  return table.FindFamily(column.family)->options.name;  // Planning found it.
}

// The newest versions of a column that are visible. Lifetime: the cells' is that of `row`.
struct SeenColumn {
  std::optional<Row> row;
  std::vector<format::Cell> versions;
};

Result<SeenColumn> ReadColumn(const TableRecord& table, std::string_view row,
                              const format::Cell& column, uint32_t versions_max,
                              const ReadSeenRow& read) {
  ReadOptions options;
  options.columns = {
      {.family = FamilyName(table, column), .qualifier = std::string(column.qualifier)}};
  options.versions = versions_max;
  SeenColumn seen;
  ASSIGN_OR_RETURN(seen.row, read(options, table.name, row));
  if (!seen.row.has_value()) return seen;
  for (const Cell& cell : seen.row->cells()) {
    format::Cell& version = seen.versions.emplace_back(column);
    version.kind = format::CellKind::kPut;
    version.timestamp = cell.timestamp;
    version.value = cell.value;
  }
  return seen;
}

Status AddDelete(const std::shared_ptr<const TableRecord>& table, const PlannedOperation& operation,
                 const ReadSeenRow& read, OwnWrites* own) {
  const format::Cell& marker = operation.cells.front();
  ASSIGN_OR_RETURN(const SeenColumn seen, ReadColumn(*table, operation.row, marker,
                                                     std::numeric_limits<uint32_t>::max(), read));
  const std::optional<size_t> hit = FindVersion(seen.versions, operation.timestamp);
  if (!hit.has_value()) return {};
  own->Apply(table, operation.row, CellsOfDelete(*table, marker, seen.versions, *hit));
  return {};
}

struct UpdateCall {
  const TableRecord& table;
  const PlannedOperation& operation;
  int64_t timestamp;
  const ReadSeenRow& read;
};

// Columns without timestamps of their own are one put.
Status AddUpdate(const UpdateCall& call, SeenUpdates* updates) {
  const auto& [table, operation, timestamp, read] = call;
  CHECK(operation.kind == Kind::kIncrement || operation.kind == Kind::kAppend);
  const std::string& family = FamilyName(table, operation.cells.front());
  std::vector<std::string> stored;  // What `columns` refer to.
  std::vector<ColumnValue> columns;
  stored.reserve(operation.cells.size());
  for (const format::Cell& change : operation.cells) {
    ASSIGN_OR_RETURN(const SeenColumn seen, ReadColumn(table, operation.row, change, 1, read));
    const format::Cell* newest = seen.versions.empty() ? nullptr : &seen.versions.front();
    const ColumnUpdate update{
        .row = operation.row, .change = change, .adds = operation.kind == Kind::kIncrement};
    ASSIGN_OR_RETURN(NewValue made, MakeNewValue(table, update, newest));
    updates->values.push_back(std::move(made.returned));
    stored.push_back(std::move(made.stored));
    if (newest != nullptr && newest->timestamp > timestamp) {
      updates->puts.Put(table.name, operation.row, family, change.qualifier, stored.back(),
                        newest->timestamp);
    } else {
      columns.push_back({.qualifier = change.qualifier, .value = stored.back()});
    }
  }
  if (!columns.empty()) updates->puts.PutColumns(table.name, operation.row, family, columns);
  return {};
}

}  // namespace

Status AddToOwn(const WritePlan& plan, int64_t timestamp, const ReadSeenRow& read, OwnWrites* own) {
  if (!plan.completes()) {
    own->Add(plan, timestamp);
    return {};
  }
  for (const PlannedOperation& operation : plan.unresolved) {
    CHECK(operation.kind == Kind::kBlind || operation.kind == Kind::kDeleteCell);
    const std::shared_ptr<const TableRecord> table = TableOf(plan, operation.table);
    if (operation.kind == Kind::kDeleteCell) {
      RETURN_IF_ERROR(AddDelete(table, operation, read, own));
      continue;
    }
    std::vector<format::Cell> cells = operation.cells;
    for (format::Cell& cell : cells) cell.timestamp = operation.timestamp.value_or(timestamp);
    own->Apply(table, operation.row, std::move(cells));
  }
  return {};
}

Result<SeenUpdates> MakeUpdates(const WritePlan& plan, int64_t timestamp, const ReadSeenRow& read) {
  SeenUpdates updates;
  for (const PlannedOperation& operation : plan.unresolved) {
    const std::shared_ptr<const TableRecord> table = TableOf(plan, operation.table);
    RETURN_IF_ERROR(AddUpdate({*table, operation, timestamp, read}, &updates));
  }
  return updates;
}

}  // namespace tandem::engine
