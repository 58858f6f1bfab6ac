// The list of suites. Each is declared here and defined in a file of its own.
#include "test/prove/suite.h"

namespace tandem::prove {

std::span<const Suite> Suites() {
  static constexpr std::span<const Suite> kSuites{};
  return kSuites;
}

}  // namespace tandem::prove
