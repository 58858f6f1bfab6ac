// Flush: the oldest waiting memstore of a region becomes a run of store files, usually of one.
//
// Steps, each of which a crash may follow:
//   1. The log is synced up to the memstore's last operation, so that no file makes a later write
//      durable before an earlier one.
//   2. The rows that somebody may still see are written to new files, which are synced.
//   3. One catalog edit adds the files to their region and raises the region's flushed_through.
//   4. One swap of the region's version puts the files in the memstore's place.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "base/mutex.h"
#include "engine/commit/commit_queue.h"
#include "engine/jobs/overlap_builder.h"
#include "engine/jobs/run_writer.h"
#include "engine/region/region.h"
#include "engine/runtime/running_jobs.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class Flusher {
 public:
  /// Both outlive this.
  Flusher(FileWork work, CommitQueue* queue, OverlapWorker* overlaps)
      : work_(work), queue_(queue), overlaps_(overlaps) {}

  /// Flushes every waiting memstore of the region, oldest first, after those that another thread is
  /// flushing; calls `flushed` after each. Errors: kReadOnly, kNoSpace, kIoError, ...; memstores
  /// that were not flushed still wait.
  Status Flush(Region& region, const std::function<void()>& flushed);
  /// The same. Requires: the caller has the region's flush turn.
  Status FlushInTurn(Region& region, const std::function<void()>& flushed);
  /// The same for the commit leader, who has synced the log.
  Status FlushAlone(Region& region);
  /// Flushes the oldest waiting memstore and calls `flushed`, unless another thread has the
  /// region's flush turn: that one goes on until none waits. Returns whether it flushed one; others
  /// may wait then. Errors: as Flush.
  Result<bool> FlushOneUnlessBusy(Region& region, const std::function<void()>& flushed);
  /// Deletes what was written for the region and not installed. Requires: the region is retired.
  void Forget(const Region& region) EXCLUDES(mutex_);

 private:
  enum class LogState : uint8_t { kToBeSynced, kSynced };
  Result<bool> FlushOldest(Region& region, LogState log);
  Result<WrittenRun> WriteAndInstall(Region& region, const RegionVersion& version, LogState log,
                                     JobProgress* progress);
  Result<WrittenRun> FinishedBefore(const Region& region, const RegionVersion& version,
                                    JobProgress* progress);
  Status Install(Region& region, const Memstore& memstore, const FinishedRun& files);

  const FileWork work_;
  CommitQueue* queue_;
  OverlapWorker* overlaps_;
  base::Mutex mutex_;
  // Regions that were one share a memstore, and each flushes its part of it.
  using Part = std::pair<format::RegionId, const Memstore*>;
  /// Files of memstores whose catalog edit found the disk full: the next attempt needs only the
  /// edit.
  std::map<Part, WrittenRun> finished_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
