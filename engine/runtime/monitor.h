// Engine events: counted for Statistics and reported to the user's listener and log, and to the
// observers of the table. All are user code: they are called without a lock, and their exceptions
// are caught here.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "engine/runtime/observers.h"
#include "engine/runtime/running_jobs.h"
#include "engine/runtime/write_waits.h"
#include "tandem/event_listener.h"
#include "tandem/options.h"
#include "tandem/statistics.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any. No call throws. Requires: the caller holds no lock.
class Monitor {
 public:
  /// `clock` outlives it.
  Monitor(base::Clock* clock, const Options& options)
      : clock_(clock),
        log_(options.log),
        listener_(options.listener),
        stops_(clock),
        delays_(clock),
        jobs_(clock) {}

  /// `find` returns the observers of a table, which hear of its events too. Requires: nothing runs.
  void FindObserversBy(std::function<ObserverList(std::string_view table)> find) {
    observers_of_ = std::move(find);
  }

  void Log(std::string_view line);
  void TurnedReadOnly(const Status& reason);

  using JobWork = std::function<Status(JobProgress*)>;
  /// The Begin and the End event of a flush; several of a thread may be under way.
  void FlushBegan(const FlushEvent& event);
  void FlushEnded(const FlushEvent& event);
  /// Flushes that ran together have freed so many bytes of memstores in that time.
  void NoteFlushRate(uint64_t freed_bytes, uint64_t micros);
  /// Runs `work` between the Begin and the End event and returns its Status; kOutOfMemory when an
  /// allocation in it failed. `work` fills in what it made. The job is listed while `work` runs.
  Status RunCompaction(CompactionEvent* event, const JobWork& work);
  /// Merges of a region wait for space.
  void CountPostponed() { Add(postponed_compactions_); }
  /// A merge waited for its turn.
  void CountPaced(int64_t micros) { Add(paced_micros_, static_cast<uint64_t>(micros)); }
  void Split(const RegionSplitEvent& event);
  void Merged(const RegionMergeEvent& event);
  void FoundHot(const HotRegionEvent& event);
  /// Whether anybody hears of events.
  bool is_heard() const { return log_ != nullptr || listener_ != nullptr; }
  /// `began_micros`: NowMicros() when the building began.
  void OverlapsBuilt(OverlapsEvent event, int64_t began_micros);

  /// Calls a hook that can fail nothing any more. What it throws is counted and logged.
  void TellObservers(const ObserverList& observers, std::string_view hook,
                     const std::function<void(Observer&)>& telling);

  void SectionBroken(const BrokenSectionEvent& event);
  void CountRewritten(uint64_t files) { Add(rewritten_files_, files); }
  void ScrubFound(const ScrubFindingEvent& event);
  void QueryWasSlow(const SlowQueryEvent& event);
  /// Whether anybody hears of slow queries.
  bool has_listener() const { return listener_ != nullptr; }
  void CountScrubbed(uint64_t bytes) { Add(scrubbed_bytes_, bytes); }

  enum class Call : uint8_t { kGet, kMultiGet, kScan, kQuery, kCount, kTransaction, kConflict };
  /// In the order of ConflictCounts.
  enum class Conflict : uint8_t { kGroup, kMemstore, kFiles, kRange, kSchema, kTime };
  void CountConflict(Conflict cause) { Add(conflicts_[static_cast<size_t>(cause)]); }
  void CountReplanned() { Add(replanned_writes_); }
  void CountRangeRows(uint64_t examined, uint64_t reread) {
    Add(range_rows_examined_, examined);
    Add(range_rows_reread_, reread);
  }
  void CountCall(Call call) { Add(calls_[static_cast<size_t>(call)]); }
  void CountWrite(uint64_t operations, uint64_t bytes);

  /// How many bytes of memstores a flush frees a second; `at_first` before the first one.
  uint64_t FlushRate(uint64_t at_first) const;
  /// Writes that are slowed down. Those that are stopped are Stalls.
  WriteWaits* delays() { return &delays_; }
  /// The counters; sizes are left at 0. `time_micros`: the database's time.
  Statistics Counters(int64_t time_micros) const;
  /// Of the stall that is going on and began first; empty: there is none.
  std::string StopReason() const { return stops_.FirstReason(); }
  std::vector<JobInfo> Jobs(int64_t time_micros) const { return jobs_.Describe(time_micros); }
  /// For jobs that are listed by their own.
  RunningJobs* jobs() { return &jobs_; }
  int64_t NowMicros() const { return clock_->MonotonicMicros(); }

 private:
  friend class Stall;
  using Counter = std::atomic<uint64_t>;  // Relaxed: counters that order nothing.

  static void Add(Counter& counter, uint64_t count = 1) {
    counter.fetch_add(count, std::memory_order_relaxed);
  }
  template <typename Telling>
  void Tell(const Telling& telling);
  template <typename Telling>
  void TellObserversOf(std::string_view table, std::string_view hook, const Telling& telling);
  // Of cells in, cells out, and cells dropped in the order of DroppedCells.
  using CellCounters = std::array<Counter, 8>;
  static void AddCells(CellCounters& counters, const CellCounts& cells);
  static CellCounts ValueOf(const CellCounters& counters);
  void StallBegan(const StallEvent& event);
  void StallEnded(const StallEvent& event);

  base::Clock* const clock_;
  const std::function<void(std::string_view)> log_;
  const std::shared_ptr<EventListener> listener_;
  std::function<ObserverList(std::string_view)> observers_of_;  // Empty: there are none.
  WriteWaits stops_, delays_;
  RunningJobs jobs_;

  std::array<Counter, 7> calls_{};
  std::array<Counter, 6> conflicts_{};
  Counter replanned_writes_{0}, range_rows_examined_{0}, range_rows_reread_{0};
  Counter batches_{0}, operations_{0}, batch_bytes_{0};
  Counter flushes_{0}, flushed_rows_{0}, flushed_bytes_{0}, flush_micros_{0}, failed_flushes_{0};
  Counter freed_bytes_{0}, freeing_micros_{0};  // Of memstores, by the last flushes.
  Counter compactions_{0}, compacted_rows_{0}, compacted_bytes_{0}, compaction_micros_{0};
  Counter compaction_input_bytes_{0}, failed_compactions_{0}, overlap_pairs_{0};
  CellCounters flush_cells_{}, compaction_cells_{};
  Counter postponed_compactions_{0};
  Counter paced_micros_{0};
  Counter broken_sections_{0}, rewritten_files_{0};
  Counter region_splits_{0}, region_merges_{0};
  Counter scrubbed_bytes_{0}, scrub_findings_{0};
  Counter listener_failures_{0}, observer_failures_{0};
};

/// A writer's wait, from the first Begin to the end of the scope. Threads: one.
class Stall {
 public:
  explicit Stall(Monitor* monitor) : monitor_(monitor), wait_(&monitor->stops_) {}
  ~Stall();
  Stall(const Stall&) = delete;
  Stall& operator=(const Stall&) = delete;
  /// The writer is about to wait, or to wait on. Events have the reason of the first call; the
  /// statistics follow each.
  void Begin(WaitCause cause, const std::string& reason);

 private:
  Monitor* const monitor_;
  WriteWait wait_;
  std::string reason_;  // Empty: no event was sent.
};

}  // namespace tandem::engine
