// Whether the rows of a read are there for little: in blocks that are cached, of files that nothing
// overlaps.
#pragma once

#include <span>

#include "engine/source/sources.h"

namespace tandem::engine {

/// Whether nearly all data blocks of the clusters seem to be in the cache: by up to 64 rows that
/// lie evenly among those of their files. Cost: a step for each file, and a look at the blocks of
/// these rows; reads nothing. Requires: LoadFamilies was called.
bool SeemCached(std::span<const Cluster> clusters);

/// Whether several threads save time where they do nothing with the rows but pass them on: not if
/// the rows are cached and merged with no others, since to pass one on costs as much as to read it
/// then (docs/decisions/0063).
bool PaysToPass(std::span<const Cluster> clusters);

}  // namespace tandem::engine
