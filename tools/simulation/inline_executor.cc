// See inline_executor.h.
#include "tools/simulation/inline_executor.h"

#include <utility>

namespace tandem::test {

void InlineExecutor::ScheduleAfter(int64_t delay_micros, std::shared_ptr<base::Job> job) {
  (void)jobs_.Add(clock_.MonotonicMicros(), delay_micros, std::move(job));
}

void InlineExecutor::Drain() {
  while (RunOne()) {
  }
}

bool InlineExecutor::Run(Priority lowest) {
  jobs_.MoveDue(clock_.MonotonicMicros());
  const std::shared_ptr<base::Job> job = jobs_.Take(lowest);
  if (job == nullptr) return false;
  job->Run();
  return true;
}

size_t InlineExecutor::due_count() {
  jobs_.MoveDue(clock_.MonotonicMicros());
  return jobs_.due_count();
}

}  // namespace tandem::test
