// The engine's time: the wall clock that never goes back (rule 25), not even across restarts, since
// its high mark is persisted; and the timestamps it assigns, which rise strictly.
//
// A wall clock that is far ahead, once, would be the engine's time for ever: cells with a time to
// live would vanish for good. So a clock that jumped ahead is doubted: the time stays where it is,
// nothing expires, and batches get the last timestamp + 1, until the clock is back or its owner
// says that it is right.
//
// States, by what the clock is compared with:
//   unjudged     before Begin: every time is believed.
//   provisional  since Begin, with the mark of earlier lives and the time since: a year more is
//                believed. The first time that is believed and not behind the mark settles it.
//   settled      with that time and the time since: a day more is believed.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "base/clock.h"

namespace tandem::engine {

/// What the wall clock is, seen from the engine's time.
enum class ClockTrust : uint8_t { kRight, kBehind, kDoubted };

/// Threads: any, except NextTimestamp and AssignTimestamps (the commit leader).
class TimeSource {
 public:
  /// `clock` outlives this.
  explicit TimeSource(base::Clock* clock) : clock_(clock) {}

  /// What a catalog or a log remembers: nothing at or below `last_timestamp` is assigned again and
  /// Now() does not fall below `clock_high_micros`.
  void Restore(int64_t last_timestamp, int64_t clock_high_micros);
  /// Judges the clock from now on. `accept`: it is right at this moment, if it is not behind. So it
  /// is where nothing was restored. Called once, before anybody asks for the time.
  void Begin(bool accept);

  /// No later call returns less.
  int64_t Now();
  /// The timestamp that the next batch gets: greater than any assigned before.
  int64_t NextTimestamp();
  /// `count` timestamps from `first` on, which NextTimestamp returned, were given to batches.
  void AssignTimestamps(int64_t first, uint32_t count);
  int64_t last_timestamp() const { return last_timestamp_.load(std::memory_order_acquire); }

  /// The clock at this moment and the engine's time.
  struct Reading {
    ClockTrust trust = ClockTrust::kRight;
    int64_t wall_micros = 0;
    int64_t now_micros = 0;
  };
  Reading Read();
  /// Whether the trust changed since the last call, or since Begin if it is not kRight. Costs one
  /// load mostly.
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
  /// What the wall clock should be ahead of the monotonic one, doubled, plus 1 when settled: one
  /// word, so that nobody sees half of a change. Release where it is set, acquire where it is used.
  std::atomic<int64_t> reference_{kUnjudged};
  /// Times up to it are believed without a look at the monotonic clock. Relaxed: a stale one costs
  /// a look.
  std::atomic<int64_t> believed_until_{0};
  std::atomic<ClockTrust> trust_{ClockTrust::kRight};  // Relaxed: for reports.
  std::atomic<bool> changed_{false};                   // Release by Note, acquire by TakeChange.
};

}  // namespace tandem::engine
