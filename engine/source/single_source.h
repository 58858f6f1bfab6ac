// Which rows of a file are in no other source of its cluster, and which of its postings are dead,
// according to the overlaps of the region (rules 15 and 16). Where overlaps are missing, filters
// and keys decide.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/source/sources.h"
#include "store_file/key_hashes_reader.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Removes from `*ordinals`, which are sorted, the rows whose postings in the index are dead in the
/// view.
void RemoveDead(const FileSource& source, format::IndexId index, std::vector<uint32_t>* ordinals);

/// Whether the file certainly shares no row with any other source of the cluster.
bool OverlapsNothing(const Cluster& cluster, const FileSource& source);

/// The same for the files of the cluster alone.
bool OverlapsNoFile(const FileSource& source);

/// Which rows of a file other files of its cluster may hold as well. Threads: one at a time.
/// Lifetime: cluster and source outlive it.
class OverlapProbe {
 public:
  OverlapProbe(const Cluster& cluster, const FileSource& source)
      : cluster_(cluster), source_(source), ranks_(source.file_overlaps.size()) {}

  /// False: no other file holds the row. Cheapest for ascending ordinals. Errors: kCorruption,
  /// kIoError.
  Result<bool> MayHold(uint32_t ordinal);

 private:
  Result<bool> MayHoldByHash(uint64_t hash);

  const Cluster& cluster_;
  const FileSource& source_;
  std::vector<uint32_t> ranks_;  // By FileOverlap: where its search continues.
  bool needs_hashes_ = true;     // Not known to be unneeded.
  std::optional<format::KeyHashesReader> hashes_;
};

/// Whether the overlaps with all other files are built.
bool HasAllOverlaps(const FileSource& source);

}  // namespace tandem::engine
