// Making a unique index that was added to a table refuse duplicates, in these steps:
//   1. Each file has the index, so that a look-up of holders reads no table. Else: kBusy.
//   2. One edit of the record: from then on each batch is checked against all rows. Batches that
//      were planned before are planned again.
//   3. The table is flushed. Before step 2 a row may have given up an entry by a write that is in
//      no log; another row may take the entry now, in the log.
//   4. A pass over the index at a snapshot lists rows with equal entries. Of two rows that were
//      there at step 2 and still are, none is missed, and no others can have come.
//   5. None: the log is synced, since a power cut could take back what freed an entry during the
//      pass, and one edit says that it is so. Some, or an error: one edit takes step 2 back.
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/create_table.h"
#include "engine/engine_impl.h"
#include "engine/query/duplicates.h"

namespace tandem::engine {

using format::IndexState;

namespace {

// One call at a time: the next one would take back what this one is about to show.
class Turn {
 public:
  explicit Turn(std::atomic<bool>* is_running)
      : is_running_(is_running),
        is_taken_(!is_running->exchange(true, std::memory_order_acq_rel)) {}
  ~Turn() {
    if (is_taken_) is_running_->store(false, std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  bool is_taken() const { return is_taken_; }

 private:
  std::atomic<bool>* const is_running_;
  const bool is_taken_;
};

}  // namespace

struct EngineImpl::UniqueTarget {
  std::shared_ptr<const Table> table;
  format::IndexRecord index;
  const std::string& name() const { return table->record->name; }
};

Result<EngineImpl::UniqueTarget> EngineImpl::FindUnique(std::string_view name,
                                                        std::string_view index) const {
  UniqueTarget target{.table = database_.regions->Find(name), .index = {}};
  if (target.table == nullptr) return TableNotFound(name);
  const format::IndexRecord* found = target.table->record->FindIndex(index);
  if (found == nullptr) return IndexNotFound(*target.table->record, index);
  if (!found->unique) {
    return Status::InvalidArgument("index " + base::Quote(index) + " of table " +
                                   base::Quote(name) + " is not unique");
  }
  RETURN_IF_ERROR(format::CheckCalls(*target.table->record));
  target.index = *found;
  for (const auto& region : target.table->regions) {
    const std::shared_ptr<const RegionVersion> version = region->version();
    for (const FileSlice& slice : version->files) {
      if (slice.file->store().table().FindIndex(found->id) != nullptr) continue;
      return Status::Busy("index " + base::Quote(index) + " of table " + base::Quote(name) +
                          " is still being built: wait until no file is without it");
    }
  }
  return target;
}

Status EngineImpl::SetUniqueState(const UniqueTarget& target, IndexState state) {
  return ChangeTable(target.name(), [&](format::TableRecord* record) -> Status {
    for (format::IndexRecord& index : record->indexes) {
      if (record->id != target.table->record->id || index.id != target.index.id) continue;
      index.state = state;
      return {};
    }
    return Status::Conflict("table " + base::Quote(target.name()) +
                            " was truncated, or its index dropped, meanwhile");
  });
}

Result<UniqueReport> EngineImpl::CheckAllRows(const UniqueTarget& target,
                                              const std::atomic<bool>* cancelled) {
  RETURN_IF_ERROR(FlushTable(target.name()));
  ReadOptions options;
  options.cancelled = cancelled;
  ASSIGN_OR_RETURN(TableView view, ViewOf(options, target.name()));
  ASSIGN_OR_RETURN(UniqueReport found,
                   FindDuplicates(read_resources(), std::move(view), target.index, cancelled));
  if (found.duplicates == 0) RETURN_IF_ERROR(queue_->SyncThrough(queue_->last_sequence()));
  return found;
}

Result<UniqueReport> EngineImpl::EnforceUnique(std::string_view name, std::string_view index,
                                               const std::atomic<bool>* cancelled) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  ASSIGN_OR_RETURN(const UniqueTarget target, FindUnique(name, index));
  if (target.index.state == IndexState::kReady) return UniqueReport{};
  const Turn turn(&checks_unique_);
  if (!turn.is_taken()) return Status::Busy("another unique index is being checked");
  RETURN_IF_ERROR(SetUniqueState(target, IndexState::kChecking));
  Result<UniqueReport> found = Guarded([&] { return CheckAllRows(target, cancelled); });
  const bool is_unique = found.has_value() && found->duplicates == 0;
  const Status status =
      SetUniqueState(target, is_unique ? IndexState::kReady : IndexState::kBuilding);
  if (found.has_value()) RETURN_IF_ERROR(status);
  return found;
}

}  // namespace tandem::engine
