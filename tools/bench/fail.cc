// The one way in which this program gives up; see peer.h.
#include <cstdio>
#include <cstdlib>

#include "tools/bench/peer.h"

namespace tandem::bench {

void Fail(const std::string& what) {
  std::fprintf(stderr, "tandem_bench: %s\n", what.c_str());
  std::exit(1);
}

}  // namespace tandem::bench
