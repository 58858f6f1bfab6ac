// Sets of ordinals that queries collect from postings.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::engine {

/// Sorts `*ordinals` and removes duplicates. Requires: all are below `row_count`.
void SortUnique(std::vector<uint32_t>* ordinals, uint32_t row_count);

}  // namespace tandem::engine
