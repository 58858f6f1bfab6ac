// Writes of a transaction that depend on stored data, as they are before it commits: on what it
// sees, its snapshot and its own writes.
//   1. Increments and appends become puts when they are made, so that the commit writes what the
//      call has returned: a cell that expires, or a clock that goes on, changes nothing.
//   2. A DeleteCell stays one in the batch of the commit, and is completed there as each is
//      (engine/commit/complete_write.h). Here it is completed for the own reads alone. Both see the
//      same versions, since the commit checks the row.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/commit/write_plan.h"
#include "engine/transaction/own_writes.h"
#include "tandem/options.h"
#include "tandem/row.h"
#include "tandem/status.h"
#include "tandem/write_batch.h"

namespace tandem::engine {

/// Reads a row of a table as the transaction sees it at that moment.
using ReadSeenRow = std::function<Result<std::optional<Row>>(
    const ReadOptions& options, std::string_view table, std::string_view row)>;

/// Adds the operations of a plan without increments and appends to `*own`, from which `read` reads.
/// Cells without a timestamp get `timestamp`. Errors: those of `read`; a part may have been added.
Status AddToOwn(const WritePlan& plan, int64_t timestamp, const ReadSeenRow& read, OwnWrites* own);

/// What a plan of increments and appends on different columns becomes.
struct SeenUpdates {
  WriteBatch puts;
  std::vector<std::string> values;  ///< The new values, those of increments as text.
};
/// A new version replaces the one that is seen, so it has a timestamp of its own where that one's
/// is after `timestamp`, the transaction's. Errors: kInvalidArgument (MakeNewValue); those of
/// `read`.
Result<SeenUpdates> MakeUpdates(const WritePlan& plan, int64_t timestamp, const ReadSeenRow& read);

}  // namespace tandem::engine
