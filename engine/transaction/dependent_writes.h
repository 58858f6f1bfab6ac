// Writes of a transaction that depend on stored data, as they are before it commits: on what it
// sees, its snapshot and its own writes.
//   1. Increments and appends become puts when they are made, so that the commit writes what the
//      call has returned: a cell that expires, or a clock that goes on, changes nothing.
//   2. A DeleteCell stays one in the batch of the commit, and is completed there as each is
//      (engine/commit/complete_write.h). Here it is completed for the own reads alone. Both see the
//      same versions, since the commit checks the row.
//   3. Where either takes a version that has a timestamp of the future, the commit must come before
//      it, and conflicts otherwise: own cells that have no timestamp would come after the version.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
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

/// The timestamp of own cells that were given none.
struct OwnTimestamp {
  int64_t provisional = 0;  ///< Until the commit gives them a later one,
  int64_t below = std::numeric_limits<int64_t>::max();  ///< which must be below this.
};

/// Adds the operations of a plan without increments and appends to `*own`, from which `read` reads.
/// Lowers `timestamp->below` where it has to. Errors: those of `read`; a part may have been added.
Status AddToOwn(const WritePlan& plan, const ReadSeenRow& read, OwnTimestamp* timestamp,
                OwnWrites* own);

/// What a plan of increments and appends on different columns becomes.
struct SeenUpdates {
  WriteBatch puts;
  std::vector<std::string> values;  ///< The new values, those of increments as text.
};
/// A new version replaces the one that is seen, so it has a timestamp of its own where that one's
/// is after the provisional one. Lowers `timestamp->below` then. Errors: kInvalidArgument
/// (MakeNewValue); those of `read`.
Result<SeenUpdates> MakeUpdates(const WritePlan& plan, const ReadSeenRow& read,
                                OwnTimestamp* timestamp);

}  // namespace tandem::engine
