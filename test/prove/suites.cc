// The list of suites. Each is declared in suites.h and defined in a file of its own.
#include "test/prove/suites.h"

namespace tandem::prove {

std::span<const Suite> Suites() {
  static constexpr Suite kSuites[] = {
      {"crash", "R1: every state that a crash can leave, three deep", RunCrash},
  };
  return kSuites;
}

}  // namespace tandem::prove
