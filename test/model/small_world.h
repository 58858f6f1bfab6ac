// A life in the small world (small_world_plan.h). Large data does not find the bugs that these find
// fast. A world is a list of steps, so that one that fails can be cut down to what it needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "test/model/counters.h"
#include "test/model/run_trace.h"
#include "test/model/small_world_plan.h"

namespace tandem::test {

SmallWorld NewSmallWorld(uint64_t seed);
/// Lives through the world, comparing with the model after each step; what went wrong, if anything.
/// `trace` is given everything that happens; may be null.
std::optional<std::string> RunSmallWorld(const SmallWorld& world, Counters* counters,
                                         RunTrace* trace = nullptr);
/// The same world without the steps that it does not need to fail. Requires: it fails.
SmallWorld Shrink(SmallWorld world);

}  // namespace tandem::test
