// Entering and leaving is one atomic addition; the mutex is touched only while the gate is closed.
#include "base/call_gate.h"

namespace tandem::engine {

bool Gate::Enter() {
  if ((state_.fetch_add(1, std::memory_order_acq_rel) & kClosed) == 0) return true;
  Leave();
  return false;
}

void Gate::Leave() {
  uint64_t state = state_.load(std::memory_order_relaxed);
  // While the gate is open nobody waits, and the count falls without the mutex.
  while ((state & kClosed) == 0) {
    if (state_.compare_exchange_weak(state, state - 1, std::memory_order_acq_rel)) return;
  }
  // Under the mutex, so that Close cannot return, and the gate be destroyed, before the
  // notification is done.
  base::MutexLock lock(mutex_);
  state_.fetch_sub(1, std::memory_order_acq_rel);
  left_.NotifyAll();
}

void Gate::Close() {
  state_.fetch_or(kClosed, std::memory_order_acq_rel);
  base::MutexLock lock(mutex_);
  while (state_.load(std::memory_order_acquire) != kClosed) left_.Wait(mutex_);
}

void Gate::Reopen() { state_.fetch_and(~kClosed, std::memory_order_acq_rel); }

}  // namespace tandem::engine
