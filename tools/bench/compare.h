// Two runs beside each other: `tandem_bench compare BEFORE.json AFTER.json`.
//
// A figure of Tandem is a regression when its median is worse by more than the noise, which is the
// largest of a tenth and the spread of either run's rounds. Peers do not change between two runs:
// the change of their figures shows how the machine changed; it is printed, but decides nothing.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/json_file.h"

namespace tandem::bench {

struct Change {
  std::string name;
  double before = 0, after = 0;  ///< Medians.
  double better = 0;             ///< 1.2: a fifth better; 0.8: a fifth worse.
  double noise = 0;              ///< 0.1: a tenth.
  bool is_regression = false;
};

/// A change for each name that both have, in the order of `before`.
std::vector<Change> ChangesBetween(const std::vector<Series>& before,
                                   const std::vector<Series>& after);

/// Prints the changes; returns the exit code: 8 on a regression, otherwise 0. Ends the process when
/// a file cannot be read or they have no name in common.
int Compare(const std::string& before_path, const std::string& after_path);

}  // namespace tandem::bench
