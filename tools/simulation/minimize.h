// Makes a list that fails as short as it still fails: delta debugging (Zeller and Hildebrandt,
// "Simplifying and isolating failure-inducing input", 2002). Only complements are tried: of a run,
// its beginning is mostly needed, and a part alone hardly ever fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tandem::test {

/// A part of `list`, in order, from which no item can be left out any more, unless `fails` was
/// asked `tries_max` times before. `fails(part)` says whether a part still fails.
/// Requires: `list` fails.
template <typename Item, typename Fails>
std::vector<Item> Minimize(std::vector<Item> list, Fails fails, size_t tries_max = SIZE_MAX) {
  size_t tries = 0;
  for (size_t size = std::max<size_t>(1, list.size() / 2); !list.empty();) {
    bool smaller = false;
    // From the end: what comes late depends on what comes early, seldom the other way round.
    for (size_t end = list.size(); end > 0 && tries < tries_max; ++tries) {
      const size_t begin = end > size ? end - size : 0;
      std::vector<Item> rest = list;
      rest.erase(rest.begin() + static_cast<ptrdiff_t>(begin),
                 rest.begin() + static_cast<ptrdiff_t>(end));
      if (fails(rest)) {
        list = std::move(rest);
        smaller = true;
      }
      end = begin;
    }
    if (tries >= tries_max || (size == 1 && !smaller)) break;
    if (!smaller || size > list.size()) size = std::max<size_t>(1, size / 2);
  }
  return list;
}

}  // namespace tandem::test
