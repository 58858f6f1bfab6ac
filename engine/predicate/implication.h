// Whether the rows of a query are all rows of a partial index.
#pragma once

#include "engine/predicate/bound.h"
#include "format/schema.h"

namespace tandem::engine {

/// Whether each row that satisfies `node` certainly satisfies the predicate: each comparison that
/// it needs contains the values of a comparison of `node` of the same column, with the same
/// functions and type. False: it may, but that is not plain. Cost: at most the product of both
/// sizes.
bool Implies(const BoundNode& node, const format::IndexPredicate& predicate);

}  // namespace tandem::engine
