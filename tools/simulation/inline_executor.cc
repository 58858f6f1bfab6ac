// See inline_executor.h.
#include "tools/simulation/inline_executor.h"

#include <utility>

namespace tandem::test {

void InlineExecutor::Schedule(Priority priority, std::function<void()> job) {
  (priority == Priority::kHigh ? high_ : low_).push_back(std::move(job));
}

void InlineExecutor::ScheduleAfter(int64_t delay_micros, std::function<void()> job) {
  delayed_.emplace(clock_.MonotonicMicros() + delay_micros, std::move(job));
}

void InlineExecutor::Drain() {
  while (RunOne()) {
  }
}

bool InlineExecutor::RunOne() {
  MoveDueJobs();
  auto& jobs = high_.empty() ? low_ : high_;
  if (jobs.empty()) return false;
  const std::function<void()> job = std::move(jobs.front());
  jobs.pop_front();
  job();
  return true;
}

size_t InlineExecutor::due_count() {
  MoveDueJobs();
  return high_.size() + low_.size();
}

void InlineExecutor::MoveDueJobs() {
  const auto first_later = delayed_.upper_bound(clock_.MonotonicMicros());
  for (auto due = delayed_.begin(); due != first_later; ++due) {
    low_.push_back(std::move(due->second));
  }
  delayed_.erase(delayed_.begin(), first_later);
}

}  // namespace tandem::test
