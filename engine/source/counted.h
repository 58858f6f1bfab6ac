// Counting rows of a file without looking at each: which of its rows, and of its entries in an
// index, certainly count in a read of the cluster, and which have to be decided on the merged row.
//
// Of rows by key: a row counts in the newest file that has it, if it is clean there: its Put is
// visible, since markers of older files hide no Put of a newer one. One that is not clean is
// decided.
//
// Of entries of an index on one column: that of a clean row counts if no other file can have a say
// on the column. No newer file has a cell or marker of it in that row; of each older one that has,
// the postings are dead. An entry that a newer file makes dead never counts; any other entry of a
// row that files share is decided. So of a row with an entry that counts no other entry is alive.
//
// Both are sets of numbers with ranks, derived from the overlaps of files and kept with the file
// while these do not change (docs/decisions/0045).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/region/overlaps.h"
#include "engine/region/row_set.h"
#include "engine/source/sources.h"
#include "format/schema.h"
#include "index/key.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Whether rows of the cluster can be counted at all, memstores aside: every file is wholly
/// visible, nothing in it may have expired, and its overlaps with the others are built.
bool MayCount(const Cluster& cluster);

/// The rows of a file that do not count by being there. Immutable. Threads: any.
struct CountedRows {
  std::shared_ptr<const RowSet> others;   ///< That do not; null: all count.
  std::shared_ptr<const RowSet> decided;  ///< Of these, those to be decided; null: none.
  OverlapCharge charge;

  /// How many of the rows [low, high) count.
  uint32_t Count(uint32_t low, uint32_t high) const {
    const uint32_t left_out = others == nullptr ? 0 : others->RankOf(high) - others->RankOf(low);
    return high - low - left_out;
  }
};
/// Those of a file of a cluster that MayCount. `worth`: rows that would be read without them; they
/// are built once enough were read. nullptr: they are not built, or there is no memory for them.
/// `memory` may be null. Errors: kCorruption, kIoError.
Result<std::shared_ptr<const CountedRows>> CountedRowsOf(
    const Cluster& cluster, const FileSource& source, uint64_t worth,
    const std::shared_ptr<OverlapMemory>& memory);

/// The same for the current entries of an index, by their numbers (IndexSection::ValueOfEntry).
/// Immutable. Threads: any.
struct CountedEntries {
  std::shared_ptr<const RowSet> others;  ///< That do not count; null: all do.
  struct Decided {
    uint32_t number = 0, ordinal = 0;
  };
  std::vector<Decided> decided;  ///< By number.
  OverlapCharge charge;

  /// How many of the entries [low, high) count.
  uint64_t Count(uint64_t low, uint64_t high) const {
    if (others == nullptr) return high - low;
    return high - low -
           (others->RankOf(static_cast<uint32_t>(high)) -
            others->RankOf(static_cast<uint32_t>(low)));
  }
};
/// Whether entries of the index can be counted: it is on one column, and each row has one entry.
bool MayCountEntries(const format::IndexRecord& index);
/// Those of a file of a cluster that MayCount. `worth`: entries that the read would look at without
/// them; they are built once enough were looked at. nullptr: they are not built, or there is no
/// memory for them, or a file of the cluster lacks the index. Errors: kCorruption, kIoError.
Result<std::shared_ptr<const CountedEntries>> CountedEntriesOf(
    const Cluster& cluster, const FileSource& source, const format::IndexRecord& index,
    uint64_t worth, const std::shared_ptr<OverlapMemory>& memory);

}  // namespace tandem::engine
