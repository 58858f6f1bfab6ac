// The merge itself is in compaction/merge; this file does what comes before and after it.
#include "engine/jobs/compactor.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/heap_return.h"
#include "base/passing.h"
#include "base/status_macros.h"
#include "compaction/merge.h"
#include "store_file/indexed_copy.h"

namespace tandem::engine {
namespace {

// The merge did not fail: it was cancelled, or the database turned read-only.
bool WasEnded(const Status& status) {
  return status.code() == StatusCode::kCancelled || status.code() == StatusCode::kReadOnly;
}

// Whether the file was written with every index of the table. One of them may have no section even
// so (format::IsHiddenFrom).
bool IsIndexedAs(const format::StoreFile& file, const format::TableRecord& table) {
  return std::ranges::none_of(table.indexes, [&file](const format::IndexRecord& index) {
    return format::NeedsCopyFor(file, index);
  });
}

// Whether it has cells of a family that was dropped after it was written.
bool HasDropped(const format::StoreFile& file, const format::TableRecord& table) {
  return std::any_of(table.families.begin(), table.families.end(), [&](const auto& family) {
    if (!family.dropped) return false;
    const format::FamilyRecord* written = file.table().FindFamily(family.id);
    return written != nullptr && !written->dropped &&
           std::ranges::find(file.families(), family.id) != file.families().end();
  });
}

bool IsAsTheTable(const format::StoreFile& file, const format::TableRecord& table) {
  return IsIndexedAs(file, table) && !HasDropped(file, table);
}

// Otherwise the heap that flushes freed would add to what a merge takes. Small merges take little,
// and trimming walks through the heap of the whole program.
void ReturnHeapBeforeMerging(uint64_t input_bytes) {
  constexpr uint64_t kSmall = 4 << 20;
  if (input_bytes > kSmall) base::ReturnFreeHeap();
}

bool IsPart(const FileSlice& slice) {
  return slice.low > 0 || slice.high < slice.file->store().row_count();
}

// Counts the files of a run against the space that was claimed for them.
class ClaimedRun final : public compaction::MergeOutput {
 public:
  ClaimedRun(RunWriter* run, MergeSpace::Claim* space) : run_(*run), space_(*space) {
    space_.BeginAgain();
  }
  Result<format::StoreFileWriter*> NextFile() override { return run_.NextFile(); }
  Status Finished(const format::StoreFileSummary& summary) override {
    RETURN_IF_ERROR(run_.Finished(summary));
    space_.Wrote(summary.size_bytes);
    return {};
  }

