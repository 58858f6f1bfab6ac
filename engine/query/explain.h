// How a query was answered.
#pragma once

#include "engine/query/query.h"
#include "tandem/database.h"

namespace tandem::engine {

/// Runs the query and reports what it looked at. Errors: kCorruption, kIoError, kCancelled.
Result<Explanation> ExplainMatches(const Query& query);

}  // namespace tandem::engine
