// What an optimistic transaction asks before it commits: whether rows that it read or writes were
// changed by others since it began. Sequences of one database are given out by one leader at a
// time, so what a reader at S saw can differ from the state before the leader's group only by
// operations with larger sequences: in a memstore, in the group, or in a memstore that is gone.
//   1. CheckGoneRows, on the writer's thread, before it queues: a row that was in a memstore that
//      went into a file since, or in one that others put there, is read again at the old and at a
//      new point. If both are equal, the row is unchanged up to the new one.
//   2. CheckRows, by the commit leader, without I/O: the newest sequence of each row in memstores,
//      and the earlier requests of the group; and whether the batch's timestamp is early enough.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/commit/complete_write.h"
#include "engine/commit/group_writes.h"
#include "engine/commit/range_checks.h"
#include "engine/commit/write_plan.h"
#include "engine/region/region_set.h"
#include "engine/region/snapshots.h"
#include "engine/runtime/monitor.h"
#include "format/cell/visibility.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A row that nobody else may have changed.
struct RowCheck {
  format::TableId table;
  std::string row;
  bool was_read = false;  ///< By the transaction, not only written.
  format::SequenceNumber unchanged_through;
};

using ConflictCause = Monitor::Conflict;

/// Of one transaction. Threads: one at a time.
struct RowChecks {
  format::ReadPoint point;     ///< At which it read.
  std::vector<RowCheck> rows;  ///< By table and row.
  /// That of the batch must be below: a version that has this one is newer than the batch.
  int64_t timestamp_below = std::numeric_limits<int64_t>::max();
  RangeChecks ranges;
  std::optional<ConflictCause> cause;  ///< Of the conflict that the checks have found.
};

/// Raises `unchanged_through` of rows and ranges that may be in newer files. Sets `plan.is_stale`
/// if a table is gone. `by_leader`: ranges are not read, and conflict instead. Errors: kConflict,
/// kCorruption, kIoError.
Status CheckGoneRows(const RegionSet& regions, SnapshotRegistry* snapshots, bool by_leader,
                     WritePlan* plan);

/// kComplete, kMoved or kUnlogged. Requires: nothing is written meanwhile; `plan.tables` are
/// current. Errors: kConflict.
Result<Completion> CheckRows(const CompletionPoint& point, const WritePlan& plan);

/// Whether a memstore of the version has the row with a sequence above `sequence`.
bool IsNewer(const RegionVersion& version, const format::TableRecord& table, std::string_view row,
             format::SequenceNumber sequence);

/// kConflict "row 'x' of table 't' was changed by another write".
Status ChangedByOthers(const format::TableRecord& table, std::string_view row);

}  // namespace tandem::engine
