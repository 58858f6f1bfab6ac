// What a transaction writes before it commits: it goes into its batch, and into its own memstores
// for its reads.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/engine_impl.h"
#include "engine/transaction/dependent_writes.h"
#include "engine/transaction_state.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// Of a table. More are made one again.
constexpr size_t kOwnMemstoresMax = 8;

Status CheckLimits(const TransactionState& state, const WriteBatch& batch) {
  RETURN_IF_ERROR(state.CheckRoomFor(batch.operation_count()));
  size_t bytes = batch.size_bytes();
  for (const WriteBatch& part : state.writes) bytes += part.size_bytes();
  if (bytes <= kBatchBytesMax) return {};
  return Status::InvalidArgument("the transaction has " + std::to_string(bytes) +
                                 " bytes, the limit is " + std::to_string(kBatchBytesMax));
}

}  // namespace

// No observer is asked: the row is what a write depends on, as in the commit queue.
Status EngineImpl::AddPlanned(const SnapshotPoint& point, const WritePlan& plan,
                              TransactionState* state) {
  const auto read = [&](const ReadOptions& options, std::string_view table, std::string_view row) {
    return GetAt(point, options, table, row);
  };
  return AddToOwn(plan, read, &state->timestamp, state->own.get());
}

Status EngineImpl::MakeOwnWrites(const SnapshotPoint& point, TransactionState* state) {
  if (!state->own_is_stale && state->own->memstores() <= kOwnMemstoresMax) return {};
  state->own_is_stale = true;
  const WriteBatch writes = state->AllWrites();
  ASSIGN_OR_RETURN(const WritePlan all, PlanInTransaction(point, writes));
  state->own->Clear();
  RETURN_IF_ERROR(AddPlanned(point, all, state));
  state->own_is_stale = false;
  return {};
}

Status EngineImpl::AddWrites(const SnapshotPoint& point, const WriteBatch& batch,
                             TransactionState* state) {
  RETURN_IF_ERROR(CheckLimits(*state, batch));
  ASSIGN_OR_RETURN(const WritePlan plan, PlanInTransaction(point, batch));
  // If memory or a read fails in between, the next call makes all again, without these.
  state->own_is_stale = true;
  RETURN_IF_ERROR(AddPlanned(point, plan, state));
  state->writes.back().Add(batch);
  state->own_is_stale = false;
  return {};
}

Status EngineImpl::AddToTransaction(const Snapshot& snapshot, const WriteBatch& batch,
                                    TransactionState* state) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  // A read comes here too, with no operations.
  if (batch.operation_count() > 0) RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  ASSIGN_OR_RETURN(const SnapshotPoint point, PointOf(snapshot));
  RETURN_IF_ERROR(MakeOwnWrites(point, state));
  return batch.operation_count() == 0 ? Status() : AddWrites(point, batch, state);
}

Result<std::vector<std::string>> EngineImpl::UpdateInTransaction(const Snapshot& snapshot,
                                                                 const WriteBatch& batch,
                                                                 TransactionState* state) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  ASSIGN_OR_RETURN(const SnapshotPoint point, PointOf(snapshot));
  RETURN_IF_ERROR(MakeOwnWrites(point, state));
  ASSIGN_OR_RETURN(const WritePlan plan, PlanInTransaction(point, batch));
  const auto read = [&](const ReadOptions& options, std::string_view table, std::string_view row) {
    return GetAt(point, options, table, row);
  };
  ASSIGN_OR_RETURN(SeenUpdates updates, MakeUpdates(plan, read, &state->timestamp));
  RETURN_IF_ERROR(AddWrites(point, updates.puts, state));
  return std::move(updates.values);
}

}  // namespace tandem::engine
