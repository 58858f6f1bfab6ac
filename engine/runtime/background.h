// Background work: the thread pool that Database::Open makes (the only place that starts threads),
// and the engine's own tasks, which can be stopped and which a lack of memory delays but never
// ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/call_gate.h"
#include "base/clock.h"
#include "base/executor.h"
#include "tandem/status.h"

namespace tandem::engine {

/// An executor of `thread_count` threads. All but one have a lower priority in the system, and run
/// what is urgent only where that one is busy; a single one has the usual priority. Its destructor
/// waits for running jobs, drops queued ones and joins the threads. `clock` outlives it. Errors:
/// kOutOfMemory when a thread cannot be started.
Result<std::unique_ptr<base::Executor>> NewThreadPool(uint32_t thread_count, base::Clock* clock);

/// The executor of an engine's tasks, with a stop: afterwards no task runs, so that tasks may refer
/// to objects destroyed after it. Threads: any.
class BackgroundJobs {
 public:
  /// `executor` outlives this.
  explicit BackgroundJobs(base::Executor* executor)
      : executor_(executor), gate_(std::make_shared<Gate>()) {}

  /// Runs one task of high priority that is due, if there is one, on the caller's thread: see
  /// Executor::RunUrgent. Requires: the caller is a task of lower priority.
  void RunUrgent() { (void)executor_->RunUrgent(); }
  /// Waits for running tasks; those that are scheduled will do nothing.
  void Stop() { gate_->Close(); }

 private:
  friend class BackgroundTask;

  base::Executor* const executor_;
  const std::shared_ptr<Gate> gate_;  // Shared with the executor's jobs, which may outlive this.
};

/// Work that an engine does in the background whenever it is scheduled. All that scheduling needs
/// is allocated at the construction, so that it cannot fail. Work that ends for want of memory is
/// done again a second later: no task is lost, and none ends the process.
/// Threads: any. Lifetime: what was scheduled runs even if the task is gone by then.
class BackgroundTask {
 public:
  using Priority = base::Priority;

  /// `work` may throw std::bad_alloc and then starts again from its beginning; it may run on
  /// several threads at a time. `jobs` is stopped before what `work` refers to is destroyed.
  BackgroundTask(BackgroundJobs* jobs, Priority priority, std::function<void()> work);
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;

  /// Runs the work once, `delay_micros` from now or later. If it waits already, it still runs once,
  /// at the earlier of the two times.
  void Schedule(int64_t delay_micros = 0) noexcept;

 private:
  base::Executor* const executor_;
  const std::shared_ptr<base::Job> job_;
};

}  // namespace tandem::engine
