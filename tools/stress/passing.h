// A table of each thread that comes, is renamed and goes while others work: created, filled by one
// batch, renamed, read and dropped by one call of the thread.
#pragma once

#include <cstdint>

#include "tools/stress/stressed.h"

namespace tandem::stress {

/// The whole life of the thread's table.
Status PassTable(const Stressed& stressed, uint32_t thread, Durability durability);
/// After the end of a process: the table has one of its names at most; after the rename it has all
/// of its rows, before it all or none. Drops it.
Status RecoverPassing(const Stressed& stressed);

}  // namespace tandem::stress
