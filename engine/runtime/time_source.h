// The engine's time: a wall clock that never goes back (rule 25), not even across restarts, since
// its high mark is persisted; and the timestamps it assigns, which strictly increase.
//
// A wall clock that is far ahead even once would set the engine's time for good: cells with a TTL
// would expire and be lost. So a clock that jumps ahead is doubted: the engine's time stands still,
// nothing expires, and batches get the last timestamp + 1, until the clock is back or its owner
// confirms it.
//
// States, by what the clock is compared with:
//   unjudged     before Begin: every time is accepted.
//   provisional  after Begin, with the mark of earlier opens plus the time since: up to a year more
//                is accepted. The first accepted time that is not behind the mark confirms it.
//   confirmed    with that time plus the time since: up to a day more is accepted.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "base/clock.h"

namespace tandem::engine {

/// The wall clock compared with the engine's time.
enum class ClockTrust : uint8_t { kRight, kBehind, kDoubted };

/// Threads: any, except NextTimestamp and AssignTimestamps (the commit leader).
class TimeSource {
 public:
  /// `clock` outlives this.
  explicit TimeSource(base::Clock* clock) : clock_(clock) {}

  /// Restores what a catalog or a log recorded: nothing at or below `last_timestamp` is assigned
  /// again and Now() does not fall below `clock_high_micros`.
  void Restore(int64_t last_timestamp, int64_t clock_high_micros);
  /// Starts judging the clock. `accept`: it is right now, unless it is behind. It is also taken as
  /// right when nothing was restored. Requires: called once, before the time is used.
  void Begin(bool accept);

  /// No later call returns less.
  int64_t Now();
  /// The timestamp that the next batch gets: greater than any assigned before.
  int64_t NextTimestamp();
  /// `count` timestamps from `first` on, which NextTimestamp returned, were given to batches.
  void AssignTimestamps(int64_t first, uint32_t count);
  int64_t last_timestamp() const { return last_timestamp_.load(std::memory_order_acquire); }

  /// The wall clock and the engine's time.
  struct Reading {
    ClockTrust trust = ClockTrust::kRight;
    int64_t wall_micros = 0;
    int64_t now_micros = 0;
  };
  Reading Read();
  /// Whether the trust changed since the last call, or since Begin if it is not kRight. Usually
  /// costs one load.
  bool TakeChange() {
    return changed_.load(std::memory_order_relaxed) &&
           changed_.exchange(false, std::memory_order_acq_rel);
  }

 private:
  static constexpr int64_t kUnjudged = std::numeric_limits<int64_t>::min();

  int64_t Judge(int64_t wall_micros);
  void Note(ClockTrust trust);
  void RaiseHigh(int64_t micros);

  base::Clock* clock_;
  std::atomic<int64_t> high_{0};            // Only rises, by compare-exchange.
  std::atomic<int64_t> last_timestamp_{0};  // Release by the assigner, acquire by the rest.
  /// How far the wall clock should be ahead of the monotonic one, doubled, plus 1 when confirmed:
  /// one word, so that no thread sees half of a change. Release where it is set, acquire where it
  /// is used.
  std::atomic<int64_t> reference_{kUnjudged};
  /// Times up to it are accepted without reading the monotonic clock. Relaxed: a stale value costs
  /// one read.
  std::atomic<int64_t> believed_until_{0};
  std::atomic<ClockTrust> trust_{ClockTrust::kRight};  // Relaxed: for reports.
  std::atomic<bool> changed_{false};                   // Release by Note, acquire by TakeChange.
};

}  // namespace tandem::engine
