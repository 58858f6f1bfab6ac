// When the bytes of all writes so far are due at a given rate. A write ends when its own are, after
// those of the writes before it.
#pragma once

#include <atomic>
#include <cstdint>

namespace tandem::engine {

/// Threads: any.
class WriteSchedule {
 public:
  struct Write {
    int64_t now_micros = 0;
    uint64_t bytes = 0;
    double bytes_per_second = 0;
    int64_t delay_micros_max = 0;
  };
  /// Adds a write and returns how long it is delayed: at most `delay_micros_max`, and not at all
  /// while that is shorter than the system takes to wake a thread. It shortens no delay of writes
  /// that were added before or come after it.
  int64_t Delay(const Write& write);

 private:
  std::atomic<int64_t> due_nanos_{0};  // Relaxed: a figure.
};

}  // namespace tandem::engine
