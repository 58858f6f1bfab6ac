// From the words of the command line to the options of one verb: the one place that knows the
// command-line library.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tandem/status.h"
#include "tools/tandem/options.h"

namespace tandem::tools {

struct CommandLine {
  std::string help;  ///< Not empty: print it and be done.
  std::string verb;
  VerbOptions options = VersionOptions{};
  bool verbose = false;
};

/// `arguments` without the program's name. Errors: kInvalidArgument with what to do next; a
/// mistyped verb or option is answered with the one that was probably meant.
Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

}  // namespace tandem::tools
