// See finding.h.
#include "test/reliability/finding.h"

namespace tandem::reliability {

std::string Finding::Describe(const Workload& workload) const {
  std::string text =
      reason + "\n" + workload.Describe() + "\n  under way: step " + std::to_string(steps_taken);
  for (const std::string& fault : injected) text += "\n  " + fault;
  return text;
}

}  // namespace tandem::reliability
