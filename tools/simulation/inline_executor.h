// An executor without threads: jobs wait until the test runs them on its own thread, so that a test
// decides where background work happens.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "base/executor.h"
#include "tools/simulation/manual_clock.h"

namespace tandem::test {

/// Threads: one. A job may schedule others and may call Drain and RunOne.
class InlineExecutor final : public base::Executor {
 public:
  /// `clock` decides when delayed jobs are due. Lifetime: it outlives the executor.
  explicit InlineExecutor(ManualClock& clock) : clock_(clock) {}

  void Schedule(Priority priority, std::function<void()> job) override;
  /// The job is due when the monotonic clock has moved on by `delay_micros`, and then counts as one
  /// of low priority.
  void ScheduleAfter(int64_t delay_micros, std::function<void()> job) override;
  /// Runs jobs, those that they schedule included, until none is due.
  void Drain() override;
  bool runs_inline() const override { return true; }

  /// Runs the next due job. False when there is none.
  bool RunOne();
  /// Jobs that could run now.
  size_t due_count();
  /// Jobs whose time has not come.
  size_t delayed_count() const { return delayed_.size(); }

 private:
  void MoveDueJobs();

  ManualClock& clock_;
  std::deque<std::function<void()>> high_;
  std::deque<std::function<void()>> low_;
  std::multimap<int64_t, std::function<void()>> delayed_;  // By the time when they are due.
};

}  // namespace tandem::test
