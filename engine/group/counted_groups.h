// Groups of one column, counted by the entries of an index over it.
//
// The cursors of the sections go from value to value. Where all rows of all sources are
// single-source and no posting is dead (as for cumulative counts in count.cc), the entries of a
// value are its rows, and nothing else is read. Otherwise the rows that entries cannot count are
// decided, each once for all groups. Where these are many, or cannot be told from the others, a
// value with many entries is counted as a query for it would be, and the rows of values with few
// are read, a range of them at a time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/counting/entry_counts.h"
#include "engine/group/groups.h"
#include "engine/query/query.h"

namespace tandem::engine {

/// Whether the values of the spec can be computed by counting entries.
bool CountsAlone(const GroupSpec& spec);
/// An index over the only column of the spec whose entries decide the predicate; nullptr: none.
const format::IndexRecord* IndexToCount(const GroupSpec& spec, const BoundPredicate& predicate);

/// How rows are counted.
enum class CountedBy : uint8_t {
  kNothing,  ///< Sources lack the index, or have few entries of a value.
  kEntries,  ///< Each entry is a row.
  kEntriesAndRows,
  kValues,
};
struct GroupCount {
  CountedBy by = CountedBy::kNothing;
  std::vector<EntryCounts> entries;  ///< By cluster, if rows are decided too.
};
/// `query` was prepared for counting with the index. `is_asked_for`: with few entries of a value
/// too. Errors: kCorruption, kIoError. Lifetime: query and index outlive the result; the query may
/// move.
Result<GroupCount> HowToCount(const format::IndexRecord& index, const Query& query,
                              bool is_asked_for);
/// The rows of a query that is counted by kEntries, with those that have none.
uint64_t RowsOfSources(const Query& query);
/// Requires: `count` is what HowToCount says, and not by kNothing. Errors: those of reading rows.
Result<std::unique_ptr<GroupMaker>> CountGroups(std::shared_ptr<const GroupSpec> spec,
                                                const format::IndexRecord& index, GroupCount count,
                                                Query query);

}  // namespace tandem::engine
