// Predicates that are narrowed to some row keys.
#pragma once

#include <string>
#include <vector>

#include "engine/predicate/bound.h"
#include "engine/predicate/key_ranges.h"

namespace tandem::engine {

/// The predicate, and that the row key is one of `rows`, which ascend.
BoundPredicate AmongRows(const BoundPredicate& predicate, const std::vector<std::string>& rows);
/// The predicate, and that the row key is in one of `ranges`, which ascend and are disjoint.
BoundPredicate WithinRows(const BoundPredicate& predicate, const KeyRanges& ranges);
/// The predicate, and that the row key is in the ranges that its conditions on fields leave.
BoundPredicate WithinFields(BoundPredicate predicate);

}  // namespace tandem::engine
