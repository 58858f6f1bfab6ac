// Counting the rows of a query without reading more of them than necessary.
#pragma once

#include "engine/query/query.h"

namespace tandem::engine {

/// How many rows the query returns, its limit included. Errors: kCorruption, kIoError,
/// kCancelled.
Result<uint64_t> CountMatches(const Query& query);

/// Whether the current entries of an index over one column in a file are the rows of the cluster
/// that have one: all of the file is read, its rows are single-source and no posting is dead.
bool EntriesAreRows(const Cluster& cluster, const FileSource& source);

}  // namespace tandem::engine
