// A gate that many pass and one closes: calls and background jobs enter and leave; who closes
// it waits until nobody is inside, and nobody enters afterwards.
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
  /// Returns when nobody is inside. Requires: the caller is not inside.
  void Close() EXCLUDES(mutex_);
  /// Lets callers in again after a Close that came to nothing.
  void Reopen();

 private:
  static constexpr uint64_t kClosed = uint64_t{1} << 63;

  // The closed bit and the number inside. Acquire on entering, release on leaving: who closed
  // the gate sees everything that was done inside.
  std::atomic<uint64_t> state_{0};
  base::Mutex mutex_;
  base::CondVar left_;
};

/// Leaves a gate at the end of a scope, when it got in.
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
