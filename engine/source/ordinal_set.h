// Sets of ordinals that queries collect from postings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tandem::engine {

/// Sorts `*ordinals` and removes duplicates. Requires: all are below `row_count`.
void SortUnique(std::vector<uint32_t>* ordinals, uint32_t row_count);

/// Keeps those of `*ordinals`, sorted and unique, that are in `others`, in any order or repeated.
/// Costs about the smaller of the two times the logarithm of their ratio, and a look at each of
/// `others`. Requires: all are below `row_count`.
void Intersect(std::vector<uint32_t> others, uint32_t row_count, std::vector<uint32_t>* ordinals);

/// Whether `ordinals`, which ascend, have `sought`. On entry `*at` is 0 or what the last call left,
/// which sought nothing larger.
inline bool FindNext(std::span<const uint32_t> ordinals, uint32_t sought, size_t* at) {
  while (*at < ordinals.size() && ordinals[*at] < sought) ++*at;
  return *at < ordinals.size() && ordinals[*at] == sought;
}

}  // namespace tandem::engine
