// Transactions: they read as a snapshot does, with their own writes above it, and commit as one
// batch whose rows nobody else may have changed (engine/commit/row_checks.h).
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/commit/batch_reader.h"
#include "engine/commit/row_checks.h"
#include "engine/create_table.h"
#include "engine/engine_impl.h"
#include "engine/query/plan.h"
#include "engine/query/query.h"
#include "engine/transaction_state.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

std::set<std::string_view> TablesOf(const WriteBatch& batch) {
  std::set<std::string_view> tables;
  BatchReader reader(batch);
  BatchOperation operation;
  while (reader.Next(&operation)) tables.insert(operation.table);
  return tables;
}

// The rows that were read or written, each once, by table and row. Requires: the tables exist.
std::vector<RowCheck> ChecksOf(const RowsRead& read, const RegionSet& regions) {
  std::map<RowsRead::Name, bool> rows;  // True: it was read.
  for (const auto& [name, for_update] : read.rows) rows.insert({name, true});
  if (read.written != nullptr) {
    BatchReader reader(*read.written);
    BatchOperation operation;
    while (reader.Next(&operation)) {
      rows.insert({{std::string(operation.table), std::string(operation.row)}, false});
    }
  }
  std::vector<RowCheck> checks;
  for (const auto& [name, was_read] : rows) {
    const std::shared_ptr<const Table> table = regions.Find(name.first);
    if (table == nullptr) continue;
    checks.push_back({.table = table->record->id,
                      .row = name.second,
                      .was_read = was_read,
                      .unchanged_through = read.checks.point.sequence});
  }
  std::sort(checks.begin(), checks.end(), [](const RowCheck& a, const RowCheck& b) {
    return std::pair(a.table, std::string_view(a.row)) <
           std::pair(b.table, std::string_view(b.row));
  });
  return checks;
}

// Requires: the tables exist.
std::vector<RangeCheck> RangeChecksOf(const RowsRead& read, const RegionSet& regions) {
  std::vector<RangeCheck> checks;
  for (const auto& [name, ranges] : read.ranges) {
    const std::shared_ptr<const Table> table = regions.Find(name);
    if (table == nullptr) continue;
    for (const format::KeyRange& rows : ranges) {
      checks.push_back({.table = table->record->id,
                        .rows = rows,
                        .unchanged_through = read.checks.point.sequence});
    }
  }
  return checks;
}

Status AddTable(const RegionSet& regions, format::TableId id, WritePlan* plan) {
  const auto has_id = [id](const auto& table) { return table->record->id == id; };
  if (std::any_of(plan->tables.begin(), plan->tables.end(), has_id)) return {};
  std::shared_ptr<const Table> table = regions.Find(id);
  if (table == nullptr) return Status::Conflict("a table was dropped since a row of it was read");
  plan->tables.push_back(std::move(table));
  return {};
}

bool IsForUpdate(const TransactionState& state) {
  return std::any_of(state.rows_read.begin(), state.rows_read.end(),
                     [](const auto& row) { return row.second; });
}

}  // namespace

// Scheduling wakes a thread, which costs more than the rest of a begin: the limit is scheduled only
// when it is not due anyway. A transaction that begins meanwhile is in the list, or schedules it.
void EngineImpl::ExpireTransactions() {
  limit_is_due_ = false;
  const int64_t now = environment_.clock->MonotonicMicros();
  const int64_t age_max = options_.transaction_age_max_micros;
  const std::optional<int64_t> oldest = handles_->ExpireTransactions(now - age_max);
  if (!oldest.has_value() || limit_is_due_.exchange(true)) return;
  transaction_limit_->Schedule(std::max<int64_t>(*oldest + age_max - now, 1));
}

Result<std::unique_ptr<TransactionState>> EngineImpl::BeginTransaction() {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  auto state = std::make_unique<TransactionState>(handles_);
  state->own = std::make_shared<OwnWrites>();
  SnapshotPoint point = TakePoint();
  point.own = state->own;
  // After all that it sees.
  state->timestamp.provisional = std::max(time_.last_timestamp() + 1, time_.Now());
  state->open = handles_->NewTransaction(Snapshot(handles_->NewSnapshot(std::move(point))),
                                         environment_.clock->MonotonicMicros());
  if (options_.transaction_age_max_micros > 0 && !limit_is_due_.exchange(true)) {
    transaction_limit_->Schedule(options_.transaction_age_max_micros);
  }
  return state;
}

// Whether the name means the same rows as at the point. One that never was a table's is left to who
// looks for it.
Status EngineImpl::CheckTable(const SnapshotPoint& point, std::string_view name) {
  std::shared_ptr<const FormerTable> former;
  const Result<std::shared_ptr<const Table>> then = TableAt(point.schema.get(), name, &former);
  const std::shared_ptr<const Table> now = database_.regions->Find(name);
  const bool was_there = then.has_value();
  if (!was_there && then.error().code() != StatusCode::kNotFound) return then.error();
  if (!was_there && now == nullptr) return {};
  if (was_there && former == nullptr && now != nullptr && (*then)->record->id == now->record->id) {
    return {};
  }
  return Status::Conflict("table " + base::Quote(name) +
                          " was dropped, truncated, renamed or altered since it was read");
}

