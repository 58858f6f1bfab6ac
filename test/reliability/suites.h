// The suites of this folder, one file each.
#pragma once

#include "test/reliability/suite.h"

namespace tandem::reliability {

Report RunCrash(const Plan& plan);
Report RunFlip(const Plan& plan);
Report RunCut(const Plan& plan);
Report RunFiles(const Plan& plan);
Report RunErrors(const Plan& plan);
Report RunAllocations(const Plan& plan);
Report RunSpace(const Plan& plan);
Report RunKill(const Plan& plan);
Report RunPower(const Plan& plan);
Report RunDifferential(const Plan& plan);

}  // namespace tandem::reliability
