// The leader only switches and schedules; files are written by tasks. Where a function throws for
// want of memory, its tasks are scheduled already, or its caller schedules them.
#include "engine/maintenance.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/guarded.h"
#include "base/passing.h"
#include "base/status_macros.h"
#include "engine/region/size_rules.h"
#include "tandem/limits.h"
#include "wal/log.h"

namespace tandem::engine {
namespace {

constexpr int64_t kRetryMicros = 1'000'000;
// A merge reads and writes more than a flush before it fails again, and nobody waits for it.
constexpr int64_t kMergeAgainMicros = 10'000'000;
// The log is checked after every 1 / kLookFraction of a memstore that was logged, the write
// throttle after the memstores grew by 1 / kLookFraction of their budget.
constexpr uint64_t kLookFraction = 16;

// Whether work other than a flush is scheduled again after `status`. When the disk is full, that
// would only take space from others; the next flush sees to it.
bool IsTriedAgain(const Status& status) {
  return base::MayPass(status) && status.code() != StatusCode::kNoSpace;
}

}  // namespace

bool IsFull(const Memstore& memstore, uint64_t memstore_bytes) {
  return IsMemstoreFull(memstore.size_bytes(), memstore_bytes);
}

Maintenance::Maintenance(const Dependencies& dependencies)
    : deps_(dependencies),
      roll_(deps_.jobs, base::Priority::kHigh, [this] { RollInBackground(); }),
      extend_(deps_.jobs, base::Priority::kHigh, [this] { deps_.log->Extend(); }),
      drop_(deps_.jobs, base::Priority::kHigh, [this] { DropInBackground(); }),
      rewrites_(deps_.jobs, base::Priority::kLow, [this] { RewriteInBackground(); }),
      flush_(deps_.jobs, base::Priority::kHigh, [this] { FlushSmallOnes(); }),
      reclaim_(deps_.jobs, base::Priority::kHigh, [this] { deps_.cache->Shrink(); }) {
  for (const auto& region : deps_.regions->regions()) MakeTasks(region.get());
}

void Maintenance::Prepare(const Table& table) {
  for (const auto& region : table.regions) MakeTasks(region.get());
}

// The region of a dropped table may be gone before its tasks have run.
void Maintenance::MakeTasks(Region* region) {
  const auto with_region = [this,
                            weak = region->weak_from_this()](void (Maintenance::*work)(Region*)) {
    return [this, weak, work] {
      if (const std::shared_ptr<Region> alive = weak.lock()) (this->*work)(alive.get());
    };
  };
  region->SetTasks(
      std::make_unique<RegionTasks>(deps_.jobs, with_region(&Maintenance::FlushInBackground),
                                    with_region(&Maintenance::MergeInBackground),
                                    with_region(&Maintenance::FindOverlapsInBackground),
                                    with_region(&Maintenance::ResizeInBackground)));
}

void Maintenance::Replaced(Region& region, std::span<const std::shared_ptr<Region>> parts) {
  CountGrowth(&region);
  for (const auto& part : parts) CountGrowth(part.get());
}

void Maintenance::Begin(Region& region) {
  ScheduleFlushIfWaiting(&region);
  ScheduleMerges(&region);
  ScheduleOverlaps(&region);
}

void Maintenance::Removed() {
  drop_.Schedule();
  deps_.gate->Update();
  SpaceWasFreed(nullptr);
}

void Maintenance::AfterGroup() {
  const GroupApplier::Applied applied = deps_.applier->TakeApplied();
  unchecked_bytes_ += applied.bytes;
  for (Region* region : applied.regions) CountGrowth(region);
  for (Region* region : applied.regions) {
    if (IsFull(*region->active(), deps_.tuning.memstore_bytes)) SwitchAndSchedule(region);
  }
  if (deps_.log->is_extension_due()) extend_.Schedule();
  RelieveMemory();
  // What finds no memory is done again after the next group.
  if (unchecked_bytes_ >= deps_.tuning.memstore_bytes / kLookFraction) {
    RelieveLog();
    unchecked_bytes_ = 0;
  }
  if (ungated_bytes_ < deps_.tuning.memstores_total_bytes / kLookFraction) return;
  if (deps_.cache->IsAboveBudget()) reclaim_.Schedule();
  deps_.gate->Update();
  ungated_bytes_ = 0;
}

void Maintenance::Start() {
  for (const auto& region : deps_.regions->regions()) CountGrowth(region.get());
  RelieveMemory();
  ungated_bytes_ = 0;
  deps_.gate->Update();
  for (const auto& region : deps_.regions->regions()) {
    ScheduleFlushIfWaiting(region.get());
    // Earlier sessions may have ended before their merges, or before files had a new index. Other
    // due merges wait for a flush: a session that only reads should not work more than it must.
    const bool is_behind = deps_.compactor->IsBehind(*region);
    if (is_behind || deps_.compactor->HasBroken(*region)) ScheduleMerges(region.get());
    ScheduleExpiry(region.get());
  }
}

void Maintenance::CountGrowth(Region* region) {
  const int64_t growth = region->TakeGrowth();
  active_bytes_ += static_cast<uint64_t>(growth);
  if (growth > 0) ungated_bytes_ += static_cast<uint64_t>(growth);
}

void Maintenance::SwitchAndSchedule(Region* region) {
  if (!region->SwitchMemstore()) return;
  region->tasks().flush.Schedule();
  CountGrowth(region);
  ungated_bytes_ = deps_.tuning.memstores_total_bytes;  // The throttle is updated after this group.
}

void Maintenance::RecordChanged(const Table& table) {
  for (const auto& region : table.regions) SwitchAndSchedule(region.get());
  ScheduleRewrites();
}

// Many small memstores can exceed the common budget though none is full: switches the largest.
void Maintenance::RelieveMemory() {
  const uint64_t limit = ActiveBytesMax(deps_.tuning.memstores_total_bytes);
  if (active_bytes_ <= limit) return;
  const auto regions = deps_.regions->regions();
  std::vector<uint64_t> sizes;
  for (const auto& region : regions) sizes.push_back(region->active()->size_bytes());
  LargestFirst largest(sizes);
  while (active_bytes_ > limit && !largest.empty()) {
    SwitchAndSchedule(regions[largest.Next()].get());
  }
}

uint64_t Maintenance::LogBytesMax() const {
  return engine::LogBytesMax(deps_.tuning.memstore_bytes);
}

void Maintenance::RelieveLog() {
  deps_.log->UpdateLogBytes();
  if (IsRollDue() && !rolling_log_.exchange(true, std::memory_order_relaxed)) roll_.Schedule();
  if (deps_.log->log_bytes() <= LogBytesMax()) return;
  if (relieving_log_.load(std::memory_order_relaxed)) return;
  // Only sealed segments can be dropped; the roll that seals one looks again.
  const std::optional<format::SequenceNumber> oldest = deps_.segments->OldestEnd();
  if (!oldest.has_value()) return;
  SwitchUpTo(*oldest);
  relieving_log_.store(true, std::memory_order_relaxed);
  drop_.Schedule();
}

// Also when one segment is most of a log that is too large, but never when it has no frames.
bool Maintenance::IsRollDue() const {
  const uint64_t segment_bytes = deps_.log->segment_bytes();
  const uint64_t log_bytes = deps_.log->log_bytes();
  if (segment_bytes <= wal::kSegmentHeaderBytes) return false;
  return segment_bytes > deps_.tuning.log_segment_bytes ||
         (log_bytes > LogBytesMax() && segment_bytes > log_bytes / 2);
}

void Maintenance::RollInBackground() {
  const Status status = Guarded([this] { return RollLog(); });
  rolling_log_.store(false, std::memory_order_relaxed);
  status.Ignore("a roll that is still due is scheduled again, or the database is read-only");
}

// The roll leads the commit queue, so most of the segment is synced and the next file created
// before, while others commit.
Status Maintenance::RollLog() {
  deps_.log->PrepareRoll().Ignore("the roll tries again");
  RETURN_IF_ERROR(deps_.queue->SyncThrough(deps_.queue->last_sequence()));
  return deps_.queue->RunAlone([this] {
    if (!IsRollDue()) return Status();
    RETURN_IF_ERROR(deps_.log->Roll());
    RelieveLog();
    return Status();
  });
}

// A segment is dropped as a whole, so all regions with operations in it are flushed together.
void Maintenance::SwitchUpTo(format::SequenceNumber last) {
  for (const auto& region : deps_.regions->regions()) {
    const Memstore& active = *region->active();
    if (!active.empty() && active.min_sequence() <= last) SwitchAndSchedule(region.get());
  }
}

// One memstore at a time, or one turn of small ones: a flush that runs within a build of overlaps
// ends, whatever writers do.
void Maintenance::FlushInBackground(Region* region) {
  if (deps_.flusher->IsGrouped(*region)) return FlushSmallOnes();
  const Result<size_t> flushed = Guarded([&] { return FlushUnlessBusy({&region, 1}); });
  if (base::MayPass(flushed.status())) region->tasks().flush.Schedule(kRetryMicros);
}

// A call while one is under way has that one look again. All small memstores that wait are found,
// so one retry is enough for all that failed.
void Maintenance::FlushSmallOnes() {
  if (small_flush_calls_.fetch_add(1, std::memory_order_acq_rel) > 0) return;
  const Result<bool> are_more = Guarded([&] { return FlushSmallTogether(); });
  const bool was_called = small_flush_calls_.exchange(0, std::memory_order_acq_rel) > 1;
  if (base::MayPass(are_more.status())) return flush_.Schedule(kRetryMicros);
  if (was_called || (are_more.has_value() && *are_more)) flush_.Schedule();
}

// Returns whether there are more that no other thread flushes. Those that one does flush look like
// more, until a turn finds no other.
Result<bool> Maintenance::FlushSmallTogether() {
  const auto regions = deps_.regions->regions();
  using Waiting = std::pair<format::SequenceNumber, Region*>;
  std::vector<Waiting> waiting;
  for (const auto& region : regions) {
    if (!deps_.flusher->IsGrouped(*region)) continue;
    waiting.emplace_back(region->oldest_unflushed(), region.get());
  }
  std::ranges::stable_sort(waiting, {}, &Waiting::first);
  std::vector<Region*> oldest_first;
  for (const auto& [oldest, region] : waiting) oldest_first.push_back(region);
  ASSIGN_OR_RETURN(const size_t flushed, FlushUnlessBusy(oldest_first));
  return flushed > 0 && flushed < waiting.size();
}

// Returns how many were flushed. Errors: the first one that may pass; nothing is scheduled for it.
Result<size_t> Maintenance::FlushUnlessBusy(std::span<Region* const> regions) {
  const Flusher::Outcomes outcomes = deps_.flusher->FlushUnlessBusy(regions);
  size_t flushed = 0;
  for (const Flusher::Outcome& outcome : outcomes) {
    if (!outcome.is_flushed) continue;
    ScheduleFlushIfWaiting(outcome.region);
    ++flushed;
  }
  AfterFlush(outcomes);
  Status first_error;
  bool any_failed = false;
  for (const Flusher::Outcome& outcome : outcomes) {
    if (outcome.status.ok()) continue;
    any_failed = true;
    FlushFailed(*outcome.region, outcome.status);
    if (first_error.ok() && base::MayPass(outcome.status)) first_error = outcome.status;
  }
  if (any_failed) deps_.gate->Update();
  RETURN_IF_ERROR(first_error);
  return flushed;
}

void Maintenance::FlushFailed(const Region& region, const Status& status) {
  if (base::MayPass(status)) return deps_.health->SetHindrance(status);
  std::string what = "flushing";
  Guarded([&] {
    what += " " + region.Describe();
    return Status();
  }).Ignore("the cause alone says what it is");
  deps_.health->TurnReadOnly(what, status);
}

// After a flush turn: the task of a memstore that was switched meanwhile found the turn taken.
void Maintenance::ScheduleFlushIfWaiting(Region* region) {
  if (region->waiting_memstores() > 0) region->tasks().flush.Schedule();
}

void Maintenance::AfterFlush(const Flusher::Outcomes& outcomes) {
  bool any = false;
  for (const Flusher::Outcome& outcome : outcomes) {
    if (!outcome.is_flushed) continue;
    if (!any) deps_.health->SetHindrance(Status());
    any = true;
    ScheduleMerges(outcome.region);
    ScheduleOverlaps(outcome.region);
  }
  if (!any) return;
  const Status dropped = Guarded([this] {
    deps_.gate->Update();
    return DropSegments();
  });
  // Old segments take space and do no harm.
  if (IsTriedAgain(dropped)) drop_.Schedule(kRetryMicros);
}

// Call it also when files may have been added while another thread had the region's turn: a due
// merge that is not scheduled would keep writers waiting.
void Maintenance::ScheduleMerges(Region* region) {
  ScheduleDueMerge(region);
  ScheduleExpiry(region);
  ScheduleResize(region);
}

void Maintenance::ScheduleDueMerge(Region* region) {
  bool is_due = true;
  Guarded([&] {
    is_due = deps_.compactor->IsDue(*region) || deps_.compactor->HasBroken(*region);
    return Status();
  }).Ignore("the task looks again");
  if (is_due) ScheduleMerge(region);
}

// Not a split: one that fails would be tried again at once.
void Maintenance::Resume(Region& region) noexcept {
  ScheduleFlushIfWaiting(&region);
  ScheduleDueMerge(&region);
}

void Maintenance::ScheduleMerge(Region* region) {
  region->tasks().merge.Schedule();
  Guarded([&] {
    deps_.compactor->Offer(*region);
    return Status();
  }).Ignore("it waits for the merges that run");
}

void Maintenance::MergedBetween(Region& region) {
  deps_.gate->Update();
  SpaceWasFreed(&region);
  ScheduleMerges(&region);
  ScheduleOverlaps(&region);
}

// Files expire also when nothing is written. What finds no memory is done after the next flush.
void Maintenance::ScheduleExpiry(Region* region) {
  std::optional<int64_t> delay_micros;
  Guarded([&] {
    delay_micros = deps_.compactor->ExpiresIn(*region);
    return Status();
  }).Ignore("files that have expired only take space");
  if (delay_micros.has_value()) region->tasks().merge.Schedule(*delay_micros);
}

// Files went: merges that lack space look again, except those of `by`, whose task does so anyway.
// (Files that a reader still has go later; the tasks look every ten seconds.)
void Maintenance::SpaceWasFreed(const Region* by) {
  for (const auto& region : deps_.regions->regions()) {
    if (region.get() != by && region->lacks_space()) ScheduleMerge(region.get());
  }
}

bool Maintenance::IsTooLarge(const Region& region) const {
  return IsRegionTooLarge(BytesOf(region.version()->files), deps_.tuning.region_bytes_max);
}

void Maintenance::ScheduleResize(Region* region) {
  bool is_due = IsTooLarge(*region);
  Guarded([&] {
    is_due = is_due || deps_.is_too_small(*region);
    return Status();
  }).Ignore("it is looked at again after the next flush or merge");
  if (is_due) region->tasks().resize.Schedule();
}

// A region that cannot be split or merged is tried again after its next flush or merge.
void Maintenance::ResizeInBackground(Region* region) {
  const bool splits = IsTooLarge(*region);
  const Status status =
      Guarded([&] { return splits ? deps_.split(*region) : deps_.merge_with_neighbour(*region); });
  if (status.ok() || status.code() == StatusCode::kInvalidArgument ||
      status.code() == StatusCode::kNotFound || status.code() == StatusCode::kCancelled) {
    return;
  }
  if (IsTriedAgain(status)) return region->tasks().resize.Schedule(kMergeAgainMicros);
  deps_.health->Log((splits ? "splitting " : "merging with a neighbour ") + region->Describe() +
                    " failed: " + status.ToString());
}

void Maintenance::MergeInBackground(Region* region) {
  if (!deps_.health->CheckWritable().ok()) return;
  const auto freed = [this, region] {
    deps_.gate->Update();
    SpaceWasFreed(region);
  };
  const Status dropped = Guarded([&] { return deps_.compactor->DropExpired(*region, freed); });
  const Status merged = Guarded([&] { return deps_.compactor->CompactIfDue(*region, freed); });
  const Status rewritten = Guarded([&] { return deps_.compactor->RewriteBroken(*region); });
  ExpiryEnded(region, dropped);
  MergeEnded(region, Region::Rewriting::kDueMerge, merged);
  MergeEnded(region, Region::Rewriting::kRepair, rewritten);
  if (dropped.ok() && merged.ok() && rewritten.ok()) ScheduleMerges(region);
  ScheduleOverlaps(region);
  if (deps_.compactor->TakeSharedChanged()) rewrites_.Schedule();
  deps_.gate->Update();
}

// After an error it is not tried again at once: files that stay do no harm.
void Maintenance::ExpiryEnded(Region* region, const Status& status) {
  if (status.ok()) return ScheduleExpiry(region);
  const bool is_busy = status.code() == StatusCode::kBusy;
  if (is_busy || base::MayPass(status)) region->tasks().merge.Schedule(kMergeAgainMicros);
  if (is_busy || status.code() == StatusCode::kCancelled) return;
  deps_.health->Log("dropping expired files of " + region->Describe() +
                    " failed: " + status.ToString());
}

// That a merge waits for space was told when it began to.
void Maintenance::MergeEnded(Region* region, Region::Rewriting why, const Status& status) {
  if (status.ok() || status.code() == StatusCode::kCancelled) return;
  const bool waits = status.code() == StatusCode::kBusy ||
                     (status.code() == StatusCode::kNoSpace && region->lacks_space(why));
  if (waits || IsTriedAgain(status)) region->tasks().merge.Schedule(kMergeAgainMicros);
  if (waits) return;
  const std::string what =
      why == Region::Rewriting::kDueMerge ? "compacting " : "rewriting a file of ";
  deps_.health->Log(what + region->Describe() + " failed: " + status.ToString());
}

void Maintenance::RewriteInBackground() {
  for (const auto& region : deps_.regions->regions()) {
    if (deps_.compactor->HasBroken(*region)) region->tasks().merge.Schedule();
    ScheduleExpiry(region.get());
    ScheduleOverlaps(region.get());
  }
}

void Maintenance::ScheduleOverlaps() {
  for (const auto& region : deps_.regions->regions()) ScheduleOverlaps(region.get());
}

void Maintenance::ScheduleOverlaps(Region* region) {
  const std::shared_ptr<const RegionVersion> version = region->version();
  if (version->files.size() < 2) return OverlapWorker::DropRecords(*version);
  region->tasks().overlaps.Schedule();
}

void Maintenance::FindOverlapsInBackground(Region* region) {
  const bool was_due = deps_.compactor->IsDue(*region);
  const Status status = Guarded([&] { return deps_.overlaps->BuildMissing(*region, deps_.jobs); });
  // They may say that much of the oldest run is replaced. What was due before is under way, or
  // waits.
  if (!was_due && deps_.compactor->IsDue(*region)) ScheduleMerge(region);
  if (status.ok() || status.code() == StatusCode::kCancelled) return;
  deps_.health->Log("finding the rows that files of " + region->Describe() +
                    " share failed: " + status.ToString());
}

void Maintenance::DropInBackground() {
  const Status status = DropSegments();
  relieving_log_.store(false, std::memory_order_relaxed);
  if (IsTriedAgain(status)) drop_.Schedule(kRetryMicros);
}

Status Maintenance::DropSegments() {
  RETURN_IF_ERROR(deps_.health->CheckWritable());
  const format::SequenceNumber oldest = deps_.regions->oldest_unflushed();
  if (deps_.segments->Droppable(oldest).empty()) return {};
  std::vector<format::FileNumber> dropped;
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    dropped = deps_.segments->Droppable(oldest);
    edit->remove_segments = dropped;
    return Status();
  };
  change.publish = [&] { deps_.segments->Forget(dropped); };
  RETURN_IF_ERROR(deps_.editor->Commit(change));
  SpaceWasFreed(nullptr);
  return {};
}

