// The allocations of this test program, which has its own operator new: counted, and failing when a
// test says so.
#pragma once

#include <cstdint>

namespace tandem::test {

struct Allocations {
  int64_t left = -1;        ///< Until one fails, and all after it; below 0: none fails.
  bool has_failed = false;  ///< One did.
  uint64_t bytes = 0;       ///< Asked for, ever.
};

/// Those of the calling thread.
Allocations& ThisThreadsAllocations();

}  // namespace tandem::test
