// Names of the phases of "keys": what row keys are made of, and what that costs reads.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::bench {

/// Tables of the same rows, with this many salts in front of the keys.
inline constexpr uint32_t kSalts[] = {1, 2, 4, 8, 16, 32, 64};

/// Where the blocks of a scan come from: the cache, a device that nobody has read from, or files
/// whose every read takes a millisecond more.
enum class Blocks : uint8_t { kWarm, kCold, kSlow };
struct NamedBlocks {
  Blocks blocks;
  const char* name;
};
inline constexpr NamedBlocks kBlocks[] = {
    {Blocks::kWarm, "warm"}, {Blocks::kCold, "cold"}, {Blocks::kSlow, "slow"}};

/// A way to scan a salted table.
struct SaltScan {
  const char* name;
  uint32_t threads = 1;  ///< ReadOptions::threads.
  /// All rows: 1; a part of the times: 100. 0: the first ten rows.
  uint32_t part = 1;
  /// In the order of the keys, a part for each salt in a thread of its own.
  bool in_parts = false;
};
inline constexpr SaltScan kSaltScans[] = {{"merged scan"},         {"merged scan by 2", 2},
                                          {"merged scan by 8", 8}, {"scan in parts", 1, 1, true},
                                          {"merged 1 %", 1, 100},
                                          {"merged 1 % by 8", 8, 100},  {"merged ten rows", 1, 0},
                                          {"merged ten rows by 8", 8, 0}};

inline std::string SaltPhase(const NamedBlocks& blocks, const SaltScan& scan, uint32_t salts) {
  return std::string(blocks.name) + " " + scan.name + ", " + std::to_string(salts) +
         (salts == 1 ? " salt" : " salts");
}

/// How the cells of an entity are laid out: each in a row of its own, whose key ends with the
/// column, or all in one row.
inline constexpr const char* kLayouts[] = {"tall", "wide"};
/// What the cells are: the four columns of a row of W1, or a hundred payloads, each by its time.
struct CellSet {
  const char* name;
  const char* one;  ///< Of them.
  uint32_t cells;   ///< Of an entity.
};
inline constexpr CellSet kCellSets[] = {{"columns", "column", 4}, {"times", "time", 100}};

}  // namespace tandem::bench
