// A set of byte positions of a file, kept as ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::test {

class ByteRanges {
 public:
  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;  // Behind the last byte.

    bool operator==(const Range&) const = default;
  };

  void Add(uint64_t begin, uint64_t end);
  void Remove(uint64_t begin, uint64_t end);
  /// Removes all from `size` on.
  void Cut(uint64_t size) { Remove(size, UINT64_MAX); }
  void Clear() { ranges_.clear(); }
  /// Whether some byte of the range is in the set.
  bool Touches(uint64_t begin, uint64_t end) const { return !Within(begin, end).empty(); }
  /// Whether all bytes of the range are in the set.
  bool Covers(uint64_t begin, uint64_t end) const { return Outside(begin, end).empty(); }
  /// What of the range is in the set.
  std::vector<Range> Within(uint64_t begin, uint64_t end) const;
  /// What of the range is not in the set.
  std::vector<Range> Outside(uint64_t begin, uint64_t end) const;
  /// In order, disjoint and not adjacent.
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  // Of the first range that ends at or after `position`.
  size_t IndexAt(uint64_t position) const;

  std::vector<Range> ranges_;
};

}  // namespace tandem::test
