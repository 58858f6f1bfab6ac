// Background execution. All code schedules jobs through this interface. The engine's thread pool
// runs jobs on its own threads; the tests' executor runs them on the caller's thread when the test
// says so.
#pragma once

#include <cstdint>
#include <functional>

namespace tandem::base {

/// Threads: any.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Runs `job` once, later, perhaps on another thread. Higher priority starts first.
  enum class Priority : uint8_t { kLow, kHigh };
  virtual void Schedule(Priority priority, std::function<void()> job) = 0;
  /// Runs `job` once, `delay_micros` from now or later.
  virtual void ScheduleAfter(int64_t delay_micros, std::function<void()> job) = 0;
  /// Runs or waits for every job that is due, and returns when none is left. Jobs whose delay has
  /// not passed stay queued.
  virtual void Drain() = 0;
  /// True when jobs run only inside Drain: to wait for a job, call Drain instead of sleeping.
  virtual bool runs_inline() const { return false; }
};

}  // namespace tandem::base
