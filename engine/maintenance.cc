// The leader only switches and schedules; files are written by jobs.
#include "engine/maintenance.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "engine/guarded.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

constexpr int64_t kRetryMicros = 1'000'000;
// The log may hold this many memstores' worth before somebody has to flush for its sake.
constexpr uint64_t kLogMemstores = 4;
// Memory and log are looked at when so much was applied: this part of a memstore.
constexpr uint64_t kLookFraction = 16;

bool IsWorthRetrying(const Status& status) {
  return status.code() == StatusCode::kNoSpace || status.code() == StatusCode::kOutOfMemory;
}

}  // namespace

bool IsFull(const Memstore& memstore, uint64_t memstore_bytes) {
  return memstore.size_bytes() > memstore_bytes ||
         memstore.largest_row_bytes() > kRowBytesMax - kRowBytesPerBatchMax;
}

void Maintenance::AfterGroup() {
  const GroupApplier::Applied applied = parts_.applier->TakeApplied();
  for (Region* region : applied.regions) {
    if (IsFull(*region->active(), parts_.tuning.memstore_bytes)) SwitchAndSchedule(region);
  }
  unchecked_bytes_ += applied.bytes;
  if (unchecked_bytes_ < parts_.tuning.memstore_bytes / kLookFraction) return;
  unchecked_bytes_ = 0;
  parts_.gate->Update();
  RelieveMemory();
  RelieveLog();
}

void Maintenance::SwitchAndSchedule(Region* region) {
  if (!region->SwitchMemstore()) return;
  parts_.gate->Update();
  ScheduleFlush(region);
}

// Many small memstores can pass the common budget without one being full: the largest goes.
void Maintenance::RelieveMemory() {
  uint64_t total = 0;
  Region* largest = nullptr;
  for (const auto& region : parts_.regions->regions()) {
    if (region->waiting_memstores() > 0) return;  // Relief is under way.
    total += region->memstore_bytes();
    if (largest == nullptr || region->active()->size_bytes() > largest->active()->size_bytes()) {
      largest = region.get();
    }
  }
  const uint64_t limit = parts_.tuning.memstores_total_bytes;
  if (largest != nullptr && total > limit - limit / 8) SwitchAndSchedule(largest);
}

void Maintenance::RelieveLog() {
  parts_.log->UpdateLogBytes();
  if (parts_.log->segment_bytes() > parts_.tuning.log_segment_bytes) RollLog();
  const uint64_t log_bytes = parts_.log->log_bytes();
  if (log_bytes <= kLogMemstores * parts_.tuning.memstore_bytes) return;
  if (relieving_log_.exchange(true, std::memory_order_relaxed)) return;
  // Only sealed segments can be dropped.
  if (parts_.log->segment_bytes() > log_bytes / 2) RollLog();
  Region* region = RegionOfOldest();
  if (region != nullptr && region->waiting_memstores() == 0) SwitchAndSchedule(region);
  ScheduleDrop();
}

void Maintenance::RollLog() {
  parts_.log->Roll().Ignore(
      "a full disk is tried again, anything else turned the database read-only");
}

Region* Maintenance::RegionOfOldest() const {
  Region* oldest = nullptr;
  format::SequenceNumber sequence = format::kSequenceMax;
  for (const auto& region : parts_.regions->regions()) {
    const format::SequenceNumber candidate = region->oldest_unflushed();
    if (candidate >= sequence) continue;
    sequence = candidate;
    oldest = region.get();
  }
  return oldest;
}

void Maintenance::ScheduleFlushes() {
  for (const auto& region : parts_.regions->regions()) {
    if (region->waiting_memstores() > 0) ScheduleFlush(region.get());
  }
}

void Maintenance::ScheduleFlush(Region* region) {
  parts_.jobs->Schedule(BackgroundJobs::Priority::kHigh,
                        [this, region] { FlushInBackground(region); });
}

