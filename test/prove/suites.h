// The suites of this folder, one file each.
#pragma once

#include "test/prove/suite.h"

namespace tandem::prove {

Report RunCrash(const Plan& plan);
Report RunErrors(const Plan& plan);
Report RunAllocations(const Plan& plan);
Report RunSpace(const Plan& plan);

}  // namespace tandem::prove
