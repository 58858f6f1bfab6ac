// How the cost of a load grows with its size: `tandem_bench growth` loads W1 at several sizes into
// Tandem and RocksDB, each with the same small memory, so that the larger sizes are many times what
// fits into it. A row is to cost about as much at the largest size as at the smallest, and Tandem
// to write no more bytes than RocksDB.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/figures.h"
#include "tools/bench/phases.h"

namespace tandem::bench {

/// That the time of a row at the largest size may be of that at the smallest.
inline constexpr double kGrowthMax = 1.6;

/// The name of a phase at a size.
std::string AtSize(const std::string& phase, uint64_t rows);
/// All that is measured and computed, in the order of the report.
std::vector<Phase> GrowthPhases(const std::vector<uint64_t>& sizes);
std::vector<Goal> GrowthGoals(const std::vector<uint64_t>& sizes);
/// Adds what is computed of the figures of all sizes: "growth of time STATE" of each engine, the
/// time at the largest size divided by that at the smallest, and at each size "written beside
/// rocksdb STATE", Tandem's bytes divided by RocksDB's.
void AddGrowth(const std::vector<uint64_t>& sizes, Figures* figures);

/// What main() does for `growth`, without this word; returns the exit code.
int RunGrowth(const std::vector<std::string>& words);

}  // namespace tandem::bench
