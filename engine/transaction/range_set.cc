// See range_set.h.
#include "engine/transaction/range_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tandem::engine {

void RangeSet::Add(format::KeyRange range) {
  auto next = ends_.upper_bound(range.low);
  // The one before may reach into it.
  if (next != ends_.begin()) {
    const auto before = std::prev(next);
    if (!before->second.has_value()) return;
    if (*before->second >= range.low) {
      range.low = before->first;
      if (range.high.has_value()) range.high = std::max(*range.high, *before->second);
      next = before;
    }
  }
  while (next != ends_.end() && (!range.high.has_value() || next->first <= *range.high)) {
    if (!next->second.has_value()) range.high.reset();
    if (range.high.has_value()) range.high = std::max(*range.high, *next->second);
    next = ends_.erase(next);
  }
  ends_.emplace_hint(next, std::move(range.low), std::move(range.high));
}

std::vector<format::KeyRange> RangeSet::ranges() const {
  std::vector<format::KeyRange> ranges;
  ranges.reserve(ends_.size());
  for (const auto& [low, high] : ends_) ranges.push_back({low, high});
  return ranges;
}

}  // namespace tandem::engine
