// DeleteCell becomes cells (rule 3): it reads what the row shows and writes the marker, the cut
// below the versions that count, and the version that it reveals.
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
  /// The table as all operations before the batch left it.
  std::function<TableView(const Table&)> view;
};

/// Encodes all operations of `plan.unresolved` into `plan.batch`; a DeleteCell that hits nothing
/// visible vanishes. Returns the regions, each once, in which it read operations that are in no log
/// and no file; then the plan is as before, and has to be resolved again after these regions were
/// flushed. Requires: nothing is written while it runs. Errors: those of reading; kInvalidArgument
/// when the batch becomes too large.
Result<std::vector<Region*>> ResolveDeletes(const ResolvePoint& point, WritePlan* plan);

}  // namespace tandem::engine
