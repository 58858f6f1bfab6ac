// What a read has looked at.
#pragma once

#include <cstdint>

#include "format/row/data_section.h"

namespace tandem::engine {

/// Gaps between blocks that were read along are not counted, nor are chunks and far values.
struct ReadCounters {
  uint64_t rows = 0;
  uint64_t blocks = 0;
  uint64_t bytes = 0;  ///< Of the blocks, as stored.
  /// How rows were found to be in one source only, where several could hold them; and rows that
  /// were decided on all their cells, of one source or more.
  uint64_t settled_by_bitmap = 0, settled_by_filter = 0, settled_by_key = 0, unsettled = 0;
  /// Cells of rows in memstores, and nodes of their trees: the logarithm of a row's updates.
  uint64_t memstore_cells = 0;

  void CountBlock(const format::DataSection& data, uint32_t block) {
    ++blocks;
    bytes += data.BlockAt(block).handle.stored_bytes;
  }
};

}  // namespace tandem::engine
