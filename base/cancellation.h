// Ends a call early: at its caller's request, or when its time is over.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "tandem/status.h"

namespace tandem::base {

/// Whether a read has to end. Lifetime: the flag and the clock outlive it.
class Cancellation {
 public:
  Cancellation() = default;  ///< Never.
  explicit Cancellation(const std::atomic<bool>* flag) : flag_(flag) {}
  /// From `micros` after now on, too.
  Cancellation(const std::atomic<bool>* flag, Clock* clock, int64_t micros)
      : flag_(flag), clock_(clock), begun_micros_(clock->MonotonicMicros()), micros_(micros) {}

  /// Whether the flag is set.
  bool is_cancelled() const {
    // Relaxed: it is polled, and orders nothing.
    return flag_ != nullptr && flag_->load(std::memory_order_relaxed);
  }
  /// kCancelled while the flag is set; kOverBudget when the time is over.
  Status Check() const {
    if (is_cancelled()) return Status::Cancelled("the caller cancelled the read");
    if (clock_ == nullptr) return {};
    const int64_t passed = clock_->MonotonicMicros() - begun_micros_;
    if (passed <= micros_) return {};
    return Status::OverBudget("the read has passed its budget of " + std::to_string(micros_) +
                              " microseconds: " + std::to_string(passed) + " are over");
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
  Clock* clock_ = nullptr;  // Null: there is all the time.
  int64_t begun_micros_ = 0, micros_ = 0;
};

}  // namespace tandem::base
