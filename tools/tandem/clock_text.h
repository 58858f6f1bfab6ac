// How the verbs name the state of the wall clock.
#pragma once

#include "tandem/database.h"

namespace tandem::tools {

/// "right", "behind" or "doubted".
const char* ClockStateName(ClockState state);

}  // namespace tandem::tools
