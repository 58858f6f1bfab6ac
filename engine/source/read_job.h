// One read of a table: the state that its parts share.
#pragma once

#include <optional>
#include <utility>

#include "base/cancellation.h"
#include "engine/predicate/bound.h"
#include "engine/region/view.h"
#include "engine/source/read_context.h"
#include "engine/source/read_counters.h"
#include "engine/source/read_queue.h"
#include "engine/source/read_shape.h"

namespace tandem::engine {

/// Lives as long as its cursor.
struct ReadJob {
  ReadJob(const ReadContext& read_context, TableView table_view, ReadShape read_shape)
      : context(read_context),
        view(std::move(table_view)),
        shape(std::move(read_shape)),
        queue(read_context.file_system, read_context.memory, read_context.read_buffer_bytes) {}
  ReadJob(const ReadJob&) = delete;
  ReadJob& operator=(const ReadJob&) = delete;

  ReadContext context;
  TableView view;
  ReadShape shape;
  base::Cancellation cancellation;
  std::optional<BoundPredicate> predicate;  ///< nullopt: every row.
  bool may_end_early = false;               ///< There is a limit.
  bool fills_cache = true;                  ///< Blocks that scans read enter the cache.
  ReadQueue queue;
  ReadCounters counters;
};

}  // namespace tandem::engine
