// A gate around calls and background jobs, which enter and leave it. Close waits until nobody is
// inside; after that nobody can enter.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"

namespace tandem::engine {

/// Threads: any.
class Gate {
 public:
  /// False: the gate is closed, and the caller must not Leave.
  [[nodiscard]] bool Enter();
  void Leave();
  /// Close was called.
  bool is_closed() const { return (state_.load(std::memory_order_acquire) & kClosed) != 0; }
  /// Returns when nobody is inside. Requires: the caller is not inside.
  void Close() EXCLUDES(mutex_);
  /// Lets callers in again, if the caller of Close failed to finish what it closed the gate for.
  void Reopen();

 private:
  static constexpr uint64_t kClosed = uint64_t{1} << 63;

  // The closed bit and the number of callers inside. Acquire on entering, release on leaving: the
  // thread that closes the gate sees everything that was done inside.
  std::atomic<uint64_t> state_{0};
  base::Mutex mutex_;
  base::CondVar left_;
};

/// Enters a gate, and leaves it at the end of the scope if it got in.
class GatePass {
 public:
  explicit GatePass(Gate& gate) : gate_(gate), inside_(gate.Enter()) {}
  ~GatePass() {
    if (inside_) gate_.Leave();
  }
  GatePass(const GatePass&) = delete;
  GatePass& operator=(const GatePass&) = delete;
  bool inside() const { return inside_; }

 private:
  Gate& gate_;
  bool inside_;
};

}  // namespace tandem::engine
