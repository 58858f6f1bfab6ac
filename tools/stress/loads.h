// Writes of the table stock: batches and bulk loads of whole shelves, and truncations.
#pragma once

#include <cstdint>

#include "tools/stress/stressed.h"

namespace tandem::stress {

/// Writes the next generation of a shelf by a batch. Threads: the shelf's.
Status WriteShelf(const Stressed& stressed, uint32_t thread, Durability durability);

/// A bulk load of a shelf.
struct ShelfLoad {
  uint32_t thread = 0;
  uint64_t seed = 0;       ///< Of the order of its rows.
  bool any_order = false;  ///< Else in the order of their keys.
  bool is_abandoned = false;
  /// The generation after the load's is written while it is open, and stays the newer one. Not one
  /// that deletes: a delete hides only what was written before it, and a load is written last.
  bool writes_meanwhile = false;
};
/// Loads the next generation that has rows. A truncation meanwhile may refuse it. Threads: the
/// shelf's.
Status LoadShelf(const Stressed& stressed, const ShelfLoad& load);

/// Unless another thread does. Threads: any.
Status TruncateStock(const Stressed& stressed);

}  // namespace tandem::stress
