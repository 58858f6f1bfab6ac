// Reading the rows that an access leads to, in key order, in parts. In a cluster of one file the
// hits are found once, and each part has some of them. Another cluster is one part.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/parallel/key_parts.h"
#include "engine/parallel/parted_read.h"
#include "engine/source/candidates.h"
#include "engine/source/sources.h"

namespace tandem::engine {

/// About how many parts about `hits` rows are.
uint64_t PartsOfHits(std::span<const Cluster> clusters, const AccessPath& access, uint64_t hits,
                     const PartSize& size);

/// The parts of such a read, all of whose rows are asked for. `context` is that of the read as a
/// whole. Lifetime: context, clusters and access outlive it.
std::unique_ptr<PartedRead> NewHitRead(const ReadContext& context,
                                       std::span<const Cluster> clusters, const AccessPath& access);

}  // namespace tandem::engine