 private:
  RunWriter& run_;
  MergeSpace::Claim& space_;
};

}  // namespace

bool Compactor::IsDue(const Region& region) const {
  {
    base::MutexLock lock(mutex_);
    if (given_up_.contains(region.id())) return false;
  }
  const std::shared_ptr<const RegionVersion> version = region.version();
  const RegionRuns runs = RunsOf(*version);
  const size_t busy = running_.BusyRuns(*version, runs);
  return compaction::PickMerge(runs.described, policy_, busy).has_value();
}

RegionJobLock Compactor::Pause(Region& region) {
  running_.CallersWait(region, +1);
  struct EndOfWait {
    RunningMerges* running;
    Region& region;
    ~EndOfWait() { running->CallersWait(region, -1); }
  } end{&running_, region};
  return RegionJobLock(region, Region::Work::kCompaction);
}

Status Compactor::Compact(Region& region) {
  const RegionJobLock turn = Pause(region);
  bool is_refused = false;
  const Status status = Guarded([&] { return CompactLocked(region, &is_refused); });
  if (!is_refused) RecordOutcome(region, status);
  return status;
}

Status Compactor::CompactIfDue(Region& region, const std::function<void()>& merged) {
  const RunningMerges::Number offers = running_.offers();
  while (IsDue(region)) {
    if (!region.TryBegin(Region::Work::kCompaction)) {
      return Status::Busy(region.Describe() + " is being compacted");
    }
    bool is_refused = false;
    const Status status = Guarded([&] { return CompactDueLocked(region, &is_refused); });
    region.End(Region::Work::kCompaction);
    if (is_refused) {
      region.SetMergesFail(false);  // It did not begin.
      return status;
    }
    if (!status.ok()) return StopRetryingUnlessTransient(region, status);
    RecordOutcome(region, status);
    merged();
  }
  region.SetLacksSpace(Region::Rewriting::kDueMerge, false);
  running_.Withdraw(region, offers);
  return {};
}

// Where there is no room for the merge that is due, a smaller one takes less, and may free some.
// `*is_refused`: there is room for none.
Status Compactor::CompactDueLocked(Region& region, bool* is_refused) {
  std::optional<Inputs> inputs = Pick(region, policy_);
  if (!inputs.has_value()) return {};  // It was done before the turn came.
  Result<Claim> space = ClaimFor(region, Region::Rewriting::kDueMerge, BytesOf(inputs->slices()));
  if (!space.has_value()) {
    compaction::MergePolicy policy = policy_;
    policy.bytes_max = space_.Room();
    inputs = Pick(region, policy);
    if (inputs.has_value()) space = space_.Take(BytesOf(inputs->slices()));
    *is_refused = !space.has_value();
    if (*is_refused) return space.error();
  }
  inputs->space = *std::move(space);
  return CompactInputs(region, *std::move(inputs), MergeKind::kDue);
}

// For work in the background. That it has to wait is told once, until the same gets its room.
Result<Compactor::Claim> Compactor::ClaimFor(Region& region, Region::Rewriting why,
                                             uint64_t bytes) {
  Result<Claim> space = space_.Take(bytes);
  const bool is_refused = !space.has_value();
  const bool was_refused = region.SetLacksSpace(why, is_refused);
  if (!is_refused || was_refused) return space;
  work_.monitor->CountPostponed();
  work_.health->Log("merging files of " + region.Describe() +
                    " waits for disk space: " + std::string(space.error().message()));
  return space;
}

// Records whether the region's merges fail: if they do, writers do not wait for them.
void Compactor::RecordOutcome(Region& region, const Status& status) {
  if (!WasEnded(status)) region.SetMergesFail(!status.ok());
}

// Returns `status`, a failure.
Status Compactor::StopRetryingUnlessTransient(Region& region, const Status& status) {
  RecordOutcome(region, status);
  if (WasEnded(status) || base::MayPass(status)) return status;
  base::MutexLock lock(mutex_);
  given_up_.insert(region.id());
  return status;
}

Status Compactor::FinishSmallMerges(const std::vector<std::shared_ptr<Region>>& regions) {
  running_.Close(kCloseBytes);
  uint64_t budget = kCloseBytes;
  Status first_error;
  for (const auto& region : regions) {
    RegionJobLock turn(*region, Region::Work::kCompaction);
    const Status status = Guarded([&] { return FinishLocked(*region, &budget); });
    if (first_error.ok()) first_error = status;
  }
  return first_error;
}

// Runs due merges of the region whose inputs fit in `*budget`, and deducts them from it.
Status Compactor::FinishLocked(Region& region, uint64_t* budget) {
  compaction::MergePolicy policy = policy_;
  policy.bytes_max = *budget;
  while (IsDue(region)) {
    std::optional<Inputs> inputs = Pick(region, policy);
    if (!inputs.has_value()) break;
    const uint64_t bytes = BytesOf(inputs->slices());
    Result<Claim> space = space_.Take(bytes);
    if (!space.has_value()) break;  // A close needs no merge.
    inputs->space = *std::move(space);
    RETURN_IF_ERROR(CompactInputs(region, *std::move(inputs), MergeKind::kDue));
    *budget -= bytes;
    policy.bytes_max = *budget;
  }
  return {};
}

std::optional<Compactor::Inputs> Compactor::Pick(const Region& region,
                                                 const compaction::MergePolicy& policy) const {
  Inputs inputs{.version = WithoutMemstores(*region.version())};
  const RegionRuns runs = RunsOf(inputs.version);
  const size_t busy = running_.BusyRuns(inputs.version, runs);
  const auto picked = compaction::PickMerge(runs.described, policy, busy);
  if (!picked.has_value()) return std::nullopt;
  const compaction::RunRange range = WidenedToWhole(inputs.version, runs, *picked);
  if (range.first < busy) return std::nullopt;
  inputs.Take(runs, range);
  if (BytesOf(inputs.slices()) > policy.bytes_max) return std::nullopt;
  return inputs;
}

// `*is_refused`: the disk had no room for a step.
Status Compactor::CompactLocked(Region& region, bool* is_refused) {
  RETURN_IF_ERROR(DropExpiredLocked(region));  // They need not be read.
  const compaction::MergePolicy policy{.runs_max = compaction::kMergeRunsMax};
  const auto compact = [&](Inputs inputs) -> Status {
    Result<Claim> space = space_.Take(BytesOf(inputs.slices()));
    *is_refused = !space.has_value();
    if (*is_refused) return space.error();
    inputs.space = *std::move(space);
    return CompactInputs(region, std::move(inputs), MergeKind::kByHand);
  };
  while (RunCount(*region.version()) > compaction::kMergeRunsMax) {
    std::optional<Inputs> inputs = Pick(region, policy);
    if (!inputs.has_value()) break;
    RETURN_IF_ERROR(compact(*std::move(inputs)));
  }
  Inputs all{.version = WithoutMemstores(*region.version())};
  all.end = all.version.files.size();
  return compact(std::move(all));
}

// The last to hold the inputs, if its caller does not.
Status Compactor::CompactInputs(Region& region, Inputs inputs, MergeKind kind,
                                RunningMerge* within) {
  RETURN_IF_ERROR(work_.health->CheckWritable());
  if (inputs.slices().empty()) return {};
  RunningMerge running(&running_, region,
                       {.kind = kind,
                        .input_bytes = BytesOf(inputs.slices()),
                        .newest = inputs.slices().back().file.get(),
                        .within = within});
  // Later EndMergesOf finds the merge.
  if (region.is_retired()) return Status::Cancelled(region.Describe() + " is gone");
  ReturnHeapBeforeMerging(BytesOf(inputs.slices()));
  const std::shared_ptr<const format::TableRecord> table = region.table();  // It may be replaced.
  CompactionEvent event{.table = table->name, .region_id = region.id().value};
  uint64_t broken = 0;
  for (const FileSlice& slice : inputs.slices()) {
    event.input_files += 1;
    event.input_rows += slice.high - slice.low;
  }
  event.input_bytes = BytesOf(inputs.slices());
  RETURN_IF_ERROR(work_.monitor->RunCompaction(&event, [&](JobProgress* progress) -> Status {
    const MergeControl control{.running = &running, .progress = progress};
    WrittenRun written;
    bool is_outdated = true;
    while (is_outdated) {
      const Record record = region.table();
      written = {};  // What is retired goes before the same is written again.
      ASSIGN_OR_RETURN(written, MergeSkippingBrokenSections(region, inputs, record, control));
      RETURN_IF_ERROR(InstallOrRetire(region, inputs, written.files, *record, &is_outdated));
    }
    for (const FileSlice& slice : inputs.slices()) {
      broken += slice.file->store().has_broken_section();
    }
    const RunSize size = SizeOf(written.files);
    event.files = size.files;
    event.rows = size.rows;
    event.bytes = size.bytes;
    event.cells = written.cells;
    return {};
  }));
  work_.monitor->CountRewritten(broken);
  inputs = {};
  // What the merge decoded of the inputs, and what was kept of them.
  work_.files->cache()->Freed(event.input_bytes);
  return {};
}

// Called by a merge on its way, with the bytes that it has read. One smaller merge at a time, so
// that each thing that ends or awaits this one is seen in between.
void Compactor::GiveWay(RunningMerge* merge, uint64_t read_bytes) {
  while (merge->GivesWay(read_bytes) && !merge->is_ended() && !running_.is_closing()) {
    const std::shared_ptr<Region> region = running_.NextOffer(merge);
    if (region == nullptr) return;
    const Status status = Guarded([&] { return MergeWithin(merge, *region); });
    // What fails here is due still, and its own task sees to it.
    if (!status.ok() && !WasEnded(status) && status.code() != StatusCode::kNoSpace) merge->GoOn();
  }
}

// Merges of the region that are small enough, if one is due and its turn is free.
Status Compactor::MergeWithin(RunningMerge* merge, Region& region) {
  const RunningMerges::Number offers = running_.offers();
  if (!IsDue(region)) {
    running_.Withdraw(region, offers);
    return {};
  }
  compaction::MergePolicy policy = policy_;
  policy.bytes_max = std::min(merge->given_bytes_max(), space_.Room());
  if (!Pick(region, policy).has_value()) return {};
  const bool has_turn = merge->HasTurnOf(region);
  if (!has_turn && !region.TryBegin(Region::Work::kCompaction)) return {};
  const Result<uint64_t> merged = Guarded([&] { return CompactWithin(merge, region, policy); });
  if (!has_turn) region.End(Region::Work::kCompaction);
  if (merged.has_value() && *merged > 0) {
    merge->Gave(*merged);
    merged_between_(region);
  } else {
    region.tasks().merge.Schedule();  // It may have found the turn taken.
  }
  return merged.status();
}

// Returns the bytes of what was merged; 0: nothing that the policy allows was due any more.
Result<uint64_t> Compactor::CompactWithin(RunningMerge* merge, Region& region,
                                          const compaction::MergePolicy& policy) {
  std::optional<Inputs> inputs = Pick(region, policy);
  if (!inputs.has_value()) return 0;
  const uint64_t bytes = BytesOf(inputs->slices());
  ASSIGN_OR_RETURN(inputs->space, space_.Take(bytes));
  RETURN_IF_ERROR(CompactInputs(region, *std::move(inputs), MergeKind::kDue, merge));
  RecordOutcome(region, Status());
  return bytes;
}

std::optional<int64_t> Compactor::ExpiresIn(const Region& region) const {
  // A snapshot of the past may keep what has expired. It is looked at again, at moderate cost.
  constexpr int64_t kLeastMicros = 10'000'000, kMostMicros = 3'600'000'000;
  const Expiry expiry = FindExpired(region);
  if (!expiry.files.empty()) return 0;
  if (!expiry.next_micros.has_value()) return std::nullopt;
  int64_t left = 0;
  const int64_t now_micros = work_.snapshots->TakeRetentionPoint().now_micros;
  if (__builtin_sub_overflow(*expiry.next_micros, now_micros, &left)) return kMostMicros;
  return std::clamp(left, kLeastMicros, kMostMicros);
}

Expiry Compactor::FindExpired(const Region& region) const {
  const std::shared_ptr<const format::TableRecord> table = region.table();
  return ExpiryOf(*region.version(), *table, work_.snapshots->TakeRetentionPoint().now_micros);
}

Status Compactor::DropExpired(Region& region, const std::function<void()>& dropped) {
  if (FindExpired(region).files.empty()) return {};
  if (!region.TryBegin(Region::Work::kCompaction)) {
    return Status::Busy(region.Describe() + " is being compacted");
  }
  const Status status = Guarded([&] { return DropExpiredLocked(region); });
  region.End(Region::Work::kCompaction);
  if (status.ok()) dropped();
  return status;
}

// The listener hears of a merge that leaves nothing.
Status Compactor::DropExpiredLocked(Region& region) {
  RETURN_IF_ERROR(work_.health->CheckWritable());
  std::vector<FileSlice> gone = FilesAt(*region.version(), FindExpired(region).files);
  if (gone.empty()) return {};
  const std::shared_ptr<const format::TableRecord> table = region.table();
  CompactionEvent event{.table = table->name, .region_id = region.id().value};
  const auto count = [&] {
    event.input_files = gone.size();
    event.input_bytes = BytesOf(gone);
    event.input_rows = 0;
    event.cells = {};
    for (const FileSlice& slice : gone) {
      const format::FileStatistics& statistics = slice.file->store().statistics();
      const uint64_t cells = ShareOf(slice, statistics.cells);
      const uint64_t markers = std::min(cells, ShareOf(slice, statistics.deletes));
      event.input_rows += slice.high - slice.low;
      event.cells.in += cells;
      event.cells.dropped.delete_markers += markers;
      event.cells.dropped.expired += cells - markers;
    }
  };
  count();
  return work_.monitor->RunCompaction(&event, [&](JobProgress*) -> Status {
    RETURN_IF_ERROR(LetGo(region, &gone));
    count();
    work_.files->cache()->Freed(event.input_bytes);
    return {};
  });
}

// What has expired is decided within the edit, so that no change of the table's record comes in
// between: limits that go keep what had expired by then (docs/decisions/0038). `*gone`: those that
// went.
Status Compactor::LetGo(Region& region, std::vector<FileSlice>* gone) {
  std::vector<FileSlice> last;
  const auto remove = [gone](RegionVersion* version) {
    std::erase_if(version->files, [gone](const FileSlice& slice) {
      return std::ranges::any_of(*gone, [&](const auto& one) { return one.file == slice.file; });
    });
  };
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog& catalog, format::CatalogEdit* edit) {
    const auto table = catalog.tables.find(region.table_id());
    if (region.is_retired() || table == catalog.tables.end()) {
      return Status::Cancelled(region.Describe() + " is gone");
    }
    RegionVersion after = *region.version();
    const int64_t now_micros = work_.snapshots->TakeRetentionPoint().now_micros;
    *gone = FilesAt(after, ExpiryOf(after, table->second, now_micros).files);
    if (gone->empty()) return Status();
    remove(&after);
    edit->put_regions.push_back(RecordOf(region, after, region.flushed_through()));
    last = LastReferences(catalog, region, *gone);
    for (const FileSlice& slice : last) {
      edit->remove_files.push_back(slice.file->store().number());
    }
    return Status();
  };
  change.publish = [&] {
    region.Update(remove);
    ReferencesWent(*gone, last);
  };
  return work_.editor->Commit(change);
}

