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

// Whether the version is newer than own cells that have no timestamp. It has to be at the commit.
bool IsAbove(const format::Cell& version, OwnTimestamp* timestamp) {
  if (version.timestamp <= timestamp->provisional) return false;
  timestamp->below = std::min(timestamp->below, version.timestamp);
  return true;
}

struct SeenOperation {
  std::shared_ptr<const TableRecord> table;
  const PlannedOperation& operation;
  const ReadSeenRow& read;
};

Status AddDelete(const SeenOperation& seen_operation, OwnTimestamp* timestamp, OwnWrites* own) {
  const auto& [table, operation, read] = seen_operation;
  const format::Cell& marker = operation.cells.front();
  ASSIGN_OR_RETURN(const SeenColumn seen, ReadColumn(*table, operation.row, marker,
                                                     std::numeric_limits<uint32_t>::max(), read));
  const std::optional<size_t> hit = FindVersion(seen.versions, operation.timestamp);
  if (!hit.has_value()) return {};
  if (!operation.timestamp.has_value()) (void)IsAbove(seen.versions[*hit], timestamp);
  own->Apply(table, operation.row, CellsOfDelete(*table, marker, seen.versions, *hit));
  return {};
}

// Columns without timestamps of their own are one put.
Status AddUpdate(const SeenOperation& seen_operation, OwnTimestamp* timestamp,
                 SeenUpdates* updates) {
  const auto& [shared_table, operation, read] = seen_operation;
  const TableRecord& table = *shared_table;
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
    if (newest != nullptr && IsAbove(*newest, timestamp)) {
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

Status AddToOwn(const WritePlan& plan, const ReadSeenRow& read, OwnTimestamp* timestamp,
                OwnWrites* own) {
  if (!plan.completes()) {
    own->Add(plan, timestamp->provisional);
    return {};
  }
  for (const PlannedOperation& operation : plan.unresolved) {
    CHECK(operation.kind == Kind::kBlind || operation.kind == Kind::kDeleteCell);
    const std::shared_ptr<const TableRecord> table = TableOf(plan, operation.table);
    if (operation.kind == Kind::kDeleteCell) {
      RETURN_IF_ERROR(AddDelete({table, operation, read}, timestamp, own));
      continue;
    }
    std::vector<format::Cell> cells = operation.cells;
    for (format::Cell& cell : cells) {
      cell.timestamp = operation.timestamp.value_or(timestamp->provisional);
    }
    own->Apply(table, operation.row, std::move(cells));
  }
  return {};
}

Result<SeenUpdates> MakeUpdates(const WritePlan& plan, const ReadSeenRow& read,
                                OwnTimestamp* timestamp) {
  SeenUpdates updates;
  for (const PlannedOperation& operation : plan.unresolved) {
    RETURN_IF_ERROR(
        AddUpdate({TableOf(plan, operation.table), operation, read}, timestamp, &updates));
  }
  return updates;
}

}  // namespace tandem::engine
