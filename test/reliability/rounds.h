// How long a suite runs.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "test/reliability/suite.h"
#include "test/reliability/suites.h"

namespace tandem::reliability {

/// One round where the plan says no time, otherwise rounds until it has passed.
class Rounds {
 public:
  explicit Rounds(const Plan& plan)
      : seconds_(plan.seconds), begin_micros_(clock_->MonotonicMicros()) {}
  bool Continues(uint64_t round) const {
    return seconds_ == 0 ? round == 0 : seconds_left() > 0.001;
  }
  /// 0: there is no end. Never less than a millisecond otherwise.
  double seconds_left() const {
    if (seconds_ == 0) return 0;
    const auto passed = static_cast<double>(clock_->MonotonicMicros() - begin_micros_) / 1e6;
    return passed + 0.001 < seconds_ ? seconds_ - passed : 0.001;
  }

 private:
  std::unique_ptr<base::Clock> clock_ = base::NewSystemClock();
  double seconds_;
  int64_t begin_micros_;
};

}  // namespace tandem::reliability
