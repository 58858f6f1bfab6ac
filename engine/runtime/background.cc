// The thread pool: a queue of jobs under one mutex. A worker takes the first job that is due, by
// priority, or sleeps until the next one is. Jobs of middle priority run those of high priority
// that become due meanwhile. A worker that takes a job wakes the others while any job waits, due or
// not, so that none waits for this worker to return.
//
// With several workers, one never runs low-priority jobs, which may take minutes: a flush never
// waits for a merge. The others have a lower priority in the system, too: where processors are few,
// a merge beside a flush would take turns with the threads that write, each of some milliseconds.
// So they leave other jobs to the first worker unless that one is busy.
#include "engine/runtime/background.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/job_queue.h"
#include "base/mutex.h"
#include "base/status_macros.h"

namespace tandem::engine {
namespace {

using base::Job;
using base::Priority;

constexpr int64_t kAgainMicros = 1'000'000;  // After which work that found no memory is done again.
// Of workers that merge: a third of the processor beside a thread of the usual one.
constexpr int kNice = 5;

// Of the calling thread, in Linux. The system may refuse: then it competes as others do.
void GiveWayToOthers() {
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
}

class ThreadPool final : public base::Executor {
 public:
  explicit ThreadPool(base::Clock* clock) : clock_(clock) {}
  ~ThreadPool() override;

  Status Start(uint32_t thread_count);
  void ScheduleAfter(int64_t delay_micros, std::shared_ptr<Job> job) override;
  void Drain() override;
  bool RunUrgent() override;

 private:
  // kMerger: leaves what is no merge to the worker that runs no merges, while that one is idle.
  enum class Role : uint8_t { kAll, kUrgent, kMerger };
  void Work(Role role);
  std::shared_ptr<Job> TakeJob(Role role) REQUIRES(mutex_);
  std::shared_ptr<Job> TakeDue(Role role) REQUIRES(mutex_);
  bool IsIdle() const REQUIRES(mutex_) { return running_ == 0 && jobs_.due_count() == 0; }
  void WaitForWork() REQUIRES(mutex_);

  base::Clock* clock_;
  base::Mutex mutex_;
  base::CondVar work_;                      // There may be a job, or the pool stops.
  base::CondVar idle_;                      // No job is due or running.
  base::JobQueue jobs_ GUARDED_BY(mutex_);  // By monotonic time.
  uint32_t running_ GUARDED_BY(mutex_) = 0;
  bool is_urgent_busy_ GUARDED_BY(mutex_) = false;  // The worker that runs no merges.
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // Changed by the owner alone.
};

Status ThreadPool::Start(uint32_t thread_count) {
  try {
    for (uint32_t i = 0; i < thread_count; ++i) {
      const Role role = thread_count == 1 ? Role::kAll : i == 0 ? Role::kUrgent : Role::kMerger;
      threads_.emplace_back([this, role] { Work(role); });
    }
  } catch (const std::system_error& error) {
    return Status::OutOfMemory(std::string("cannot start a background thread: ") + error.what());
  }
  return {};
}

ThreadPool::~ThreadPool() {
  {
    base::MutexLock lock(mutex_);
    stopping_ = true;
    work_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::ScheduleAfter(int64_t delay_micros, std::shared_ptr<Job> job) {
  base::MutexLock lock(mutex_);
  (void)jobs_.Add(clock_->MonotonicMicros(), delay_micros, std::move(job));
  work_.NotifyAll();  // One alone may be the wrong one.
}

void ThreadPool::Drain() {
  base::MutexLock lock(mutex_);
  jobs_.MoveDue(clock_->MonotonicMicros());
  work_.NotifyAll();
  while (!IsIdle()) idle_.Wait(mutex_);
}

// The pool counts the caller's job, so it is not idle before this one has ended too.
bool ThreadPool::RunUrgent() {
  std::shared_ptr<Job> job;
  {
    base::MutexLock lock(mutex_);
    if (stopping_) return false;
    jobs_.MoveDue(clock_->MonotonicMicros());
    job = jobs_.Take(Priority::kHigh);
  }
  if (job == nullptr) return false;
  job->Run();
  return true;
}

std::shared_ptr<Job> ThreadPool::TakeDue(Role role) {
  if (role == Role::kUrgent) return jobs_.Take(Priority::kMiddle);
  if (role == Role::kAll || is_urgent_busy_) return jobs_.Take(Priority::kLow);
  return jobs_.TakeOf(Priority::kLow);
}

// nullptr: there is none that this worker may run.
std::shared_ptr<Job> ThreadPool::TakeJob(Role role) {
  jobs_.MoveDue(clock_->MonotonicMicros());
  std::shared_ptr<Job> job = TakeDue(role);
  if (job == nullptr) return nullptr;
  ++running_;
  if (role == Role::kUrgent) is_urgent_busy_ = true;
  if (jobs_.due_count() + jobs_.delayed_count() > 0) work_.NotifyAll();
  return job;
}

void ThreadPool::WaitForWork() {
  const std::optional<int64_t> due = jobs_.next_due_micros();
  if (!due.has_value()) return work_.Wait(mutex_);
  const int64_t delay = *due - clock_->MonotonicMicros();
  if (delay > 0) (void)work_.WaitFor(mutex_, delay);
}

void ThreadPool::Work(Role role) {
  if (role == Role::kMerger) GiveWayToOthers();
  while (true) {
    std::shared_ptr<Job> job;
    {
      base::MutexLock lock(mutex_);
      while (!stopping_ && (job = TakeJob(role)) == nullptr) WaitForWork();
      if (job == nullptr) return;
    }
    job->Run();
    job.reset();  // Releases what it holds before the pool counts as idle.
    base::MutexLock lock(mutex_);
    --running_;
    if (role == Role::kUrgent) is_urgent_busy_ = false;
    if (IsIdle()) idle_.NotifyAll();
    if (stopping_) return;
  }
}

// The job, which may outlive its task, has all that it needs. It refers to itself without owning
// itself.
std::shared_ptr<Job> NewRepeatedJob(base::Executor* executor, std::shared_ptr<Gate> gate,
                                    Priority priority, std::function<void()> work) {
  auto self = std::make_shared<std::weak_ptr<Job>>();
  auto job =
      base::NewJob(priority, [executor, gate = std::move(gate), work = std::move(work), self] {
        GatePass pass(*gate);
        if (!pass.inside()) return;
        const Status status = Guarded([&work] {
          work();
          return Status();
        });
        if (!status.ok()) executor->ScheduleAfter(kAgainMicros, self->lock());
      });
  *self = job;
  return job;
}

}  // namespace

Result<std::unique_ptr<base::Executor>> NewThreadPool(uint32_t thread_count, base::Clock* clock) {
  auto pool = std::make_unique<ThreadPool>(clock);
  RETURN_IF_ERROR(pool->Start(thread_count));
  return std::unique_ptr<base::Executor>(std::move(pool));
}

BackgroundTask::BackgroundTask(BackgroundJobs* jobs, Priority priority, std::function<void()> work)
    : executor_(jobs->executor_),
      job_(NewRepeatedJob(jobs->executor_, jobs->gate_, priority, std::move(work))) {}

void BackgroundTask::Schedule(int64_t delay_micros) noexcept {
  executor_->ScheduleAfter(delay_micros, job_);
}

}  // namespace tandem::engine
