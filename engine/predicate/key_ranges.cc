// Set operations on lists of key ranges.
#include "engine/predicate/key_ranges.h"

#include <algorithm>
#include <utility>

namespace tandem::engine {

format::KeyRange Intersect(const format::KeyRange& a, const format::KeyRange& b) {
  format::KeyRange both{std::max(a.low, b.low), a.high.has_value() ? a.high : b.high};
  if (a.high.has_value() && b.high.has_value()) both.high = std::min(*a.high, *b.high);
  return both;
}

KeyRanges Intersect(const KeyRanges& a, const KeyRanges& b) {
  KeyRanges both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    format::KeyRange range = Intersect(a[i], b[j]);
    if (!IsEmpty(range)) both.push_back(std::move(range));
    // The range that ends first overlaps no later one.
    const bool a_ends_first =
        a[i].high.has_value() && (!b[j].high.has_value() || *a[i].high < *b[j].high);
    ++(a_ends_first ? i : j);
  }
  return both;
}

KeyRanges Unite(KeyRanges ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const format::KeyRange& left, const format::KeyRange& right) {
              return left.low < right.low;
            });
  KeyRanges united;
  for (format::KeyRange& range : ranges) {
    if (IsEmpty(range)) continue;
    if (united.empty() || (united.back().high.has_value() && *united.back().high < range.low)) {
      united.push_back(std::move(range));
      continue;
    }
    std::optional<std::string>& high = united.back().high;
    if (high.has_value() && (!range.high.has_value() || *high < *range.high)) high = range.high;
  }
  return united;
}

}  // namespace tandem::engine
