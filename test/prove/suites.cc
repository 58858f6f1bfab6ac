// The list of suites. Each is declared in suites.h and defined in a file of its own.
#include "test/prove/suites.h"

namespace tandem::prove {

std::span<const Suite> Suites() {
  static constexpr Suite kSuites[] = {
      {"crash", "R1: every state that a crash can leave, three deep", RunCrash},
      {"errors", "R6: an error at every operation of the disk, once and for good", RunErrors},
      {"allocations", "R7: an allocation that fails, at every index", RunAllocations},
      {"space", "R8: a full disk at every size, and space that returns", RunSpace},
  };
  return kSuites;
}

}  // namespace tandem::prove
