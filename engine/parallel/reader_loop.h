// A loop of a call whose iterations wait for files: threads that have time take some of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/executor.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Calls iteration(0) to iteration(count - 1), each once, on up to `threads` threads, the caller's
/// included; with one, or where `readers` is null, in order on the caller's. The caller waits only
/// for threads that have begun an iteration. Errors: that of the first iteration that failed; some
/// after it are left out. Threads: each iteration is called by one, beside others.
Status RunOnReaders(base::Executor* readers, uint32_t threads, size_t count,
                    std::function<Status(size_t)> iteration);

}  // namespace tandem::engine
