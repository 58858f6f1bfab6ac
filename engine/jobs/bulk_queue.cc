// The state is one mutex over a list of batches and the turn.
#include "engine/jobs/bulk_queue.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/guarded.h"
#include "base/mutex.h"
#include "base/status_macros.h"

namespace tandem::engine {
namespace {

// What may wait: enough that neither side stops for each step of the other.
constexpr uint64_t kWaitingBytes = 4 << 20;

}  // namespace

struct BulkQueue::State {
  State(Write write_batch, base::MemoryCharge for_waiting)
      : write(std::move(write_batch)), charge(std::move(for_waiting)) {}

  /// Writes the first batch that waits if the turn is free. Returns whether it was.
  bool WriteNext() EXCLUDES(mutex);
  /// Writes what waits until no more than may, or nothing, does, or another thread has.
  Status WriteWaiting(bool all) EXCLUDES(mutex);
  void DropWaiting() REQUIRES(mutex) {
    waiting.clear();
    waiting_bytes = 0;
    charge.Set(0);
  }
  void Run() {
    while (WriteNext()) {
    }
  }

  const Write write;
  base::Mutex mutex;
  base::CondVar written;  // A batch was written, and the turn is free.
  std::deque<wal::BatchEncoder> waiting GUARDED_BY(mutex);
  uint64_t waiting_bytes GUARDED_BY(mutex) = 0;
  uint64_t waiting_bytes_max GUARDED_BY(mutex) = kWaitingBytes;
  base::MemoryCharge charge GUARDED_BY(mutex);  // For waiting_bytes.
  bool is_writing GUARDED_BY(mutex) = false;    // The turn.
  Status status GUARDED_BY(mutex);              // The error of a write, which was the last.
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
    charge.Set(waiting_bytes);
  }
  Status result = Guarded([&] { return write(std::move(batch)); });
  base::MutexLock lock(mutex);
  is_writing = false;
  if (!result.ok()) {
    status = std::move(result);
    DropWaiting();
  }
  written.NotifyAll();
  return true;
}

Status BulkQueue::State::WriteWaiting(bool all) {
  while (true) {
    {
      base::MutexLock lock(mutex);
      if (!status.ok()) return status;
      const bool is_done =
          all ? waiting.empty() && !is_writing : waiting_bytes <= waiting_bytes_max;
      if (is_done) return {};
      if (is_writing) {
        written.Wait(mutex);
        continue;
      }
    }
    (void)WriteNext();
  }
}

BulkQueue::BulkQueue(BackgroundJobs* jobs, Write write, base::MemoryCharge charge)
    : state_(std::make_shared<State>(std::move(write), std::move(charge))),
      task_(jobs, BackgroundTask::Priority::kLow, [state = state_] { state->Run(); }) {}

BulkQueue::~BulkQueue() {
  base::MutexLock lock(state_->mutex);
  state_->DropWaiting();
  while (state_->is_writing) state_->written.Wait(state_->mutex);
}

Status BulkQueue::Push(wal::BatchEncoder batch) {
  {
    base::MutexLock lock(state_->mutex);
    RETURN_IF_ERROR(state_->status);
    const uint64_t bytes = batch.bytes().size();
    state_->waiting.push_back(std::move(batch));
    state_->waiting_bytes += bytes;
    state_->charge.Set(state_->waiting_bytes);
  }
  task_.Schedule();
  return state_->WriteWaiting(false);
}

void BulkQueue::LetWait(uint64_t bytes) {
  base::MutexLock lock(state_->mutex);
  state_->waiting_bytes_max = std::max(bytes, kWaitingBytes);
}

Status BulkQueue::Drain() { return state_->WriteWaiting(true); }

}  // namespace tandem::engine
