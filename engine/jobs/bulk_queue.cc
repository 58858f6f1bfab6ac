// The state is one mutex over a list of batches and the turn.
#include "engine/jobs/bulk_queue.h"

#include <deque>
#include <utility>

#include "base/guarded.h"
#include "base/mutex.h"
#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// What may wait: enough that neither side stops for the other's longer steps.
constexpr uint64_t kWaitingBytesMax = 4 << 20;

}  // namespace

struct BulkQueue::State {
  explicit State(Write write_batch) : write(std::move(write_batch)) {}

  /// Writes the first batch that waits if the turn is free. Returns whether it was.
  bool WriteNext() EXCLUDES(mutex);
  /// Writes what waits until no more than `bytes` do, or another thread has.
  Status WriteDownTo(uint64_t bytes) EXCLUDES(mutex);
  void Run() {
    while (WriteNext()) {
    }
  }

  const Write write;
  base::Mutex mutex;
  base::CondVar written;  // A batch was written, and the turn is free.
  std::deque<wal::BatchEncoder> waiting GUARDED_BY(mutex);
  uint64_t waiting_bytes GUARDED_BY(mutex) = 0;
  bool is_writing GUARDED_BY(mutex) = false;  // The turn.
  Status status GUARDED_BY(mutex);            // The error of a write, which was the last.
};

bool BulkQueue::State::WriteNext() {
  wal::BatchEncoder batch;
  {
    base::MutexLock lock(mutex);
    if (is_writing || waiting.empty()) return false;
    is_writing = true;
    batch = std::move(waiting.front());
    waiting.pop_front();
    waiting_bytes -= batch.bytes().size();
  }
  Status result = Guarded([&] { return write(std::move(batch)); });
  base::MutexLock lock(mutex);
  is_writing = false;
  if (!result.ok()) {
    status = std::move(result);
    waiting.clear();
    waiting_bytes = 0;
  }
  written.NotifyAll();
  return true;
}

Status BulkQueue::State::WriteDownTo(uint64_t bytes) {
  while (true) {
    {
      base::MutexLock lock(mutex);
      if (!status.ok()) return status;
      const bool is_done = bytes == 0 ? waiting.empty() && !is_writing : waiting_bytes <= bytes;
      if (is_done) return {};
      if (is_writing) {
        written.Wait(mutex);
        continue;
      }
    }
    (void)WriteNext();
  }
}

BulkQueue::BulkQueue(BackgroundJobs* jobs, Write write)
    : state_(std::make_shared<State>(std::move(write))),
      task_(jobs, BackgroundTask::Priority::kLow, [state = state_] { state->Run(); }) {}

BulkQueue::~BulkQueue() {
  base::MutexLock lock(state_->mutex);
  state_->waiting.clear();
  state_->waiting_bytes = 0;
  while (state_->is_writing) state_->written.Wait(state_->mutex);
}

Status BulkQueue::Push(wal::BatchEncoder batch) {
  {
    base::MutexLock lock(state_->mutex);
    RETURN_IF_ERROR(state_->status);
    const uint64_t bytes = batch.bytes().size();
    state_->waiting.push_back(std::move(batch));
    state_->waiting_bytes += bytes;
  }
  task_.Schedule();
  return state_->WriteDownTo(kWaitingBytesMax);
}

Status BulkQueue::Drain() { return state_->WriteDownTo(0); }

}  // namespace tandem::engine
