// The command line of tandem_bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem::bench {

/// What the program does. Each command takes some of the options, a process that measures all.
enum class Command : uint8_t {
  kRounds,
  kLarge,   ///< One long load of Tandem; see large_load.h.
  kGrowth,  ///< Loads of several sizes; see growth.h.
};

struct Arguments {
  uint64_t rows = 500'000;
  int rounds = 3;
  double seconds = 0.2;  ///< How long a phase of reads is repeated at least; commits, five times.
  uint64_t cache_mib = 512;  ///< Of each engine.
  /// Of each engine, its cache and its buffers of new rows together; 0: as PeerOptions has it.
  uint64_t memory_mib = 0;
  std::vector<uint64_t> sizes;  ///< Of growth: numbers of rows, ascending.
  /// Of databases. Empty: one is made, for commands other than kRounds.
  std::string directory;
  std::vector<std::string> engines;  ///< As asked for; those that were built by default.
  std::vector<std::string> phases;   ///< Families of phases; all by default.
  std::string json;                  ///< A file to write; empty: none.

  // Of a process that measures, which the program starts itself.
  std::string child;  ///< What it measures; empty: not such a process.
  std::string engine;
  std::string path;  ///< Its database.
  int item = 0;      ///< Which of several, where `child` says so.

  bool Wants(const std::string& family) const;
};

/// Ends the process with 2 and one line on a wrong argument.
Arguments ParseArguments(const std::vector<std::string>& words,
                         Command command = Command::kRounds);

/// What `--help` prints: the options, and the names of engines and phases.
std::string UsageText();

}  // namespace tandem::bench
