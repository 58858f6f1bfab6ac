// Ends a call early at its caller's request.
#pragma once

#include <atomic>

#include "tandem/status.h"

namespace tandem::base {

/// Whether the caller of a read has cancelled it. Lifetime: the flag outlives it.
class Cancellation {
 public:
  Cancellation() = default;  ///< Never.
  explicit Cancellation(const std::atomic<bool>* flag) : flag_(flag) {}

  bool is_cancelled() const {
    // Relaxed: it is polled, and orders nothing.
    return flag_ != nullptr && flag_->load(std::memory_order_relaxed);
  }
  /// kCancelled while the flag is set.
  Status Check() const {
    if (!is_cancelled()) return {};
    return Status::Cancelled("the caller cancelled the read");
  }

 private:
  const std::atomic<bool>* flag_ = nullptr;
};

}  // namespace tandem::base
