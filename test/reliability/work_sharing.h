// The threads of a suite, and its time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/clock.h"

namespace tandem::reliability {

/// Calls take(item, thread) for items 0, 1, ... on threads 0 and 1 until a call says that there is
/// no more to do, and returns when all calls have.
void ShareWork(const std::function<bool(uint64_t item, size_t thread)>& take);

/// Runs from its making on. Threads: any.
class Timer {
 public:
  /// 0: it is never over.
  explicit Timer(double seconds)
      : clock_(base::NewSystemClock()), seconds_(seconds), begin_(clock_->MonotonicMicros()) {}
  double elapsed() const { return static_cast<double>(clock_->MonotonicMicros() - begin_) / 1e6; }
  bool is_over() const { return seconds_ > 0 && elapsed() >= seconds_; }

 private:
  const std::unique_ptr<base::Clock> clock_;
  const double seconds_;
  const int64_t begin_;
};

}  // namespace tandem::reliability
