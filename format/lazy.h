// A value that is loaded on first use and kept. No lock is held while loading: if several threads
// load at once, one wins and all get its value.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "tandem/status.h"

namespace tandem::format {

/// Threads: any. Lifetime: the value lives as long as this object.
template <typename T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy&) = delete;
  Lazy& operator=(const Lazy&) = delete;
  ~Lazy() { std::unique_ptr<T>(value_.load(std::memory_order_relaxed)).reset(); }

  /// nullptr before the first successful Get.
  T* loaded() const { return value_.load(std::memory_order_acquire); }
  /// The value; calls `load()` -> Result<T> if it is not loaded yet. The next Get retries a failed
  /// load.
  template <typename Load>
  Result<T*> Get(Load load) {
    if (T* const value = loaded(); value != nullptr) return value;
    Result<T> result = load();
    if (!result) return result.error();
    auto mine = std::make_unique<T>(std::move(result).value());
    T* winner = nullptr;
    if (value_.compare_exchange_strong(winner, mine.get(), std::memory_order_acq_rel)) {
      return mine.release();
    }
    return winner;
  }

 private:
  std::atomic<T*> value_{
      nullptr};  // Owned. Released by the winner's exchange, acquired by loaded().
};

}  // namespace tandem::format
