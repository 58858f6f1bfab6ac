// Results as JSON in Google Benchmark's shape: an entry for each figure of each round, named
// ENGINE/PHASE, and an aggregate with the median after each name's last. In addition to the usual
// members an entry has "value", "unit" and "better" ("higher" or "lower"), which `compare` goes by.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/arguments.h"
#include "tools/bench/device.h"
#include "tools/bench/figures.h"
#include "tools/bench/phases.h"

namespace tandem::bench {

/// Of each of `phases` that was measured, in this order.
std::string ToJson(const Arguments& arguments, const std::vector<Phase>& phases,
                   const Figures& figures, const Device& device);
/// Ends the process when the file cannot be written.
void WriteFile(const std::string& path, const std::string& text);

/// All rounds of one name.
struct Series {
  std::string name;  ///< "tandem/query 1 %"
  bool higher_is_better = true;
  std::vector<double> values;
};

/// In the order of their first entries. Ends the process when the file cannot be read or is not of
/// this shape.
std::vector<Series> ReadSeries(const std::string& path);

}  // namespace tandem::bench