Result<WritePlan> EngineImpl::PlanInTransaction(const SnapshotPoint& point,
                                                const WriteBatch& batch) {
  Result<WritePlan> plan = PlanWrite(batch, *database_.regions);
  for (const std::string_view table : TablesOf(batch)) {
    RETURN_IF_ERROR(CheckTable(point, table));
  }
  return plan;
}

Status EngineImpl::CheckUnchanged(const Snapshot& snapshot, std::string_view name,
                                  std::string_view row) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  ASSIGN_OR_RETURN(const SnapshotPoint point, PointOf(snapshot));
  RETURN_IF_ERROR(CheckTable(point, name));
  while (const std::shared_ptr<const Table> table = database_.regions->Find(name)) {
    const std::shared_ptr<const RegionVersion> version = table->RegionOf(row).version();
    if (version->is_retired) continue;
    if (!IsNewer(*version, *table->record, row, point.point().sequence)) return {};
    return ChangedByOthers(*table->record, row);
  }
  return TableNotFound(name);
}

Result<KeyRanges> EngineImpl::RowsOfQuery(const ReadOptions& options, std::string_view name,
                                          const Predicate& predicate, const QueryOptions& query) {
  if (query.ranges.empty() && !NamesRowKey(predicate)) return KeyRanges(1);
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  ASSIGN_OR_RETURN(const SnapshotPoint point, PointOf(*options.snapshot));
  std::shared_ptr<const FormerTable> former;
  ASSIGN_OR_RETURN(const std::shared_ptr<const Table> table,
                   TableAt(point.schema.get(), name, &former));
  const ReadResources resources = read_resources();
  ASSIGN_OR_RETURN(const BoundPredicate bound,
                   BindQuery({resources, options, predicate, query}, *table->record));
  return RowsUnder(bound);
}

Status EngineImpl::CommitTransaction(const WriteOptions& options, const Snapshot& snapshot,
                                     const TransactionState& state) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  ASSIGN_OR_RETURN(const SnapshotPoint point, PointOf(snapshot));
  const WriteBatch writes = state.AllWrites();
  if (writes.operation_count() == 0 && !IsForUpdate(state)) return {};
  RowsRead rows{.point = point, .rows = state.rows_read, .written = &writes, .checks = {}};
  for (const auto& [table, ranges] : state.ranges_read) rows.ranges[table] = ranges.ranges();
  rows.checks.ranges.resources = read_resources();
  rows.point->own = nullptr;  // Hooks see the state before the batch.
  rows.checks.point = point.point();
  rows.checks.timestamp_below = state.timestamp.below;
  const auto make_plan = [&](const WriteBatch& batch) { return PlanInTransaction(point, batch); };
  const WriteCall call{.options = options, .batch = writes, .rows_read = &rows};
  const Status status = WritePlanned(call, make_plan).status();
  if (status.ok()) monitor_.CountCall(Monitor::Call::kTransaction);
  if (status.code() == StatusCode::kConflict) monitor_.CountCall(Monitor::Call::kConflict);
  return status;
}

void EngineImpl::BackOff(uint32_t attempt) {
  constexpr uint64_t kFirstMicros = 50, kMostMicros = 10'000;
  const uint64_t most = std::min(kFirstMicros << std::min(attempt, 10u), kMostMicros);
  environment_.clock->SleepMicros(static_cast<int64_t>(environment_.random->Next64() % most));
}

// The leader checks the rows that the batch depends on, in the regions of their tables.
Status EngineImpl::AddChecks(RowsRead* rows, WritePlan* plan) {
  if (rows->rows.empty() && rows->written == nullptr) return {};
  std::set<std::string_view> names;
  for (const auto& [name, for_update] : rows->rows) names.insert(name.first);
  for (const auto& [name, ranges] : rows->ranges) names.insert(name);
  for (const std::string_view name : names) {
    RETURN_IF_ERROR(CheckTable(*rows->point, name));
    if (database_.regions->Find(name) == nullptr) return TableNotFound(name);
  }
  RowChecks* const checks = &rows->checks;
  if (checks->rows.empty()) checks->rows = ChecksOf(*rows, *database_.regions);
  if (checks->ranges.ranges.empty()) {
    checks->ranges.ranges = RangeChecksOf(*rows, *database_.regions);
  }
  std::set<format::TableId> tables;
  for (const RowCheck& check : checks->rows) tables.insert(check.table);
  for (const RangeCheck& check : checks->ranges.ranges) tables.insert(check.table);
  for (const format::TableId table : tables) {
    RETURN_IF_ERROR(AddTable(*database_.regions, table, plan));
  }
  plan->checks = checks;
  return {};
}

}  // namespace tandem::engine
