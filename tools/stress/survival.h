// What survived the end of a process, and what did not, over everything that is written: the log
// has no hole, so that of two operations the later one is not there without the earlier one.
#pragma once

#include <cstdint>
#include <string>

#include "tandem/status.h"
#include "tools/stress/expected.h"

namespace tandem::stress {

/// Threads: one.
class Survival {
 public:
  /// An operation that began at this stamp is there.
  void Survived(uint64_t began, const std::string& what);
  /// An operation that was acknowledged at this stamp is gone.
  void Lost(uint64_t acknowledged, const std::string& what);
  /// Of a counter, those up to the number that was found are there.
  void Note(const CounterState& counter, uint64_t found, const std::string& name);
  /// Errors: a Mismatch, where one is gone that was acknowledged before one began that is there.
  Status Check() const;

 private:
  uint64_t last_began_ = 0, first_lost_ = 0;  // 0: none.
  std::string there_, gone_;
};

}  // namespace tandem::stress
