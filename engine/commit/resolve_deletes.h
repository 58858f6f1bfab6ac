// Turns a DeleteCell into cells (rule 3): reads the visible versions and writes the marker, the cut
// below the versions that count, and the version that the delete reveals.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/commit/write_plan.h"
#include "engine/region/view.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Where and when a batch with a DeleteCell takes effect.
struct ResolvePoint {
  format::SequenceNumber first;  ///< Of the batch's first operation.
  int64_t timestamp = 0;         ///< The batch's.
  int64_t now_micros = 0;        ///< For TTL.
  /// A view of the table after all operations before the batch.
  std::function<TableView(const Table&)> view;
};

/// Encodes all operations of `plan.unresolved` into `plan.batch`; drops a DeleteCell that hits
/// nothing visible. Returns the regions, each once, in which it read operations that are in no log
/// and no store file; the plan is then unchanged, and must be resolved again after these regions
/// are flushed. Requires: nothing is written meanwhile. Errors: those of reading; kInvalidArgument
/// when the batch becomes too large.
Result<std::vector<Region*>> ResolveDeletes(const ResolvePoint& point, WritePlan* plan);

}  // namespace tandem::engine
