// Ids of a sequence, which threads take while processes are killed: none comes twice, and later
// ones are larger.
#pragma once

#include <cstdint>

#include "tandem/sequence.h"
#include "tandem/status.h"
#include "tools/stress/stressed.h"

namespace tandem::stress {

/// The sequence.
SequenceOptions NewIds();
/// Takes a few ids. Threads: any.
Status TakeIds(const Stressed& stressed, uint64_t seed);

}  // namespace tandem::stress
