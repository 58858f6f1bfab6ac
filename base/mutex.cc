// The condition variable over base::Mutex. The mutex is adopted for the time of the wait and handed
// back still held, which the analysis cannot follow into the standard library.
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
