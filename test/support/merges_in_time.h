// How many runs regions have while their merges take time. A load is simulated: flushes come one in
// each unit of time, and one thread merges at `merge_rate`. From ten runs on writers are slowed
// down (engine/commit/write_throttle): to a flush in the time in which six are merged, and in twice
// that time for each further run. At 15 they wait.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::test {

struct TimedLoad {
  uint64_t flushes = 0;
  size_t regions = 1;     ///< Flushed by turns.
  double merge_rate = 8;  ///< Flushes whose bytes are merged in a unit of time.
  bool gives_way = true;
};

struct TimedOutcome {
  size_t runs_max = 0;    ///< Of a region.
  double written = 0;     ///< By flushes and merges for each byte flushed.
  double time = 0;        ///< Between flushes, the mean.
  double waited_max = 0;  ///< The longest time in which writers waited.
};

TimedOutcome SimulateMerges(const TimedLoad& load);

}  // namespace tandem::test
