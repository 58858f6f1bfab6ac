// The turns of all regions are held together, taken by table and start key.
#include "engine/jobs/flushed_regions.h"

#include <algorithm>
#include <list>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

Status FlushRest(const FlushWork& work, const Regions& regions) {
  RETURN_IF_ERROR(work.sync_log());
  std::vector<Region*> plain;
  for (const auto& region : regions) {
    region->SwitchMemstore();
    work.memstore_changed(*region);
    plain.push_back(region.get());
  }
  return work.flusher->FlushAlone(plain);
}

// Regions that were split or merged meanwhile are looked for again; two that are being merged share
// a memstore, and the next flush waits until they no longer do.
Status RunAlone(const FlushWork& work, const Regions& regions, const FindRegions& find,
                const FlushedTask& task, bool* again) {
  RETURN_IF_ERROR(work.files.health->CheckWritable());
  ASSIGN_OR_RETURN(const Regions present, find());
  *again = present != regions ||
           std::any_of(regions.begin(), regions.end(),
                       [](const auto& region) { return region->shares_memstore(); });
  if (*again) return {};
  RETURN_IF_ERROR(FlushRest(work, regions));
  return task(regions);
}

Status TryFlushed(const FlushWork& work, const FindRegions& find, const FlushedTask& task,
                  bool* again) {
  *again = false;
  ASSIGN_OR_RETURN(const Regions regions, find());
  RETURN_IF_ERROR(work.flush(regions));
  Status status;
  {
    std::list<RegionJobLock> turns;
    for (const auto& region : regions) turns.emplace_back(*region, Region::Work::kFlush);
    status = work.queue->RunAlone([&] { return RunAlone(work, regions, find, task, again); });
  }
  // Also after an error: a memstore may wait for its flush.
  for (const auto& region : regions) work.begin(*region);
  return status;
}

}  // namespace

Status RunFlushed(const FlushWork& work, const FindRegions& find, const FlushedTask& task) {
  bool again = true;
  while (again) RETURN_IF_ERROR(TryFlushed(work, find, task, &again));
  return {};
}

}  // namespace tandem::engine
