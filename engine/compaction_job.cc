// The merge itself is compaction/merge; here is what comes before and after it.
#include "engine/compaction_job.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "compaction/merge.h"
#include "engine/guarded.h"

namespace tandem::engine {
namespace {

size_t RunCount(const RegionVersion& version) {
  std::set<uint32_t> runs;
  for (const FileSlice& slice : version.files) runs.insert(slice.run);
  return runs.size();
}

}  // namespace

bool Compactor::IsDue(const Region& region) const {
  {
    base::MutexLock lock(mutex_);
    if (given_up_.contains(region.id())) return false;
  }
  return RunCount(*region.version()) >= std::max<size_t>(runs_max_, 2);
}

void Compactor::Cancel() {
  base::MutexLock lock(mutex_);
  cancelled_.store(true, std::memory_order_relaxed);
  for (auto& [region, waiting] : waiting_) {
    waiting.end_due_merge.store(true, std::memory_order_relaxed);
  }
}

Status Compactor::Compact(Region& region) {
  Wait(region, +1);
  WorkTurn turn(region, Region::Work::kCompaction);
  Wait(region, -1);
  return Guarded([&] { return CompactInTurn(region, cancelled_); });
}

// So many callers more wait to compact the region. Returns the wish that its due merge ends.
const Compactor::Wish& Compactor::Wait(const Region& region, int change) {
  base::MutexLock lock(mutex_);
  Waiting& waiting = waiting_[region.id()];
  waiting.callers += static_cast<uint32_t>(change);
  const bool ends = waiting.callers > 0 || cancelled_.load(std::memory_order_relaxed);
  waiting.end_due_merge.store(ends, std::memory_order_relaxed);
  return waiting.end_due_merge;
}

Status Compactor::CompactIfDue(Region& region) {
  while (IsDue(region) && region.TryBegin(Region::Work::kCompaction)) {
    const Status status = Guarded([&] { return CompactDueInTurn(region); });
    region.End(Region::Work::kCompaction);
    if (!status.ok()) return GiveUpUnlessItMayPass(region, status);
  }
  return Status();
}

Status Compactor::CompactDueInTurn(Region& region) {
  if (!IsDue(region)) return Status();  // It was done before the turn came.
  return CompactInTurn(region, Wait(region, 0));
}

// Returns `status`, a failure.
Status Compactor::GiveUpUnlessItMayPass(const Region& region, const Status& status) {
  const StatusCode code = status.code();
  const bool may_pass = code == StatusCode::kNoSpace || code == StatusCode::kOutOfMemory ||
                        code == StatusCode::kCancelled || code == StatusCode::kReadOnly;
  if (may_pass) return status;
  base::MutexLock lock(mutex_);
  given_up_.insert(region.id());
  return status;
}

Status Compactor::CompactInTurn(Region& region, const Wish& cancelled) {
  RETURN_IF_ERROR(work_.health->CheckWritable());
  const RegionVersion version = FilesAlone(*region.version());
  if (version.files.empty()) return Status();
  CompactionEvent event{.table = region.table().name, .region_id = region.id().value};
  for (const FileSlice& slice : version.files) {
    event.input_files += 1;
    event.input_rows += slice.high - slice.low;
    event.input_bytes += slice.file->store().size_bytes();
  }
  return work_.monitor->RunCompaction(&event, [&]() -> Status {
    ASSIGN_OR_RETURN(const FinishedRun files, Merge(region, version, cancelled));
    RETURN_IF_ERROR(Install(region, version, files));
    for (const FileSlice& slice : version.files) StoreFiles::Retire(*slice.file);
    const RunSize size = SizeOf(files);
    event.files = size.files;
    event.rows = size.rows;
    event.bytes = size.bytes;
    return Status();
  });
}

Result<FinishedRun> Compactor::Merge(const Region& region, const RegionVersion& version,
                                     const Wish& cancelled) {
  std::vector<compaction::MergeInput> inputs;
  for (const FileSlice& slice : version.files) {
    inputs.push_back({.file = &slice.file->store(), .low = slice.low, .high = slice.high});
  }
  const SnapshotRegistry::RetentionPoint point = work_.snapshots->TakeRetentionPoint();
  compaction::MergeOptions options;
  options.table = region.shared_table();
  options.snapshots = point.snapshots;
  options.now_micros = point.now_micros;
  options.cancelled = &cancelled;
  options.limits = work_.limits;

  RunWriter run(work_, region);
  RETURN_IF_ERROR(compaction::MergeFiles(inputs, options, &run).status());
  return run.Take();
}

Status Compactor::Install(Region& region, const RegionVersion& before, const FinishedRun& files) {
  const auto replace_inputs = [&](RegionVersion* version) {
    const auto first = version->files.begin();
    version->files.erase(first, first + static_cast<ptrdiff_t>(before.files.size()));
    InsertRun(files, before.files.back().run, 0, version);
  };
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    RegionVersion after = *region.version();
    replace_inputs(&after);
    AddFiles(files, edit);
    edit->put_regions.push_back(RecordOf(region, after, region.flushed_through()));
    for (const FileSlice& slice : before.files) {
      edit->remove_files.push_back(slice.file->store().number());
    }
    return Status();
  };
  change.publish = [&] { region.Update(replace_inputs); };
  return work_.editor->Commit(change);
}

}  // namespace tandem::engine
