// The steps of a simulated or single-threaded run, from a seed alone.
#pragma once

#include <cstdint>

#include "tools/stress/script.h"

namespace tandem::stress {

/// A script of `steps` steps. Of kFaults nothing depends on the database's own time, since a write
/// that fails may have taken some of it.
Script NewScript(Mode mode, uint64_t seed, uint64_t rows, uint64_t steps);

}  // namespace tandem::stress
