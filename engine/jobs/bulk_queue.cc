// The state is one mutex over a list of batches, the turn, and a list of loops.
#include "engine/jobs/bulk_queue.h"

#include <algorithm>
#include <deque>
#include <list>
#include <utility>

#include "base/guarded.h"
#include "base/mutex.h"
#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// What may wait: enough that neither side stops for each step of the other.
constexpr uint64_t kWaitingBytes = 4 << 20;
// With less than that in the queue, the caller does not take part in loops: the writer would soon
// have nothing to write.
constexpr uint64_t kEnoughBytes = 1 << 20;

/// A loop, and how far it is.
struct Progress {
  const base::Parallel::Iteration iteration;
  size_t count;
  size_t next = 0;     ///< The iteration that begins next.
  size_t running = 0;  ///< Iterations that have not returned.
  Status status = {};  ///< The error of one.
};

}  // namespace

struct BulkQueue::State {
  State(Write write_batch, base::MemoryCharge for_waiting)
      : write(std::move(write_batch)), charge(std::move(for_waiting)) {}

  /// Writes the first batch that waits, without the mutex, if the turn is free. Returns whether it
  /// was.
  bool WriteNext() REQUIRES(mutex);
  /// Writes what waits until no more than may, or nothing, does, or another thread has.
  Status WriteWaiting(bool all) EXCLUDES(mutex);
  /// Runs an iteration of some loop. Returns whether there was one.
  bool Help() REQUIRES(mutex);
  /// Runs the loop's next iteration, without the mutex. Requires: there is one.
  void RunNext(Progress* loop) REQUIRES(mutex);
  void DropWaiting() REQUIRES(mutex) {
    waiting.clear();
    waiting_bytes = 0;
    charge.Set(0);
  }
  /// What the task does. One that runs sees what is added before it ends.
  void Run() EXCLUDES(mutex) {
    base::MutexLock lock(mutex);
    ++tasks;
    while (WriteNext() || Help()) {
    }
    --tasks;
  }

  const Write write;
  base::Mutex mutex;
  base::CondVar changed;  // The turn is free, a loop has begun, or its iterations have returned.
  std::deque<wal::BatchEncoder> waiting GUARDED_BY(mutex);
  uint64_t waiting_bytes GUARDED_BY(mutex) = 0;
  uint64_t waiting_bytes_max GUARDED_BY(mutex) = kWaitingBytes;
  base::MemoryCharge charge GUARDED_BY(mutex);  // For waiting_bytes.
  bool is_writing GUARDED_BY(mutex) = false;    // The turn.
  Status status GUARDED_BY(mutex);              // The error of a write, which was the last.
  std::list<Progress> loops GUARDED_BY(mutex);
  int tasks GUARDED_BY(mutex) = 0;  // How many threads are in Run.
};

/// Takes part in its loop.
class BulkQueue::SharedLoop final : public base::Parallel::Loop {
 public:
  SharedLoop(std::shared_ptr<State> state, size_t count, Iteration iteration)
      : state_(std::move(state)) {
    base::MutexLock lock(state_->mutex);
    place_ = state_->loops.insert(state_->loops.end(), {std::move(iteration), count});
    state_->changed.NotifyAll();
  }
  /// Whether the task has to be woken for it.
  bool wakes() const {
    base::MutexLock lock(state_->mutex);
    return state_->tasks == 0;
  }
  ~SharedLoop() override {
    base::MutexLock lock(state_->mutex);
    place_->next = place_->count;
    while (place_->running > 0) state_->changed.Wait(state_->mutex);
    state_->loops.erase(place_);
  }
  Status Finish() override {
    base::MutexLock lock(state_->mutex);
    while (place_->next < place_->count) state_->RunNext(&*place_);
    while (place_->running > 0) state_->changed.Wait(state_->mutex);
    return place_->status;
  }

 private:
  const std::shared_ptr<State> state_;
  std::list<Progress>::iterator place_;
};

bool BulkQueue::State::WriteNext() {
  if (is_writing || waiting.empty()) return false;
  is_writing = true;
  wal::BatchEncoder batch = std::move(waiting.front());
  waiting.pop_front();
  waiting_bytes -= batch.bytes().size();
  charge.Set(waiting_bytes);
  mutex.Unlock();
  Status result = Guarded([&] { return write(std::move(batch)); });
  mutex.Lock();
  is_writing = false;
  if (!result.ok()) {
    status = std::move(result);
    DropWaiting();
  }
  changed.NotifyAll();
  return true;
}

bool BulkQueue::State::Help() {
  for (Progress& loop : loops) {
    if (loop.next == loop.count) continue;
    RunNext(&loop);
    return true;
  }
  return false;
}

void BulkQueue::State::RunNext(Progress* loop) {
  const size_t i = loop->next++;
  ++loop->running;
  mutex.Unlock();
  Status result = Guarded([&] { return loop->iteration(i); });
  mutex.Lock();
  if (!result.ok()) {
    loop->status = std::move(result);
    loop->next = loop->count;
  }
  if (--loop->running == 0 && loop->next == loop->count) changed.NotifyAll();
}

Status BulkQueue::State::WriteWaiting(bool all) {
  base::MutexLock lock(mutex);
  while (status.ok()) {
    const bool is_done = all ? waiting.empty() && !is_writing : waiting_bytes <= waiting_bytes_max;
    if (is_done) break;
    if (!Help() && !WriteNext()) changed.Wait(mutex);
  }
  return status;
}

BulkQueue::BulkQueue(BackgroundJobs* jobs, Write write, base::MemoryCharge charge)
    : state_(std::make_shared<State>(std::move(write), std::move(charge))),
      task_(jobs, BackgroundTask::Priority::kLow, [state = state_] { state->Run(); }) {}

BulkQueue::~BulkQueue() {
  base::MutexLock lock(state_->mutex);
  state_->DropWaiting();
  while (state_->is_writing) state_->changed.Wait(state_->mutex);
}

Status BulkQueue::Push(wal::BatchEncoder batch) {
  bool wakes = false;
  {
    base::MutexLock lock(state_->mutex);
    RETURN_IF_ERROR(state_->status);
    const uint64_t bytes = batch.bytes().size();
    state_->waiting.push_back(std::move(batch));
    state_->waiting_bytes += bytes;
    state_->charge.Set(state_->waiting_bytes);
    wakes = state_->tasks == 0;
    while (state_->waiting_bytes > kEnoughBytes && state_->Help()) {
    }
  }
  if (wakes) task_.Schedule();
  return state_->WriteWaiting(false);
}

std::unique_ptr<base::Parallel::Loop> BulkQueue::Begin(size_t count, Iteration iteration) {
  auto loop = std::make_unique<SharedLoop>(state_, count, std::move(iteration));
  if (loop->wakes()) task_.Schedule();
  return loop;
}

void BulkQueue::LetWait(uint64_t bytes) {
  base::MutexLock lock(state_->mutex);
  state_->waiting_bytes_max = std::max(bytes, kWaitingBytes);
}

Status BulkQueue::Drain() { return state_->WriteWaiting(true); }

}  // namespace tandem::engine
