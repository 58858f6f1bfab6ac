// The calls that write: blind batches, and those that depend on what is stored.
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/commit/write_plan.h"
#include "engine/engine_impl.h"
#include "format/value_text.h"

namespace tandem::engine {

Result<WritePlan> EngineImpl::WriteAsPlanned(const WriteOptions& options,
                                             const std::function<Result<WritePlan>()>& make_plan) {
  RETURN_IF_ERROR(health_.CheckWritable());
  while (true) {
    ASSIGN_OR_RETURN(WritePlan plan, make_plan());
    if (plan.operation_count == 0 && !plan.reads()) return plan;
    RETURN_IF_ERROR(gate_->Admit(
        {.tables = plan.tables, .bytes = plan.size_bytes, .no_wait = options.no_wait}));
    RETURN_IF_ERROR(queue_->Commit(&plan, options.durability));
    if (plan.is_stale) continue;
    if (time_.TakeChange()) ReportClock();
    if (plan.holds) monitor_.CountWrite(plan.operation_count, plan.size_bytes);
    return plan;
  }
}

Status EngineImpl::Write(const WriteOptions& options, const WriteBatch& batch) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  return WritePlanned(options, [&] { return PlanWrite(batch, *database_.regions); }).status();
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
  ASSIGN_OR_RETURN(const WritePlan plan,
                   WritePlanned(options, [&] { return PlanWrite(batch, *database_.regions); }));
  std::vector<int64_t> sums;
  for (const std::string& value : plan.values) {
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
  ASSIGN_OR_RETURN(WritePlan plan,
                   WritePlanned(options, [&] { return PlanWrite(batch, *database_.regions); }));
  return std::move(plan.values);
}

Result<bool> EngineImpl::CheckAndMutate(const WriteOptions& options, std::string_view table,
                                        std::string_view row, const Predicate& condition,
                                        const WriteBatch& batch) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  ASSIGN_OR_RETURN(const WritePlan plan, WritePlanned(options, [&] {
                     return PlanConditional(
                         {.table = table, .row = row, .predicate = &condition, .batch = &batch},
                         *database_.regions);
                   }));
  return plan.holds;
}

}  // namespace tandem::engine
