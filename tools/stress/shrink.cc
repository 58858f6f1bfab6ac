// See shrink.h. Only complements are tried: of a run, its beginning is mostly needed, and a part
// alone hardly ever fails.
#include "tools/stress/shrink.h"

#include <algorithm>
#include <numeric>

namespace tandem::stress {
namespace {

std::vector<size_t> Without(const std::vector<size_t>& kept, size_t begin, size_t end) {
  std::vector<size_t> rest(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(begin));
  rest.insert(rest.end(), kept.begin() + static_cast<std::ptrdiff_t>(end), kept.end());
  return rest;
}

}  // namespace

std::vector<size_t> Shrink(size_t count, const StillFails& fails, size_t tries_max) {
  std::vector<size_t> kept(count);
  std::iota(kept.begin(), kept.end(), size_t{0});
  size_t tries = 0;
  for (size_t size = std::max<size_t>(1, count / 2); !kept.empty();) {
    bool smaller = false;
    // From the end: what comes late depends on what comes early, not the other way round.
    for (size_t end = kept.size(); end > 0 && tries < tries_max;) {
      const size_t begin = end > size ? end - size : 0;
      std::vector<size_t> rest = Without(kept, begin, end);
      ++tries;
      if (fails(rest)) {
        kept = std::move(rest);
        smaller = true;
      }
      end = begin;
    }
    if (tries >= tries_max || (size == 1 && !smaller)) break;
    if (!smaller || size > kept.size()) size = std::max<size_t>(1, size / 2);
  }
  return kept;
}

}  // namespace tandem::stress
