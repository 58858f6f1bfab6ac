// The condition variable over base::Mutex. It adopts the mutex for the wait and returns with it
// held; the thread-safety analysis cannot follow that into the standard library.
#include "base/mutex.h"

#include <chrono>

namespace tandem::base {

void CondVar::Wait(Mutex& mutex) NO_THREAD_SAFETY_ANALYSIS {
  std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
  condition_.wait(held);
  held.release();
}

bool CondVar::WaitFor(Mutex& mutex, int64_t micros) NO_THREAD_SAFETY_ANALYSIS {
  std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
  const std::cv_status status = condition_.wait_for(held, std::chrono::microseconds(micros));
  held.release();
  return status == std::cv_status::no_timeout;
}

}  // namespace tandem::base
