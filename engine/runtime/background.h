// Background work: the thread pool that Database::Open makes (the only place that starts threads),
// and the engine's own handle on an executor, which can be stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/call_gate.h"
#include "base/clock.h"
#include "base/executor.h"
#include "tandem/status.h"

namespace tandem::engine {

/// An executor of `thread_count` threads. Its destructor waits for running jobs, drops queued ones
/// and joins the threads. `clock` outlives it. Errors: kOutOfMemory when a thread cannot be
/// started.
Result<std::unique_ptr<base::Executor>> NewThreadPool(uint32_t thread_count, base::Clock* clock);

/// Schedules jobs that never run after Stop, so that they may refer to objects destroyed after it.
/// Threads: any.
class BackgroundJobs {
 public:
  using Priority = base::Executor::Priority;

  /// `executor` outlives this.
  explicit BackgroundJobs(base::Executor* executor)
      : executor_(executor), gate_(std::make_shared<Gate>()) {}

  void Schedule(Priority priority, std::function<void()> job);
  void ScheduleAfter(int64_t delay_micros, std::function<void()> job);
  /// Waits for running jobs; the others will do nothing.
  void Stop() { gate_->Close(); }
  base::Executor* executor() const { return executor_; }

 private:
  base::Executor* executor_;
  std::shared_ptr<Gate> gate_;  // Shared with the jobs, which may outlive this.
};

}  // namespace tandem::engine
