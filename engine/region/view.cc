// Routing a key within a view.
#include "engine/region/view.h"

namespace tandem::engine {

RegionView TableView::RegionOf(std::string_view row) const {
  size_t low = 0, high = regions.size();
  while (high - low > 1) {  // The region starts at or before the row, the one at `high` after it.
    const size_t middle = low + (high - low) / 2;
    (regions[middle]->start_key <= row ? low : high) = middle;
  }
  return {table, regions[low], point, registration};
}

}  // namespace tandem::engine
