// Finds regions that take most of the writes, or reads, of their table for ten seconds.
//
// Regions count what they take. Once a second a call that happens to come compares the counts with
// those of the second before; no thread waits for it. Where no call comes for more than two
// seconds, the seconds before no longer count.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "base/mutex.h"
#include "engine/region/region_set.h"
#include "engine/runtime/monitor.h"
#include "format/types.h"

namespace tandem::engine {

/// Threads: any.
class HotRegions {
 public:
  HotRegions(const RegionSet* regions, Monitor* monitor) : regions_(regions), monitor_(monitor) {}

  /// Looks if a second has passed since the last look. Requires: the caller holds no lock.
  void Tick(int64_t now_micros) EXCLUDES(mutex_) {
    // Relaxed: another thread may look in this one's place.
    if (now_micros >= next_micros_.load(std::memory_order_relaxed)) Look(now_micros);
  }

 private:
  using Counts = std::array<uint64_t, 2>;  // Writes, reads.
  // The region that took most of a table's writes, or reads.
  struct Hottest {
    format::RegionId region;
    uint32_t seconds = 0;  // That followed one another; 0: none took most in the last one.
  };
  struct Seen {
    std::map<format::RegionId, Counts> counts;
    std::array<Hottest, 2> hottest;
  };

  void Look(int64_t now_micros) EXCLUDES(mutex_);
  void LookAt(const Table& table, Seen* seen, std::vector<HotRegionEvent>* events) const;

  const RegionSet* const regions_;
  Monitor* const monitor_;
  std::atomic<int64_t> next_micros_{0};  // Of the next look.
  base::Mutex mutex_;
  bool is_looking_ GUARDED_BY(mutex_) = false;
  std::map<format::TableId, Seen> seen_;  // Of the thread that looks.
  int64_t last_micros_ = 0;               // The same.
};

}  // namespace tandem::engine