Status Compactor::RewriteBroken(Region& region) {
  if (!HasBroken(region)) {
    region.SetLacksSpace(Region::Rewriting::kRepair, false);
    return {};
  }
  if (!region.TryBegin(Region::Work::kCompaction)) {
    return Status::Busy(region.Describe() + " is being compacted");
  }
  const Status status = Guarded([&] { return RewriteLocked(region); });
  region.End(Region::Work::kCompaction);
  return status;
}

// A merge that comes due in between rewrites some of them.
Status Compactor::RewriteLocked(Region& region) {
  bool is_first = true;
  while (const std::optional<FileSlice> slice = FindBroken(region)) {
    if (!is_first && IsDue(region)) return {};
    is_first = false;
    RETURN_IF_ERROR(Rewrite(region, *slice));
  }
  region.SetLacksSpace(Region::Rewriting::kRepair, false);
  return {};
}

// A file that cannot be copied with its new indexes is rewritten from its rows, as a broken one is.
Status Compactor::Rewrite(Region& region, const FileSlice& slice) {
  if (!GetsIndexes(slice.file->store(), *region.table())) return RewriteRun(region, slice);
  const Status status = AddIndexes(region, slice);
  const bool needs_merge = status.code() == StatusCode::kCorruption ||
                           status.code() == StatusCode::kUnsupported ||
                           status.code() == StatusCode::kOverBudget;
  // After another error this region tries again later, and no other one.
  if (IsPart(slice) && (status.ok() || needs_merge)) {
    shared_changed_.store(true, std::memory_order_relaxed);
  }
  if (!needs_merge) return status;
  {
    base::MutexLock lock(mutex_);
    not_copied_.insert(slice.file->store().number());
  }
  return RewriteRun(region, slice);
}

