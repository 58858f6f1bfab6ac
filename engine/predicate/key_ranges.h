// Lists of key ranges, ascending and disjoint, as sets.
#pragma once

#include <vector>

#include "index/key.h"

namespace tandem::engine {

using KeyRanges = std::vector<format::KeyRange>;

/// The keys that are in both.
format::KeyRange Intersect(const format::KeyRange& a, const format::KeyRange& b);
KeyRanges Intersect(const KeyRanges& a, const KeyRanges& b);
/// The keys that are in any of `ranges`, which may be unsorted and overlap.
KeyRanges Unite(KeyRanges ranges);

inline bool IsEmpty(const format::KeyRange& range) {
  return range.high.has_value() && range.low >= *range.high;
}

}  // namespace tandem::engine
