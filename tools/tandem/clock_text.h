// How the verbs name what a database makes of the wall clock.
#pragma once

#include "tandem/database.h"

namespace tandem::tools {

/// "right", "behind" or "doubted".
const char* ClockStateName(ClockState state);

}  // namespace tandem::tools
