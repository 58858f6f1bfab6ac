// How long a commit leader waits for more writers before it takes a group that will be synced.
//
// Writers that commit in a loop fall into two halves without a delay: while one is synced the other
// queues, and a sync serves half of them. The writers of the group before, and those that queued
// behind it, are likely to come again at once. A leader that waits for them gets all of them into
// one sync. (PostgreSQL's commit_delay and MySQL's binlog_group_commit_sync_delay are the same by
// hand: a time and a number of writers that somebody sets.)
//
// The delay is bounded by what a sync takes: longer, and a second sync would have been faster. It
// is left out where those that are missing need longer than that to wake up. Leaders that waited in
// vain are followed by 1, 2, 4, ... 64 groups without a delay, so writers that do not come again
// cost little.
#pragma once

#include <cstdint>

namespace tandem::engine {

/// Not thread-safe.
class CommitDelay {
 public:
  static constexpr int64_t kMicrosMax = 1'000;
  /// What it takes to wake up one writer and have it queue again.
  static constexpr int64_t kWriterMicros = 10;

  /// `micros_max`: no delay is longer.
  explicit CommitDelay(int64_t micros_max = kMicrosMax) : micros_max_(micros_max) {}

  /// A group of `writers` was synced, which took `micros`; at its end `queued` others waited.
  void NoteGroup(uint32_t writers, uint32_t queued, int64_t micros);
  /// Whether a leader waits for more than the `queued` writers, its own included. Each call is one
  /// of a group.
  bool IsDue(uint32_t queued);
  /// A leader waited; at the end `queued` writers had queued.
  void NoteDelay(uint32_t queued);

  uint32_t expected() const { return expected_; }  ///< Writers that end the delay.
  int64_t micros() const { return sync_micros_; }  ///< The longest that a leader waits.

 private:
  static constexpr uint32_t kSkippedMax = 64;

  const int64_t micros_max_;
  uint32_t expected_ = 0;
  int64_t sync_micros_ = 0;  // A moving average.
  uint32_t skips_ = 0;       // Groups after the last delay in vain that have none,
  uint32_t skips_left_ = 0;  // and how many of them are to come.
};

}  // namespace tandem::engine
