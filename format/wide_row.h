// Reading a wide row from its head block (kind kWideHead; count 1; first = position) and chunk
// blocks (kind kChunk; first = position; count = cells). The block index of the family lists heads
// only; RowBlock is the parsed form of a head too, so that a wide row is found, cached and compared
// by key as any other row.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/block_file.h"
#include "format/cell.h"
#include "format/cell_stream.h"
#include "format/row_block.h"
#include "tandem/status.h"

namespace tandem::format {

/// What a head says of its row.
struct WideRowTotals {
  uint64_t cells = 0;  ///< In chunks.
  uint64_t bytes = 0;  ///< Of qualifiers and values as the user wrote them; far ones count.
  uint32_t chunks = 0;
  uint64_t first_chunk = 0;  ///< Offset.
};

/// The columns of a wide row that a reader names: fences lead to their chunks, so one column costs
/// at most three block reads beside the head. Appends the cells of `columns` (sorted qualifiers)
/// and every DeleteFamily marker to `*out`, sorted, and what keeps their bytes to `*pins`.
/// Requires: head->is_wide(). Errors: kCorruption, kIoError.
Status AppendWideColumns(const BlockFile& file, const RowBlockRef& head,
                         std::span<const std::string> columns, std::vector<Cell>* out,
                         std::vector<std::shared_ptr<const void>>* pins);

/// Every cell of a wide row, DeleteFamily markers first, a chunk a piece, past the cache. Requires:
/// head->is_wide(). Lifetime: `file` outlives it.
std::unique_ptr<CellStream> NewWideRowStream(const BlockFile& file, RowBlockRef head);

}  // namespace tandem::format
