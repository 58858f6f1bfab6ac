// Scenarios of concurrent calls: the database that is prepared, and the threads of up to four calls
// each that then run concurrently, with the background jobs that they cause.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "test/interleave/explorer.h"
#include "test/interleave/world.h"

namespace tandem::test {

struct EngineScenario {
  std::string name;
  WorldPlan plan;
  std::function<void(World&)> prepare{};
  std::function<std::vector<World::Thread>(World&)> threads{};
  Budget budget{};
  std::string suite = "interleave";  ///< Of tests.
};

/// All of them.
std::vector<EngineScenario> EngineScenarios();
/// Those of unique_scenarios.cc.
std::vector<EngineScenario> UniqueScenarios();
/// Those of global_scenarios.cc.
std::vector<EngineScenario> GlobalScenarios();
/// Those of transaction_scenarios.cc, without budgets.
std::vector<EngineScenario> TransactionScenarios();
/// Those of read_scenarios.cc.
std::vector<EngineScenario> ReadScenarios();
/// Those of file_scenarios.cc.
std::vector<EngineScenario> FileScenarios();
/// As the explorer runs it: a new world each time, checked at its end. `causes`: summed up; may be
/// null.
Scenario ScenarioOf(const EngineScenario& scenario, CausesMet* causes = nullptr);

// For both files of scenarios.

/// No compaction by itself.
engine::Tuning QuietTuning();
/// Two rows in two regions that are always written together: who sees one without the other, or an
/// old with a new one, sees half a batch.
World::Rows Pair(const std::string& value);

}  // namespace tandem::test