Status Compactor::AddIndexes(Region& region, const FileSlice& slice) {
  RETURN_IF_ERROR(work_.health->CheckWritable());
  const format::StoreFile& store = slice.file->store();
  ASSIGN_OR_RETURN(const Claim space,
                   ClaimFor(region, Region::Rewriting::kRepair, store.size_bytes()));
  RunningMerge running(
      &running_, region,
      {.kind = MergeKind::kRepair, .input_bytes = store.size_bytes(), .newest = slice.file.get()});
  if (region.is_retired()) return Status::Cancelled(region.Describe() + " is gone");
  ReturnHeapBeforeMerging(store.size_bytes());
  const std::shared_ptr<const format::TableRecord> table = region.table();
  CompactionEvent event{.table = table->name, .region_id = region.id().value};
  event.input_files = event.files = 1;
  event.input_rows = event.rows = store.row_count();
  event.input_bytes = store.size_bytes();
  event.cells.in = event.cells.out = store.statistics().cells;
  const Status status = work_.monitor->RunCompaction(&event, [&](JobProgress* progress) -> Status {
    const auto give_way = [&] { GiveWay(&running, *progress); };
    ASSIGN_OR_RETURN(event.bytes,
                     builder_->AddIndexes(region, slice, running.end(), progress, give_way));
    return {};
  });
  work_.files->cache()->Freed(event.input_bytes);
  return status;
}

