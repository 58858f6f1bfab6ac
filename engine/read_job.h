// One read of a table: what everything that takes part in it shares.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "engine/bound_predicate.h"
#include "engine/read_queue.h"
#include "engine/read_shape.h"
#include "engine/reader.h"
#include "engine/view.h"
#include "format/data_section.h"

namespace tandem::engine {

/// What a read has looked at in files. Gaps between blocks that were read along are not counted.
struct ReadFigures {
  uint64_t rows = 0;
  uint64_t blocks = 0;
  uint64_t bytes = 0;  ///< Of the blocks, as stored.
  /// How rows were found to be in one source only, where several could hold them; and rows that
  /// were decided on all their cells, of one source or more.
  uint64_t settled_by_bitmap = 0, settled_by_filter = 0, settled_by_key = 0, unsettled = 0;

  void CountBlock(const format::DataSection& data, uint32_t block) {
    ++blocks;
    bytes += data.BlockAt(block).handle.stored_bytes;
  }
};

/// Lives as long as its cursor.
struct ReadJob {
  ReadJob(const ReadContext& read_context, TableView table_view, ReadShape read_shape)
      : context(read_context),
        view(std::move(table_view)),
        shape(std::move(read_shape)),
        queue(read_context.file_system) {}
  ReadJob(const ReadJob&) = delete;
  ReadJob& operator=(const ReadJob&) = delete;

  ReadContext context;
  TableView view;
  ReadShape shape;
  std::optional<BoundPredicate> predicate;  ///< nullopt: every row.
  bool may_end_early = false;               ///< There is a limit.
  bool fills_cache = true;                  ///< Blocks that scans read enter the cache.
  ReadQueue queue;
  ReadFigures figures;
};

}  // namespace tandem::engine
