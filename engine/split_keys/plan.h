// Cuts what a sketch was given into regions.
#pragma once

#include <cstdint>

#include "engine/split_keys/quantile_sketch.h"
#include "tandem/split_keys.h"

namespace tandem::engine {

/// The error share of a sketch for this many regions.
double SketchErrorFor(uint64_t regions);

/// Cuts the keys of a sketch into parts of about the same weight, at keys that it has. The first
/// key is no cut, so no region is empty. Fewer regions than asked for come out only where the
/// sketch tells fewer keys apart, and the plan notes it. Requires: a key was added, regions > 0.
SplitPlan PlanFromSketch(QuantileSketch* sketch, uint64_t regions);

}  // namespace tandem::engine
