// Background execution. All code schedules jobs through this interface. The engine's thread pool
// runs jobs on its own threads; the tests' executor runs them on the caller's thread when the test
// says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "tandem/status.h"

namespace tandem::base {

/// Higher priority starts first. Jobs of middle priority take long but give way while they run
/// (Executor::RunUrgent).
enum class Priority : uint8_t { kLow, kMiddle, kHigh };

/// Work for an executor, to be scheduled any number of times. Its place in a queue is allocated
/// with it, so scheduling it allocates nothing and cannot fail. One executor runs it.
class Job {
 public:
  /// Requires: `work` throws nothing.
  Job(Priority priority, std::function<void()> work);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Priority priority() const { return priority_; }
  /// Threads: any, several at a time.
  void Run() const { work_(); }

 private:
  friend class JobQueue;
  // By due time, or by arrival when it is due. Jobs move from one map to the other in their nodes.
  using Map = std::multimap<int64_t, std::shared_ptr<Job>>;
  enum class State : uint8_t { kIdle, kDelayed, kDue };

  const Priority priority_;
  const std::function<void()> work_;
  // The queue's, guarded by what guards the queue.
  State state_ = State::kIdle;
  Map::node_type node_;  // While it is idle.
  Map::iterator place_;  // While it is not.
};

inline std::shared_ptr<Job> NewJob(Priority priority, std::function<void()> work) {
  return std::make_shared<Job>(priority, std::move(work));
}

/// Threads: any.
class Executor {
 public:
  using Priority = base::Priority;
  virtual ~Executor() = default;
  /// Runs `job` once, `delay_micros` from now or later, perhaps on another thread. If it waits
  /// already, it still runs once, at the earlier of the two times; a job that runs now runs again.
  /// Allocates nothing and cannot fail.
  virtual void ScheduleAfter(int64_t delay_micros, std::shared_ptr<Job> job) = 0;
  void Schedule(std::shared_ptr<Job> job) { ScheduleAfter(0, std::move(job)); }
  /// Runs or waits for every job that is due, and returns when none is left. Jobs whose delay has
  /// not passed stay queued.
  virtual void Drain() = 0;
  /// Runs one job of high priority on the caller's thread, if one is due that no thread has begun.
  /// Returns whether there was one. A job of middle priority calls it every few milliseconds, so
  /// that no job of high priority waits for its end. Requires: the caller is a job of this
  /// executor that holds no mutex.
  virtual bool RunUrgent() = 0;
  /// True when jobs run only inside Drain: to wait for a job, call Drain instead of sleeping.
  virtual bool runs_inline() const { return false; }
};

/// Runs loops whose iterations do not depend on each other, on the threads that have time. Threads:
/// any, also within an iteration.
class Parallel {
 public:
  using Iteration = std::function<Status(size_t i)>;

  /// A loop that has begun.
  class Loop {
   public:
    /// Leaves out the iterations that have not begun, and waits for the others.
    virtual ~Loop() = default;
    /// Runs the iterations that no thread has begun, and waits for the others. Errors: that of one
    /// iteration; those that had not begun by then are left out.
    virtual Status Finish() = 0;
  };

  virtual ~Parallel() = default;
  /// Begins a loop that calls iteration(0) to iteration(count - 1), each once. No thread need take
  /// them: what is left runs in Finish.
  virtual std::unique_ptr<Loop> Begin(size_t count, Iteration iteration) = 0;
};

}  // namespace tandem::base
