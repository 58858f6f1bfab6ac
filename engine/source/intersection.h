// The candidates of a file for an AND over several indexes.
//
// Rule 17: a row that no other source has is decided by this file, so it has to satisfy every
// condition here. A row that lies in several sources may satisfy one condition in one of them and
// another condition elsewhere (c=2 in one file, a=1 in a newer one: a=1 AND c=2). So:
//
// 1. The candidates of all sources come by one condition, the access's paths. What any source says
//    of that condition is united over the sources by key (rule 18).
// 2. In each file these are intersected with the rows that satisfy the other conditions in it.
// 3. A candidate outside the intersection is ruled out if it is single-source. Files and memstores
//    are asked for the row when its turn comes (engine/source/candidate_stream.h), but not if it is
//    known that no other source has rows of the file.
//
// So every single-source candidate that is left satisfies all conditions.
#pragma once

#include "base/cancellation.h"
#include "engine/source/candidates.h"
#include "engine/source/sources.h"

namespace tandem::engine {

/// As CandidatesOf, with what the access intersects. `source` is one of the cluster's, or a part of
/// one. A condition that the file has no section for rules nothing out; its single-source rows are
/// not decided then. Errors: as CandidatesOf, and kCancelled.
Result<FileCandidates> IntersectedCandidatesOf(const Cluster& cluster, const FileSource& source,
                                               const AccessPath& access,
                                               const base::Cancellation& cancellation);

}  // namespace tandem::engine
