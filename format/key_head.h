// Branch-free binary search over fixed-width key heads.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "format/byte_reader.h"

namespace tandem::format {

/// The first position in [0, count) of the u64 array at `at` of `bytes` that is >= `head`; `count`
/// when there is none. Requires: the array is within `bytes` and sorted.
inline uint32_t LowerBoundOfHeads(std::string_view bytes, size_t at, uint32_t count,
                                  uint64_t head) {
  if (count == 0) return 0;
  uint32_t position = 0;
  while (count > 1) {
    const uint32_t half = count / 2;
    const uint64_t probe = LoadAt<uint64_t>(bytes, at + size_t{8} * (position + half - 1));
    position += probe < head ? half : 0;
    count -= half;
  }
  return position + (LoadAt<uint64_t>(bytes, at + size_t{8} * position) < head ? 1 : 0);
}

/// The length of the longest common prefix.
inline size_t CommonPrefix(std::string_view a, std::string_view b) {
  const size_t limit = a.size() < b.size() ? a.size() : b.size();
  size_t length = 0;
  while (length + sizeof(uint64_t) <= limit) {
    const uint64_t difference = LoadAt<uint64_t>(a, length) ^ LoadAt<uint64_t>(b, length);
    if (difference != 0) return length + static_cast<size_t>(std::countr_zero(difference)) / 8;
    length += sizeof(uint64_t);
  }
  while (length < limit && a[length] == b[length]) ++length;
  return length;
}

}  // namespace tandem::format
