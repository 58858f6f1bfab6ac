// The runs of a region's version, as merges and back pressure see them.
#pragma once

#include <cstddef>
#include <vector>

#include "compaction/pick.h"
#include "engine/region/view.h"

namespace tandem::engine {

struct RegionRuns {
  std::vector<compaction::RunDescription> described;  ///< Oldest first.
  /// Run i is the version's files [firsts[i], firsts[i + 1]); one entry more than runs.
  std::vector<size_t> firsts;
};

RegionRuns RunsOf(const RegionVersion& version);
size_t RunCount(const RegionVersion& version);

}  // namespace tandem::engine
