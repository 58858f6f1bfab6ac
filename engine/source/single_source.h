// Which rows of a file lie in no other source of its cluster, and which of its postings are dead,
// as far as the overlaps of the region say (rules 15 and 16). What they do not say is left to
// filters and keys.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/source/sources.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Notes at each file of the cluster the others that may hold its rows, with their overlaps.
void FindFileOverlaps(const Overlaps* overlaps, Cluster* cluster);

/// Takes rows whose postings in the index are dead in the view out of sorted `*ordinals`.
void RemoveDead(const FileSource& source, format::IndexId index, std::vector<uint32_t>* ordinals);

/// Whether the file shares no row with any other source of the cluster, for certain.
bool OverlapsNothing(const Cluster& cluster, const FileSource& source);

/// Which rows of a file other sources of its cluster may hold as well. Threads: one at a time.
/// Lifetime: cluster and source outlive it.
class OverlapProbe {
 public:
  OverlapProbe(const Cluster& cluster, const FileSource& source)
      : cluster_(cluster), source_(source), ranks_(source.file_overlaps.size()) {}

  /// False: no other source holds the row. Costs least for rising ordinals. Errors: kCorruption,
  /// kIoError.
  Result<bool> MayHold(uint32_t ordinal);

 private:
  Result<bool> MayHoldByHash(uint64_t hash);

  const Cluster& cluster_;
  const FileSource& source_;
  std::vector<uint32_t> ranks_;  // By file_overlap, where its search goes on.
  bool needs_hashes_ = true;     // Not known to be needless.
  std::span<const uint64_t> hashes_;
};

/// Whether overlaps say of each other file which rows it shares.
bool HasAllOverlaps(const FileSource& source);

}  // namespace tandem::engine
