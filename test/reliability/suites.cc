// The list of suites. Each is declared in suites.h and defined in a file of its own.
#include "test/reliability/suites.h"

namespace tandem::reliability {

std::span<const Suite> Suites() {
  static constexpr Suite kSuites[] = {
      {"crash", "R1: every state that a crash can leave, three deep", RunCrash},
      {"flip", "R2: one bit changed in every byte of every file", RunFlip},
      {"cut", "R3: every file cut to every length, and extended", RunCut},
      {"files", "R4: files deleted, swapped, rolled back, of a twin", RunFiles},
      {"errors", "R6: an error at every operation of the disk, once and for good", RunErrors},
      {"allocations", "R7: an allocation that fails, at every index", RunAllocations},
      {"space", "R8: a full disk at every size, and space that returns", RunSpace},
      {"kill", "R9: kill -9 of a writing process, both back ends", RunKill},
      {"power", "R10: power cuts of a file system on a loop device, where root", RunPower},
      {"differential", "R14: the same operations on Tandem, RocksDB and SQLite", RunDifferential},
  };
  return kSuites;
}

}  // namespace tandem::reliability
