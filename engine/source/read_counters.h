// What a read has looked at.
#pragma once

#include <cstdint>

#include "format/row/data_section.h"

namespace tandem::engine {

/// Does not count gaps that are read along with blocks, chunks of wide rows and overflow values.
struct ReadCounters {
  uint64_t rows = 0;
  uint64_t blocks = 0;
  uint64_t bytes = 0;  ///< Of the blocks, as stored.
  /// How rows were found to be in one source only when several could hold them; and rows that were
  /// decided on all their cells, from one source or more.
  uint64_t single_source_by_bitmap = 0, single_source_by_filter = 0, single_source_by_key = 0,
           merged = 0;
  uint64_t from_index = 0;   ///< Of `rows`: those whose cells an index had.
  uint64_t passed_over = 0;  ///< Rows of the read that its offset left out.
  /// Cells of memstore rows, and nodes of their trees: logarithmic in the updates of a row.
  uint64_t memstore_cells = 0;

  void CountBlock(const format::DataBlock& block) {
    ++blocks;
    bytes += block.handle.stored_bytes;
  }
};

}  // namespace tandem::engine
