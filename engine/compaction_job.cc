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

Status Compactor::Compact(Region& region) {
  WorkTurn turn(region, Region::Work::kCompaction);
  return Guarded([&] { return CompactInTurn(region); });
}

Status Compactor::CompactIfDue(Region& region) {
  WorkTurn turn(region, Region::Work::kCompaction);
  if (!IsDue(region)) return Status();
  const Status status = Guarded([&] { return CompactInTurn(region); });
  const StatusCode code = status.code();
  if (status.ok() || code == StatusCode::kNoSpace || code == StatusCode::kOutOfMemory ||
      code == StatusCode::kCancelled || code == StatusCode::kReadOnly) {
    return status;
  }
  base::MutexLock lock(mutex_);
  given_up_.insert(region.id());
  return status;
}

Status Compactor::CompactInTurn(Region& region) {
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
    ASSIGN_OR_RETURN(const FinishedRun files, Merge(region, version));
    RETURN_IF_ERROR(Install(region, version, files));
    for (const FileSlice& slice : version.files) StoreFiles::Retire(*slice.file);
    const RunSize size = SizeOf(files);
    event.files = size.files;
    event.rows = size.rows;
    event.bytes = size.bytes;
    return Status();
  });
}

Result<FinishedRun> Compactor::Merge(const Region& region, const RegionVersion& version) {
  std::vector<compaction::MergeInput> inputs;
  for (const FileSlice& slice : version.files) {
    inputs.push_back({.file = &slice.file->store(), .low = slice.low, .high = slice.high});
  }
  const SnapshotRegistry::RetentionPoint point = work_.snapshots->TakeRetentionPoint();
  compaction::MergeOptions options;
  options.table = region.shared_table();
  options.snapshots = point.snapshots;
  options.now_micros = point.now_micros;
  options.cancelled = &cancelled_;
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
