// The merge itself is compaction/merge; here is what comes before and after it.
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
  const bool is_told = code == StatusCode::kCancelled || code == StatusCode::kReadOnly;
  if (is_told || base::MayPass(status)) return status;
  base::MutexLock lock(mutex_);
  given_up_.insert(region.id());
  return status;
}

bool Compactor::ClaimRetry(const Region& region) {
  base::MutexLock lock(mutex_);
  return tried_again_.insert(region.id()).second;
}

void Compactor::ReleaseRetry(const Region& region) {
  base::MutexLock lock(mutex_);
  tried_again_.erase(region.id());
}

Status Compactor::CompactInTurn(Region& region, const Wish& cancelled) {
  Inputs inputs{.version = FilesAlone(*region.version())};
  inputs.end = inputs.version.files.size();
  return CompactInputs(region, inputs, cancelled);
}

Status Compactor::CompactInputs(Region& region, const Inputs& inputs, const Wish& cancelled) {
  RETURN_IF_ERROR(work_.health->CheckWritable());
  if (inputs.slices().empty()) return Status();
  // What flushes left free would stand beside what the merge takes.
  base::ReturnFreeHeap();
  CompactionEvent event{.table = region.table().name, .region_id = region.id().value};
  uint64_t broken = 0;
  for (const FileSlice& slice : inputs.slices()) {
    event.input_files += 1;
    event.input_rows += slice.high - slice.low;
    event.input_bytes += slice.file->store().size_bytes();
  }
  RETURN_IF_ERROR(work_.monitor->RunCompaction(&event, [&]() -> Status {
    ASSIGN_OR_RETURN(const FinishedRun files, MergeBesideDamage(region, inputs, cancelled));
    RETURN_IF_ERROR(InstallOrRetire(region, inputs, files));
    for (const FileSlice& slice : inputs.slices()) {
      broken += slice.file->store().has_broken_section();
      StoreFiles::Retire(*slice.file);
    }
    const RunSize size = SizeOf(files);
    event.files = size.files;
    event.rows = size.rows;
    event.bytes = size.bytes;
    return Status();
  }));
  work_.monitor->CountRewritten(broken);
  return Status();
}

Status Compactor::RewriteBroken(Region& region) {
  if (!FindBroken(region).has_value()) return Status();
  if (!region.TryBegin(Region::Work::kCompaction)) {
    return Status::Busy(region.Describe() + " is being compacted");
  }
  const Status status = Guarded([&] { return RewriteInTurn(region); });
  region.End(Region::Work::kCompaction);
  return status;
}

Status Compactor::RewriteInTurn(Region& region) {
  while (const std::optional<Inputs> inputs = FindBroken(region)) {
    const Status status = CompactInputs(region, *inputs, cancelled_);
    if (status.code() == StatusCode::kCorruption || status.code() == StatusCode::kUnsupported) {
      base::MutexLock lock(mutex_);
      for (const FileSlice& slice : inputs->slices()) {
        not_rewritten_.insert(slice.file->store().number());
      }
    }
    RETURN_IF_ERROR(status);
  }
  return Status();
}

// The oldest run with a broken section that was not tried in vain.
std::optional<Compactor::Inputs> Compactor::FindBroken(const Region& region) {
  Inputs inputs{.version = FilesAlone(*region.version())};
  std::optional<uint32_t> run;
  {
    base::MutexLock lock(mutex_);
    for (const FileSlice& slice : inputs.version.files) {
      const format::StoreFile& store = slice.file->store();
      if (!store.has_broken_section() || not_rewritten_.contains(store.number())) continue;
      run = slice.run;
      break;
    }
  }
  if (!run.has_value()) return std::nullopt;
  const std::vector<FileSlice>& files = inputs.version.files;
  const auto is_of_run = [&](const FileSlice& slice) { return slice.run == *run; };
  const auto first = std::find_if(files.begin(), files.end(), is_of_run);
  inputs.first = static_cast<size_t>(first - files.begin());
  inputs.end = static_cast<size_t>(std::find_if_not(first, files.end(), is_of_run) - files.begin());
  return inputs;
}

// A section of an index that the merge finds broken is made anew from the rows.
Result<FinishedRun> Compactor::MergeBesideDamage(const Region& region, const Inputs& inputs,
                                                 const Wish& cancelled) {
  Result<FinishedRun> files = Merge(region, inputs, cancelled);
  if (files.has_value() || files.error().code() != StatusCode::kCorruption) return files;
  bool any = false;
  for (const FileSlice& slice : inputs.slices()) {
    ASSIGN_OR_RETURN(const bool broken, slice.file->store().FindBrokenIndexes());
    any |= broken;
  }
  return any ? Merge(region, inputs, cancelled) : files;
}

Result<FinishedRun> Compactor::Merge(const Region& region, const Inputs& inputs,
                                     const Wish& cancelled) {
  std::vector<compaction::MergeInput> merged;
  uint64_t input_bytes = 0;
  for (const FileSlice& slice : inputs.slices()) {
    merged.push_back({.file = &slice.file->store(), .low = slice.low, .high = slice.high});
    input_bytes += slice.file->store().size_bytes();
  }
  const SnapshotRegistry::RetentionPoint point = work_.snapshots->TakeRetentionPoint();
  compaction::MergeOptions options;
  options.table = region.shared_table();
  options.snapshots = point.snapshots;
  options.now_micros = point.now_micros;
  options.cancelled = &cancelled;
  options.limits = work_.limits;
  options.window_bytes = work_.merge_window_bytes;
  if (inputs.first > 0) {
    options.older_may_contain = [&inputs](uint64_t row_hash) -> Result<bool> {
      for (size_t i = 0; i < inputs.first; ++i) {
        format::StoreFile& older = inputs.version.files[i].file->store();
        ASSIGN_OR_RETURN(const bool may_contain, older.MayContain(row_hash));
        if (may_contain) return true;
      }
      return false;
    };
  }
  RunWriter run(work_, region);
  run.ExpectBytes(input_bytes);
  RETURN_IF_ERROR(compaction::MergeFiles(merged, options, &run).status());
  return run.Take();
}

// The outputs of a merge that could not be shown go; where a crash may still show them, they go
// when it cannot any more (Storage::DeleteFile).
Status Compactor::InstallOrRetire(Region& region, const Inputs& inputs, const FinishedRun& files) {
  const Status installed = Install(region, inputs, files);
  if (installed.ok()) return installed;
  for (const FinishedFile& file : files) StoreFiles::Retire(*file.file);
  return installed;
}

Status Compactor::Install(Region& region, const Inputs& inputs, const FinishedRun& files) {
  const auto replace_inputs = [&](RegionVersion* version) {
    const auto first = version->files.begin() + static_cast<ptrdiff_t>(inputs.first);
    version->files.erase(first, first + static_cast<ptrdiff_t>(inputs.end - inputs.first));
    InsertRun(files, inputs.slices().back().run, inputs.first, version);
  };
  CatalogEditor::Change change;
  change.prepare = [&](const format::Catalog&, format::CatalogEdit* edit) {
    RegionVersion after = *region.version();
    replace_inputs(&after);
    AddFiles(files, edit);
    edit->put_regions.push_back(RecordOf(region, after, region.flushed_through()));
    for (const FileSlice& slice : inputs.slices()) {
      edit->remove_files.push_back(slice.file->store().number());
    }
    return Status();
  };
  change.publish = [&] { region.Update(replace_inputs); };
  return work_.editor->Commit(change);
}

}  // namespace tandem::engine
