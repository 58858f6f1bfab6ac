// Time, reached only through this interface so that a test decides what time it is.
#pragma once

#include <cstdint>
#include <memory>

namespace tandem::base {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Microseconds since 1970-01-01 UTC. May step backwards.
  virtual int64_t WallMicros() = 0;
  /// Microseconds from an arbitrary start, those that the machine slept included. Never steps
  /// backwards.
  virtual int64_t MonotonicMicros() = 0;
  /// Blocks the calling thread.
  virtual void SleepMicros(int64_t micros) = 0;
};

std::unique_ptr<Clock> NewSystemClock();

}  // namespace tandem::base
