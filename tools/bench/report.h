// The tables that a run prints.
#pragma once

#include <string>

#include "tools/bench/arguments.h"
#include "tools/bench/device.h"
#include "tools/bench/figures.h"

namespace tandem::bench {

/// Medians of every phase and engine, Tandem's ratios to RocksDB and to the best peer with their
/// ranges, what it cost, and which goals are reached.
std::string ReportOf(const Arguments& arguments, const Figures& figures, const Device& device);

/// Prints the report and writes the JSON file that was asked for. Returns the exit code: 8 when
/// engines returned different rows, otherwise 0.
int Conclude(const Arguments& arguments, const Figures& figures, const Device& device);

/// One line about the device.
std::string DescribeDevice(const Device& device);

}  // namespace tandem::bench
