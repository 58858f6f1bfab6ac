// Writers that want one value of a unique index: one of them gets it, whatever region its row is in
// and whatever kind of write gives it the value; who is refused has met another one.
#include "test/interleave/scenarios.h"

namespace tandem::test {
namespace {

using Threads = std::vector<World::Thread>;

WorldPlan UniquePlan() { return {.tuning = QuietTuning(), .two_regions = true, .unique = true}; }

// Each looks for holders in both regions before the others have the value, or after.
EngineScenario WritersOfOneValue() {
  EngineScenario scenario{.name = "WritersOfOneValue", .plan = UniquePlan()};
  scenario.prepare = [](World& world) { world.Write({{"b", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.Write({{"a", "1"}});
             },
             [&] { world.Query("1"); }},
            {[&] {
               world.Write({{"z", "1"}});
             },
             [&] { world.Scan(); }},
            {[&] {
              world.Write({{"b", "1"}});
            }}};
  };
  return scenario;
}

// A delete reveals the value that another writer wants, in the same group perhaps.
EngineScenario ARevealBesideWriters() {
  EngineScenario scenario{.name = "ARevealBesideWriters", .plan = UniquePlan()};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "2"}});
    world.Write({{"a", "1"}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.DeleteCell("a"); }, [&] { world.Scan(); }},
            {[&] {
              world.Write({{"z", "2"}});
            }},
            {[&] {
              world.Write({{"b", "2"}});
            }}};
  };
  return scenario;
}

// Values change rows within a batch while others want them.
EngineScenario SwapsBesideWriters() {
  EngineScenario scenario{.name = "SwapsBesideWriters", .plan = UniquePlan()};
  scenario.prepare = [](World& world) { world.Write({{"a", "1"}, {"z", "2"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
              world.Write({{"a", "2"}, {"z", "1"}});
            }},
            {[&] {
               world.Write({{"z", ""}, {"b", "2"}});
             },
             [&] { world.Scan(); }},
            {[&] {
               world.Write({{"a", "3"}});
             },
             [&] {
               world.Write({{"c", "1"}});
             }}};
  };
  return scenario;
}

EngineScenario UniqueWritesBesideAFlushAndASplit() {
  EngineScenario scenario{.name = "UniqueWritesBesideAFlushAndASplit", .plan = UniquePlan()};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"k", "1"}});
    world.Flush();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.Write({{"k", "2"}});
             },
             [&] {
               world.Write({{"a", "1"}});
             }},
            {[&] { world.Split("g"); }, [&] { world.Flush(); }},
            {[&] {
              world.Write({{"z", "1"}});
            }}};
  };
  return scenario;
}

// What gave a value up at kMemory is there when the row that took it is.
EngineScenario UniqueWritesThenAPowerCut() {
  EngineScenario scenario{.name = "UniqueWritesThenAPowerCut", .plan = UniquePlan()};
  scenario.plan.power_cut = true;
  scenario.prepare = [](World& world) { world.Write({{"a", "1"}}, Durability::kSynced); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.Write({{"a", ""}}, Durability::kMemory);
             },
             [&] {
               world.Write({{"b", "1"}}, Durability::kSynced);
             }},
            {[&] {
              world.Write({{"z", "1"}}, Durability::kSynced);
            }},
            {[&] { world.Flush(); }}};
  };
  return scenario;
}

}  // namespace

std::vector<EngineScenario> UniqueScenarios() {
  return {WritersOfOneValue(), ARevealBesideWriters(), SwapsBesideWriters(),
          UniqueWritesBesideAFlushAndASplit(), UniqueWritesThenAPowerCut()};
}

}  // namespace tandem::test
