// The sequence numbers that are still being read at. A reader takes the visible sequence and
// registers it in one step; a merge takes the list and its time in one step; so a merge never drops
// a cell that a reader needs (rule 25).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "base/mutex.h"
#include "engine/runtime/time_source.h"
#include "format/cell/visibility.h"
#include "format/types.h"

namespace tandem::engine {

/// Threads: any. Held by shared_ptr: registrations keep it alive.
class SnapshotRegistry : public std::enable_shared_from_this<SnapshotRegistry> {
 public:
  /// `time` outlives every call but Release.
  explicit SnapshotRegistry(TimeSource* time) : time_(time) {}

  /// Makes every operation up to `sequence` visible. Requires: `sequence` never decreases.
  void Publish(format::SequenceNumber sequence) {
    visible_.store(sequence.value, std::memory_order_release);
  }
  format::SequenceNumber visible() const {
    return format::SequenceNumber(visible_.load(std::memory_order_acquire));
  }

  /// Keeps a sequence registered while it lives.
  class Registration {
   public:
    explicit Registration(std::shared_ptr<SnapshotRegistry> registry)
        : registry_(std::move(registry)) {}
    ~Registration();
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    const format::ReadPoint& point() const { return point_; }

   private:
    friend class SnapshotRegistry;
    std::shared_ptr<SnapshotRegistry> registry_;
    format::ReadPoint point_;
    bool keeps_sequence_ = false;  ///< Its sequence is counted in the registry.
    bool keeps_time_ = false;      ///< So is its time.
  };

  /// Registers the visible sequence for one read. The read takes its time after it has pinned its
  /// versions.
  std::shared_ptr<const Registration> RegisterRead() EXCLUDES(mutex_);
  /// Registers the visible sequence and the current time for a snapshot. All its reads use both.
  std::shared_ptr<const Registration> RegisterSnapshot() EXCLUDES(mutex_);

  /// What flush and compaction must keep: whatever these sequences see, and whatever is alive at
  /// this time, which is not later than that of any snapshot.
  struct RetentionPoint {
    std::vector<format::SequenceNumber> snapshots;
    int64_t now_micros = 0;
  };
  RetentionPoint TakeRetentionPoint() const EXCLUDES(mutex_);

 private:
  struct Entry {
    format::SequenceNumber sequence;
    uint64_t readers = 0;
  };

  void Add(format::SequenceNumber sequence) REQUIRES(mutex_);
  void Release(const Registration& registration) EXCLUDES(mutex_);

  TimeSource* time_;
  std::atomic<uint64_t> visible_{0};  // Release by the commit leader, acquire by readers.
  mutable base::Mutex mutex_;
  std::vector<Entry> entries_ GUARDED_BY(mutex_);  // Ascending.
  std::multiset<int64_t> snapshot_times_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
