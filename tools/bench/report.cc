// See report.h.
#include "tools/bench/report.h"

#include <algorithm>
#include <cstdio>

#include "tools/bench/json_file.h"
#include "tools/bench/peer.h"
#include "tools/bench/phases.h"
#include "tools/bench/scores.h"
#include "tools/tandem/format_text.h"

namespace tandem::bench {
namespace {

using tools::Format;

constexpr double kMiB = 1 << 20;

std::string UnitName(Unit unit) {
  switch (unit) {
    case Unit::kPerSecond:
      return "/s";
    case Unit::kNanos:
      return "ns";
    case Unit::kMicros:
      return "us";
    case Unit::kMillis:
      return "ms";
    case Unit::kBytes:
      return "MiB";
    case Unit::kNumber:
      return "";
  }
  return "";
}

std::string RatioText(const std::optional<Ratio>& ratio) {
  if (!ratio.has_value()) return "-";
  const char* pattern = ratio->high < 100 ? "{:.2f} ({:.2f}-{:.2f})" : "{:.0f} ({:.0f}-{:.0f})";
  return Format(pattern, ratio->median, ratio->low, ratio->high);
}

// Each line after its name; the names are padded to one width.
std::string BesideNames(const std::vector<std::string>& names,
                        const std::vector<std::string>& lines) {
  size_t width = 28;
  for (const std::string& name : names) width = std::max(width, name.size() + 1);
  std::string table;
  for (size_t i = 0; i < names.size(); ++i) {
    table += names[i] + std::string(width - names[i].size(), ' ') + lines[i];
  }
  return table;
}

// Of every phase, whether better by another way or not, the median of what was asked for.
std::string PhaseLine(const Arguments& arguments, const Figures& figures, const Phase& phase) {
  std::string line = Format("{:>4}", UnitName(phase.unit));
  bool any = false;
  for (const std::string& engine : arguments.engines) {
    const std::vector<double> values = figures.Values(phase.name, engine);
    line += Format("{:>12}", values.empty() ? "-" : ValueText(phase, Median(values)));
    any = any || !values.empty();
  }
  if (!any) return {};
  const std::vector<std::string> peers = RankedPeers(figures, phase);
  line += Format("{:>22}", RatioText(RatioOf(figures, phase, "tandem", "rocksdb")));
  if (peers.empty()) return line + "\n";
  return line +
         Format("{:>22} {}\n", RatioText(RatioOf(figures, phase, "tandem", peers[0])), peers[0]);
}

using Cost = double (*)(const Figure&);

std::string CostLine(const Arguments& arguments, const Figures& figures, const std::string& phase,
                     const char* what, Cost cost) {
  std::string line = Format("{:<32}", phase + ", " + what);
  bool any = false;
  for (const std::string& engine : arguments.engines) {
    std::vector<double> costs;
    for (const Figure* figure : figures.Of(phase, engine)) costs.push_back(cost(*figure));
    line += Format("{:>12}", costs.empty() ? "-" : Format("{:.2f}", Median(costs)));
    any = any || !costs.empty();
  }
  return any ? line + "\n" : "";
}

// What phases cost beside time. Mapped files count as memory: LMDB's and SQLite's peak is high.
std::string CostTable(const Arguments& arguments, const Figures& figures) {
  const Cost cpu = [](const Figure& f) {
    return f.cpu_seconds * 1e6 / static_cast<double>(f.items);
  };
  const Cost written = [](const Figure& f) { return static_cast<double>(f.written_bytes) / kMiB; };
  const Cost peak = [](const Figure& f) { return static_cast<double>(f.peak_bytes) / kMiB; };
  std::string table;
  for (const char* phase : {"load settled", "load without indexes", "update settled"}) {
    table += CostLine(arguments, figures, phase, "written MiB", written);
    table += CostLine(arguments, figures, phase, "peak MiB", peak);
  }
  table += CostLine(arguments, figures, "scan", "peak MiB", peak);
  for (const char* phase :
       {"load settled", "load without indexes", "update settled", "query 0.1 %", "query 1 %",
        "query 10 %", "cold query 0.1 %", "cold query 10 %", "get", "scan", "commits, 1 thread"}) {
    table += CostLine(arguments, figures, phase, "CPU us each", cpu);
  }
  return table.empty() ? table : "\nbeside time\n" + table;
}

std::string GoalText(const std::vector<Phase>& phases, const Goal& goal) {
  switch (goal.against) {
    case Against::kBestPeer:
      return Format("{:.2f} x best peer", goal.factor);
    case Against::kSecondPeer:
      return Format("{:.2f} x second peer", goal.factor);
    case Against::kRocksDb:
      return Format("{:.2f} x rocksdb", goal.factor);
    case Against::kOwnPhase:
      return Format("{:.2f} x {}", goal.factor, goal.other);
    case Against::kLimit:
      return Format("at most {:g} {}", goal.factor, UnitName(FindPhase(phases, goal.phase)->unit));
    case Against::kDeviceRandom:
      return Format("{:.2f} x device, random", goal.factor);
    case Against::kDeviceSequential:
      return Format("{:.2f} x device or zstd", goal.factor);
  }
  return "";
}

}  // namespace

std::string ValueText(const Phase& phase, double value) {
  if (phase.unit == Unit::kPerSecond) return Format("{:.0f}", value);
  return Format("{:.2f}", phase.unit == Unit::kBytes ? value / kMiB : value);
}

std::string PhaseTable(const Arguments& arguments, const std::vector<Phase>& phases,
                       const Figures& figures) {
  std::vector<std::string> names = {"phase"}, lines = {Format("{:>4}", "")};
  for (const std::string& engine : arguments.engines) lines[0] += Format("{:>12}", engine);
  lines[0] += Format("{:>22}{:>22}\n", "x rocksdb", "x best peer");
  for (const Phase& phase : phases) {
    std::string line = PhaseLine(arguments, figures, phase);
    if (line.empty()) continue;
    names.push_back(phase.name);
    lines.push_back(std::move(line));
  }
  return BesideNames(names, lines);
}

std::string ValueTable(const std::vector<Phase>& phases, const Figures& figures,
                       const std::string& engine) {
  std::vector<std::string> names, lines;
  for (const Phase& phase : phases) {
    const std::vector<double> values = figures.Values(phase.name, engine);
    if (values.empty()) continue;
    names.push_back(phase.name);
    lines.push_back(
        Format("{:>4}{:>12}\n", UnitName(phase.unit), ValueText(phase, Median(values))));
  }
  return BesideNames(names, lines);
}

std::string GoalTable(const std::vector<Phase>& phases, const std::vector<Goal>& goals,
                      const Figures& figures, const Device& device) {
  std::vector<std::string> names, lines;
  uint64_t reached = 0;
  for (const Goal& goal : goals) {
    const GoalScore score = ScoreOf(goal, figures, device);
    if (!score.measured.has_value()) continue;
    reached += score.reached ? 1 : 0;
    names.push_back(goal.phase);
    lines.push_back(Format("{:<32}{:>10} {:<24}{}\n", GoalText(phases, goal),
                           Format("{:.2f}", *score.measured), score.against,
                           score.reached ? "yes" : "NO"));
  }
  if (names.empty()) return {};
  return "\ngoals\n" + BesideNames(names, lines) +
         Format("{} of {} goals reached\n", reached, names.size());
}

std::string DescribeDevice(const Device& device) {
  return Format(
      "device: 4 KiB synced in {:.2f} ms (worst {:.2f}); reads {:.0f} MB/s in order, {:.0f}/s and "
      "{:.0f}/s of 4 KiB at depth 1 and 32; zstd unpacks {:.0f} MB/s",
      device.sync_millis, device.sync_millis_worst, device.sequential_bytes / 1e6,
      device.random_reads_1, device.random_reads_32, device.zstd_bytes / 1e6);
}

std::string ReportOf(const Arguments& arguments, const Figures& figures, const Device& device) {
  std::string head = Format(
      "W1: {} rows, medians of {} rounds in turn; cache {} MiB, zstd 1 where there is a choice, "
      "two processors.\nCommits are in the operating system's hands, those named so on the disk. "
      "Ratios: times better, pair by pair (least-most);\na peer counts by the better of query and "
      "filter. Cold: a fresh process, no page of the database in memory.\n",
      arguments.rows, arguments.rounds, arguments.cache_mib);
  return head + DescribeDevice(device) + "\n\n" + PhaseTable(arguments, Phases(), figures) +
         CostTable(arguments, figures) + GoalTable(Phases(), Goals(), figures, device);
}

int Conclude(const Arguments& arguments, const Figures& figures, const Device& device) {
  std::fputs(ReportOf(arguments, figures, device).c_str(), stdout);
  if (!arguments.json.empty())
    WriteFile(arguments.json, ToJson(arguments, Phases(), figures, device));
  const std::vector<std::string> mismatches = figures.Mismatches();
  for (const std::string& line : mismatches) std::fprintf(stderr, "%s\n", line.c_str());
  return mismatches.empty() ? 0 : kFoundExitCode;
}

}  // namespace tandem::bench
