// Running the program in the test's own process, with its streams in memory.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace tandem::test {

struct ProgramRun {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// Runs `tandem` with these arguments; `input` is its standard input.
ProgramRun RunProgram(const std::vector<std::string>& arguments, const std::string& input = "",
                      const std::atomic<bool>* interrupted = nullptr);

}  // namespace tandem::test
