// Counting the rows of a query without reading more of them than necessary.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/query/query.h"
#include "engine/query/request.h"

namespace tandem::engine {

/// How many rows the query returns, its limit included. Errors: kCorruption, kIoError,
/// kCancelled.
Result<uint64_t> CountMatches(const Query& query);
/// The same of a condition on one column that rows without a value satisfy too: all rows less those
/// that do not satisfy it, which an index leads to. `query` was prepared of the request. nullopt:
/// it is no such condition, or all rows cannot be counted, or CountMatches costs less. Errors: as
/// CountMatches.
Result<std::optional<uint64_t>> CountByOthers(const QueryRequest& request, const Query& query);

/// Whether the current entries of an index over one column in a file are the rows of the cluster
/// that have one: all of the file is read, its rows are single-source and no posting is dead.
bool EntriesAreRows(const Cluster& cluster, const FileSource& source);

}  // namespace tandem::engine
