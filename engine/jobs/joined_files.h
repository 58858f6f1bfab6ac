// The files of two neighbouring regions as those of one.
//
// The runs of both are paired, the oldest with the oldest, so that eight and eight stay eight: the
// files of a pair hold disjoint keys, which makes them one run. Runs with parts of one file on
// either side are a pair, and the parts become one again.
//
// A region has all rows of its files that lie in its range; salvage and the overlaps of files rely
// on it. So a file with rows on both sides must still be referred to by both: where a merge has
// rewritten one of the parts, the other one has to be rewritten first.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "engine/region/view.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The files of both, numbered in runs from 1. nullopt: files that both refer to, or only one of
/// them does any more, do not allow it, at least not in as many runs as either has, or `runs_max`;
/// once both regions are compacted, they do. Reads at most a few blocks of each file that has rows
/// on both sides. Requires: `right` begins where `left` ends. Errors: those of reading.
Result<std::optional<std::vector<FileSlice>>> JoinFiles(const RegionVersion& left,
                                                        const RegionVersion& right,
                                                        size_t runs_max);

}  // namespace tandem::engine
