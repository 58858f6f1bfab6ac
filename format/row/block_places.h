// The places of a family's row blocks, for readers that go through a file from front to back:
// merges, checks, copies. Pieces of the block index that are not kept are read past the cache, into
// a window of their own, and let go as the reader passes them.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "base/memory_account.h"
#include "format/file_window.h"
#include "format/row/block_index.h"
#include "format/row/data_section.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: the section outlives it. Errors: kCorruption, kIoError.
class BlockPlaces {
 public:
  explicit BlockPlaces(const DataSection& data);

  /// The place of `block`. Blocks before it are not asked for any more, or cost a read. Requires,
  /// as At: block < data.block_count().
  Result<DataBlock> MoveTo(uint32_t block);
  /// The place of a block after the one that MoveTo came to. Holds the pieces between the two.
  Result<DataBlock> At(uint32_t block);
  /// The block that holds `position`, and moves to it. Requires: position < data.row_count().
  Result<DataBlock> MoveToPosition(uint32_t position);

 private:
  Result<const IndexPiece*> Piece(uint32_t piece);
  void LetGoBefore(uint32_t piece);

  const BlockIndex& index_;
  FileWindow window_;
  std::deque<std::pair<uint32_t, IndexPieceRef>> held_;  // That the index does not keep; rising.
  uint64_t held_bytes_ = 0;                              // As stored.
  base::MemoryCharge charge_;                            // For them.
};

}  // namespace tandem::format
