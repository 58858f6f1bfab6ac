// Scenarios of what makes files beside flushes and merges: builds of indexes, loads, named
// snapshots; and of observed writes. See scenarios.h.
#include <string>
#include <utility>

#include "test/interleave/scenarios.h"
#include "test/interleave/world_impl.h"

namespace tandem::test {
namespace {

using Thread = World::Thread;
using Threads = std::vector<Thread>;

constexpr Budget kFileBudget{.systematic = 200, .random = 200};
// Of small ones: all with one preemption, or what chance finds sooner.
constexpr Budget kOnePreemption{.systematic = 1000, .random = 100};
constexpr Budget kAtRandom{.systematic = 100, .random = 500};

// A batch that was planned before the index, memstores from before it, and the copies of files.
EngineScenario AnIndexIsCreatedBesideWritersAndAFlush() {
  EngineScenario scenario{.name = "AnIndexIsCreatedBesideWritersAndAFlush",
                          .plan = {.tuning = QuietTuning(), .no_index = true}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"b", "1"}});
    world.Flush();
    world.Write({{"c", "1"}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CreateIndex(); }, [&] { world.Query("1"); }},
            {[&] {
               world.Write({{"a", "1"}});
             },
             [&] {
               world.Write({{"b", "0"}});
             }},
            {[&] { world.Flush(); }, [&] { world.Query("1"); }}};
  };
  return scenario;
}

// Readers by the index finish with it, or do not find it; a flush that began before writes it.
EngineScenario AnIndexIsDroppedBesideReadsAndAFlush() {
  EngineScenario scenario{.name = "AnIndexIsDroppedBesideReadsAndAFlush",
                          .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"b", "1"}});
    world.Flush();
    world.Write({{"c", "1"}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.DropIndex(); }, [&] { world.CreateIndex(); }},
            {[&] { world.Query("1"); }, [&] { world.Count("1"); }},
            {[&] {
               world.Write({{"a", "1"}});
             },
             [&] { world.Flush(); }, [&] { world.Query("1"); }}};
  };
  return scenario;
}

// A merge takes the file away that a copy is made of.
EngineScenario AnIndexIsBuiltBesideACompaction() {
  EngineScenario scenario{.name = "AnIndexIsBuiltBesideACompaction",
                          .plan = {.tuning = QuietTuning(), .no_index = true}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"c", "1"}});
    world.Flush();
    world.Write({{"a", "1"}, {"b", "0"}});
    world.Flush();
    world.executor().Drain();
    world.CreateIndex();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Compact(); }},
            {[&] { world.Query("1"); }, [&] { world.Query("0"); }},
            {[&] {
               world.Write({{"b", "1"}});
             },
             [&] { world.Flush(); }}};
  };
  return scenario;
}

// A split gives the file that is copied to two regions.
EngineScenario AnIndexIsBuiltBesideASplit() {
  EngineScenario scenario{.name = "AnIndexIsBuiltBesideASplit",
                          .plan = {.tuning = QuietTuning(), .no_index = true}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"g", "1"}, {"k", "1"}});
    world.Flush();
    world.executor().Drain();
    world.CreateIndex();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Split("g"); }}, {[&] { world.Query("1"); }, [&] { world.Scan(); }}, {[&] {
              world.Write({{"k", "0"}});
            }}};
  };
  return scenario;
}

// Of an index over a file that the halves of a region share.
void BeginABuildInASharedFile(World& world) {
  world.Write({{"a", "0"}, {"g", "1"}, {"k", "1"}});
  world.Flush();
  world.Split("g");
  world.executor().Drain();
  world.CreateIndex();
}

// Halves of a region share the file, and one of them is split while the other one copies it.
EngineScenario AnIndexIsBuiltInASharedFile() {
  EngineScenario scenario{.name = "AnIndexIsBuiltInASharedFile",
                          .plan = {.tuning = QuietTuning(), .no_index = true},
                          .budget = kOnePreemption};
  scenario.prepare = BeginABuildInASharedFile;
  scenario.threads = [](World& world) -> Threads { return {{[&] { world.Split("k"); }}}; };
  return scenario;
}

