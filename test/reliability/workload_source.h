// Which workloads a suite runs: the fixed ones, then random ones without end; or the one that the
// plan names.
#pragma once

#include <optional>
#include <vector>

#include "test/reliability/suite.h"
#include "test/reliability/workload.h"

namespace tandem::reliability {

/// Threads: any.
class WorkloadSource {
 public:
  explicit WorkloadSource(const Plan& plan);

  /// The `number`-th; nothing when the plan names another one alone.
  std::optional<Workload> At(uint64_t number) const;
  /// Random ones that At does not give for a long time: for those between the fixed ones.
  std::optional<Workload> Between(uint64_t number) const;
  /// So many come first and are run in any case.
  uint64_t fixed_count() const { return fixed_.size(); }
  bool IsFixed(uint64_t number) const { return number < fixed_.size(); }

 private:
  const uint64_t seed_;
  const bool is_one_;
  std::vector<Workload> fixed_;
};

}  // namespace tandem::reliability
