// Writers of rows with a global index: who asks it gets the rows of one moment, and in the end its
// entries are those of the rows.
#include "test/interleave/scenarios.h"

namespace tandem::test {
namespace {

using Threads = std::vector<World::Thread>;

WorldPlan GlobalPlan() { return {.tuning = QuietTuning(), .two_regions = true, .global = true}; }

// Each takes the entry that the other may just have made.
EngineScenario WritersOfOneIndexedRow() {
  EngineScenario scenario{.name = "WritersOfOneIndexedRow", .plan = GlobalPlan()};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.Write({{"a", "1"}});
             },
             [&] { world.Query("1"); }},
            {[&] {
               world.Write({{"a", "2"}, {"z", "1"}});
             },
             [&] { world.Query("1"); }},
            {[&] {
              world.Write({{"a", ""}});
            }}};
  };
  return scenario;
}

// A delete reveals a value, beside a flush that takes what it has read into a file.
EngineScenario ARevealBesideAFlush() {
  EngineScenario scenario{.name = "ARevealBesideAFlush", .plan = GlobalPlan()};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "2"}});
    world.Write({{"a", "1"}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.DeleteCell("a"); }, [&] { world.Query("2"); }},
            {[&] { world.Flush(); }, [&] { world.Query("1"); }},
            {[&] {
              world.Write({{"z", "2"}});
            }}};
  };
  return scenario;
}

// The rows that a query takes from the entries move to other regions.
EngineScenario GlobalQueriesBesideASplit() {
  EngineScenario scenario{.name = "GlobalQueriesBesideASplit", .plan = GlobalPlan()};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "1"}, {"k", "1"}});
    world.Flush();
  };
  scenario.threads = [](World& world) -> Threads {
    return {
        {[&] { world.Query("1"); }, [&] { world.Query("1"); }}, {[&] { world.Split("g"); }}, {[&] {
          world.Write({{"a", "2"}, {"k", "2"}});
        }}};
  };
  return scenario;
}

// The index is built anew with the rows of the load, beside writers of the same rows.
EngineScenario ALoadBesideGlobalQueries() {
  EngineScenario scenario{.name = "ALoadBesideGlobalQueries", .plan = GlobalPlan()};
  scenario.prepare = [](World& world) { world.Write({{"a", "1"}, {"z", "1"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
              world.Load({{"a", "2"}, {"k", "1"}, {"z", "1"}});
            }},
            {[&] { world.Query("1"); }, [&] { world.Query("1"); }},
            {[&] {
              world.Write({{"a", "1"}, {"b", "1"}});
            }}};
  };
  return scenario;
}

}  // namespace

std::vector<EngineScenario> GlobalScenarios() {
  return {WritersOfOneIndexedRow(), ARevealBesideAFlush(), GlobalQueriesBesideASplit(),
          ALoadBesideGlobalQueries()};
}

}  // namespace tandem::test
