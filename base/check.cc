// Aborts the process when an assertion fails, and prints where on standard error.
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tandem::base {

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: this must hold and does not: %s\n", file, line, condition);
  std::abort();
}

}  // namespace tandem::base
