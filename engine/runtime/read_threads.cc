// A queue of jobs under one mutex, in the order of their arrival.
#include "engine/runtime/read_threads.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "base/job_queue.h"
#include "base/mutex.h"

namespace tandem::engine {
namespace {

using base::Job;

// Of a read that waits for files most threads use no processor.
constexpr uint32_t kThreadsOfProcessor = 4;

class ReadThreads final : public base::Executor {
 public:
  ReadThreads(uint32_t threads_max, base::Clock* clock)
      : clock_(clock), threads_max_(std::max(threads_max, 1u)) {}
  ~ReadThreads() override;

  void ScheduleAfter(int64_t delay_micros, std::shared_ptr<Job> job) override;
  void Drain() override;
  bool RunUrgent() override { return false; }  // All jobs are alike.

 private:
  void StartOne() REQUIRES(mutex_);
  void Work();

  base::Clock* const clock_;
  const uint32_t threads_max_;
  base::Mutex mutex_;
  base::CondVar work_;  // There may be a job, or the threads stop.
  base::CondVar idle_;  // No job waits or runs.
  base::JobQueue jobs_ GUARDED_BY(mutex_);
  uint32_t waiting_ GUARDED_BY(mutex_) = 0, running_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
};

ReadThreads::~ReadThreads() {
  std::vector<std::thread> threads;
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    work_.NotifyAll();
  }
  for (std::thread& thread : threads) thread.join();
}

// The jobs of readers have no delay.
void ReadThreads::ScheduleAfter(int64_t delay_micros, std::shared_ptr<Job> job) {
  base::MutexLock lock(mutex_);
  (void)jobs_.Add(clock_->MonotonicMicros(), delay_micros, std::move(job));
  if (jobs_.due_count() > waiting_ && threads_.size() < threads_max_) StartOne();
  work_.NotifyOne();
}

void ReadThreads::StartOne() {
  try {
    threads_.emplace_back([this] { Work(); });
  } catch (const std::exception&) {
    return;  // No memory, or no thread: the calls read alone.
  }
}

void ReadThreads::Drain() {
  base::MutexLock lock(mutex_);
  while (!threads_.empty() && running_ + jobs_.due_count() > 0) idle_.Wait(mutex_);
}

void ReadThreads::Work() {
  while (true) {
    std::shared_ptr<Job> job;
    {
      base::MutexLock lock(mutex_);
      while (!stopping_ && (job = jobs_.Take(base::Priority::kHigh)) == nullptr) {
        ++waiting_;
        work_.Wait(mutex_);
        --waiting_;
      }
      if (job == nullptr) return;
      ++running_;
    }
    job->Run();
    job.reset();  // Releases what it holds before the threads count as idle.
    base::MutexLock lock(mutex_);
    --running_;
    if (running_ + jobs_.due_count() == 0) idle_.NotifyAll();
  }
}

}  // namespace

std::unique_ptr<base::Executor> NewReadThreads(uint32_t threads_max, base::Clock* clock) {
  if (threads_max == 0) threads_max = kThreadsOfProcessor * std::thread::hardware_concurrency();
  return std::make_unique<ReadThreads>(threads_max, clock);
}

}  // namespace tandem::engine
