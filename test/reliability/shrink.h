// Cutting a workload that fails down to what it needs to fail.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "test/reliability/finding.h"
#include "test/reliability/suite.h"
#include "test/reliability/workload.h"

namespace tandem::reliability {

struct Shrunk {
  Workload workload;
  Finding finding;
  uint64_t attempts = 0;

  /// The finding, and the command that shows it again on `whole`, the workload that was cut down.
  std::string Describe(std::string_view suite, const Plan& plan, const Workload& whole) const;
};

struct ShrinkPlan {
  /// What is wrong with a workload, if anything; the simplest case of it.
  std::function<std::optional<Finding>(const Workload& workload)> find;
  double seconds = 60;  ///< The most, approximately.
};

/// Leaves out steps, then operations of batches, as long as something is found. Requires: `finding`
/// is what is wrong with `workload`.
Shrunk Shrink(const Workload& workload, const Finding& finding, const ShrinkPlan& plan);

}  // namespace tandem::reliability
