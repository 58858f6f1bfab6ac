// The benchmark program, as a test runs it.
#pragma once

#include <string>

namespace tandem::bench {

struct ProgramRun {
  int exit_code;
  std::string output;  ///< Both streams.
};

/// Runs the one beside the program that the other tests run, through a shell.
ProgramRun RunProgram(const std::string& arguments);

}  // namespace tandem::bench
