// One long load of Tandem alone: `tandem_bench large` loads the rows of W1 in batches, with the
// default options, until flushes, merges, splits of regions and back pressure belong to it, and
// reports how it goes part by part. Then it settles, and another process goes on loading and kills
// itself, so that an open has a log to replay.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/phases.h"

namespace tandem::bench {

/// What is measured of the load as a whole.
std::vector<Phase> WholeLoadPhases();
/// That, and each part before it.
std::vector<Phase> LargeLoadPhases();

/// What main() does for `large`, without this word; returns the exit code.
int RunLargeLoad(const std::vector<std::string>& words);

}  // namespace tandem::bench
