// The calls that write: blind batches, and those that depend on what is stored.
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/commit/write_plan.h"
#include "engine/engine_impl.h"
#include "format/value_text.h"

namespace tandem::engine {

// Counts what came of it besides.
Result<Written> EngineImpl::WritePlanned(const WriteCall& call, const MakePlan& make_plan) {
  RowsRead read_by_hooks;
  RowsRead* const rows = call.rows_read != nullptr ? call.rows_read : &read_by_hooks;
  Result<Written> written = WriteAsPlanned(call, make_plan, rows);
  const RowChecks& checks = rows->checks;
  if (!checks.ranges.ranges.empty()) {
    monitor_.CountRangeRows(checks.ranges.rows_examined, checks.ranges.rows_reread);
  }
  if (!written.has_value() && written.error().code() == StatusCode::kConflict) {
    monitor_.CountConflict(checks.cause.value_or(ConflictCause::kSchema));
  }
  return written;
}

// Plans again when a table was dropped, truncated, renamed or got another record since. The plan
// refers to tables, which the caller's pass keeps.
Result<Written> EngineImpl::WriteAsPlanned(const WriteCall& call, const MakePlan& make_plan,
                                           RowsRead* rows) {
  RETURN_IF_ERROR(health_.CheckWritable());
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  std::optional<ObservedWrite> observed;
  while (true) {
    ASSIGN_OR_RETURN(WritePlan plan, PlanObserved(call, make_plan, rows, &observed));
    if (plan.operation_count == 0 && !plan.reads()) return Written{};
    RETURN_IF_ERROR(write_stops_.Pass(plan.tables, call.options.no_wait));
    RETURN_IF_ERROR(gate_->Admit(
        {.tables = plan.tables, .bytes = plan.size_bytes, .no_wait = call.options.no_wait}));
    RETURN_IF_ERROR(queue_->Commit(&plan, call.options.durability));
    if (plan.is_stale) {
      monitor_.CountReplanned();
      continue;
    }
    if (time_.TakeChange()) ReportClock();
    if (hot_regions_ != nullptr) LookForHotRegions(time_.Now());
    if (plan.holds) monitor_.CountWrite(plan.operation_count, plan.size_bytes);
    if (observed.has_value() && plan.last_sequence.value != 0) {
      observed->Tell(plan.last_sequence, &monitor_);
    }
    return Written{.holds = plan.holds, .values = std::move(plan.values)};
  }
}

Status EngineImpl::Write(const WriteOptions& options, const WriteBatch& batch) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return WritePlanned(
             {.options = options, .batch = batch},
             [this](const WriteBatch& observed) { return PlanWrite(observed, *database_.regions); })
      .status();
}

// The batch's own values come before those of what observers have added.
Result<std::vector<std::string>> EngineImpl::WriteForValues(const WriteOptions& options,
                                                            const WriteBatch& batch, size_t count) {
  ASSIGN_OR_RETURN(Written written,
                   WritePlanned({.options = options, .batch = batch, .returns_values = true},
                                [this](const WriteBatch& observed) {
                                  return PlanWrite(observed, *database_.regions);
                                }));
  written.values.resize(count);
  return std::move(written.values);
}

Result<std::vector<int64_t>> EngineImpl::IncrementColumns(const WriteOptions& options,
                                                          std::string_view table,
                                                          std::string_view row,
                                                          std::string_view family,
                                                          std::span<const ColumnDelta> columns) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  WriteBatch batch;
  batch.IncrementColumns(table, row, family, columns);
  ASSIGN_OR_RETURN(const std::vector<std::string> values,
                   WriteForValues(options, batch, columns.size()));
  std::vector<int64_t> sums;
  for (const std::string& value : values) {
    sums.push_back(format::ParseInt64(value).value_or(0));
  }
  return sums;
}

Result<std::vector<std::string>> EngineImpl::AppendColumns(const WriteOptions& options,
                                                           std::string_view table,
                                                           std::string_view row,
                                                           std::string_view family,
                                                           std::span<const ColumnValue> columns) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  WriteBatch batch;
  batch.AppendColumns(table, row, family, columns);
  return WriteForValues(options, batch, columns.size());
}

Result<bool> EngineImpl::CheckAndMutate(const WriteOptions& options, std::string_view table,
                                        std::string_view row, const Predicate& condition,
                                        const WriteBatch& batch) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  const auto make_plan = [&](const WriteBatch& observed) {
    return PlanConditional(
        {.table = table, .row = row, .predicate = &condition, .batch = &observed},
        *database_.regions);
  };
  ASSIGN_OR_RETURN(const Written written,
                   WritePlanned({.options = options, .batch = batch}, make_plan));
  return written.holds;
}

}  // namespace tandem::engine
