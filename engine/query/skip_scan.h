// Conditions on the second column of an index without one on the first: the values of the first
// column are few, so the index is asked for each of them.
//
// Where columns are in order (engine/source/column_order.h), the newest of the sources that put the
// second column has an entry with it, whatever is there of the first: a value, or nothing. So
// prefixes are those of the entries themselves, and no other entry needs a look-up.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/cancellation.h"
#include "engine/predicate/bound.h"
#include "engine/predicate/key_ranges.h"
#include "engine/source/sources.h"
#include "format/schema.h"

namespace tandem::engine {

/// The most values of the first column that are skipped over, and look-ups to find them in all
/// files.
inline constexpr size_t kSkippedValuesMax = 64;
inline constexpr size_t kSkipLookupsMax = 1024;

/// Whether the leaf is a condition on the second column that entries decide.
bool IsOnSecondColumn(const format::IndexRecord& index, const BoundLeaf& leaf);

struct SkipRanges {
  KeyRanges ranges;         ///< Of the entries in files; ascending, disjoint.
  size_t first_values = 0;  ///< How many the first column has there, an absent one included.
};
/// nullopt: the columns are not in order in some cluster, or there are too many values or ranges.
/// Requires: IsOnSecondColumn. Errors: kCorruption, kIoError, kCancelled.
Result<std::optional<SkipRanges>> FindSkipRanges(const format::IndexRecord& index,
                                                 const BoundLeaf& leaf,
                                                 const std::vector<Cluster>& clusters,
                                                 const base::Cancellation& cancellation);

}  // namespace tandem::engine
