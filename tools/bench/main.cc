// The benchmark program: workload W1 on Tandem and its peers in turn; see docs/performance.md.
//
// It starts itself for every engine and group of phases, collects what those processes print, and
// reports. Every engine has to return the same rows: a difference is a failure (exit 8).
#include <cstdio>
#include <filesystem>

#include "tools/bench/arguments.h"
#include "tools/bench/compare.h"
#include "tools/bench/contents_peer.h"
#include "tools/bench/device.h"
#include "tools/bench/growth.h"
#include "tools/bench/large_load.h"
#include "tools/bench/peers.h"
#include "tools/bench/report.h"
#include "tools/bench/rounds.h"

namespace tandem::bench {
namespace {

void TellOfAbsentEngines() {
  for (const Engine& engine : Engines()) {
    if (engine.open != nullptr) continue;
    std::fprintf(stderr, "without %s: this program was built without %s\n", engine.name,
                 engine.package);
  }
}

int Run(const Arguments& arguments) {
  TellOfAbsentEngines();
  std::filesystem::create_directories(arguments.directory);
  const Device device = MeasureDevice(arguments.directory, DeviceFileBytes(arguments.rows));
  std::fprintf(stderr, "%s\n", DescribeDevice(device).c_str());
  const Figures figures =
      RunRounds(arguments, std::filesystem::read_symlink("/proc/self/exe").string());
  return Conclude(arguments, figures, device);
}

}  // namespace

int Main(const std::vector<std::string>& words) {
  if (!words.empty() && (words[0] == "--help" || words[0] == "-h")) {
    std::fputs(UsageText().c_str(), stdout);
    return 0;
  }
  if (!words.empty() && words[0] == "compare") {
    if (words.size() == 3) return Compare(words[1], words[2]);
    std::fputs(UsageText().c_str(), stderr);
    return kUsageExitCode;
  }
  if (!words.empty() && words[0].starts_with("contents")) return RunContents(words);
  if (!words.empty() && words[0] == "large") return RunLargeLoad({words.begin() + 1, words.end()});
  if (!words.empty() && words[0] == "growth") return RunGrowth({words.begin() + 1, words.end()});
  const Arguments arguments = ParseArguments(words);
  cache_bytes = arguments.cache_mib << 20;
  if (arguments.child.empty()) return Run(arguments);
  RunGroup(arguments);
  return 0;
}

}  // namespace tandem::bench

int main(int count, char** words) { return tandem::bench::Main({words + 1, words + count}); }
