// Merged scans whose leads several threads read.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "test/interleave/scenarios.h"

namespace tandem::test {
namespace {

using Threads = std::vector<World::Thread>;

constexpr Budget kReadBudget{.systematic = 200, .random = 200};

// Each row is a part of its lead.
EngineScenario MergedScanOnThreads(std::string name, std::function<Threads(World&)> threads) {
  EngineScenario scenario{.name = std::move(name), .plan = {.tuning = QuietTuning()}};
  scenario.plan.tuning.memstore_bytes = 64;
  scenario.prepare = [](World& world) {
    world.Write({{"a1", "0"}, {"a4", "0"}, {"a5", "0"}, {"b2", "0"}, {"b3", "0"}, {"b6", "0"}});
    world.Flush();
    world.Write({{"b3", "1"}, {"a7", "1"}});
  };
  scenario.threads = std::move(threads);
  return scenario;
}

EngineScenario AMergedScanOnThreadsBesideAFlush() {
  return MergedScanOnThreads("AMergedScanOnThreadsBesideAFlush", [](World& world) -> Threads {
    return {{[&] { world.ScanMerged(3); }},
            {[&] {
               world.Write({{"a4", "2"}, {"b8", "2"}});
             },
             [&] { world.Flush(); }}};
  });
}

EngineScenario AMergedScanOnThreadsBesideASplit() {
  return MergedScanOnThreads("AMergedScanOnThreadsBesideASplit", [](World& world) -> Threads {
    return {{[&] { world.ScanMerged(3); }, [&] { world.ScanMerged(2); }},
            {[&] { world.Split("b"); },
             [&] {
               world.Write({{"a1", "2"}, {"b6", "2"}});
             }}};
  });
}

EngineScenario AMergedScanOnThreadsBesideClose() {
  return MergedScanOnThreads("AMergedScanOnThreadsBesideClose", [](World& world) -> Threads {
    return {{[&] { world.ScanMerged(3); }}, {[&] { world.Close(); }}};
  });
}

}  // namespace

std::vector<EngineScenario> ReadScenarios() {
  std::vector<EngineScenario> scenarios = {AMergedScanOnThreadsBesideAFlush(),
                                           AMergedScanOnThreadsBesideASplit(),
                                           AMergedScanOnThreadsBesideClose()};
  for (EngineScenario& scenario : scenarios) scenario.budget = kReadBudget;
  return scenarios;
}

}  // namespace tandem::test