Status Maintenance::Flush(const std::vector<std::shared_ptr<Region>>& regions) {
  std::vector<Region*> plain;
  for (const auto& region : regions) plain.push_back(region.get());
  return Flush(plain);
}

Status Maintenance::Flush(const std::vector<Region*>& regions) {
  RETURN_IF_ERROR(deps_.health->CheckWritable());
  const Status status = Guarded([&] { return FlushAndWait(regions); });
  if (status.ok()) return status;
  // What was switched and not flushed could wait forever otherwise.
  for (Region* region : regions) region->tasks().flush.Schedule();
  return status;
}

// A memstore that two regions share is not switched: they are being merged. Their flush turns come
// when they are merged, or have each its own again.
Status Maintenance::FlushAndWait(const std::vector<Region*>& regions) {
  bool all_switched = false;
  Status first_error;
  while (!all_switched && first_error.ok()) {
    RETURN_IF_ERROR(deps_.health->CheckWritable());
    all_switched = true;
    RETURN_IF_ERROR(deps_.queue->RunAlone([&] {
      for (Region* region : regions) {
        all_switched &= !region->shares_memstore();
        region->SwitchMemstore();
        CountGrowth(region);
      }
      return Status();
    }));
    deps_.gate->Update();
    first_error = deps_.flusher->Flush(
        regions, [this](const Flusher::Outcomes& outcomes) { AfterFlush(outcomes); });
    for (Region* region : regions) ScheduleFlushIfWaiting(region);
  }
  return first_error;
}

Status Maintenance::FlushInTurn(Region& region) {
  return deps_.flusher->FlushInTurn(
      region, [this](const Flusher::Outcomes& outcomes) { AfterFlush(outcomes); });
}

Status Maintenance::Compact(const std::shared_ptr<Region>& region) {
  RETURN_IF_ERROR(Flush(std::vector<Region*>{region.get()}));
  const Status status = deps_.compactor->Compact(*region);
  ScheduleMerges(region.get());
  if (status.ok()) SpaceWasFreed(region.get());
  if (status.ok()) ScheduleOverlaps(region.get());
  if (deps_.compactor->TakeSharedChanged()) rewrites_.Schedule();
  deps_.gate->Update();
  return status;
}

}  // namespace tandem::engine
