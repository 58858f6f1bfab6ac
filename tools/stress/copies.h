// Tables that are copied as files: a few threads export north, beside all that writes to it, and
// attach the files to a table of their own, or restore them as that table. It holds what north held
// when it was exported.
#pragma once

#include <cstdint>

#include "tools/stress/stressed.h"

namespace tandem::stress {

/// Makes the table of a thread again. Requires: thread < kCopies. Threads: that one.
Status CopyNorth(const Stressed& stressed, uint32_t thread, uint64_t seed);
/// After the end of a process: each table is there as it was, or as it was to become. A directory
/// whose export was cut off is refused, or complete.
Status RecoverCopies(const Stressed& stressed);

}  // namespace tandem::stress
