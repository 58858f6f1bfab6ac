// Cutting a workload that fails down to what it needs to fail.
#pragma once

#include "test/prove/crash_states.h"

namespace tandem::prove {

struct Shrunk {
  Workload workload;
  Finding finding;
  uint64_t attempts = 0;
};

struct ShrinkPlan {
  CrashSettings settings;
  double seconds = 60;  ///< About so many at most.
};

/// Leaves out steps, then operations of batches, as long as a crash still finds something; of what
/// survives, the simplest choice comes first anyway. Nested crashes are tried only where the
/// finding needs them. `finding` is what `workload` fails with.
Shrunk Shrink(const Workload& workload, const Finding& finding, const ShrinkPlan& plan);

}  // namespace tandem::prove
