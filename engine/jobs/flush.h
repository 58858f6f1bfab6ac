// Flush: the oldest waiting memstore of a region becomes a run of store files, usually of one.
//
// Small memstores of several regions are flushed in one turn, since each costs little more than its
// syncs. Steps of a turn, each of which a crash may follow:
//   1. The log is synced up to the memstores' last operation, so that no file makes a later write
//      durable before an earlier one.
//   2. The rows that somebody may still see are written to new files. These are synced: one at its
//      end, those of several memstores together.
//   3. One catalog edit adds the files to their regions and raises each region's flushed_through.
//   4. One swap of each region's version puts its files in the memstore's place.
//
// A memstore whose file cannot be written or synced leaves the turn and waits on; the edit shows
// the others. When the edit fails, all wait on, and the next attempt needs only the edit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "base/mutex.h"
#include "engine/commit/commit_queue.h"
#include "engine/jobs/overlap_builder.h"
#include "engine/jobs/run_writer.h"
#include "engine/region/region.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class Flusher {
 public:
  /// All outlive this.
  struct Dependencies {
    FileWork work;
    CommitQueue* queue = nullptr;
    OverlapWorker* overlaps = nullptr;
    base::FileSystem* file_system = nullptr;  ///< Makes the queues of syncs.
    uint64_t memstore_bytes = 0;              ///< A memstore that passes this is full.
    uint32_t open_files_max = 0;
  };
  explicit Flusher(const Dependencies& dependencies) : deps_(dependencies) {}

  /// What became of a region's oldest waiting memstore.
  struct Outcome {
    Region* region = nullptr;
    bool is_flushed = false;  ///< False without an error: its table was dropped.
    Status status = {};
  };
  using Outcomes = std::vector<Outcome>;
  /// Called after each turn.
  using Flushed = std::function<void(const Outcomes&)>;
  /// Flushes every waiting memstore of the regions, oldest first, after those that another thread
  /// is flushing. Errors: the first of kReadOnly, kNoSpace, kIoError, ...; memstores that were not
  /// flushed still wait, the others were flushed.
  Status Flush(std::span<Region* const> regions, const Flushed& flushed);
  /// The same for one region. Requires: the caller has the region's flush turn.
  Status FlushInTurn(Region& region, const Flushed& flushed);
  /// The same for the commit leader, who has synced the log, up to the first error. Requires: as
  /// FlushInTurn, for each region.
  Status FlushAlone(std::span<Region* const> regions);

  /// Flushes the oldest waiting memstore of the first region, and of those after it that may be
  /// flushed with it. Leaves out regions whose flush turn another thread has: that one goes on
  /// until none waits. Others may wait then.
  Outcomes FlushUnlessBusy(std::span<Region* const> regions);
  /// Whether the oldest waiting memstore of the region may be flushed with others.
  bool IsGrouped(const Region& region) const;
  /// Deletes what was written for the region and not installed. Requires: the region is retired.
  void Forget(const Region& region) EXCLUDES(mutex_);

 private:
  class Turn;
  class Group;
  enum class LogState : uint8_t { kToBeSynced, kSynced };
  Outcomes FlushOldest(std::span<Region* const> regions, LogState log);

  const Dependencies deps_;
  base::Mutex mutex_;
  // Regions that were one share a memstore, and each flushes its part of it.
  using Part = std::pair<format::RegionId, const Memstore*>;
  /// Files, all synced, of memstores whose catalog edit failed: the next attempt needs only the
  /// edit.
  std::map<Part, WrittenRun> finished_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