Status Compactor::RewriteRun(Region& region, const FileSlice& slice) {
  std::optional<Inputs> inputs = RunWith(region, slice);
  if (!inputs.has_value()) return {};
  const uint64_t bytes = BytesOf(inputs->slices());
  ASSIGN_OR_RETURN(inputs->space, ClaimFor(region, Region::Rewriting::kRepair, bytes));
  const int64_t began_micros = work_.monitor->NowMicros();
  const Status status = CompactInputs(region, *inputs, MergeKind::kRepair);
  if (status.ok()) {
    const int64_t micros = work_.monitor->NowMicros() - began_micros;
    builder_->CountRewritten(bytes, static_cast<uint64_t>(micros));
  }
  if (status.code() == StatusCode::kCorruption || status.code() == StatusCode::kUnsupported) {
    base::MutexLock lock(mutex_);
    for (const FileSlice& input : inputs->slices()) {
      not_rewritten_.insert(input.file->store().number());
    }
  }
  return status;
}

// Whether the file is older than an index and nothing else is wrong with it.
bool Compactor::GetsIndexes(const format::StoreFile& file, const format::TableRecord& table) const {
  {
    base::MutexLock lock(mutex_);
    if (not_copied_.contains(file.number())) return false;
  }
  return !file.has_broken_section() && !HasDropped(file, table) &&
         format::CanCopyWithIndexes(file, table);
}

