// Names of what loads are measured for that are about their size: one long load, part by part
// (large_load.h), and loads of several sizes (growth.h).
#pragma once

#include <cstdint>
#include <string>

#include "tools/bench/peer.h"
#include "tools/bench/phases.h"

namespace tandem::bench {

inline constexpr int kLoadParts = 20;
/// So that each part has a batch.
inline constexpr uint64_t kRowsOfLargeMin = uint64_t{kLoadParts} * kBatchRows;

/// What is measured of each part, in the order in which a line has it.
struct PartColumn {
  const char* name;
  Unit unit;
};
inline constexpr PartColumn kPartColumns[] = {
    {"rows/s", Unit::kPerSecond},  // Of this part, the rest at its end.
    {"waits", Unit::kMillis},      // Of writers for flushes and merges, in this part.
    {"regions", Unit::kNumber},
    {"runs", Unit::kNumber},  // Of a region at most during this part.
    {"files", Unit::kNumber},
    {"written", Unit::kNumber},  // Bytes for each byte of rows so far.
    {"space", Unit::kNumber},    // The same on the disk.
    {"memory", Unit::kBytes},    // Resident,
    {"counted", Unit::kBytes},   // and as the engine counts it.
    {"first", Unit::kMillis},    // The first query for 0.01 % after all that was written.
    {"0.01 %", Unit::kMicros},   // Of the next queries, for each row that they return.
    {"0.1 %", Unit::kMicros},
};

/// The number of rows at the end of part 0 to kLoadParts - 1.
inline uint64_t EndOfPart(uint64_t rows, int part) {
  if (part == kLoadParts - 1) return rows;
  const uint64_t end = rows * static_cast<uint64_t>(part + 1) / kLoadParts;
  return end - end % kBatchRows;
}

inline std::string PartPhase(const PartColumn& column, int part) {
  return "part " + std::to_string(part + 1) + " of " + std::to_string(kLoadParts) + ", " +
         column.name;
}

/// States of a load: the last row is committed; the background has nothing to do any more; all
/// files are merged.
inline constexpr const char* kLoadStates[] = {"loaded", "idle", "settled"};
// Until a state is reached: microseconds and processor time for each row, and bytes handed to files
// and logs for each byte of rows. The state's name follows.
inline constexpr const char* kGrowthTime = "time ";
inline constexpr const char* kGrowthCpu = "CPU ";
inline constexpr const char* kGrowthWritten = "written ";

}  // namespace tandem::bench
