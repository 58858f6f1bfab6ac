// The leader only switches and schedules; files are written by jobs.
#include "engine/maintenance.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/guarded.h"
#include "base/passing.h"
#include "base/status_macros.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

constexpr int64_t kRetryMicros = 1'000'000;
// A merge reads and writes more than a flush before it fails again, and nobody waits for it.
constexpr int64_t kCompactAgainMicros = 10'000'000;
// The log may hold this many memstores' worth before memstores are flushed to shorten it.
constexpr uint64_t kLogMemstores = 4;
// The log is checked after every 1 / kLookFraction of a memstore that was logged, the write
// throttle after the memstores grew by 1 / kLookFraction of their budget.
constexpr uint64_t kLookFraction = 16;

}  // namespace

bool IsFull(const Memstore& memstore, uint64_t memstore_bytes) {
  return memstore.size_bytes() > memstore_bytes;
}

void Maintenance::AfterGroup() {
  const GroupApplier::Applied applied = deps_.applier->TakeApplied();
  for (Region* region : applied.regions) {
    CountGrowth(region);
    if (IsFull(*region->active(), deps_.tuning.memstore_bytes)) SwitchAndSchedule(region);
  }
  RelieveMemory();
  unchecked_bytes_ += applied.bytes;
  if (unchecked_bytes_ >= deps_.tuning.memstore_bytes / kLookFraction) {
    unchecked_bytes_ = 0;
    RelieveLog();
  }
  if (ungated_bytes_ < deps_.tuning.memstores_total_bytes / kLookFraction) return;
  ungated_bytes_ = 0;
  deps_.gate->Update();
}

void Maintenance::Start() {
  for (const auto& region : deps_.regions->regions()) CountGrowth(region.get());
  RelieveMemory();
  ungated_bytes_ = 0;
  deps_.gate->Update();
  for (const auto& region : deps_.regions->regions()) {
    if (region->waiting_memstores() > 0) ScheduleFlush(region.get());
    // Earlier sessions may have ended before their merges. Other due merges wait for a flush: a
    // session that only reads should not work more than it must.
    if (deps_.compactor->IsBehind(*region)) ScheduleCompaction(region.get());
  }
}

void Maintenance::CountGrowth(Region* region) {
  const int64_t growth = region->TakeGrowth();
  active_bytes_ += static_cast<uint64_t>(growth);
  if (growth > 0) ungated_bytes_ += static_cast<uint64_t>(growth);
}

void Maintenance::SwitchAndSchedule(Region* region) {
  if (!region->SwitchMemstore()) return;
  CountGrowth(region);
  ungated_bytes_ = deps_.tuning.memstores_total_bytes;  // The throttle is updated after this group.
  ScheduleFlush(region);
}

// Many small memstores can exceed the common budget though none is full: switches the largest.
void Maintenance::RelieveMemory() {
  const uint64_t total = deps_.tuning.memstores_total_bytes;
  const uint64_t limit = total - total / 8;
  if (active_bytes_ <= limit) return;
  std::vector<std::pair<uint64_t, Region*>> by_size;
  for (const auto& region : deps_.regions->regions()) {
    by_size.emplace_back(region->active()->size_bytes(), region.get());
  }
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [bytes, region] : by_size) {
    if (active_bytes_ <= limit) return;
    SwitchAndSchedule(region);
  }
}

void Maintenance::RelieveLog() {
  deps_.log->UpdateLogBytes();
  if (deps_.log->segment_bytes() > deps_.tuning.log_segment_bytes) RollLog();
  const uint64_t log_bytes = deps_.log->log_bytes();
  if (log_bytes <= kLogMemstores * deps_.tuning.memstore_bytes) return;
  if (relieving_log_.exchange(true, std::memory_order_relaxed)) return;
  // Only sealed segments can be dropped.
  if (deps_.log->segment_bytes() > log_bytes / 2) RollLog();
  const std::optional<format::SequenceNumber> oldest = deps_.segments->OldestEnd();
  if (oldest.has_value()) SwitchUpTo(*oldest);
  ScheduleDrop();
}

// A segment is dropped as a whole, so all regions with operations in it are flushed together.
void Maintenance::SwitchUpTo(format::SequenceNumber last) {
  for (const auto& region : deps_.regions->regions()) {
    const Memstore& active = *region->active();
    if (!active.empty() && active.min_sequence() <= last) SwitchAndSchedule(region.get());
  }
}

void Maintenance::RollLog() {
  deps_.log->Roll().Ignore(
      "what may pass is tried again, anything else turned the database read-only");
}

void Maintenance::ScheduleFlush(Region* region) {
  deps_.jobs->Schedule(BackgroundJobs::Priority::kHigh,
                       [this, region] { FlushInBackground(region); });
}

void Maintenance::FlushInBackground(Region* region) {
  const Status status = Guarded([&] {
    return deps_.flusher->FlushUnlessBusy(*region, [this, region] { AfterFlush(region); });
  });
  if (status.ok()) return;
  if (base::MayPass(status)) {
    deps_.health->SetHindrance(status);
    deps_.jobs->ScheduleAfter(kRetryMicros, [this, region] { FlushInBackground(region); });
  } else {
    deps_.health->TurnReadOnly("flushing " + region->Describe(), status);
  }
  deps_.gate->Update();
}