// The halves become one again.
EngineScenario AnIndexIsBuiltBesideAMergeOfRegions() {
  EngineScenario scenario{.name = "AnIndexIsBuiltBesideAMergeOfRegions",
                          .plan = {.tuning = QuietTuning(), .no_index = true}};
  scenario.prepare = BeginABuildInASharedFile;
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.MergeRegions(); }},
            {[&] { world.Query("1"); }, [&] { world.Query("1"); }}};
  };
  return scenario;
}

// A snapshot is created while the file that it refers to is replaced by a copy.
EngineScenario ANamedSnapshotBesideAnIndexBuild() {
  EngineScenario scenario{.name = "ANamedSnapshotBesideAnIndexBuild",
                          .plan = {.tuning = QuietTuning(), .no_index = true}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"b", "1"}});
    world.Flush();
    world.executor().Drain();
    world.CreateIndex();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CreateSnapshot("s"); }, [&] { world.OpenSnapshot("s"); },
             [&] { world.ReadSnapshot("1"); }, [&] { world.ReleaseSnapshot(); }},
            {[&] {
               world.Write({{"a", "1"}});
             },
             [&] { world.Query("1"); }}};
  };
  return scenario;
}

// A row of a load is put before, in between, and after it was answered.
EngineScenario ALoadBesidePutsAFlushAndASnapshot() {
  EngineScenario scenario{.name = "ALoadBesidePutsAFlushAndASnapshot",
                          .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}, {"k", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.Load({{"a", "1"}, {"b", "1"}, {"k", "1"}});
             },
             [&] {
               world.Write({{"b", "2"}});
             }},
            {[&] {
               world.Write({{"a", "3"}, {"k", "3"}});
             },
             [&] { world.Flush(); }},
            {[&] { world.TakeSnapshot(); }, [&] { world.ReadSnapshot("1"); },
             [&] { world.ReadSnapshot("1"); }, [&] { world.ReleaseSnapshot(); }}};
  };
  return scenario;
}

// Regions get their parts of a load one after the other.
EngineScenario ALoadBesideAScan() {
  EngineScenario scenario{.name = "ALoadBesideAScan",
                          .plan = {.tuning = QuietTuning(), .two_regions = true},
                          .budget = kAtRandom};
  scenario.prepare = [](World& world) { world.Write(Pair("0")); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Load(Pair("1")); }}, {[&] { world.Scan(); }}};
  };
  return scenario;
}

// The regions that the rows fall in are others by the time when they are linked.
EngineScenario ALoadBesideASplit() {
  EngineScenario scenario{.name = "ALoadBesideASplit", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Write(Pair("0")); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Load(Pair("1")); }},
            {[&] { world.Split("m"); }, [&] { world.MergeRegions(); }},
            {[&] { world.Scan(); }, [&] { world.Query("1"); }}};
  };
  return scenario;
}

// Of a table that is another one when the load ends, nothing is loaded.
EngineScenario ALoadBesideATruncation() {
  EngineScenario scenario{.name = "ALoadBesideATruncation",
                          .plan = {.tuning = QuietTuning(), .two_regions = true}};
  scenario.prepare = [](World& world) { world.Write(Pair("0")); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Load(Pair("1")); }, [&] { world.Get("a"); }},
            {[&] { world.Truncate(); }},
            {[&] { world.Write(Pair("2")); }, [&] { world.Scan(); }}};
  };
  return scenario;
}

// A row that a transaction has read is in the files of a load by the time when it commits, and
// others have seen it there.
EngineScenario ALoadBesideATransaction() {
  EngineScenario scenario{
      .name = "ALoadBesideATransaction", .plan = {.tuning = QuietTuning()}, .budget = kAtRandom};
  scenario.prepare = [](World& world) { world.Write({{"b", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CopyInTransaction("a", "c"); }, [&] { world.CheckAndPut("b", "0", "2"); }},
            {[&] {
               world.Load({{"a", "1"}, {"b", "1"}});
             },
             [&] { world.Get("a"); }, [&] { world.Get("c"); }, [&] { world.Get("b"); }}};
  };
  return scenario;
}

