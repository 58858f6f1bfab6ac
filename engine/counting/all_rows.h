// All rows of a cluster without looking at each: for each file those that count there, the rows
// that memstores add to them, and those that have to be decided on the merged row.
//
// Where memstores hold nothing but Puts, a row of theirs is there. If a file has it, it counts
// there or is decided already; if none has it, it is added. Otherwise each row of a memstore is
// decided, and left out of the files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/counting/cluster_ranks.h"
#include "engine/counting/skipped.h"
#include "engine/source/candidates.h"
#include "engine/source/read_context.h"
#include "engine/source/sources.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The keys of the candidates that are rows: `files` by file of the cluster, `rows` of memstores.
/// Errors: those of reading rows.
Result<std::vector<std::string>> Decide(ReadContext* context, const Cluster& cluster,
                                        std::vector<FileCandidates> files,
                                        std::vector<const MemRow*> rows);

/// nullopt: they cannot be counted, or to pass over those of an offset costs less; then
/// `skipped->why_read` says why. Errors: those of reading rows. Lifetime: the cluster outlives the
/// result.
Result<std::optional<ClusterRanks>> RanksOfRows(ReadContext* context, const Cluster& cluster,
                                                Skipped* skipped);
/// Their number; nullopt: they cannot be counted, or to read them costs less. Errors: as
/// RanksOfRows.
Result<std::optional<uint64_t>> CountAllRows(ReadContext* context, const Cluster& cluster);

}  // namespace tandem::engine
