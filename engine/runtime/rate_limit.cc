// The line's time is the clock's, times the factor. While nobody is in the line it stands still: a
// job that comes later has nothing in advance.
#include "engine/runtime/rate_limit.h"

#include <algorithm>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// How long a job sleeps before it looks whether something has changed.
constexpr int64_t kSleepMicros = 20'000;
constexpr double kMicrosMax = 3.6e9;

}  // namespace

Status RateLimit::Pass(uint64_t bytes, const Factor& factor) {
  if (bytes_per_second_ == 0) return {};
  const int64_t place = TakePlace(bytes);
  while (true) {
    ASSIGN_OR_RETURN(const uint32_t now, factor());
    const int64_t left = MicrosLeft(place, now);
    if (left <= 0) return {};
    clock_.SleepMicros(std::min(left, kSleepMicros));
  }
}

// Returns when, by the line's time, the bytes will have passed.
int64_t RateLimit::TakePlace(uint64_t bytes) {
  const double micros = 1e6 * static_cast<double>(bytes) / static_cast<double>(bytes_per_second_);
  base::MutexLock lock(mutex_);
  if (end_ <= now_) looked_at_micros_ = clock_.MonotonicMicros();
  end_ = std::max(end_, now_) + static_cast<int64_t>(std::min(micros, kMicrosMax));
  return end_;
}

// Moves the line on, and returns what is left until `place` by the clock.
int64_t RateLimit::MicrosLeft(int64_t place, uint32_t factor) {
  base::MutexLock lock(mutex_);
  const int64_t micros = clock_.MonotonicMicros();
  if (factor == kNoLimit) {
    now_ = end_;
  } else {
    now_ = std::min(end_, now_ + (micros - looked_at_micros_) * factor);
  }
  looked_at_micros_ = micros;
  return factor == kNoLimit ? 0 : (place - now_ + factor - 1) / factor;
}

}  // namespace tandem::engine
