// See growth.h.
#include "tools/bench/growth.h"

#include <cstdio>

#include "tools/bench/arguments.h"
#include "tools/bench/device.h"
#include "tools/bench/json_file.h"
#include "tools/bench/measuring_child.h"
#include "tools/bench/peers.h"
#include "tools/bench/report.h"
#include "tools/bench/size_phases.h"
#include "tools/bench/usage.h"
#include "tools/bench/work_directory.h"
#include "tools/bench/workload.h"
#include "tools/tandem/format_text.h"

namespace tandem::bench {
namespace {

using tools::Format;

constexpr const char* kGrowthFamily = "growth";
// What is to stay within bounds: a load is over when nothing is left to do.
constexpr const char* kJudgedStates[] = {"idle", "settled"};

std::string GrowthOfTime(const std::string& state) { return "growth of time " + state; }
std::string WrittenBeside(const std::string& state, uint64_t rows) {
  return AtSize("written beside rocksdb " + state, rows);
}

// Adds the quotient of two figures of one value each, where both were measured.
void AddQuotient(const std::string& phase, const std::string& engine,
                 const std::vector<double>& value, const std::vector<double>& of,
                 Figures* figures) {
  if (value.empty() || of.empty() || of.front() <= 0) return;
  Figure figure;
  figure.phase = phase;
  figure.engine = engine;
  figure.items = 1;
  figure.value = value.front() / of.front();
  figures->Add(figure);
}

void Measure(const Arguments& arguments, const std::string& engine, uint64_t rows,
             Figures* figures) {
  const WorkDirectory directory(arguments.directory, kGrowthFamily);
  const MeasuringChild child{.engine = engine,
                             .rows = rows,
                             .memory_mib = arguments.memory_mib,
                             .path = directory.Fresh(engine)};
  const double begin = SecondsNow();
  for (Figure& figure : child.Run("growth")) {
    figure.phase = AtSize(figure.phase, rows);
    figures->Add(std::move(figure));
  }
  std::fprintf(stderr, "%s, %llu rows: %.0f s\n", engine.c_str(),
               static_cast<unsigned long long>(rows), SecondsNow() - begin);
}

std::string GrowthReport(const Arguments& arguments, const Figures& figures, const Device& device) {
  const std::string head = Format(
      "Loads of W1 ({} bytes of key and values a row, three indexes) in random order, batches\n"
      "of {}, two processors, {} MiB for each engine; RocksDB: half of it for the block\n"
      "cache, half for memtables. Until the last commit (loaded), until the background has\n"
      "nothing to do (idle), and until all is merged (settled). Time and CPU: microseconds a\n"
      "row. Written: bytes handed to write calls, for files and logs, as the system counts\n"
      "them, for each byte of rows.\n",
      W1(1).row_bytes(), kBatchRows, arguments.memory_mib);
  const std::vector<Phase> phases = GrowthPhases(arguments.sizes);
  return head + DescribeDevice(device) + "\n\n" + PhaseTable(arguments, phases, figures) +
         GoalTable(phases, GrowthGoals(arguments.sizes), figures, device);
}

}  // namespace

std::string AtSize(const std::string& phase, uint64_t rows) {
  return phase + ", " + std::to_string(rows) + " rows";
}

std::vector<Phase> GrowthPhases(const std::vector<uint64_t>& sizes) {
  std::vector<Phase> phases;
  for (const uint64_t rows : sizes) {
    const auto add = [&](const std::string& name, Unit unit) {
      phases.push_back({AtSize(name, rows), kGrowthFamily, unit});
    };
    for (const std::string state : kLoadStates) add(kGrowthTime + state, Unit::kMicros);
    for (const std::string state : kLoadStates) add(kGrowthCpu + state, Unit::kMicros);
    for (const std::string state : kLoadStates) add(kGrowthWritten + state, Unit::kNumber);
    add("peak memory, MiB", Unit::kNumber);
    add("disk", Unit::kBytes);
  }
  for (const std::string state : kLoadStates)
    phases.push_back({GrowthOfTime(state), kGrowthFamily, Unit::kNumber});
  for (const uint64_t rows : sizes) {
    for (const std::string state : kLoadStates)
      phases.push_back({WrittenBeside(state, rows), kGrowthFamily, Unit::kNumber});
  }
  return phases;
}

std::vector<Goal> GrowthGoals(const std::vector<uint64_t>& sizes) {
  std::vector<Goal> goals;
  for (const std::string state : kJudgedStates)
    goals.push_back({GrowthOfTime(state), Against::kLimit, kGrowthMax});
  for (const uint64_t rows : sizes) {
    for (const std::string state : kJudgedStates)
      goals.push_back({WrittenBeside(state, rows), Against::kLimit, 1});
  }
  return goals;
}

void AddGrowth(const std::vector<uint64_t>& sizes, Figures* figures) {
  for (const std::string state : kLoadStates) {
    for (const Engine& engine : Engines()) {
      const auto time = [&](uint64_t rows) {
        return figures->Values(AtSize(kGrowthTime + state, rows), engine.name);
      };
      AddQuotient(GrowthOfTime(state), engine.name, time(sizes.back()), time(sizes.front()),
                  figures);
    }
    for (const uint64_t rows : sizes) {
      const std::string written = AtSize(kGrowthWritten + state, rows);
      AddQuotient(WrittenBeside(state, rows), "tandem", figures->Values(written, "tandem"),
                  figures->Values(written, "rocksdb"), figures);
    }
  }
}

int RunGrowth(const std::vector<std::string>& words) {
  const Arguments arguments = ParseArguments(words, Command::kGrowth);
  const Engine rocksdb = Engines()[1];
  if (rocksdb.open == nullptr) {
    std::fprintf(stderr, "without %s: this program was built without %s\n", rocksdb.name,
                 rocksdb.package);
  }
  Device device;
  {
    const WorkDirectory directory(arguments.directory, kGrowthFamily);
    device = MeasureDevice(directory.path(), DeviceFileBytes(arguments.sizes.back()));
  }
  std::fprintf(stderr, "%s\n", DescribeDevice(device).c_str());
  Figures figures;
  for (const uint64_t rows : arguments.sizes) {
    for (const std::string& engine : arguments.engines) Measure(arguments, engine, rows, &figures);
  }
  AddGrowth(arguments.sizes, &figures);
  std::fputs(GrowthReport(arguments, figures, device).c_str(), stdout);
  if (!arguments.json.empty()) {
    WriteFile(arguments.json, ToJson(arguments, GrowthPhases(arguments.sizes), figures, device));
  }
  return 0;
}

}  // namespace tandem::bench
