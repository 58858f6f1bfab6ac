// See large_load.h.
#include "tools/bench/large_load.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "tools/bench/arguments.h"
#include "tools/bench/device.h"
#include "tools/bench/figures.h"
#include "tools/bench/json_file.h"
#include "tools/bench/measuring_child.h"
#include "tools/bench/report.h"
#include "tools/bench/size_phases.h"
#include "tools/bench/work_directory.h"
#include "tools/bench/workload.h"
#include "tools/tandem/format_text.h"

namespace tandem::bench {
namespace {

using tools::Format;

constexpr const char* kEngine = "tandem";
constexpr const char* kLargeFamily = "large";

std::string PartTable(const Arguments& arguments, const Figures& figures) {
  std::string table = Format("{:>12}", "rows");
  for (const PartColumn& column : kPartColumns) table += Format("{:>10}", column.name);
  table += "\n";
  for (int part = 0; part < kLoadParts; ++part) {
    table += Format("{:>12}", EndOfPart(arguments.rows, part));
    for (const PartColumn& column : kPartColumns) {
      const Phase phase{PartPhase(column, part), kLargeFamily, column.unit};
      const double value = figures.Values(phase.name, kEngine).front();
      const bool is_count = column.unit == Unit::kNumber && value == static_cast<uint64_t>(value);
      table += Format("{:>10}", is_count ? Format("{:.0f}", value) : ValueText(phase, value));
    }
    table += "\n";
  }
  return table;
}

// What other measurements ask of the same phases, and the bounds of the engine: runs of a region,
// and memory beyond the budget (Options::memory_bytes) and what the process has without a database.
std::vector<Goal> LargeLoadGoals(const Figures& figures) {
  constexpr double kMemoryBeyondMib = 48;
  std::vector<Goal> goals = {{"runs at most", Against::kLimit, 16}};
  const std::vector<double> budget = figures.Values("memory budget, MiB", kEngine);
  const std::vector<double> before = figures.Values("memory before the open, MiB", kEngine);
  if (!budget.empty() && !before.empty()) {
    const double most = std::round(before.front() + budget.front() + kMemoryBeyondMib);
    goals.push_back({"peak memory, MiB", Against::kLimit, most});
  }
  const std::vector<Phase> phases = WholeLoadPhases();
  for (const Goal& goal : Goals()) {
    const bool is_limit = goal.against == Against::kLimit;
    if (is_limit && FindPhase(phases, goal.phase) != nullptr) goals.push_back(goal);
  }
  return goals;
}

std::string LargeLoadReport(const Arguments& arguments, const Figures& figures,
                            const Device& device) {
  const std::string head = Format(
      "One load of {} rows of W1 ({} bytes of key and values each, three indexes) in random\n"
      "order, batches of {}, two processors. A line for each twentieth: rows so far; rows/s\n"
      "of this part, and milliseconds that its writes were slowed down or stopped; regions,\n"
      "runs of one at most, files; bytes written to files and logs, and space on the disk,\n"
      "for each byte of rows so far; MiB of memory, and as the engine counts them. Then the\n"
      "load stops for queries, while merges go on: milliseconds of the first one for 0.01 %,\n"
      "microseconds of the next ones for each row that they return.\n",
      arguments.rows, W1(1).row_bytes(), kBatchRows);
  return head + DescribeDevice(device) + "\n\n" + PartTable(arguments, figures) + "\n" +
         ValueTable(WholeLoadPhases(), figures, kEngine) +
         GoalTable(LargeLoadPhases(), LargeLoadGoals(figures), figures, device);
}

}  // namespace

std::vector<Phase> WholeLoadPhases() {
  return {
      {"load", kLargeFamily},
      {"load idle", kLargeFamily},
      {"load settled", kLargeFamily},
      {"batch, 99.9 %", kLargeFamily, Unit::kMicros},
      {"batch, longest", kLargeFamily, Unit::kMicros},
      {"longest stall", kLargeFamily, Unit::kMillis},
      {"stalls", kLargeFamily, Unit::kNumber},
      {"all stalls", kLargeFamily, Unit::kMillis},
      {"longest due merge", kLargeFamily, Unit::kMillis},
      {"largest due merge", kLargeFamily, Unit::kBytes},
      {"all delays", kLargeFamily, Unit::kMillis},
      {"runs at most", kLargeFamily, Unit::kNumber},
      {"written per byte, loaded", kLargeFamily, Unit::kNumber},
      {"written per byte, idle", kLargeFamily, Unit::kNumber},
      {"written per byte, settled", kLargeFamily, Unit::kNumber},
      {"of these by flushes", kLargeFamily, Unit::kNumber},
      {"of these by merges", kLargeFamily, Unit::kNumber},
      {"of these by log and manifest", kLargeFamily, Unit::kNumber},
      {"space per byte, loaded", kLargeFamily, Unit::kNumber},
      {"space per byte, settled", kLargeFamily, Unit::kNumber},
      {"memory before the open, MiB", kLargeFamily, Unit::kNumber},
      {"memory budget, MiB", kLargeFamily, Unit::kNumber},
      {"peak memory, MiB", kLargeFamily, Unit::kNumber},
      {"a row of query 0.01 %, settled", kLargeFamily, Unit::kMicros},
      {"a row of query 0.1 %, settled", kLargeFamily, Unit::kMicros},
      {"open killed", kLargeFamily, Unit::kMillis},
      {"operations replayed", kLargeFamily, Unit::kNumber},
  };
}

std::vector<Phase> LargeLoadPhases() {
  std::vector<Phase> phases;
  for (int part = 0; part < kLoadParts; ++part) {
    for (const PartColumn& column : kPartColumns)
      phases.push_back({PartPhase(column, part), kLargeFamily, column.unit});
  }
  for (const Phase& phase : WholeLoadPhases()) phases.push_back(phase);
  return phases;
}

int RunLargeLoad(const std::vector<std::string>& words) {
  const Arguments arguments = ParseArguments(words, Command::kLarge);
  const WorkDirectory directory(arguments.directory, "large");
  const Device device = MeasureDevice(directory.path(), DeviceFileBytes(arguments.rows));
  std::fprintf(stderr, "%s\n", DescribeDevice(device).c_str());
  MeasuringChild child{.engine = kEngine,
                       .rows = arguments.rows,
                       .memory_mib = arguments.memory_mib,
                       .path = directory.Fresh(kEngine)};
  Figures figures;
  for (Figure& figure : child.Run("large-load")) figures.Add(std::move(figure));
  for (Figure& figure : child.Run("large-die", ProcessEnd::kKill)) figures.Add(std::move(figure));
  for (Figure& figure : child.Run("large-reopen")) figures.Add(std::move(figure));
  std::fputs(LargeLoadReport(arguments, figures, device).c_str(), stdout);
  if (!arguments.json.empty())
    WriteFile(arguments.json, ToJson(arguments, LargeLoadPhases(), figures, device));
  return 0;
}

}  // namespace tandem::bench
