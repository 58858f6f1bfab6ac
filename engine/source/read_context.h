// One read of a table: the state that its parts share.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/cancellation.h"
#include "base/status_macros.h"
#include "engine/predicate/bound.h"
#include "engine/region/view.h"
#include "engine/source/read_counters.h"
#include "engine/source/read_meter.h"
#include "engine/source/read_queue.h"
#include "engine/source/read_resources.h"
#include "engine/source/read_schema.h"
#include "engine/source/read_trace.h"

namespace tandem::engine {

/// Lives as long as its cursor.
struct ReadContext {
  ReadContext(const ReadResources& read_resources, TableView table_view, ReadSchema read_schema)
      : resources(read_resources),
        view(std::move(table_view)),
        schema(std::move(read_schema)),
        queue(read_resources.file_system, read_resources.memory, read_resources.read_buffer_bytes) {
  }
  ~ReadContext() {
    if (meter != nullptr) meter->Add(counters);
    if (trace != nullptr) trace->End(&counters);
  }
  ReadContext(const ReadContext&) = delete;
  ReadContext& operator=(const ReadContext&) = delete;

  void Limit(const ReadLimits& limits) {
    cancellation = limits.cancellation;
    meter = limits.meter;
  }
  /// From now on what it looks at is noted there; null: nowhere. Requires: called once.
  void NoteIn(std::shared_ptr<ReadTrace> noted) {
    if (noted == nullptr) return;
    noted->Begin(&counters);
    trace = std::move(noted);
  }
  /// kCancelled or kOverBudget if the read has to end here. Cheap: it is asked for every few rows.
  Status CheckGoOn() const {
    RETURN_IF_ERROR(cancellation.Check());
    return meter == nullptr ? Status() : meter->Check(counters);
  }

  ReadResources resources;
  TableView view;
  ReadSchema schema;
  base::Cancellation cancellation;
  std::shared_ptr<ReadMeter> meter;         ///< Null: the read has no budget.
  std::optional<BoundPredicate> predicate;  ///< nullopt: every row.
  bool may_end_early = false;               ///< There is a limit.
  /// If nearly every row that is read is one that is asked for: see RowsAsked.
  uint64_t rows_asked = UINT64_MAX;
  bool fills_cache = true;                  ///< Blocks that scans read enter the cache.
  ReadQueue queue;
  ReadCounters counters;
  std::shared_ptr<ReadTrace> trace;  ///< Null: nobody will ask.
};

/// How many rows a read with a limit (0: none) returns and passes over.
inline uint64_t RowsAsked(uint64_t limit, uint64_t offset) {
  return limit == 0 || limit > UINT64_MAX - offset ? UINT64_MAX : limit + offset;
}

}  // namespace tandem::engine
