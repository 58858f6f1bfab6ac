// The tables that a run prints.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/arguments.h"
#include "tools/bench/device.h"
#include "tools/bench/figures.h"
#include "tools/bench/phases.h"

namespace tandem::bench {

/// Medians of every phase and engine, Tandem's ratios to RocksDB and to the best peer with their
/// ranges, what it cost, and which goals are reached.
std::string ReportOf(const Arguments& arguments, const Figures& figures, const Device& device);

/// Prints the report and writes the JSON file that was asked for. Returns the exit code: 8 when
/// engines returned different rows, otherwise 0.
int Conclude(const Arguments& arguments, const Figures& figures, const Device& device);

/// A figure of the phase as text, without its unit.
std::string ValueText(const Phase& phase, double value);
/// A line for each of `phases` that was measured: the medians of arguments.engines, and Tandem's
/// ratios.
std::string PhaseTable(const Arguments& arguments, const std::vector<Phase>& phases,
                       const Figures& figures);
/// Name, unit and median of each of `phases` that the engine was measured in, a line each.
std::string ValueTable(const std::vector<Phase>& phases, const Figures& figures,
                       const std::string& engine);
/// Which of `goals`, each of one of `phases`, are reached; those that were not measured are left
/// out.
std::string GoalTable(const std::vector<Phase>& phases, const std::vector<Goal>& goals,
                      const Figures& figures, const Device& device);

/// One line about the device.
std::string DescribeDevice(const Device& device);

}  // namespace tandem::bench
