// The public BulkLoad, and the engine's part of it. Each call enters what is open of the load, so
// that the database is not closed meanwhile.
#include "tandem/bulk_load.h"

#include <utility>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/commit/write_plan.h"
#include "engine/engine_impl.h"

namespace tandem {

using engine::Guarded;

BulkLoad::BulkLoad(std::shared_ptr<engine::OpenHandles> handles, engine::Engine* engine,
                   std::shared_ptr<engine::OpenLoad> open)
    : handles_(std::move(handles)), engine_(engine), open_(std::move(open)) {}
BulkLoad::BulkLoad(BulkLoad&&) noexcept = default;
BulkLoad& BulkLoad::operator=(BulkLoad&& other) noexcept {
  Abandon();
  handles_ = std::move(other.handles_);
  engine_ = other.engine_;
  open_ = std::move(other.open_);
  return *this;
}
BulkLoad::~BulkLoad() { Abandon(); }

template <typename Call>
Status BulkLoad::Entered(Call&& call) {
  return Guarded([&]() -> Status {
    if (handles_->in_child()) [[unlikely]] {
      return Status::Busy("this process is a forked child: the database is open in its parent");
    }
    if (open_ == nullptr) return Status::InvalidArgument("the bulk load has ended");
    const engine::GatePass pass(open_->gate());
    if (!pass.inside()) return Status::Closed("the bulk load's database is closed");
    return call(open_.get());
  });
}

Status BulkLoad::Add(const WriteBatch& batch) {
  return Entered(
      [&](engine::OpenLoad* open) { return engine_->AddToBulkLoad(batch, &open->loader()); });
}

Status BulkLoad::Commit() {
  const Status status =
      Entered([&](engine::OpenLoad* open) { return engine_->CommitBulkLoad(&open->loader()); });
  Abandon();
  return status;
}

// In a forked child, what is open belongs to the parent: it is neither ended nor freed.
void BulkLoad::Abandon() {
  if (open_ == nullptr) return;
  if (handles_->in_child()) {
    (void)new std::shared_ptr(std::move(open_));
  } else {
    handles_->EndLoad(open_);
  }
  open_.reset();
}

namespace engine {

// It waits for merges as a writer does, for each load is a run more. Its timestamp is assigned as a
// batch's would be.
Result<BulkLoad> EngineImpl::BeginBulkLoad(std::string_view name, const BulkLoadOptions& options) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  ASSIGN_OR_RETURN(const std::shared_ptr<const Table> table, FindForLoad(*database_.regions, name));
  RETURN_IF_ERROR(gate_->Admit({.tables = {table}}));
  int64_t timestamp = 0;
  RETURN_IF_ERROR(queue_->RunAlone([&] {
    timestamp = time_.NextTimestamp();
    time_.AssignTimestamps(timestamp, 1);
    return Status();
  }));
  BulkFiles::Spec spec{.table = table->record, .timestamp = timestamp, .now_micros = time_.Now()};
  auto loader = std::make_unique<BulkLoader>(*load_work_, std::move(spec), options.any_order);
  return BulkLoad(handles_, this, handles_->NewLoad(std::move(loader)));
}

Status EngineImpl::AddToBulkLoad(const WriteBatch& batch, BulkLoader* loader) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  ASSIGN_OR_RETURN(WritePlan plan, PlanLoad(batch, *database_.regions, loader->TakeBuffer()));
  return loader->Add(batch, std::move(plan));
}

Status EngineImpl::CommitBulkLoad(BulkLoader* loader) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(loader->Link());
  gate_->Update();
  if (HasGlobalIndexes()) global_builds_->Schedule();
  return {};
}

}  // namespace engine
}  // namespace tandem