// Whether it is this region that has to rewrite the file, if it has to be.
bool Compactor::IsRewrittenHere(const Region& region, const FileSlice& slice,
                                const format::TableRecord& table) const {
  const format::StoreFile& store = slice.file->store();
  {
    base::MutexLock lock(mutex_);
    if (not_rewritten_.contains(store.number())) return false;
  }
  return !IsPart(slice) || !GetsIndexes(store, table) || builder_->IsFirstWith(region, store);
}

// The oldest file to rewrite, unless that has failed for good.
std::optional<FileSlice> Compactor::FindBroken(const Region& region) {
  const std::shared_ptr<const format::TableRecord> table = region.table();
  const std::shared_ptr<const RegionVersion> version = region.version();
  for (const FileSlice& slice : version->files) {
    const format::StoreFile& store = slice.file->store();
    if (!store.has_broken_section() && IsAsTheTable(store, *table)) continue;
    if (IsRewrittenHere(region, slice, *table)) return slice;
  }
  return std::nullopt;
}

// The run of a file, with those that have to be merged with it; nullopt: the file is gone.
std::optional<Compactor::Inputs> Compactor::RunWith(const Region& region, const FileSlice& slice) {
  Inputs inputs{.version = WithoutMemstores(*region.version())};
  const RegionRuns runs = RunsOf(inputs.version);
  for (size_t run = 0; run < runs.described.size(); ++run) {
    const auto files = std::span(inputs.version.files)
                           .subspan(runs.firsts[run], runs.firsts[run + 1] - runs.firsts[run]);
    if (!std::ranges::any_of(files, [&](const auto& other) { return other.file == slice.file; })) {
      continue;
    }
    inputs.Take(runs, WidenedToWhole(inputs.version, runs, {run, run + 1}));
    return inputs;
  }
  return std::nullopt;
}

