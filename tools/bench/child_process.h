// A process that is started, read and waited for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::bench {

struct FinishedProcess {
  std::string output;  ///< What it wrote to its standard output.
  double seconds = 0;
  double cpu_seconds = 0;
  uint64_t peak_bytes = 0;  ///< The most memory that was resident, mapped files included.
};

/// How a process has to end: with exit code 0, or by SIGKILL.
enum class ProcessEnd : uint8_t { kExit, kKill };

/// Runs words[0], a path, with the rest as arguments. Ends this process when that one cannot be
/// started or ends otherwise.
FinishedProcess RunProcess(const std::vector<std::string>& words,
                           ProcessEnd end = ProcessEnd::kExit);

}  // namespace tandem::bench
