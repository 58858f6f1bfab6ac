// A value that is loaded when first asked for and kept.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: any. Several threads may load at the same time, without a lock held over I/O; the value
/// of the first to finish is kept, the others' are dropped. A load that failed is tried again.
template <typename T>
class LoadOnce {
 public:
  LoadOnce() = default;
  LoadOnce(const LoadOnce&) = delete;
  LoadOnce& operator=(const LoadOnce&) = delete;
  ~LoadOnce() { delete value_.load(std::memory_order_relaxed); }

  /// `load` returns Result<T>. Lifetime: the value lives as long as this object.
  template <typename Load>
  Result<const T*> Get(Load load) {
    if (const T* value = value_.load(std::memory_order_acquire); value != nullptr) return value;
    ASSIGN_OR_RETURN(T loaded, load());
    auto fresh = std::make_unique<const T>(std::move(loaded));
    const T* value = nullptr;
    // Release: whoever loads the pointer with acquire, above or here, sees the value whole.
    if (value_.compare_exchange_strong(value, fresh.get(), std::memory_order_acq_rel)) {
      value = fresh.release();
    }
    return value;
  }

 private:
  std::atomic<const T*> value_{nullptr};
};

}  // namespace tandem::format
