// Maintains a database in the background: switches and flushes memstores, rolls the log and drops
// its old segments, compacts regions, finds overlaps of files. Policy is here; the work is done by
// Flusher, Compactor, OverlapWorker and GroupLog.
//
// The memstores of all regions share one budget. After every group the leader knows the bytes of
// the active memstores, and switches the largest while they exceed seven eighths of the budget. So
// when writers wait for memory, a flush that frees it is already under way.
//
// A flush that fails for a transient reason (base/passing.h: space, memory, descriptors) is retried
// after a second. A merge or the rewriting of a damaged file is retried after ten, but one that ran
// out of space only after the next flush. One that did not begin for want of space looks again
// then, when files went, and every ten seconds. A flush that fails otherwise turns the database
// read-only, since its memstores could never be freed; such a merge is logged and left alone, as
// are overlaps.
//
// Files that have expired are looked for after each flush and merge, and when the next one expires.
//
// Small memstores that wait are flushed together, the ones with the oldest operations first, since
// the log waits for these. One thread does so at a time: the next is there for a full one.
//
// Each kind of work is a BackgroundTask that exists before it is needed: of a region, or of the
// database. So whatever finds no memory, the work that follows is scheduled.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/commit/applier.h"
#include "engine/commit/commit_queue.h"
#include "engine/commit/group_log.h"
#include "engine/commit/segment_tracker.h"
#include "engine/commit/write_throttle.h"
#include "engine/jobs/compactor.h"
#include "engine/jobs/flush.h"
#include "engine/jobs/overlap_builder.h"
#include "engine/region/region_set.h"
#include "engine/runtime/background.h"
#include "engine/runtime/environment.h"
#include "engine/runtime/health.h"
#include "engine/storage/catalog_editor.h"

namespace tandem::engine {

/// Whether the memstore should be switched.
bool IsFull(const Memstore& memstore, uint64_t memstore_bytes);

class Maintenance {
 public:
  /// All outlive it; jobs are stopped before.
  struct Dependencies {
    RegionSet* regions = nullptr;
    GroupApplier* applier = nullptr;
    GroupLog* log = nullptr;
    SegmentTracker* segments = nullptr;
    CatalogEditor* editor = nullptr;
    CommitQueue* queue = nullptr;
    Flusher* flusher = nullptr;
    Compactor* compactor = nullptr;
    OverlapWorker* overlaps = nullptr;
    WriteThrottle* gate = nullptr;
    Health* health = nullptr;
    BackgroundJobs* jobs = nullptr;
    format::BlockCache* cache = nullptr;
    /// Splits a region at its middle row (Splitter::SplitInMiddle).
    std::function<Status(const Region&)> split;
    /// Whether a region is to be merged with a neighbour (RegionMerger::IsDue).
    std::function<bool(const Region&)> is_too_small;
    /// Merges it (RegionMerger::MergeIfDue).
    std::function<Status(const Region&)> merge_with_neighbour;
    Tuning tuning;
  };
  /// Requires: the regions are those that recovery found.
  explicit Maintenance(const Dependencies& dependencies);

  /// Makes the tasks of a new table's regions. Requires: nobody else sees the table yet.
  void Prepare(const Table& table);
  /// The same for one region.
  void Prepare(Region& region) { MakeTasks(&region); }
  /// The parts are in the place of the region, which is retired. Threads: the commit leader.
  void Replaced(Region& region, std::span<const std::shared_ptr<Region>> parts);
  /// The region has another memstore that takes writes. Threads: the commit leader.
  void MemstoreChanged(Region& region) { CountGrowth(&region); }
  /// Rows are gone that no file holds: writers may go on, and segments of the log may be dropped.
  void Removed();
  /// Schedules what a part of a split region needs, or one that regions became.
  void Begin(Region& region);
  /// Counts what recovery left in the memstores, switches the largest while they exceed the budget,
  /// and schedules a flush of every waiting one. Called once, before anything is committed.
  void Start();
  /// After each group: switches what is full, schedules the work that follows, a roll of the log
  /// among it.
  /// Threads: the commit leader.
  void AfterGroup();
  /// The table has other indexes or families: memstores are switched to them, files are rewritten
  /// in the background. Threads: the commit leader.
  void RecordChanged(const Table& table);
  /// Schedules the rewriting of every file that has a broken section, or is older than an index.
  /// Cannot fail. Threads: any.
  void ScheduleRewrites() noexcept { rewrites_.Schedule(); }
  /// Schedules the building of every overlap that is missing.
  void ScheduleOverlaps();