// Rows in any order become two runs, which are there both or not at all.
EngineScenario ALoadThenAPowerCut() {
  EngineScenario scenario{.name = "ALoadThenAPowerCut",
                          .plan = {.tuning = QuietTuning(), .power_cut = true}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"k", "0"}}, Durability::kSynced);
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
              world.Load({{"k", "1"}, {"a", "1"}, {"a", "2"}}, World::Order::kAny);
            }},
            {[&] {
               world.Write({{"k", "3"}}, Durability::kSynced);
             },
             [&] {
               world.Write({{"b", "4"}}, Durability::kMemory);
             }},
            {[&] { world.Flush(); }}};
  };
  return scenario;
}

EngineScenario ANamedSnapshotBesideBatchesOverTables() {
  EngineScenario scenario{.name = "ANamedSnapshotBesideBatchesOverTables",
                          .plan = {.tuning = QuietTuning(), .two_tables = true}};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}, {"u/a", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.Write({{"a", "1"}, {"u/a", "1"}});
             },
             [&] {
               world.Write({{"u/a", "2"}, {"a", "2"}});
             }},
            {[&] { world.CreateSnapshot("s"); }, [&] { world.OpenSnapshot("s"); },
             [&] { world.ReadSnapshot("1"); }, [&] { world.ReleaseSnapshot(); }},
            {[&] { world.Flush(); }}};
  };
  return scenario;
}

// The regions that were flushed for the snapshot are gone when their turns are taken.
EngineScenario ANamedSnapshotBesideASplit() {
  EngineScenario scenario{.name = "ANamedSnapshotBesideASplit", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Write(Pair("0")); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CreateSnapshot("s"); }, [&] { world.OpenSnapshot("s"); },
             [&] { world.ReadSnapshot("1"); }, [&] { world.ReleaseSnapshot(); }},
            {[&] { world.Split("m"); }},
            {[&] { world.Write(Pair("1")); }, [&] { world.Write(Pair("2")); }}};
  };
  return scenario;
}

// The table has let go of the files of a snapshot that goes while it is read.
EngineScenario ANamedSnapshotGoesBesideAReader() {
  EngineScenario scenario{.name = "ANamedSnapshotGoesBesideAReader",
                          .plan = {.tuning = QuietTuning(), .two_regions = true}};
  scenario.prepare = [](World& world) {
    world.Write(Pair("1"));
    world.CreateSnapshot("s");
    world.Write(Pair("2"));
    world.Compact();
    world.executor().Drain();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.OpenSnapshot("s"); }, [&] { world.ReadSnapshot("1"); },
             [&] { world.ReadSnapshot("2"); }, [&] { world.ReleaseSnapshot(); }},
            {[&] { world.DropSnapshot("s"); }, [&] { world.CreateSnapshot("s"); }}};
  };
  return scenario;
}

// The same files are the table's when the snapshot goes, and those of a merge that takes them away.
EngineScenario ANamedSnapshotGoesBesideACompaction() {
  EngineScenario scenario{.name = "ANamedSnapshotGoesBesideACompaction",
                          .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"b", "1"}});
    world.CreateSnapshot("s");
    world.Write({{"a", "1"}});
    world.Flush();
    world.executor().Drain();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.OpenSnapshot("s"); }, [&] { world.ReadSnapshot("1"); },
             [&] { world.ReleaseSnapshot(); }},
            {[&] { world.DropSnapshot("s"); }},
            {[&] { world.Compact(); }, [&] { world.CreateSnapshot("s2"); }}};
  };
  return scenario;
}

