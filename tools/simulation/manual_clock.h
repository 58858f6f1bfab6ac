// A clock that a test sets and steps.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace tandem::test {

/// Threads: any. Sleeping advances it and returns at once.
class ManualClock final : public base::Clock {
 public:
  /// The wall clock starts at `wall_micros`, the monotonic one at 0.
  explicit ManualClock(int64_t wall_micros = 1'700'000'000'000'000) : wall_micros_(wall_micros) {}

  int64_t WallMicros() override { return wall_micros_.load(); }
  int64_t MonotonicMicros() override { return monotonic_micros_.load(); }
  void SleepMicros(int64_t micros) override {
    if (micros > 0) Advance(micros);
  }

  /// Steps both clocks forward.
  void Advance(int64_t micros) {
    wall_micros_ += micros;
    monotonic_micros_ += micros;
  }
  /// Sets the wall clock alone, backwards too.
  void SetWall(int64_t wall_micros) { wall_micros_ = wall_micros; }

 private:
  std::atomic<int64_t> wall_micros_;  // Sequentially consistent: tests need no speed.
  std::atomic<int64_t> monotonic_micros_{0};
};

}  // namespace tandem::test
