// The high mark is one atomic that only rises.
#include "engine/time_source.h"

#include <algorithm>

namespace tandem::engine {

void TimeSource::RaiseHigh(int64_t micros) {
  int64_t high = high_.load(std::memory_order_relaxed);
  while (high < micros && !high_.compare_exchange_weak(high, micros, std::memory_order_acq_rel)) {
  }
}

int64_t TimeSource::Now() {
  RaiseHigh(clock_->WallMicros());
  return high_.load(std::memory_order_acquire);
}

int64_t TimeSource::NextTimestamp() { return std::max(Now(), last_timestamp() + 1); }

void TimeSource::AssignTimestamps(int64_t first, uint32_t count) {
  last_timestamp_.store(first + count - 1, std::memory_order_release);
}

void TimeSource::Restore(int64_t last_timestamp, int64_t clock_high_micros) {
  last_timestamp_.store(std::max(this->last_timestamp(), last_timestamp),
                        std::memory_order_release);
  RaiseHigh(clock_high_micros);
}

}  // namespace tandem::engine
