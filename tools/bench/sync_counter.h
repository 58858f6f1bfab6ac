// How often this process had the disk take over what it wrote.
#pragma once

#include <cstdint>

namespace tandem::bench {

/// Calls of fsync, fdatasync and msync so far, by any thread and any library. LMDB's second sync of
/// a commit, a write to a file opened with O_DSYNC, is not among them.
uint64_t SyncsSoFar();

}  // namespace tandem::bench
