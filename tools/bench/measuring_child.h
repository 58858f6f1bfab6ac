// A process that measures one engine on one database, of a command that starts its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/child_process.h"
#include "tools/bench/figures.h"

namespace tandem::bench {

struct MeasuringChild {
  std::string engine;
  uint64_t rows = 0;
  uint64_t memory_mib = 0;  ///< As Arguments::memory_mib.
  std::string path;         ///< Of its database.

  /// Runs a group (measuring.h) in such a process and returns its figures, with the engine's name.
  /// Ends this process when that one fails.
  std::vector<Figure> Run(const std::string& group, ProcessEnd end = ProcessEnd::kExit) const;
};

}  // namespace tandem::bench
