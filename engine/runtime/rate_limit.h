// A limit of bytes a second that jobs share: each takes its place in a line, and sleeps until those
// before it have had their time. The line may move faster than the limit for a while.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/mutex.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class RateLimit {
 public:
  /// `clock` outlives it. 0 bytes: there is no limit.
  RateLimit(base::Clock* clock, uint64_t bytes_per_second)
      : clock_(*clock), bytes_per_second_(bytes_per_second) {}

  /// By what the limit is multiplied at present; kNoLimit: nobody waits. An error ends the wait.
  using Factor = std::function<Result<uint32_t>()>;
  static constexpr uint32_t kNoLimit = 0;

  /// Counts `bytes` and returns when their time is over. Asks for the factor before each sleep,
  /// every 20 ms. Errors: those of `factor`.
  Status Pass(uint64_t bytes, const Factor& factor) EXCLUDES(mutex_);

 private:
  int64_t TakePlace(uint64_t bytes) EXCLUDES(mutex_);
  int64_t MicrosLeft(int64_t place, uint32_t factor) EXCLUDES(mutex_);

  base::Clock& clock_;
  const uint64_t bytes_per_second_;
  base::Mutex mutex_;
  // In microseconds at the limit: where the line has come to, and where it ends.
  int64_t now_ GUARDED_BY(mutex_) = 0, end_ GUARDED_BY(mutex_) = 0;
  int64_t looked_at_micros_ GUARDED_BY(mutex_) = 0;  // By the clock, when `now_` was set.
};

}  // namespace tandem::engine
