// What a suite found: a workload, what was done to it, and what did not hold afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/reliability/workload.h"

namespace tandem::reliability {

struct Finding {
  std::string reason;
  /// What was done, outermost first: crashes with what survived and what was pending, faults.
  std::vector<std::string> injected{};
  uint64_t steps_taken = 0;  ///< Of the workload, the one under way included.

  /// The whole story, for a reader.
  std::string Describe(const Workload& workload) const;
};

}  // namespace tandem::reliability
