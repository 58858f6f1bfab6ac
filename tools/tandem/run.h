// The program as a function, so that tests run it in their own process.
#pragma once

#include <string>
#include <vector>

#include "tandem/status.h"
#include "tools/tandem/context.h"

namespace tandem::tools {

/// Runs `tandem` with `arguments` (without the program's name) and returns its exit code. Data goes
/// to context.out, an error as one line to context.err; both are flushed.
int Run(const std::vector<std::string>& arguments, Context context);

ExitCode ExitCodeOf(StatusCode code);

}  // namespace tandem::tools
