// Sets of ordinals, as queries make them of postings.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::index {

/// Sorts `*ordinals` and leaves each once. Requires: all are below `row_count`.
void SortUnique(std::vector<uint32_t>* ordinals, uint32_t row_count);

}  // namespace tandem::index