  /// Switches and flushes the memstores of `regions` and waits for it. Threads: any.
  Status Flush(const std::vector<std::shared_ptr<Region>>& regions);
  Status Flush(const std::vector<Region*>& regions);
  /// Flushes the memstores that wait already. Requires: the caller has the region's flush turn.
  Status FlushInTurn(Region& region);
  /// Flushes and compacts the region and waits for it. Threads: any.
  Status Compact(const std::shared_ptr<Region>& region);
  /// Schedules what may have found the region's turns taken, by a split that failed for example.
  /// Cannot fail. Threads: any.
  void Resume(Region& region) noexcept;
  /// Schedules what follows a merge that another one gave way to (Compactor). Threads: any.
  void MergedBetween(Region& region);
  /// Removes the log segments that no region needs. Threads: any.
  Status DropSegments();

 private:
  void MakeTasks(Region* region);
  void CountGrowth(Region* region);
  void SwitchAndSchedule(Region* region);
  void RelieveMemory();
  void RelieveLog();
  void SwitchUpTo(format::SequenceNumber last);
  uint64_t LogBytesMax() const;
  bool IsRollDue() const;
  void RollInBackground();
  Status RollLog();
  Status FlushAndWait(const std::vector<Region*>& regions);
  void FlushInBackground(Region* region);
  void FlushSmallOnes();
  Result<bool> FlushSmallTogether();
  void FlushFailed(const Region& region, const Status& status);
  static void ScheduleFlushIfWaiting(Region* region);
  Result<size_t> FlushUnlessBusy(std::span<Region* const> regions);
  void AfterFlush(const Flusher::Outcomes& outcomes);
  void ScheduleMerges(Region* region);
  void ScheduleDueMerge(Region* region);
  void ScheduleMerge(Region* region);
  void ScheduleExpiry(Region* region);
  void ExpiryEnded(Region* region, const Status& status);
  void SpaceWasFreed(const Region* by);
  void MergeInBackground(Region* region);
  void MergeEnded(Region* region, Region::Rewriting why, const Status& status);
  void RewriteInBackground();
  bool IsTooLarge(const Region& region) const;
  void ScheduleResize(Region* region);
  void ResizeInBackground(Region* region);
  static void ScheduleOverlaps(Region* region);
  void FindOverlapsInBackground(Region* region);
  void DropInBackground();

  const Dependencies deps_;
  BackgroundTask roll_;      // The log.
  BackgroundTask extend_;    // The log's last segment.
  BackgroundTask drop_;      // Log segments.
  BackgroundTask rewrites_;  // Looks for the regions that have something to rewrite.
  BackgroundTask flush_;     // Of small memstores, together.
  BackgroundTask reclaim_;   // Memory of the memstores that the block cache had.
  // The commit leader's.
  uint64_t active_bytes_ = 0;     // Of the active memstores of all regions.
  uint64_t unchecked_bytes_ = 0;  // Logged since the log was last checked.
  uint64_t ungated_bytes_ = 0;    // Growth of memstores since the gate was updated.
  // Set by the leader when all that relieves the log is scheduled, cleared by the last of it;
  // relaxed: it only avoids doing it twice.
  std::atomic<bool> relieving_log_{false};
  // Set by the leader when a roll is scheduled, cleared when it is over; relaxed, for the same
  // reason.
  std::atomic<bool> rolling_log_{false};
  // Calls of FlushSmallOnes, the one that is under way among them. Acquire and release: who takes
  // the calls of others finds their memstores.
  std::atomic<uint32_t> small_flush_calls_{0};
};

}  // namespace tandem::engine