// What a snapshot has seen stays, whether or not it was synced before.
EngineScenario ANamedSnapshotThenAPowerCut() {
  EngineScenario scenario{
      .name = "ANamedSnapshotThenAPowerCut",
      .plan = {.tuning = QuietTuning(), .two_regions = true, .power_cut = true}};
  scenario.prepare = [](World& world) { world.Write(Pair("0"), Durability::kSynced); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CreateSnapshot("s"); }},
            {[&] { world.Write(Pair("1"), Durability::kBuffered); },
             [&] { world.Write(Pair("2"), Durability::kSynced); }},
            {[&] { world.Write(Pair("1"), Durability::kMemory); }, [&] { world.Flush(); }}};
  };
  return scenario;
}

// What is attached is in files at once; rows that were put since it was exported are newer.
EngineScenario AnAttachBesideWritesAndAFlush() {
  EngineScenario scenario{.name = "AnAttachBesideWritesAndAFlush",
                          .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "1"}, {"b", "1"}, {"k", "1"}});
    world.Export();
    world.Write({{"a", "0"}, {"b", ""}, {"k", ""}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Attach(); }, [&] { world.Query("1"); }},
            {[&] {
               world.Write({{"b", "2"}});
             },
             [&] { world.Flush(); }},
            {[&] { world.Scan(); }, [&] { world.Query("1"); }}};
  };
  return scenario;
}

// Each region gets its part, and all are there at once or, after the cut, not at all.
EngineScenario AnAttachThenAPowerCut() {
  EngineScenario scenario{
      .name = "AnAttachThenAPowerCut",
      .plan = {.tuning = QuietTuning(), .two_regions = true, .power_cut = true}};
  scenario.prepare = [](World& world) {
    world.Write(Pair("1"), Durability::kSynced);
    world.Export();
    world.Write({{"a", ""}, {"z", ""}}, Durability::kSynced);
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Attach(); }},
            {[&] {
               world.Write({{"b", "2"}}, Durability::kSynced);
             },
             [&] {
               world.Write({{"c", "3"}}, Durability::kBuffered);
             }},
            {[&] { world.Flush(); }}};
  };
  return scenario;
}

// The table is found as a whole, beside writes to the one that it was a copy of.
EngineScenario ARestoreBesideWritesAndAFlush() {
  EngineScenario scenario{.name = "ARestoreBesideWritesAndAFlush",
                          .plan = {.tuning = QuietTuning(), .two_regions = true}};
  scenario.prepare = [](World& world) {
    world.Write(Pair("1"));
    world.Checkpoint();
    world.Write(Pair("2"));
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Restore(); }, [&] { world.Get("u/a"); }},
            {[&] { world.Write(Pair("3")); }, [&] { world.Flush(); }},
            {[&] { world.LookFor("u"); }, [&] { world.Get("u/z"); }, [&] { world.Scan(); }}};
  };
  return scenario;
}

EngineScenario ARestoreThenAPowerCut() {
  EngineScenario scenario{.name = "ARestoreThenAPowerCut",
                          .plan = {.tuning = QuietTuning(), .power_cut = true}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "1"}, {"k", "1"}}, Durability::kSynced);
    world.Checkpoint();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Restore(); }},
            {[&] {
               world.Write({{"a", "2"}}, Durability::kSynced);
             },
             [&] {
               world.Write({{"k", "2"}}, Durability::kBuffered);
             }},
            {[&] { world.Flush(); }, [&] { world.LookFor("u"); }}};
  };
  return scenario;
}

// What an observer read is in a file, in a memstore or in the group when its batch commits.
EngineScenario ObservedWritesBesideAFlush() {
  EngineScenario scenario{
      .name = "ObservedWritesBesideAFlush",
      .plan = {.tuning = QuietTuning(), .observers = WorldPlan::Observers::kSet}};
  scenario.prepare = [](World& world) { world.WriteCounted({{"a", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.WriteCounted({{"a", "1"}});
             },
             [&] { world.Get("n"); }},
            {[&] {
               world.WriteCounted({{"b", "1"}});
             },
             [&] {
               world.WriteCounted({{"a", "2"}});
             }},
            {[&] { world.Flush(); }}};
  };
  return scenario;
}

