// Time. All code gets it through this interface, so that tests can set the clock.
#pragma once

#include <cstdint>
#include <memory>

namespace tandem::base {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Microseconds since 1970-01-01 UTC. May step backwards.
  virtual int64_t WallMicros() = 0;
  /// Microseconds from an arbitrary start, including time the machine was suspended. Never steps
  /// backwards.
  virtual int64_t MonotonicMicros() = 0;
  /// Blocks the calling thread.
  virtual void SleepMicros(int64_t micros) = 0;
};

std::unique_ptr<Clock> NewSystemClock();

}  // namespace tandem::base
