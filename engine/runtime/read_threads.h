// The threads that help calls to read (ReadOptions::threads). They are started when a call asks for
// one and none is idle, and stay for the next calls; there are at most four of them for each
// processor of the machine. Nobody depends on them: what they have no time for, the callers do
// themselves.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/executor.h"

namespace tandem::engine {

/// An executor of at most that many threads; 0: four for each processor. A thread that cannot be
/// started is done without: its job waits for another one, or for its turn in vain. The destructor
/// waits for running jobs, drops queued ones and joins the threads. `clock` outlives it.
std::unique_ptr<base::Executor> NewReadThreads(uint32_t threads_max, base::Clock* clock);

}  // namespace tandem::engine