// A batch that was planned before its table had the observer is counted, or comes before.
EngineScenario AnObserverComesBesideWrites() {
  EngineScenario scenario{
      .name = "AnObserverComesBesideWrites",
      .plan = {.tuning = QuietTuning(), .observers = WorldPlan::Observers::kSetLater}};
  scenario.prepare = [](World& world) { world.WriteCounted({{"a", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.SetObservers(); }, [&] { world.Get("n"); }},
            {[&] {
               world.WriteCounted({{"a", "1"}});
             },
             [&] {
               world.WriteCounted({{"b", "1"}});
             }},
            {[&] {
              world.WriteCounted({{"a", "2"}});
            }}};
  };
  return scenario;
}

}  // namespace

// Calls that reserve ids wait for each other and for other edits; a crash takes what is not
// durable.
EngineScenario IdsAreTakenBesideAFlush() {
  EngineScenario scenario{.name = "IdsAreTakenBesideAFlush",
                          .plan = {.tuning = QuietTuning(), .power_cut = true}};
  scenario.prepare = [](World& world) {
    world.CreateSequence();
    world.Write({{"a", "1"}}, Durability::kSynced);
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.TakeIds(1); }, [&] { world.TakeIds(2); }},
            {[&] { world.TakeIds(3); }, [&] { world.TakeIds(1); }},
            {[&] { world.Flush(); }}};
  };
  return scenario;
}

EngineScenario IdsAreTakenWhereASyncFails() {
  EngineScenario scenario{.name = "IdsAreTakenWhereASyncFails",
                          .plan = {.tuning = QuietTuning(), .failing_syncs = 3}};
  scenario.prepare = [](World& world) { world.CreateSequence(); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.TakeIds(1); }, [&] { world.TakeIds(2); }},
            {[&] { world.TakeIds(3); }, [&] { world.TakeIds(1); }}};
  };
  return scenario;
}

// Ids that were reserved of the dropped one are not given out as those of the new one.
EngineScenario ASequenceIsDroppedBesideWhoTakesIds() {
  EngineScenario scenario{.name = "ASequenceIsDroppedBesideWhoTakesIds",
                          .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.CreateSequence();
    world.TakeIds(2);
  };
  scenario.threads = [](World& world) -> Threads {
    return {
        {[&] { world.DropSequence(); }, [&] { world.CreateSequence(); }, [&] { world.TakeIds(1); }},
        {[&] { world.TakeIds(3); }, [&] { world.TakeIds(1); }}};
  };
  return scenario;
}

// Two regions, batches over both, and a flush and a merge of what was copied and what was not.
EngineScenario ACopyBesideWritersAndAMerge() {
  EngineScenario scenario{.name = "ACopyBesideWritersAndAMerge",
                          .plan = {.tuning = QuietTuning(), .two_regions = true}};
  scenario.prepare = [](World& world) {
    world.Write(Pair("0"));
    world.Flush();
    world.Write({{"b", "0"}, {"c", "0"}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CopyTable(); }},
            {[&] {
               world.Write({{"b", ""}, {"z", "1"}});
             },
             [&] { world.Write(Pair("2")); }, [&] { world.Increment("c"); }},
            {[&] { world.Flush(); }, [&] { world.Compact(); }}};
  };
  return scenario;
}

// A writer that was let through before the table was stopped waits for a flush, and goes on after
// the last snapshot.
EngineScenario ACopyBesideWritersThatWait() {
  EngineScenario scenario{
      .name = "ACopyBesideWritersThatWait", .plan = {.tuning = QuietTuning()}, .budget = kAtRandom};
  scenario.plan.tuning.memstore_bytes = 1;
  scenario.plan.tuning.memstores_total_bytes = 1;
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CopyTable(); }},
            {[&] {
               world.Write({{"a", "1"}});
             },
             [&] {
               world.Write({{"b", "1"}});
             }},
            {[&] {
              world.Write({{"c", "1"}});
            }}};
  };
  return scenario;
}

