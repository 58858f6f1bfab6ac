// Backpressure: writers slow down and then wait when flushes or merges fall behind or the memstores
// together pass their budget. They wait before they join the commit queue, so the leader is never
// held up.
//
// Memory: from 60 % of the memstores' budget on, while a memstore waits to be flushed, writers are
// slowed in proportion to what is left and to the rate of flushes, so that they seldom have to
// wait.
//
// Merges: the throttle counts a region's runs and the memstores that will become runs. They never
// exceed twice the runs of an idle region. From a quarter above an idle region on, writers are
// slowed so that a memstore takes as long to fill as six flushes take, and twice as long for each
// further run. A region whose merges fail does not hold writers up, since waiting would
// not help. One whose merges lack space does: writes would fill the disk the sooner. Its writers do
// not wait but learn the reason, and its merges look for space again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "engine/commit/write_schedule.h"
#include "engine/region/region_runs.h"
#include "engine/region/region_set.h"
#include "engine/runtime/background.h"
#include "engine/runtime/health.h"
#include "engine/runtime/monitor.h"
#include "engine/runtime/write_waits.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class WriteThrottle {
 public:
  struct Dependencies {
    const RegionSet* regions = nullptr;
    Health* health = nullptr;
    Monitor* monitor = nullptr;
    base::Executor* executor = nullptr;
    base::Clock* clock = nullptr;
    uint64_t memstore_bytes = 0;         ///< A memstore is flushed when it passes this.
    uint64_t memstores_total_bytes = 0;  ///< Writers wait above it.
    uint32_t runs_max = 8;               ///< Of an idle region.
  };
  /// A write that asks to be admitted.
  struct Request {
    const std::vector<std::shared_ptr<const Table>>& tables;
    uint64_t bytes = 0;
    bool no_wait = false;
  };
  /// What `dependencies` points to outlives this.
  explicit WriteThrottle(const Dependencies& dependencies) : deps_(dependencies) {}

  /// Returns when the write may proceed. Errors: kReadOnly; kBusy with the reason (`no_wait`, or
  /// nothing is left that could flush); what hinders the flush or the merge it waits for: kNoSpace,
  /// kOutOfMemory, kUnavailable.
  Status Admit(const Request& request);
  /// By what the limit of merges is multiplied (RateLimit::Factor), so that no write is slowed down
  /// because merges are: more for each run of a region above half of those that an idle one may
  /// have; no limit where one has as many, or a merge waits for space.
  uint32_t MergeFactor() const;
  /// Looks at the regions again and wakes waiting writers. Call it whenever a memstore was switched
  /// or flushed, a merge ended or failed, or the database's health changed.
  void Update() EXCLUDES(mutex_);

 private:
  void Look();
  using Tables = std::vector<std::shared_ptr<const Table>>;
  /// Why a write has to wait; an empty text if it need not.
  struct Reason {
    WaitCause cause = WaitCause::kMemory;
    std::string text;
  };
  Reason ReasonToWait(const Tables& tables) const;
  Reason ReasonToWait(const Region& region) const;
  /// What hinders what a write with a reason to wait waits for; OK: nothing.
  Status HindranceOf(const Tables& tables) const;
  /// The region's runs, with the memstores that will become runs; 0 if they are fewer than `least`
  /// or the region's merges fail.
  size_t RunsFrom(size_t least, const Region& region) const;
  size_t runs_slow() const { return deps_.runs_max + std::max(deps_.runs_max / 4, 1u); }
  /// One less, since the active memstore will be a run too.
  size_t runs_stop() const { return size_t{2} * std::max(deps_.runs_max, 2u) - 1; }
  struct Delay {
    WaitCause cause = WaitCause::kMemory;
    int64_t micros = 0;
  };
  Delay DelayOf(const Request& request);
  int64_t DelayForMemory(const Request& request);
  int64_t DelayForRuns(const Request& request);
  double RateForMemory() const;
  Status WaitWhileStopped(const Request& request) EXCLUDES(mutex_);
  Status WaitForFlush() EXCLUDES(mutex_);

  const Dependencies deps_;
  // Stored by Update, loaded by writers; relaxed, since a slightly old value does no harm.
  std::atomic<uint64_t> memstore_bytes_{0};
  std::atomic<size_t> waiting_max_{0};       // Of any region.
  std::atomic<size_t> runs_max_{0};          // Likewise.
  std::atomic<size_t> merging_runs_max_{0};  // Likewise, where merges do not fail.
  std::atomic<bool> lacks_space_{false};     // Whether a merge that is due does.
  WriteSchedule memory_schedule_, runs_schedule_;
  base::Mutex mutex_;
  base::CondVar changed_;
};

}  // namespace tandem::engine
