// The high mark is one atomic that only rises. An accepted time is good for one second, so that
// most calls read only one clock.
#include "engine/runtime/time_source.h"

#include <algorithm>

namespace tandem::engine {
namespace {

constexpr int64_t kSecondMicros = 1'000'000;
constexpr int64_t kDayMicros = 24 * 3600 * kSecondMicros;
constexpr int64_t kYearMicros = 365 * kDayMicros;
// Clocks are routinely set back by less than this; it is not reported.
constexpr int64_t kBehindMicros = 60 * kSecondMicros;

int64_t Reference(int64_t ahead_micros, bool confirmed) {
  return ahead_micros * 2 + (confirmed ? 1 : 0);
}

}  // namespace

void TimeSource::RaiseHigh(int64_t micros) {
  int64_t high = high_.load(std::memory_order_relaxed);
  while (high < micros && !high_.compare_exchange_weak(high, micros, std::memory_order_acq_rel)) {
  }
}

void TimeSource::Restore(int64_t last_timestamp, int64_t clock_high_micros) {
  last_timestamp_.store(std::max(this->last_timestamp(), last_timestamp),
                        std::memory_order_release);
  RaiseHigh(clock_high_micros);
}

void TimeSource::Begin(bool accept) {
  const int64_t mark = high_.load(std::memory_order_acquire);
  const int64_t wall = clock_->WallMicros(), monotonic = clock_->MonotonicMicros();
  const bool confirmed = mark == 0 || (accept && wall >= mark);
  reference_.store(Reference((confirmed ? wall : mark) - monotonic, confirmed),
                   std::memory_order_release);
  Now();
}

int64_t TimeSource::Now() {
  const int64_t wall = clock_->WallMicros();
  const int64_t high = high_.load(std::memory_order_acquire);
  if (wall <= high) {
    Note(wall < high - kBehindMicros ? ClockTrust::kBehind : ClockTrust::kRight);
    return high;
  }
  if (wall > believed_until_.load(std::memory_order_relaxed)) return Judge(wall);
  RaiseHigh(wall);
  return high_.load(std::memory_order_acquire);
}

int64_t TimeSource::Judge(int64_t wall) {
  const int64_t reference = reference_.load(std::memory_order_acquire);
  if (reference != kUnjudged) {
    const bool confirmed = (reference & 1) != 0;
    const int64_t monotonic = clock_->MonotonicMicros();
    const int64_t right = monotonic + (reference >> 1);
    if (wall - right > (confirmed ? kDayMicros : kYearMicros)) {
      Note(ClockTrust::kDoubted);
      return high_.load(std::memory_order_acquire);
    }
    if (!confirmed) reference_.store(Reference(wall - monotonic, true), std::memory_order_release);
  }
  Note(ClockTrust::kRight);
  RaiseHigh(wall);
  believed_until_.store(wall + kSecondMicros, std::memory_order_relaxed);
  return high_.load(std::memory_order_acquire);
}

void TimeSource::Note(ClockTrust trust) {
  if (trust_.load(std::memory_order_relaxed) == trust) return;
  if (trust_.exchange(trust, std::memory_order_relaxed) == trust) return;
  changed_.store(true, std::memory_order_release);
}

TimeSource::Reading TimeSource::Read() {
  Reading reading;
  reading.now_micros = Now();
  reading.wall_micros = clock_->WallMicros();
  reading.trust = trust_.load(std::memory_order_relaxed);
  return reading;
}

int64_t TimeSource::NextTimestamp() { return std::max(Now(), last_timestamp() + 1); }

void TimeSource::AssignTimestamps(int64_t first, uint32_t count) {
  last_timestamp_.store(first + count - 1, std::memory_order_release);
}

}  // namespace tandem::engine
