// The jobs that wait in an executor: those that are due, by priority and then in the order of their
// arrival, and those with a delay. No call allocates.
//
// States of a job: idle -> [Add] delayed or due -> [its time comes, or Add without a delay] due ->
// [Take] idle. A job that runs is idle, and may be added again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/executor.h"

namespace tandem::base {

/// Threads: one at a time; the executor guards it.
class JobQueue {
 public:
  /// The job is due at `now_micros` + `delay_micros`, or earlier if it already was to be. Returns
  /// whether the call made it due.
  bool Add(int64_t now_micros, int64_t delay_micros, std::shared_ptr<Job> job);
  /// Moves jobs whose time has come to those that are due.
  void MoveDue(int64_t now_micros);
  /// The next job that is due; nullptr: there is none.
  std::shared_ptr<Job> Take(Priority priority);
  /// The first job with a delay, before its time; nullptr: there is none.
  std::shared_ptr<Job> TakeDelayed();
  /// Whether the job was due; if so, it no longer waits.
  bool TakeDue(Job& job);
  /// Jobs with a delay do not run any more.
  void DropDelayed();

  bool empty(Priority priority) const { return due(priority).empty(); }
  size_t due_count() const { return due(Priority::kLow).size() + due(Priority::kHigh).size(); }
  size_t delayed_count() const { return delayed_.size(); }
  /// When the first job with a delay is due.
  std::optional<int64_t> next_due_micros() const;

 private:
  Job::Map& due(Priority priority) { return due_[static_cast<size_t>(priority)]; }
  const Job::Map& due(Priority priority) const { return due_[static_cast<size_t>(priority)]; }
  void MakeDue(Job::Map::node_type node);
  static void Insert(Job::State state, Job::Map::node_type node, Job::Map* map);
  static std::shared_ptr<Job> Release(Job::Map::node_type node);

  std::array<Job::Map, 2> due_;  // By arrival.
  Job::Map delayed_;             // By due time.
  int64_t arrivals_ = 0;
};

}  // namespace tandem::base
