// Where a table is cut into regions, and what each region is expected to get.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/row_keys/quantile_sketch.h"

namespace tandem::row_keys {

/// At most this many regions may be asked for. A table of Tandem has at most kRegionsMax.
inline constexpr uint64_t kRegionsAskedMax = 65'535;

struct SplitPlan {
  std::vector<std::string> keys;  ///< Rising; each but the first region begins with one.
  std::vector<double> shares;     ///< One a region, expected; together 1. Empty: nothing is known.
  uint64_t regions_asked = 0;
  // Of a plan from a sample, otherwise 0.
  uint64_t sample_keys = 0;
  double error_share = 0;  ///< A region has at most so much more or less of the sample.
  uint64_t distinct = 0;   ///< Keys that the sketch tells apart.
  bool weighted = false;   ///< The keys of the sample had weights.

  size_t regions() const { return keys.size() + 1; }
};

/// The error share of a sketch for this many regions.
double SketchErrorFor(uint64_t regions);

/// Cuts the keys of a sketch into parts of about the same weight, at keys that it has. The first
/// key is no cut, so no region is empty. Fewer regions than asked for come out only where the
/// sketch tells fewer keys apart. Requires: a key was added, regions > 0.
SplitPlan PlanFromSketch(QuantileSketch* sketch, uint64_t regions);

}  // namespace tandem::row_keys
