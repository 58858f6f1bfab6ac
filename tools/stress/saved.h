// Snapshots with names: they show the same for as long as they exist, in this process and in those
// after it, whatever becomes of the tables.
#pragma once

#include <cstdint>

#include "tools/stress/stressed.h"

namespace tandem::stress {

/// Creates, reads or drops the snapshot of a thread. Requires: thread < kSavedSnapshots. Threads:
/// that one.
Status ChangeSaved(const Stressed& stressed, uint32_t thread, uint64_t seed);
/// Reads a part of a snapshot that its thread may drop meanwhile. Threads: any.
Status ReadSaved(const Stressed& stressed, uint64_t seed);
/// After the end of a process: those that were there are, with what they showed, and no others.
Status RecoverSaved(const Stressed& stressed);

}  // namespace tandem::stress
