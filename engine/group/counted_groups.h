// Groups of one column, counted by the entries of an index over it.
//
// Where all rows of all sources are single-source and no posting is dead (as for cumulative counts
// in count.cc), the entries of a value are its rows: the cursors of the sections go from value to
// value, and nothing else is read. Otherwise a value with many entries is counted as a query for it
// would be, and the rows of values with few are read, a range of them at a time.
#pragma once

#include <memory>
#include <optional>

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
  kEntries,
  kValues,
};
/// `query` was prepared for counting with the index. `is_asked_for`: with few entries of a value
/// too. Errors: kCorruption, kIoError.
Result<CountedBy> HowToCount(const format::IndexRecord& index, const Query& query,
                             bool is_asked_for);
/// The rows of a query that is counted by entries, with those that have none.
uint64_t RowsOfSources(const Query& query);
/// Requires: `by` is what HowToCount says, and not kNothing. Errors: kCorruption, kIoError.
Result<std::unique_ptr<GroupMaker>> CountGroups(std::shared_ptr<const GroupSpec> spec,
                                                const format::IndexRecord& index, CountedBy by,
                                                Query query);

}  // namespace tandem::engine
