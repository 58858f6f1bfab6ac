// See write_schedule.h.
#include "engine/commit/write_schedule.h"

#include <algorithm>

namespace tandem::engine {
namespace {

// Shorter sleeps last about as long as the system takes to wake a thread.
constexpr int64_t kDelayMicrosMin = 1000;

}  // namespace

// What is due never comes earlier: others may have read the clock later, or may be delayed longer.
int64_t WriteSchedule::Delay(const Write& write) {
  const int64_t now = write.now_micros * 1000, most = write.delay_micros_max * 1000;
  const double wanted =
      static_cast<double>(write.bytes) * 1e9 / std::max(write.bytes_per_second, 1.0);
  const auto nanos = static_cast<int64_t>(std::min(wanted, static_cast<double>(most)));
  int64_t before = due_nanos_.load(std::memory_order_relaxed);
  int64_t due;
  do {
    due = std::max(before, std::min(std::max(before, now) + nanos, now + most));
  } while (!due_nanos_.compare_exchange_weak(before, due, std::memory_order_relaxed));
  const int64_t micros = std::min(due - now, most) / 1000;
  return micros < kDelayMicrosMin ? 0 : micros;
}

}  // namespace tandem::engine
