// An executor without threads: jobs wait until the test runs them on its own thread, so that a test
// decides where background work happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/job_queue.h"
#include "tools/simulation/manual_clock.h"

namespace tandem::test {

/// Threads: one. A job may schedule others and may call Drain and RunOne.
class InlineExecutor final : public base::Executor {
 public:
  /// `clock` decides when delayed jobs are due. Lifetime: it outlives the executor.
  explicit InlineExecutor(ManualClock& clock) : clock_(clock) {}

  /// The job is due when the monotonic clock has moved on by `delay_micros`.
  void ScheduleAfter(int64_t delay_micros, std::shared_ptr<base::Job> job) override;
  /// Runs jobs, those that they schedule included, until none is due.
  void Drain() override;
  bool RunUrgent() override { return Run(Priority::kHigh); }
  bool runs_inline() const override { return true; }

  /// Runs the next due job. False when there is none.
  bool RunOne() { return Run(Priority::kLow); }
  /// Jobs that could run now.
  size_t due_count();
  /// Jobs whose time has not come.
  size_t delayed_count() const { return jobs_.delayed_count(); }

 private:
  // The next job of at least this priority.
  bool Run(Priority lowest);

  ManualClock& clock_;
  base::JobQueue jobs_;
};

}  // namespace tandem::test
