// By default every hook does nothing.
#include "engine/runtime/observers.h"

#include "base/quote.h"

namespace tandem {

Observer::~Observer() = default;
Status Observer::BeforeWrite(PendingWrite*) { return {}; }
void Observer::AfterWrite(const CommittedWrite&) {}
Status Observer::BeforeGet(const ObservedGet&) { return {}; }
Status Observer::AfterGet(const ObservedGet&, const RowView*) { return {}; }
Status Observer::BeforeScan(const ObservedScan&) { return {}; }
Status Observer::AfterScan(const ObservedScan&) { return {}; }
Status Observer::BeforeQuery(const ObservedQuery&) { return {}; }
Status Observer::AfterQuery(const ObservedQuery&) { return {}; }
bool Observer::has_filter() const { return false; }
Status Observer::FilterRow(StoredRow*) { return {}; }
void Observer::BeforeFlush(const FlushEvent&) {}
void Observer::AfterFlush(const FlushEvent&) {}
void Observer::BeforeMerge(const CompactionEvent&) {}
void Observer::AfterMerge(const CompactionEvent&) {}
Status Observer::BeforeCompact(std::string_view) { return {}; }
Status Observer::BeforeSplit(std::string_view, const SplitOptions&) { return {}; }
Status Observer::BeforeMergeRegions(std::string_view, const RegionMergeOptions&) { return {}; }
void Observer::AfterSplit(const RegionSplitEvent&) {}
void Observer::AfterMergeRegions(const RegionMergeEvent&) {}

}  // namespace tandem

namespace tandem::engine {

thread_local const HookScope* HookScope::innermost_ = nullptr;

bool HookScope::IsInside(const void* database) {
  for (const HookScope* scope = innermost_; scope != nullptr; scope = scope->outer_) {
    if (scope->database_ == database) return true;
  }
  return false;
}

Status FailedInHook(std::string_view observer, std::string_view hook, const Status& status) {
  return {status.code(), "observer " + base::Quote(observer) + " in " + std::string(hook) + ": " +
                             std::string(status.message())};
}

Status ThrownInHook(std::string_view observer, std::string_view hook, std::string_view what) {
  return Status::Cancelled("observer " + base::Quote(observer) + " threw in " + std::string(hook) +
                           ": " + std::string(what));
}

Status ForkedInHook(std::string_view observer, std::string_view hook) {
  return Status::Busy("observer " + base::Quote(observer) + " forked in " + std::string(hook) +
                      ", and this is the child: the database is open in its parent");
}

Observers::Observers(const void* database, const ObserverMap& by_name,
                     const std::shared_ptr<const base::ForkMark>& fork_mark)
    : database_(database),
      all_(by_name.empty() ? nullptr
                           : std::make_shared<const RegisteredObservers>(
                                 RegisteredObservers{by_name, fork_mark})) {}

Status Observers::CheckOutsideHooks() const {
  if (!IsInHook()) return {};
  return Status::InvalidArgument(
      "an observer calls this in a hook, where it may only read; what it wants to write goes into "
      "the batch (PendingWrite::Add)");
}

ObserverList Observers::Of(const format::TableRecord& table) const {
  if (empty()) return {};
  ObserverList list(database_, all_);
  for (const std::string& name : table.observers) {
    const auto found = all_->by_name.find(name);
    if (found != all_->by_name.end()) list.Add(*found);
  }
  return list;
}

Status Observers::CheckRegistered(const format::TableRecord& table) const {
  for (const std::string& name : table.observers) {
    if (!empty() && all_->by_name.contains(name)) continue;
    return Status::Unsupported(
        "table " + base::Quote(table.name) + " has the observer " + base::Quote(name) +
        ", which this program has not registered (Options::observers), so writes are refused; "
        "'tandem observers DB " +
        table.name + " --none' takes it off");
  }
  return {};
}

}  // namespace tandem::engine
