// Work that needs every operation on some regions in files, and no operation after: linking a load,
// creating a named snapshot.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/commit/commit_queue.h"
#include "engine/jobs/flush.h"
#include "engine/jobs/run_writer.h"
#include "engine/region/region_set.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What such work uses; all outlive it.
struct FlushWork {
  FileWork files;
  RegionSet* regions = nullptr;
  CommitQueue* queue = nullptr;
  Flusher* flusher = nullptr;
  /// Switches and flushes the memstores of the regions.
  std::function<Status(const std::vector<std::shared_ptr<Region>>&)> flush;
  /// Makes the whole log durable. Threads: the commit leader.
  std::function<Status()> sync_log;
  /// The region has another memstore. Threads: the commit leader.
  std::function<void(Region&)> memstore_changed;
  /// Schedules what follows when the region has more files.
  std::function<void(Region&)> begin;
};

using Regions = std::vector<std::shared_ptr<Region>>;
using FindRegions = std::function<Result<Regions>()>;
/// Threads: the commit leader.
using FlushedTask = std::function<Status(const Regions&)>;

/// Runs `task` when the files of the regions hold exactly the operations so far:
///   1. The regions are flushed, so that little is left for step 3.
///   2. Their flush turns are taken: no region is split or merged from now on.
///   3. Alone in the commit queue: what was written since step 1 is flushed, and `task` runs.
/// `find` returns the regions, by table and start key; where they are others in step 3 than in
/// step 1, it begins again. Errors: those of `find`, `task` and of a flush.
Status RunFlushed(const FlushWork& work, const FindRegions& find, const FlushedTask& task);

}  // namespace tandem::engine
