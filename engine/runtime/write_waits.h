// Writes that flushes and merges make wait: how many, how long and why, since the open and now.
//
// A wait begins with a cause and may turn to another one: its time counts by the cause of each
// moment, and the write by the first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "tandem/statistics.h"

namespace tandem::engine {

/// In the order of WaitsByCause.
enum class WaitCause : uint8_t { kMemory, kMemstores, kRuns };

/// Threads: any.
class WriteWaits {
 public:
  /// `clock` outlives it.
  explicit WriteWaits(base::Clock* clock) : clock_(clock) {}

  /// `time_micros`: the database's time now, which the counts use.
  WaitsByCause Counts(int64_t time_micros) const EXCLUDES(mutex_);
  /// Of the wait that is going on and began first; empty: there is none, or it gave no reason.
  std::string FirstReason() const EXCLUDES(mutex_);

 private:
  friend class WriteWait;
  struct Running {
    WaitCause cause = WaitCause::kMemory;
    int64_t since_micros = 0;  // When it turned to the cause, by the monotonic clock.
    std::string reason;
  };
  struct Count {
    uint64_t writes = 0, micros = 0;
  };

  void CountTime(const Running& wait, int64_t now_micros) REQUIRES(mutex_);

  base::Clock* const clock_;
  mutable base::Mutex mutex_;
  std::array<Count, 3> counts_ GUARDED_BY(mutex_);
  std::list<Running> running_ GUARDED_BY(mutex_);  // The first to begin comes first.
};

/// The wait of one write, from the first call of WaitFor to End. Threads: one.
class WriteWait {
 public:
  /// `waits` outlives it.
  explicit WriteWait(WriteWaits* waits) : waits_(*waits) {}
  ~WriteWait() { (void)End(); }
  WriteWait(const WriteWait&) = delete;
  WriteWait& operator=(const WriteWait&) = delete;

  /// The write is about to wait, or to wait on, for this.
  void WaitFor(WaitCause cause, std::string reason);
  /// Returns the time since the first WaitFor; 0 if there was none.
  uint64_t End();

 private:
  WriteWaits& waits_;
  std::list<WriteWaits::Running>::iterator running_;
  bool is_running_ = false;
  int64_t began_micros_ = 0;
};

}  // namespace tandem::engine
