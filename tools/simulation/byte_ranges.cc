// See byte_ranges.h.
#include "tools/simulation/byte_ranges.h"

#include <algorithm>

namespace tandem::test {

size_t ByteRanges::IndexAt(uint64_t position) const {
  const auto found =
      std::lower_bound(ranges_.begin(), ranges_.end(), position,
                       [](const Range& range, uint64_t at) { return range.end < at; });
  return static_cast<size_t>(found - ranges_.begin());
}

void ByteRanges::Add(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  const size_t first = IndexAt(begin);
  size_t behind = first;
  for (; behind < ranges_.size() && ranges_[behind].begin <= end; ++behind) {
    begin = std::min(begin, ranges_[behind].begin);
    end = std::max(end, ranges_[behind].end);
  }
  if (behind == first) {
    ranges_.insert(ranges_.begin() + static_cast<ptrdiff_t>(first), {begin, end});
    return;
  }
  ranges_[first] = {begin, end};
  ranges_.erase(ranges_.begin() + static_cast<ptrdiff_t>(first) + 1,
                ranges_.begin() + static_cast<ptrdiff_t>(behind));
}

void ByteRanges::Remove(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  std::vector<Range> left;
  for (const Range& range : ranges_) {
    if (range.begin < std::min(range.end, begin))
      left.push_back({range.begin, std::min(range.end, begin)});
    if (std::max(range.begin, end) < range.end)
      left.push_back({std::max(range.begin, end), range.end});
  }
  ranges_ = std::move(left);
}

std::vector<ByteRanges::Range> ByteRanges::Within(uint64_t begin, uint64_t end) const {
  std::vector<Range> within;
  for (size_t i = IndexAt(begin); i < ranges_.size() && ranges_[i].begin < end; ++i) {
    const Range range{std::max(begin, ranges_[i].begin), std::min(end, ranges_[i].end)};
    if (range.begin < range.end) within.push_back(range);
  }
  return within;
}

std::vector<ByteRanges::Range> ByteRanges::Outside(uint64_t begin, uint64_t end) const {
  std::vector<Range> outside;
  for (const Range& range : Within(begin, end)) {
    if (begin < range.begin) outside.push_back({begin, range.begin});
    begin = range.end;
  }
  if (begin < end) outside.push_back({begin, end});
  return outside;
}

}  // namespace tandem::test
