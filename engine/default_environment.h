// The environment and the sizes of a database that a program opens.
#pragma once

#include "engine/runtime/environment.h"
#include "tandem/options.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The system's clock and randomness, files over io_uring or POSIX, threads. Falling back from
/// io_uring leaves a note. Errors: kInvalidArgument (an option out of range), kOutOfMemory.
Result<Environment> DefaultEnvironment(const Options& options);

/// The sizes that follow from the memory budget: a fifth for memstores, a sixteenth for overlaps,
/// the rest for the block cache.
Tuning TuningFor(const Options& options);

}  // namespace tandem::engine
