// The texts of --help.
#pragma once

#include <string_view>

namespace tandem::tools {

/// What `tandem --help` prints.
const char* ProgramHelp();
/// What a verb's help begins with, before its options; empty for an unknown verb.
const char* VerbHelpText(std::string_view verb);

}  // namespace tandem::tools