void Maintenance::AfterFlush(Region* region) {
  deps_.health->SetHindrance(Status());
  deps_.gate->Update();
  DropSegments().Ignore("old segments take space and do no harm; the next flush tries again");
  ScheduleOverlaps(region);
  ScheduleCompaction(region);
}

// Call it also when files may have been added while another thread had the region's turn: a due
// merge that is not scheduled would keep writers waiting.
void Maintenance::ScheduleCompaction(Region* region) {
  if (!deps_.compactor->IsDue(*region)) return;
  deps_.jobs->Schedule(BackgroundJobs::Priority::kLow,
                       [this, region] { CompactInBackground(region); });
}

void Maintenance::CompactInBackground(Region* region) {
  const Status status = Guarded(
      [&] { return deps_.compactor->CompactIfDue(*region, [this] { deps_.gate->Update(); }); });
  deps_.gate->Update();
  if (status.ok()) ScheduleOverlaps(region);
  if (status.ok() || status.code() == StatusCode::kCancelled) return;
  // When the disk is full, retrying a merge would only take space from others; the next flush
  // checks again.
  const bool again = base::MayPass(status) && status.code() != StatusCode::kNoSpace;
  if (again && deps_.compactor->ClaimRetry(*region)) {
    deps_.jobs->ScheduleAfter(kCompactAgainMicros, [this, region] {
      deps_.compactor->ReleaseRetry(*region);
      CompactInBackground(region);
    });
  }
  deps_.health->Log("compacting " + region->Describe() + " failed: " + status.ToString());
}

void Maintenance::ScheduleRewrites() {
  for (const auto& region : deps_.regions->regions()) {
    deps_.jobs->Schedule(BackgroundJobs::Priority::kLow,
                         [this, one = region.get()] { RewriteInBackground(one); });
  }
}

void Maintenance::RewriteInBackground(Region* region) {
  if (!deps_.health->CheckWritable().ok()) return;
  const Status status = Guarded([&] {
    const Status rewritten = deps_.compactor->RewriteBroken(*region);
    ScheduleCompaction(region);
    return rewritten;
  });
  if (status.ok()) return ScheduleOverlaps(region);
  if (status.code() == StatusCode::kCancelled) return;
  if (status.code() == StatusCode::kBusy || base::MayPass(status)) {
    deps_.jobs->ScheduleAfter(kRetryMicros, [this, region] { RewriteInBackground(region); });
    return;
  }
  deps_.health->Log("rewriting a damaged file of " + region->Describe() +
                    " failed: " + status.ToString());
}

void Maintenance::ScheduleOverlaps() {
  for (const auto& region : deps_.regions->regions()) ScheduleOverlaps(region.get());
}

void Maintenance::ScheduleOverlaps(Region* region) {
  const std::shared_ptr<const RegionVersion> version = region->version();
  if (version->files.size() < 2) return OverlapWorker::DropRecords(*version);
  // It takes a fraction of the flush before it, and queries are faster after it.
  deps_.jobs->Schedule(BackgroundJobs::Priority::kHigh, [this, region] {
    const Status status = Guarded([&] { return deps_.overlaps->BuildMissing(*region); });
    if (status.ok() || status.code() == StatusCode::kCancelled) return;
    deps_.health->Log("finding the rows that files of " + region->Describe() +
                      " share failed: " + status.ToString());
  });
}

void Maintenance::ScheduleDrop() {
  deps_.jobs->Schedule(BackgroundJobs::Priority::kHigh, [this] {
    DropSegments().Ignore("old segments take space and do no harm; the next flush tries again");
    relieving_log_.store(false, std::memory_order_relaxed);
  });
}

Status Maintenance::DropSegments() {
  RETURN_IF_ERROR(deps_.health->CheckWritable());
  const format::SequenceNumber oldest = deps_.regions->oldest_unflushed();
  if (deps_.segments->Droppable(oldest).empty()) return Status();
  std::vector<format::FileNumber> dropped;
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    dropped = deps_.segments->Droppable(oldest);
    edit->remove_segments = dropped;
    return Status();
  };
  change.publish = [&] { deps_.segments->Forget(dropped); };
  return deps_.editor->Commit(change);
}

Status Maintenance::Flush(const std::vector<std::shared_ptr<Region>>& regions) {
  std::vector<Region*> plain;
  for (const auto& region : regions) plain.push_back(region.get());
  return Flush(plain);
}

Status Maintenance::Flush(const std::vector<Region*>& regions) {
  RETURN_IF_ERROR(deps_.health->CheckWritable());
  RETURN_IF_ERROR(deps_.queue->RunAlone([this, &regions] {
    for (Region* region : regions) {
      region->SwitchMemstore();
      CountGrowth(region);
    }
    return Status();
  }));
  deps_.gate->Update();
  Status first_error;
  for (Region* region : regions) {
    const Status status = deps_.flusher->Flush(*region, [this, region] { AfterFlush(region); });
    if (status.ok()) continue;
    if (first_error.ok()) first_error = status;
    ScheduleFlush(region);  // Otherwise its memstores could wait forever.
  }
  return first_error;
}

Status Maintenance::Compact(const std::shared_ptr<Region>& region) {
  RETURN_IF_ERROR(Flush(std::vector<Region*>{region.get()}));
  const Status status = deps_.compactor->Compact(*region);
  deps_.gate->Update();
  ScheduleCompaction(region.get());
  if (status.ok()) ScheduleOverlaps(region.get());
  return status;
}

}  // namespace tandem::engine
