// Reading all rows of clusters, or those that the context's predicate accepts, in parts by key.
#pragma once

#include <memory>
#include <span>

#include "engine/parallel/parted_read.h"
#include "engine/predicate/key_ranges.h"
#include "engine/source/sources.h"

namespace tandem::engine {

/// Whether every row of the files of the cluster is a row of the read, if it has no predicate.
bool EachRowCounts(const Cluster& cluster);

/// The rows of some keys, which ascend, as a part.
std::unique_ptr<ReadPart> NewKeyPart(KeyRanges rows, bool reverse);

/// The parts of such a read. Lifetime: the clusters outlive it.
std::unique_ptr<PartedRead> NewKeyRead(std::span<const Cluster> clusters, bool reverse,
                                       const ReadResources& resources);

}  // namespace tandem::engine