// A merge that others wait for does not wait itself. One that is to end does so at once.
Result<bool> Compactor::IsPaced(const RunningMerge& running) const {
  if (running.is_ended()) {
    return Status::Cancelled("a merge that waited for its turn was asked to stop");
  }
  return !running.IsAwaited() && !running_.is_closing();
}

// An index section that the merge finds broken is rebuilt from the rows.
Result<WrittenRun> Compactor::MergeSkippingBrokenSections(const Region& region,
                                                          const Inputs& inputs, const Record& table,
                                                          const MergeControl& control) {
  Result<WrittenRun> written = Merge(region, inputs, table, control);
  if (written.has_value() || written.error().code() != StatusCode::kCorruption) return written;
  bool any = false;
  for (const FileSlice& slice : inputs.slices()) {
    ASSIGN_OR_RETURN(const bool broken, slice.file->store().FindBrokenIndexes());
    any |= broken;
  }
  return any ? Merge(region, inputs, table, control) : written;
}

// The files older than the inputs whose key ranges overlap theirs.
std::vector<format::StoreFile*> Compactor::OlderSharingKeys(const Inputs& inputs) {
  std::vector<format::StoreFile*> found;
  for (size_t i = 0; i < inputs.first; ++i) {
    format::StoreFile& older = inputs.version.files[i].file->store();
    const auto shares_keys = [&older](const FileSlice& slice) {
      const format::FileStatistics& one = older.statistics();
      const format::FileStatistics& other = slice.file->store().statistics();
      return one.min_key <= other.max_key && other.min_key <= one.max_key;
    };
    const auto slices = inputs.slices();
    if (std::any_of(slices.begin(), slices.end(), shares_keys)) found.push_back(&older);
  }
  return found;
}

// The last change of limits that is before everything in files from `end` on. (What is in memstores
// is after all.) 0: there is none.
format::SequenceNumber Compactor::LastLimitsBefore(const RegionVersion& version, size_t end,
                                                   const format::TableRecord& table) {
  format::SequenceNumber newer = format::kSequenceMax;
  end = std::min(end, version.files.size());  // Its table may have been dropped.
  for (const FileSlice& slice : std::span(version.files).subspan(end)) {
    newer = std::min(newer, slice.file->store().statistics().min_sequence);
  }
  format::SequenceNumber last;
  for (const format::FamilyRecord& family : table.families) {
    for (const format::FormerLimits& limits : family.former_limits) {
      if (limits.changed_at < newer) last = std::max(last, limits.changed_at);
    }
  }
  return last;
}

Result<WrittenRun> Compactor::Merge(const Region& region, const Inputs& inputs, const Record& table,
                                    const MergeControl& control) {
  std::vector<compaction::MergeInput> merged;
  for (const FileSlice& slice : inputs.slices()) {
    merged.push_back({.file = &slice.file->store(), .low = slice.low, .high = slice.high});
  }
  compaction::MergeOptions options;
  options.table = table;
  // After the record: a snapshot that is registered later is not older than a change in it.
  const SnapshotRegistry::RetentionPoint point = work_.snapshots->TakeRetentionPoint();
  options.limits_settled_at = LastLimitsBefore(*region.version(), inputs.end, *table);
  options.snapshots = point.snapshots;
  options.now_micros = point.now_micros;
  RunningMerge* const running = control.running;
  options.cancelled = &running->end();
  options.read_bytes = control.progress;
  MergePace::Passed passed;
  options.passed = [&](uint64_t read_bytes) -> Status {
    RETURN_IF_ERROR(pace_->Pass(
        read_bytes, [&] { return IsPaced(*running); }, &passed));
    GiveWay(running, read_bytes);
    return {};
  };
  options.spares_page_cache = true;
  // A file being written takes some bytes for each of its rows.
  options.limits = work_.limits;
  const uint64_t file_rows = std::max<uint64_t>(running->PartOf(work_.limits.rows), 1);
  options.limits.rows = static_cast<uint32_t>(file_rows);
  options.window_bytes = running->PartOf(work_.merge_window_bytes);
  options.entry_bytes = running->PartOf(work_.merge_entry_bytes);
  const std::vector<format::StoreFile*> older = OlderSharingKeys(inputs);
  if (inputs.first > 0) {
    options.older_may_contain = [&older](uint64_t row_hash) -> Result<bool> {
      for (format::StoreFile* file : older) {
        ASSIGN_OR_RETURN(const bool may_contain, file->MayContain(row_hash));
        if (may_contain) return true;
      }
      return false;
    };
  }
  RunWriter run(work_, region);
  run.ExpectBytes(BytesOf(inputs.slices()));
  ClaimedRun output(&run, inputs.space.get());
  ASSIGN_OR_RETURN(const compaction::MergeResult result,
                   compaction::MergeFiles(merged, options, &output));
  return WrittenRun{.files = run.Take(), .cells = result.cells};
}