void Maintenance::FlushInBackground(Region* region) {
  const Status status = Guarded([&] {
    return parts_.flusher->FlushUnlessBusy(*region, [this, region] { AfterFlush(region); });
  });
  if (status.ok()) return;
  if (IsWorthRetrying(status)) {
    if (status.code() == StatusCode::kNoSpace) parts_.health->SetDiskFull(status);
    parts_.jobs->ScheduleAfter(kRetryMicros, [this, region] { FlushInBackground(region); });
  } else {
    parts_.health->TurnReadOnly("flushing " + region->Describe(), status);
  }
  parts_.gate->Update();
}

void Maintenance::AfterFlush(Region* region) {
  parts_.health->SetDiskFull(Status());
  parts_.gate->Update();
  DropSegments().Ignore("old segments take space and do no harm; the next flush tries again");
  ScheduleOverlaps(region);
  if (!parts_.compactor->IsDue(*region)) return;
  parts_.jobs->Schedule(BackgroundJobs::Priority::kLow,
                        [this, region] { CompactInBackground(region); });
}

void Maintenance::CompactInBackground(Region* region) {
  const Status status = Guarded([&] { return parts_.compactor->CompactIfDue(*region); });
  if (status.ok()) ScheduleOverlaps(region);
  if (status.ok() || status.code() == StatusCode::kCancelled) return;
  parts_.health->Log("compacting " + region->Describe() + " failed: " + status.ToString());
}

void Maintenance::ScheduleOverlaps() {
  for (const auto& region : parts_.regions->regions()) ScheduleOverlaps(region.get());
}

void Maintenance::ScheduleOverlaps(Region* region) {
  if (region->version()->files.size() < 2) return;
  parts_.jobs->Schedule(BackgroundJobs::Priority::kLow, [this, region] {
    const Status status = Guarded([&] { return parts_.overlaps->BuildMissing(*region); });
    if (status.ok() || status.code() == StatusCode::kCancelled) return;
    parts_.health->Log("finding the rows that files of " + region->Describe() +
                       " share failed: " + status.ToString());
  });
}

void Maintenance::ScheduleDrop() {
  parts_.jobs->Schedule(BackgroundJobs::Priority::kLow, [this] {
    DropSegments().Ignore("old segments take space and do no harm; the next flush tries again");
    relieving_log_.store(false, std::memory_order_relaxed);
  });
}

Status Maintenance::DropSegments() {
  RETURN_IF_ERROR(parts_.health->CheckWritable());
  const format::SequenceNumber oldest = parts_.regions->oldest_unflushed();
  if (parts_.segments->Droppable(oldest).empty()) return Status();
  std::vector<format::FileNumber> dropped;
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    dropped = parts_.segments->Droppable(oldest);
    edit->remove_segments = dropped;
    return Status();
  };
  change.publish = [&] { parts_.segments->Forget(dropped); };
  return parts_.editor->Commit(change);
}

Status Maintenance::Flush(const std::vector<std::shared_ptr<Region>>& regions) {
  RETURN_IF_ERROR(parts_.health->CheckWritable());
  RETURN_IF_ERROR(parts_.queue->RunAlone([&regions] {
    for (const auto& region : regions) region->SwitchMemstore();
    return Status();
  }));
  parts_.gate->Update();
  Status first_error;
  for (const auto& region : regions) {
    const Status status =
        parts_.flusher->Flush(*region, [this, &region] { AfterFlush(region.get()); });
    if (status.ok()) continue;
    if (first_error.ok()) first_error = status;
    ScheduleFlush(region.get());  // What waits now must not wait for ever.
  }
  return first_error;
}

Status Maintenance::Compact(const std::shared_ptr<Region>& region) {
  RETURN_IF_ERROR(Flush({region}));
  RETURN_IF_ERROR(parts_.compactor->Compact(*region));
  ScheduleOverlaps(region.get());
  return Status();
}

}  // namespace tandem::engine
