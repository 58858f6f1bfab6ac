// Scenarios of transactions, over the same rows and over ranges that are checked, and of appends.
#include <vector>

#include "test/interleave/scenarios.h"

namespace tandem::test {
namespace {

using Threads = std::vector<World::Thread>;

// What an append returns is the value of the one before it and its own token.
EngineScenario AppendsBesideAFlush() {
  EngineScenario scenario{.name = "AppendsBesideAFlush", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Append("a", "0"); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Append("a", "1"); }, [&] { world.Append("a", "2"); }},
            {[&] { world.Append("a", "3", Durability::kMemory); }, [&] { world.Get("a"); }},
            {[&] { world.Flush(); }, [&] { world.Append("a", "4"); }}};
  };
  return scenario;
}

// Of transactions over the same rows, each that commits read what it replaced, wherever that is by
// then: in a memstore, in a file, in the group of another.
EngineScenario TransactionsBesideAFlush() {
  EngineScenario scenario{.name = "TransactionsBesideAFlush", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Write({{"a", "1"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CopyInTransaction("a", "b"); }, [&] { world.Get("a"); }},
            {[&] { world.CopyInTransaction("b", "a"); }},
            {[&] {
               world.Write({{"a", "3"}});
             },
             [&] { world.Flush(); }}};
  };
  return scenario;
}

// Small enough for all schedules with a preemption: two rows in two regions, three writers, each of
// which depends on what another one writes.
EngineScenario ThreeWritersOfTwoRows() {
  EngineScenario scenario{.name = "ThreeWritersOfTwoRows",
                          .plan = {.tuning = QuietTuning(), .two_regions = true}};
  scenario.prepare = [](World& world) { world.Write(Pair("1")); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CopyInTransaction("a", "z"); }}, {[&] { world.Append("z", "2"); }}, {[&] {
              world.Write(Pair("3"));
            }}};
  };
  return scenario;
}

EngineScenario TransactionsBesideASplit() {
  EngineScenario scenario{.name = "TransactionsBesideASplit", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "1"}, {"k", "2"}});
    world.Flush();
    world.Write({{"k", "3"}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CopyInTransaction("a", "k"); }},
            {[&] { world.Split("g"); }, [&] { world.MergeRegions(); }},
            {[&] { world.CopyInTransaction("k", "a"); },
             [&] {
               world.Write({{"k", "4"}});
             }}};
  };
  return scenario;
}

// A transaction that counts rows and then adds one excludes others, as long as ranges are checked:
// in a memstore, in a file, in the group.
EngineScenario CheckedRangesBesideAFlush() {
  EngineScenario scenario{.name = "CheckedRangesBesideAFlush", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Write({{"b", "1"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.PutIfFewInTransaction("a"); }, [&] { world.Count("1"); }},
            {[&] { world.PutIfFewInTransaction("c"); }, [&] { world.Flush(); }},
            {[&] {
              world.Write({{"b", ""}, {"d", "1"}});
            }}};
  };
  return scenario;
}

EngineScenario CheckedRangesBesideASplit() {
  EngineScenario scenario{.name = "CheckedRangesBesideASplit", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "1"}, {"k", "2"}});
    world.Flush();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.PutIfFewInTransaction("b"); }},
            {[&] { world.Split("g"); }, [&] { world.MergeRegions(); }},
            {[&] { world.PutIfFewInTransaction("k"); }, [&] { world.Count("1"); }}};
  };
  return scenario;
}

// Rows of the ranges that no log has. Every transaction writes: what one that does not has read may
// be lost.
EngineScenario CheckedRangesThenAPowerCut() {
  constexpr uint64_t kMany = 9;
  EngineScenario scenario{.name = "CheckedRangesThenAPowerCut",
                          .plan = {.tuning = QuietTuning(), .power_cut = true}};
  scenario.prepare = [](World& world) { world.Write({{"a", "2"}}, Durability::kSynced); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.PutIfFewInTransaction("b", kMany, Durability::kSynced); }},
            {[&] {
               world.Write({{"a", "1"}}, Durability::kMemory);
             },
             [&] { world.PutIfFewInTransaction("c", kMany, Durability::kSynced); }},
            {[&] { world.PutIfFewInTransaction("d", kMany, Durability::kSynced); }}};
  };
  return scenario;
}

// What a synced transaction read survives with it, unlogged or not.
EngineScenario TransactionsThenAPowerCut() {
  EngineScenario scenario{.name = "TransactionsThenAPowerCut",
                          .plan = {.tuning = QuietTuning(), .power_cut = true}};
  scenario.prepare = [](World& world) { world.Write({{"a", "1"}}, Durability::kSynced); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CopyInTransaction("a", "b", Durability::kSynced); }},
            {[&] {
               world.Write({{"a", "2"}}, Durability::kMemory);
             },
             [&] { world.CopyInTransaction("b", "a", Durability::kSynced); }},
            {[&] { world.CopyInTransaction("a", "c", Durability::kSynced); }}};
  };
  return scenario;
}

}  // namespace

std::vector<EngineScenario> TransactionScenarios() {
  return {AppendsBesideAFlush(),        TransactionsBesideAFlush(),  TransactionsBesideASplit(),
          TransactionsThenAPowerCut(),  CheckedRangesBesideAFlush(), CheckedRangesBesideASplit(),
          CheckedRangesThenAPowerCut(), ThreeWritersOfTwoRows()};
}

}  // namespace tandem::test
