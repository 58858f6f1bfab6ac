// What a transaction asks before it commits about the ranges of row keys that it read: whether a
// row in them was changed by others since, or has come. As with single rows (row_checks.h), what is
// newer than the point of the read is in a memstore, in the leader's group, or was in a memstore
// that is gone or in a bulk load.
//   1. CheckGoneRanges, on the writer's thread, before it queues: where files of a region have
//      changed since, the part of the range in that region is read at the old and at a new point.
//      If both are equal, that part is unchanged up to the new one.
//   2. CheckRanges, by the commit leader, without I/O: the rows of the ranges in memstores that
//      have newer operations, and in the earlier requests of the group.
// Both are bounded by kTransactionRangeRowsMax: what would take longer is a conflict. Memstores
// keep their rows by key and not by sequence, so older rows count as well.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/commit/complete_write.h"
#include "engine/commit/write_plan.h"
#include "engine/region/region_set.h"
#include "engine/source/read_resources.h"
#include "format/cell/visibility.h"
#include "format/types.h"
#include "index/key.h"
#include "tandem/row.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Row keys of which nobody else may have changed one.
struct RangeCheck {
  format::TableId table;
  format::KeyRange rows;
  format::SequenceNumber unchanged_through;
};

/// Of one transaction. Threads: one at a time.
struct RangeChecks {
  std::vector<RangeCheck> ranges;  ///< Disjoint.
  ReadResources resources;         ///< For reading them again.
  // What the checks have cost so far.
  uint64_t rows_examined = 0;  ///< Of memstores.
  uint64_t rows_reread = 0;
};

/// Between which points parts of ranges are compared.
struct ComparedPoints {
  format::ReadPoint before;    ///< The transaction's.
  format::SequenceNumber now;  ///< A later one, registered meanwhile.
  bool may_read = true;        ///< False: a part in files that have changed is a conflict.
};
/// Raises `unchanged_through` of the parts that may be in newer files; a range becomes several
/// where that differs. False: a table is gone. Errors: kConflict, kCorruption, kIoError.
Result<bool> CheckGoneRanges(const RegionSet& regions, const ComparedPoints& points,
                             RangeChecks* checks);

/// Sets `completion->outcome` to kMoved where files have changed, and adds to
/// `completion->unlogged` the regions that have unlogged operations of before. Requires: nothing is
/// written meanwhile; `plan.tables` are current. Errors: kConflict.
Status CheckRanges(const CompletionPoint& point, const WritePlan& plan, RangeChecks* checks,
                   Completion* completion);

/// Whether both have the same versions with the same values.
bool AreEqual(std::span<const Cell> a, std::span<const Cell> b);

}  // namespace tandem::engine
