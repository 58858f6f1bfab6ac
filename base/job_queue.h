// The jobs that wait in an executor: those that are due, by priority and then in the order of their
// arrival, and those with a delay. No call allocates.
//
// Middle priority does not starve: one of its jobs that has waited while kPassedOverMax of high
// priority were taken comes next. So builds of overlaps end even if flushes never do.
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
  static constexpr uint32_t kPassedOverMax = 8;

  /// The next job that is due and has at least the priority `lowest`; nullptr: there is none.
  std::shared_ptr<Job> Take(Priority lowest);
  /// The same of this priority alone, whatever else waits.
  std::shared_ptr<Job> TakeOf(Priority priority) { return TakeFirst(priority); }
  /// The first job with a delay, before its time; nullptr: there is none.
  std::shared_ptr<Job> TakeDelayed();
  /// Whether the job was due; if so, it no longer waits.
  bool TakeDue(Job& job);
  /// Jobs with a delay do not run any more.
  void DropDelayed();

  size_t due_count() const;
  size_t delayed_count() const { return delayed_.size(); }
  /// When the first job with a delay is due.
  std::optional<int64_t> next_due_micros() const;

 private:
  Job::Map& due(Priority priority) { return due_[static_cast<size_t>(priority)]; }
  std::shared_ptr<Job> TakeFirst(Priority priority);
  void MakeDue(Job::Map::node_type node);
  static void Insert(Job::State state, Job::Map::node_type node, Job::Map* map);
  static std::shared_ptr<Job> Release(Job::Map::node_type node);

  std::array<Job::Map, 3> due_;  // By arrival.
  Job::Map delayed_;             // By due time.
  int64_t arrivals_ = 0;
  uint32_t passed_over_ = 0;  // Jobs of high priority taken while one of middle priority waited.
};

}  // namespace tandem::base
