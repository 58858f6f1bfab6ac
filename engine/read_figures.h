// What a read has looked at in files.
#pragma once

#include <cstdint>

#include "format/data_section.h"

namespace tandem::engine {

/// Gaps between blocks that were read along are not counted, nor are chunks and far values.
struct ReadFigures {
  uint64_t rows = 0;
  uint64_t blocks = 0;
  uint64_t bytes = 0;  ///< Of the blocks, as stored.

  void CountBlock(const format::DataSection& data, uint32_t block) {
    ++blocks;
    bytes += data.BlockAt(block).handle.stored_bytes;
  }
};

}  // namespace tandem::engine
