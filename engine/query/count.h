// Counting the rows of a query without reading more of them than necessary.
#pragma once

#include "engine/query/query.h"

namespace tandem::engine {

/// How many rows the query returns, its limit included. Errors: kCorruption, kIoError,
/// kCancelled.
Result<uint64_t> CountMatches(const Query& query);

}  // namespace tandem::engine
