// Which cells of a row are visible (rules 1 and 2 of docs/index-rules.md) and which of them a merge
// keeps (rules 9 and 10). Both are decided here, so reads, flush and compaction cannot disagree.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "format/cell/cell.h"
#include "format/schema.h"
#include "tandem/statistics.h"

namespace tandem::format {

/// The point in time at which a row is read: cells with a larger sequence do not exist yet, and a
/// cell whose timestamp plus its family's TTL is at or before `now_micros` has expired. Of the
/// versions that are left after deletes and the family's limit, only those with since <= timestamp
/// <= as_of are shown.
struct ReadPoint {
  SequenceNumber sequence = kSequenceMax;
  int64_t now_micros = 0;
  int64_t since = std::numeric_limits<int64_t>::min();
  int64_t as_of = std::numeric_limits<int64_t>::max();
  /// Versions that are not the newest ones of their column decide too (QueryOptions::any_version).
  bool older_decide = false;

  /// Whether a row may be decided by other versions than the newest ones: one may be excluded by
  /// its timestamp alone, or older ones decide too.
  bool is_bounded() const {
    return older_decide || since != std::numeric_limits<int64_t>::min() ||
           as_of != std::numeric_limits<int64_t>::max();
  }
};

/// Appends to `*out` the Puts of `cells` that are visible at `point`: not hidden by a marker with a
/// larger sequence, not expired, the one with the greatest sequence at each timestamp, and among
/// the newest max_versions of the column, now and, if it is older than a change of a limit, also by
/// the limits before that; of these, the ones within the bounds. Order is kept.
/// Requires: `cells` is one row, sorted by CellLess, each family among `families` (by id).
void VisibleCells(std::span<const Cell> cells, std::span<const FamilyRecord> families,
                  const ReadPoint& point, std::vector<Cell>* out);

/// The input of a merge (flush or compaction) to its decision about the cells of a row.
struct Retention {
  std::span<const FamilyRecord> families;
  std::span<const SequenceNumber> snapshots;  ///< Registered snapshots, in any order.
  /// At most the `now` of any future read, including reads at registered snapshots: a cell that has
  /// expired at this time is dropped for good.
  int64_t now_micros = 0;
  bool older_sources_may_hold_row = false;  ///< A source outside the merge, older by sequence.
  /// Every operation before it is in the merge or in older sources, so that limits which were
  /// changed up to here need nothing to be kept for newer sources.
  SequenceNumber complete_through = {};
};

/// Appends to `*out` the cells that survive: a Put iff VisibleCells shows it at the latest sequence
/// or at a registered snapshot, or if it was among the versions that a former limit had left and
/// another source, or a snapshot, may have to be judged by them; every marker while an older source
/// may hold the row, otherwise a marker iff it hides a kept Put. Order is kept. The others are
/// counted in `*dropped`, unless it is null, by what hides them at the latest sequence.
void RetainCells(std::span<const Cell> cells, const Retention& retention, std::vector<Cell>* out,
                 DroppedCells* dropped = nullptr);

/// Whether `marker` (any delete) hides `put`, both of the same row.
bool Hides(const Cell& marker, const Cell& put);

}  // namespace tandem::format
