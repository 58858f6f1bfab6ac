// Conditions on a field of the row key that comes after one without any: `_row.at = 5` of keys
// `user:text, at:int64`. Users may be few. Then the rows of each are looked for: keys are skipped
// from user to user, and what is read is a range of each.
//
// Which users there are is asked of the sources before the rows are read. A key that a source holds
// may be hidden or deleted, which costs a range without rows. Keys that no source holds begin with
// no user's bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/cancellation.h"
#include "engine/predicate/field_ranges.h"
#include "engine/predicate/key_ranges.h"
#include "engine/source/sources.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The most values that are skipped to. To find one, and its range, takes about as long as to pass
/// over kRowsPerSkip rows.
inline constexpr size_t kKeySkipsMax = 256;
inline constexpr uint64_t kRowsPerSkip = 256;

struct SkippedKeys {
  KeyRanges rows;     ///< Ascending, disjoint.
  size_t values = 0;  ///< That were skipped to.
};
/// Of the rows in `rows`, which the clusters have, the ranges that can satisfy the conditions of
/// the skip. nullopt: reading all rows costs less. Errors: kCorruption, kIoError, kCancelled.
Result<std::optional<SkippedKeys>> SkipKeys(const FieldSkip& skip,
                                            const std::vector<Cluster>& clusters,
                                            const KeyRanges& rows,
                                            const base::Cancellation& cancellation);

}  // namespace tandem::engine
