// The thread pool: two queues by priority and a list of timers under one mutex. A worker takes the
// first job that is due, high priority before low, or sleeps until the next timer. With several
// workers, one never runs low-priority jobs, which may take minutes: a flush never waits for a
// merge.
#include "engine/runtime/background.h"

#include <algorithm>
#include <deque>
#include <map>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status_macros.h"

namespace tandem::engine {
namespace {

using Job = std::function<void()>;

class ThreadPool final : public base::Executor {
 public:
  explicit ThreadPool(base::Clock* clock) : clock_(clock) {}
  ~ThreadPool() override;

  Status Start(uint32_t thread_count);
  void Schedule(Priority priority, Job job) override;
  void ScheduleAfter(int64_t delay_micros, Job job) override;
  void Drain() override;

 private:
  void Work();
  void QueueDueTimers() REQUIRES(mutex_);
  bool TakeJob(Job* job, Priority* priority) REQUIRES(mutex_);
  void WaitForWork() REQUIRES(mutex_);

  base::Clock* clock_;
  base::Mutex mutex_;
  base::CondVar work_;  // There may be a job, or the pool stops.
  base::CondVar idle_;  // No job is due or running.
  std::deque<Job> high_ GUARDED_BY(mutex_);
  std::deque<Job> low_ GUARDED_BY(mutex_);
  std::multimap<int64_t, Job> timers_ GUARDED_BY(mutex_);  // By monotonic time.
  uint32_t running_ GUARDED_BY(mutex_) = 0, running_low_ GUARDED_BY(mutex_) = 0;
  uint32_t low_max_ = 1;  // Set before the first thread starts.
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // Changed by the owner alone.
};

Status ThreadPool::Start(uint32_t thread_count) {
  low_max_ = std::max(thread_count, 2u) - 1;
  try {
    for (uint32_t i = 0; i < thread_count; ++i) threads_.emplace_back([this] { Work(); });
  } catch (const std::system_error& error) {
    return Status::OutOfMemory(std::string("cannot start a background thread: ") + error.what());
  }
  return Status();
}

ThreadPool::~ThreadPool() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    work_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Schedule(Priority priority, Job job) {
  base::MutexLock lock(mutex_);
  (priority == Priority::kHigh ? high_ : low_).push_back(std::move(job));
  work_.NotifyOne();
}

void ThreadPool::ScheduleAfter(int64_t delay_micros, Job job) {
  base::MutexLock lock(mutex_);
  timers_.emplace(clock_->MonotonicMicros() + delay_micros, std::move(job));
  work_.NotifyOne();
}

void ThreadPool::Drain() {
  base::MutexLock lock(mutex_);
  QueueDueTimers();
  while (running_ > 0 || !high_.empty() || !low_.empty()) idle_.Wait(mutex_);
}

void ThreadPool::QueueDueTimers() {
  const int64_t now = clock_->MonotonicMicros();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    high_.push_back(std::move(timers_.begin()->second));
    timers_.erase(timers_.begin());
  }
}

bool ThreadPool::TakeJob(Job* job, Priority* priority) {
  QueueDueTimers();
  *priority = high_.empty() ? Priority::kLow : Priority::kHigh;
  if (*priority == Priority::kLow && running_low_ >= low_max_) return false;
  std::deque<Job>& queue = *priority == Priority::kLow ? low_ : high_;
  if (queue.empty()) return false;
  *job = std::move(queue.front());
  queue.pop_front();
  ++running_;
  if (*priority == Priority::kLow) ++running_low_;
  return true;
}

void ThreadPool::WaitForWork() {
  if (timers_.empty()) {
    work_.Wait(mutex_);
  } else {
    const int64_t delay = timers_.begin()->first - clock_->MonotonicMicros();
    if (delay > 0) (void)work_.WaitFor(mutex_, delay);
  }
}

void ThreadPool::Work() {
  Job job;
  Priority priority = Priority::kLow;
  while (true) {
    {
      base::MutexLock lock(mutex_);
      while (!stopping_ && !TakeJob(&job, &priority)) WaitForWork();
      if (stopping_ && job == nullptr) return;
    }
    job();
    job = nullptr;  // Releases what it holds before the pool counts as idle.
    base::MutexLock lock(mutex_);
    --running_;
    if (priority == Priority::kLow) --running_low_;
    if (running_ == 0) idle_.NotifyAll();
    if (stopping_) return;
  }
}

}  // namespace

Result<std::unique_ptr<base::Executor>> NewThreadPool(uint32_t thread_count, base::Clock* clock) {
  auto pool = std::make_unique<ThreadPool>(clock);
  RETURN_IF_ERROR(pool->Start(thread_count));
  return std::unique_ptr<base::Executor>(std::move(pool));
}

void BackgroundJobs::Schedule(Priority priority, std::function<void()> job) {
  executor_->Schedule(priority, [gate = gate_, job = std::move(job)] {
    GatePass pass(*gate);
    if (pass.inside()) job();
  });
}

void BackgroundJobs::ScheduleAfter(int64_t delay_micros, std::function<void()> job) {
  executor_->ScheduleAfter(delay_micros, [gate = gate_, job = std::move(job)] {
    GatePass pass(*gate);
    if (pass.inside()) job();
  });
}

}  // namespace tandem::engine