// Deletes the outputs of a merge that could not be installed. If a crash could still bring them in,
// they are deleted once it no longer can (Storage::DeleteFile).
// `*is_outdated`: limits of `table` were changed since, so that other cells have to be kept.
Status Compactor::InstallOrRetire(Region& region, const Inputs& inputs, const FinishedRun& files,
                                  const format::TableRecord& table, bool* is_outdated) {
  *is_outdated = false;
  const Status installed =
      Guarded([&] { return Install(region, inputs, files, table, is_outdated); });
  if (installed.ok()) return installed;
  for (const FinishedFile& file : files) StoreFiles::Retire(*file.file);
  return *is_outdated ? Status() : installed;
}

// Those of the region's files that no other region, as one with a part of the same file may, and no
// named snapshot refers to.
std::vector<FileSlice> Compactor::LastReferences(const format::Catalog& catalog,
                                                 const Region& region,
                                                 std::span<const FileSlice> slices) {
  std::set<format::FileNumber> elsewhere;
  if (std::any_of(slices.begin(), slices.end(), IsPart)) {
    for (const auto& [id, record] : catalog.regions) {
      if (id == region.id()) continue;
      for (const format::FileReference& reference : record.files) elsewhere.insert(reference.file);
    }
  }
  std::vector<FileSlice> last;
  for (const FileSlice& slice : slices) {
    const format::FileNumber number = slice.file->store().number();
    if (elsewhere.contains(number) || catalog.snapshot_files.contains(number)) continue;
    last.push_back(slice);
  }
  return last;
}

// The region no longer refers to `slices`, and nothing does to those that are in `last`.
void Compactor::ReferencesWent(std::span<const FileSlice> slices, std::span<const FileSlice> last) {
  for (const FileSlice& slice : last) StoreFiles::Retire(*slice.file);
  // A file that another region shares may have got its indexes by this one.
  if (std::any_of(slices.begin(), slices.end(), IsPart)) {
    shared_changed_.store(true, std::memory_order_relaxed);
  }
}

Status Compactor::Install(Region& region, const Inputs& inputs, const FinishedRun& files,
                          const format::TableRecord& table, bool* is_outdated) {
  std::vector<FileSlice> removed;
  const auto replace_inputs = [&](RegionVersion* version) {
    const auto first = version->files.begin() + static_cast<ptrdiff_t>(inputs.first);
    version->files.erase(first, first + static_cast<ptrdiff_t>(inputs.end - inputs.first));
    InsertRun(files, work_.join_bytes, inputs.first, version);
  };
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog& catalog, format::CatalogEdit* edit) {
    if (region.is_retired()) return Status::Cancelled(region.Describe() + " is gone");
    *is_outdated = !format::HaveSameFormerLimits(table, *region.table());
    if (*is_outdated) return Status::Cancelled("limits of " + region.Describe() + " were changed");
    RegionVersion after = *region.version();
    replace_inputs(&after);
    AddFiles(files, edit);
    edit->put_regions.push_back(RecordOf(region, after, region.flushed_through()));
    removed = LastReferences(catalog, region, inputs.slices());
    for (const FileSlice& slice : removed) {
      edit->remove_files.push_back(slice.file->store().number());
    }
    return Status();
  };
  change.publish = [&] {
    region.Update(replace_inputs);
    ReferencesWent(inputs.slices(), removed);
  };
  return work_.editor->Commit(change);
}

}  // namespace tandem::engine
