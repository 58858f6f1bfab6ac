// Rounds of a run: every engine in turn, each group of phases in a process of its own.
#pragma once

#include <string>

#include "tools/bench/arguments.h"
#include "tools/bench/figures.h"

namespace tandem::bench {

/// Runs all rounds; `program` is this program's file. Progress goes to stderr. Databases are made
/// in arguments.directory and removed again. Ends the process when a measuring process fails.
Figures RunRounds(const Arguments& arguments, const std::string& program);

/// What a measuring process does: arguments.child names the group.
void RunGroup(const Arguments& arguments);

}  // namespace tandem::bench
