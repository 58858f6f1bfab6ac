// The list of suites. Each is declared here and defined in a file of its own.
#include "test/prove/exam_suites.h"
#include "test/prove/suite.h"

namespace tandem::prove {

std::span<const Suite> Suites() {
  static constexpr Suite kSuites[] = {
      {"flip", "one bit changed in every byte of every file", RunFlip},
      {"cut", "every file cut to every length, and extended", RunCut},
      {"files", "files deleted, swapped, rolled back, of a twin", RunFiles},
      {"kill", "kill -9 of a writing process, both back ends", RunKill},
      {"power", "power cuts of a file system on a loop device, where root", RunPower},
      {"differential", "the same operations on Tandem, RocksDB and SQLite", RunDifferential},
  };
  return kSuites;
}

}  // namespace tandem::prove
