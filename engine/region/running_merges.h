// The merges that run: what ends them early, and what they give way to.
//
// A merge ends when its table goes. One that is due also ends when a caller waits to compact all of
// its region, and at a close unless it is small; others end for any close.
//
// A merge of all of a region may take minutes. So it gives way: its thread makes smaller merges
// that come due meanwhile, before it goes on. They are of runs above its inputs, or of other
// regions, and may give way in their turn. A region has few runs all the time, with any number of
// threads. docs/decisions/0081 has the reasons and the figures.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "base/mutex.h"
#include "engine/region/region.h"
#include "engine/region/region_runs.h"
#include "engine/region/view.h"
#include "format/types.h"

namespace tandem::engine {

class RunningMerge;

/// Why a merge runs. Those by hand are not paced.
enum class MergeKind : uint8_t { kDue, kRepair, kByHand };

/// Threads: any.
class RunningMerges {
 public:
  using CancelFlag = std::atomic<bool>;  // To end a merge. Relaxed: it is polled.

  /// `change` more callers wait to compact the region.
  void CallersWait(const Region& region, int change) EXCLUDES(mutex_);
  /// The region is retired. Allocates nothing.
  void EndAllOf(const Region& region) EXCLUDES(mutex_);
  /// The database is being closed: ends merges that are due only if they have more input bytes.
  void Close(uint64_t input_bytes) EXCLUDES(mutex_);
  bool is_closing() const EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    return is_closing_;
  }
  /// The first runs of the version that are inputs of running merges, or older than those.
  size_t BusyRuns(const RegionVersion& version, const RegionRuns& runs) const EXCLUDES(mutex_);

  using Number = uint64_t;  // Of an offer, from 1.
  /// A merge of the region is due: merges that run may give way to it. May throw std::bad_alloc.
  void Offer(Region& region) EXCLUDES(mutex_);
  Number offers() const { return offers_.load(std::memory_order_relaxed); }
  /// Takes back an offer up to this number: no merge of the region is due any more.
  void Withdraw(const Region& region, Number last) EXCLUDES(mutex_);
  /// The first offer that the merge has not seen, so that it sees each once; null: there is none.
  std::shared_ptr<Region> NextOffer(RunningMerge* merge) const EXCLUDES(mutex_);

 private:
  friend class RunningMerge;
  // There is one while a merge of the region runs or callers wait.
  struct OfRegion {
    uint32_t callers_waiting = 0;
    RunningMerge* innermost = nullptr;  // The last one that began. Others gave way to it.
  };

  void Begin(RunningMerge* merge) EXCLUDES(mutex_);
  void End(RunningMerge* merge) EXCLUDES(mutex_);
  void SetCancelFlag(RunningMerge* merge) const REQUIRES(mutex_);
  void SetCancelFlags(const OfRegion& of) const REQUIRES(mutex_);
  void EraseIfUnused(format::RegionId region) REQUIRES(mutex_);
  void WithdrawLocked(format::RegionId region, Number last) REQUIRES(mutex_);

  mutable base::Mutex mutex_;
  bool is_closing_ GUARDED_BY(mutex_) = false;
  uint64_t due_bytes_max_ GUARDED_BY(mutex_) = UINT64_MAX;  // Larger due merges end.
  std::map<format::RegionId, OfRegion> regions_ GUARDED_BY(mutex_);
  std::map<format::RegionId, Number> offered_ GUARDED_BY(mutex_);
  std::map<Number, std::weak_ptr<Region>> by_number_ GUARDED_BY(mutex_);  // The same.
  std::atomic<Number> offers_{0};  // So far. Relaxed: it is looked at again.
};

/// A merge runs while this lives. Requires: the region's compaction turn.
/// Threads: one, unless said otherwise; ends and busy runs are found by any.
class RunningMerge {
 public:
  struct Description {
    MergeKind kind = MergeKind::kDue;
    uint64_t input_bytes = 0;
    /// The newest file that it replaces: while it runs, newer ones may be merged.
    const LiveFile* newest = nullptr;
    RunningMerge* within = nullptr;  ///< The merge that gave way to it; null: none.
  };
  /// Both outlive it.
  RunningMerge(RunningMerges* merges, Region& region, const Description& description);
  ~RunningMerge() { merges_.End(this); }
  RunningMerge(const RunningMerge&) = delete;
  RunningMerge& operator=(const RunningMerge&) = delete;

  /// Set when it, or one that gave way to it, is to end.
  const RunningMerges::CancelFlag& end() const { return end_; }
  bool is_ended() const { return end_.load(std::memory_order_relaxed); }
  /// Whether others wait for it, or for one that gave way to it: it is by hand, or a thread waits
  /// for its region.
  bool IsAwaited() const;
  /// Whether it looks at offers now: there are new ones, and after what it gave way to it has had
  /// its share of the thread. `read_bytes`: of its inputs; it may begin again.
  bool GivesWay(uint64_t read_bytes);
  /// Whether this thread has the compaction turn of the region.
  bool HasTurnOf(const Region& region) const;
  /// The most bytes of a merge that it gives way to.
  uint64_t given_bytes_max() const { return description_.input_bytes / 2; }
  /// It gave way to a merge of inputs of `bytes`.
  void Gave(uint64_t bytes) { given_bytes_ += bytes; }
  /// It gives way no more: a merge that it gave way to failed.
  void GoOn() { gives_way_ = false; }
  /// The memory that it may take of what one merge may: those within one another take a third more.
  uint64_t PartOf(uint64_t memory) const { return memory >> (2 * depth_); }

 private:
  friend class RunningMerges;

  RunningMerges& merges_;
  Region& region_;
  const Description description_;
  const uint32_t depth_;  // Merges that gave way to it.
  uint64_t given_bytes_ = 0, read_bytes_ = 0;
  bool gives_way_ = true;
  RunningMerges::Number seen_ = 0;  // Offers.
  // Guarded by the mutex of `merges_`.
  RunningMerge* enclosing_ = nullptr;  // Of the same region.
  RunningMerge* inner_ = nullptr;      // That it gives way to.
  bool is_retired_ = false;
  RunningMerges::CancelFlag end_{false};
};

}  // namespace tandem::engine
