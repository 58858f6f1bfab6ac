// An entry of the list is made before the mutex is locked and freed after it.
#include "engine/runtime/write_waits.h"

#include <utility>

namespace tandem::engine {

void WriteWaits::CountTime(const Running& wait, int64_t now_micros) {
  counts_[static_cast<size_t>(wait.cause)].micros +=
      static_cast<uint64_t>(now_micros - wait.since_micros);
}

WaitsByCause WriteWaits::Counts(int64_t time_micros) const {
  std::array<WaitCounts, 3> counts;
  // The monotonic clock counts what has passed, even while the database's time stands still.
  const int64_t now_micros = clock_->MonotonicMicros();
  base::MutexLock lock(mutex_);
  for (size_t i = 0; i < counts.size(); ++i) {
    counts[i].writes = counts_[i].writes;
    counts[i].micros = counts_[i].micros;
  }
  for (const Running& wait : running_) {
    WaitCounts& count = counts[static_cast<size_t>(wait.cause)];
    const int64_t since = time_micros - (now_micros - wait.since_micros);
    if (count.waiting == 0 || since < count.since_micros) count.since_micros = since;
    ++count.waiting;
  }
  return {.memory = counts[0], .memstores = counts[1], .runs = counts[2]};
}

std::string WriteWaits::FirstReason() const {
  base::MutexLock lock(mutex_);
  return running_.empty() ? std::string() : running_.front().reason;
}

void WriteWait::WaitFor(WaitCause cause, std::string reason) {
  std::list<WriteWaits::Running> made;
  if (!is_running_) made.emplace_back();
  const int64_t now_micros = waits_.clock_->MonotonicMicros();
  base::MutexLock lock(waits_.mutex_);
  if (!is_running_) {
    running_ = made.begin();
    waits_.running_.splice(waits_.running_.end(), made);
    is_running_ = true;
    began_micros_ = now_micros;
    ++waits_.counts_[static_cast<size_t>(cause)].writes;
  } else if (running_->cause != cause) {
    waits_.CountTime(*running_, now_micros);
  } else {
    running_->reason.swap(reason);
    return;
  }
  running_->cause = cause;
  running_->since_micros = now_micros;
  running_->reason.swap(reason);
}

uint64_t WriteWait::End() {
  if (!is_running_) return 0;
  is_running_ = false;
  std::list<WriteWaits::Running> ended;
  const int64_t now_micros = waits_.clock_->MonotonicMicros();
  base::MutexLock lock(waits_.mutex_);
  waits_.CountTime(*running_, now_micros);
  ended.splice(ended.end(), waits_.running_, running_);
  return static_cast<uint64_t>(now_micros - began_micros_);
}

}  // namespace tandem::engine