// Loads and splits beside it.
EngineScenario ACopyBesideALoadAndASplit() {
  EngineScenario scenario{.name = "ACopyBesideALoadAndASplit", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Write(Pair("0")); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CopyTable(); }},
            {[&] {
              world.Load({{"a", "1"}, {"k", "1"}});
            }},
            {[&] { world.Split("m"); }, [&] { world.Write(Pair("2"), Durability::kMemory); }}};
  };
  return scenario;
}

// 7,000 bytes that zstd cannot make smaller.
std::string LongKey(char first) {
  std::string key(1, first);
  for (uint64_t i = 0; key.size() < 7000; ++i) {
    key += std::to_string(HashOf(key.substr(0, 1) + std::to_string(i)));
  }
  return key;
}

void FlushFourTimes(World& world) {
  for (const char* value : {"1", "2", "1", "2"}) {
    world.Write({{"a", value}, {"x", value}});
    world.Flush();
  }
}

// A merge of long keys gives way to one of the four files above it, which is less than half.
EngineScenario AMergeWithinAMergeBesideReadsAndASplit() {
  EngineScenario scenario{.name = "AMergeWithinAMergeBesideReadsAndASplit",
                          .plan = {.tuning = QuietTuning(), .within_merge = FlushFourTimes}};
  scenario.plan.tuning.compaction_runs = 8;
  scenario.prepare = [](World& world) {
    for (const char first : {'d', 'e', 'f', 'g', 'h'}) world.Write({{LongKey(first), "0"}});
    world.Flush();
    world.Write({{"a", "0"}, {"x", "0"}});
    world.Flush();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Compact(); }},
            {[&] { world.Query("1"); }, [&] { world.Query("2"); }},
            {[&] { world.Split("g"); },
             [&] {
               world.Write({{"x", "1"}});
             }}};
  };
  return scenario;
}

std::vector<EngineScenario> FileScenarios() {
  std::vector<EngineScenario> scenarios = {AnIndexIsCreatedBesideWritersAndAFlush(),
                                           AnIndexIsDroppedBesideReadsAndAFlush(),
                                           AnIndexIsBuiltBesideACompaction(),
                                           AnIndexIsBuiltBesideASplit(),
                                           AnIndexIsBuiltInASharedFile(),
                                           AnIndexIsBuiltBesideAMergeOfRegions(),
                                           ANamedSnapshotBesideAnIndexBuild(),
                                           ALoadBesidePutsAFlushAndASnapshot(),
                                           ALoadBesideAScan(),
                                           ALoadBesideASplit(),
                                           ALoadBesideATruncation(),
                                           ALoadBesideATransaction(),
                                           ALoadThenAPowerCut(),
                                           ANamedSnapshotBesideBatchesOverTables(),
                                           ANamedSnapshotBesideASplit(),
                                           ANamedSnapshotGoesBesideAReader(),
                                           ANamedSnapshotGoesBesideACompaction(),
                                           ANamedSnapshotThenAPowerCut(),
                                           AnAttachBesideWritesAndAFlush(),
                                           AnAttachThenAPowerCut(),
                                           ARestoreBesideWritesAndAFlush(),
                                           ARestoreThenAPowerCut(),
                                           ObservedWritesBesideAFlush(),
                                           AnObserverComesBesideWrites(),
                                           IdsAreTakenBesideAFlush(),
                                           IdsAreTakenWhereASyncFails(),
                                           ASequenceIsDroppedBesideWhoTakesIds(),
                                           ACopyBesideWritersAndAMerge(),
                                           ACopyBesideALoadAndASplit(),
                                           ACopyBesideWritersThatWait(),
                                           AMergeWithinAMergeBesideReadsAndASplit()};
  for (EngineScenario& scenario : scenarios) {
    scenario.suite = "interleave_files";
    if (scenario.budget.random == 0) scenario.budget = kFileBudget;
  }
  return scenarios;
}

}  // namespace tandem::test
