// The engine's time: the wall clock that never goes back (rule 25), not even across restarts, since
// its high mark is persisted; and the timestamps it assigns, which rise strictly.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace tandem::engine {

/// Threads: any, except NextTimestamp and AssignTimestamps (the commit leader).
class TimeSource {
 public:
  /// `clock` outlives this.
  explicit TimeSource(base::Clock* clock) : clock_(clock) {}

  /// No later call returns less.
  int64_t Now();
  /// The timestamp that the next batch gets: greater than any assigned before.
  int64_t NextTimestamp();
  /// `count` timestamps from `first` on, which NextTimestamp returned, were given to batches.
  void AssignTimestamps(int64_t first, uint32_t count);
  int64_t last_timestamp() const { return last_timestamp_.load(std::memory_order_acquire); }

  /// What a catalog or a log remembers: nothing at or below `last_timestamp` is assigned again and
  /// Now() does not fall below `clock_high_micros`.
  void Restore(int64_t last_timestamp, int64_t clock_high_micros);

 private:
  void RaiseHigh(int64_t micros);

  base::Clock* clock_;
  std::atomic<int64_t> high_{0};            // Only rises, by compare-exchange.
  std::atomic<int64_t> last_timestamp_{0};  // Release by the assigner, acquire by the rest.
};

}  // namespace tandem::engine
