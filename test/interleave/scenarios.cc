// See scenarios.h. Row keys below "m" lie in the first region where there are two.
#include "test/interleave/scenarios.h"

#include <functional>
#include <string>
#include <utility>

#include "tools/generator/tuning.h"

namespace tandem::test {
namespace {

using Thread = World::Thread;
using Threads = std::vector<Thread>;

// Schedules of a scenario in a usual run of the tests.
constexpr Budget kUsualBudget{.systematic = 600, .random = 200};
constexpr Budget kFew{.systematic = 200, .random = 200};  // Of one that has few schedules.

/// Every batch fills a memstore.
engine::Tuning SwitchingTuning() {
  engine::Tuning tuning = QuietTuning();
  tuning.memstore_bytes = 1;
  return tuning;
}

EngineScenario WritersReaderAndFlush() {
  EngineScenario scenario{.name = "WritersReaderAndFlush",
                          .plan = {.tuning = QuietTuning(), .two_regions = true}};
  scenario.prepare = [](World& world) { world.Write(Pair("0")); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Write(Pair("1")); }, [&] { world.Write(Pair("2")); }},
            {[&] { world.TakeSnapshot(); }, [&] { world.ReadSnapshot("1"); },
             [&] { world.ReadSnapshot("1"); }, [&] { world.ReleaseSnapshot(); }},
            {[&] { world.Flush(); }}};
  };
  return scenario;
}

EngineScenario ReadsBesideAFlush() {
  EngineScenario scenario{.name = "ReadsBesideAFlush", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"b", "0"}});
    world.Flush();
    world.Write({{"a", "1"}, {"c", "1"}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Get("c"); }, [&] { world.Query("1"); }, [&] { world.Scan(); }},
            {[&] { world.Flush(); }},
            {[&] {
               world.Write({{"b", "1"}});
             },
             [&] { world.Count("1"); }}};
  };
  return scenario;
}

EngineScenario ReadsBesideACompaction() {
  EngineScenario scenario{.name = "ReadsBesideACompaction", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"b", "0"}, {"c", "1"}});
    world.Flush();
    world.Write({{"a", "1"}, {"b", ""}});
    world.Flush();
    world.executor().Drain();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Query("0"); }, [&] { world.Scan(); }, [&] { world.Count("1"); }},
            {[&] { world.Compact(); }},
            {[&] {
               world.Write({{"b", "1"}});
             },
             [&] { world.Flush(); }}};
  };
  return scenario;
}

// A get registers no sequence (docs/decisions/0014): the merge may drop the version that it began
// beside. Because of the snapshot the merge keeps the sequence of the version after it.
EngineScenario GetsBesideAMerge() {
  EngineScenario scenario{.name = "GetsBesideAMerge", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Write({{"b", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Get("a"); }, [&] { world.Get("a"); }},
            {[&] { world.TakeSnapshot(); },
             [&] {
               world.Write({{"a", "0"}});
             },
             [&] { world.Flush(); },
             [&] {
               world.Write({{"a", "1"}});
             },
             [&] { world.Compact(); }, [&] { world.ReadSnapshot("0"); },
             [&] { world.ReleaseSnapshot(); }}};
  };
  return scenario;
}

EngineScenario ReadsBesideAMemstoreSwitch() {
  EngineScenario scenario{.name = "ReadsBesideAMemstoreSwitch",
                          .plan = {.tuning = SwitchingTuning(), .two_regions = true}};
  scenario.prepare = [](World& world) { world.Write(Pair("0")); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Write(Pair("1")); }, [&] { world.Write(Pair("2")); }},
            {[&] { world.Scan(); }, [&] { world.Query("1"); }}};
  };
  return scenario;
}

// Segments of a few hundred bytes: both writers' batches roll the log, synced ones and others.
EngineScenario WritersAndLogRoll() {
  EngineScenario scenario{.name = "WritersAndLogRoll", .plan = {.tuning = QuietTuning()}};
  scenario.plan.tuning.log_segment_bytes = 1;
  scenario.plan.tuning.memstore_bytes = 1500;
  scenario.prepare = [](World&) {};
  scenario.threads = [](World& world) -> Threads {
    const std::string large(200, 'x');
    return {{[&world, large] {
               world.Write({{"a", "1" + large}}, Durability::kSynced);
             },
             [&world, large] {
               world.Write({{"b", "2" + large}}, Durability::kBuffered);
             }},
            {[&world, large] {
               world.Write({{"a", "3" + large}});
             },
             [&world, large] {
               world.Write({{"b", ""}}, Durability::kSynced);
             }},
            {[&] { world.Scan(); }}};
  };
  return scenario;
}

// The log rolls in the background, beside writers; then the power goes.
EngineScenario LogRollsThenAPowerCut() {
  EngineScenario scenario{.name = "LogRollsThenAPowerCut",
                          .plan = {.tuning = SmallTuning(), .power_cut = true}};
  scenario.plan.tuning.log_segment_bytes = 1;
  scenario.plan.tuning.memstore_bytes = 1500;
  scenario.prepare = [](World&) {};
  scenario.threads = [](World& world) -> Threads {
    const std::string large(200, 'x');
    return {{[&world, large] {
               world.Write({{"a", "1" + large}}, Durability::kSynced);
             },
             [&world, large] {
               world.Write({{"b", "2" + large}}, Durability::kBuffered);
             }},
            {[&world, large] {
               world.Write({{"a", "3" + large}}, Durability::kSynced);
             },
             [&world, large] {
               world.Write({{"c", "4" + large}});
             }}};
  };
  return scenario;
}

// The segment is extended in the background, beside writers, its seal and the close.
EngineScenario ExtensionsBesideRolls() {
  EngineScenario scenario{.name = "ExtensionsBesideRolls", .plan = {.tuning = QuietTuning()}};
  scenario.plan.tuning.log_segment_bytes = 1200;
  scenario.prepare = [](World&) {};
  scenario.threads = [](World& world) -> Threads {
    const std::string large(300, 'x');
    return {{[&world, large] {
               world.Write({{"a", "1" + large}}, Durability::kSynced);
             },
             [&world, large] {
               world.Write({{"b", "2" + large}}, Durability::kSynced);
             }},
            {[&world, large] {
               world.Write({{"a", "3" + large}}, Durability::kSynced);
             },
             [&world, large] {
               world.Write({{"c", "4" + large}}, Durability::kSynced);
             },
             [&world] { world.Close(); }}};
  };
  return scenario;
}

EngineScenario CloseBesideCalls() {
  EngineScenario scenario{.name = "CloseBesideCalls", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}}, Durability::kBuffered); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Close(); }},
            {[&] {
               world.Write({{"a", "1"}});
             },
             [&] { world.Scan(); }},
            {[&] { world.Flush(); }, [&] { world.Get("a"); }}};
  };
  return scenario;
}

EngineScenario SnapshotGoesWhileACompactionBegins() {
  EngineScenario scenario{.name = "SnapshotGoesWhileACompactionBegins",
                          .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"b", "0"}});
    world.Flush();
    world.Write({{"a", "1"}});
    world.Flush();
    world.executor().Drain();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.TakeSnapshot(); }, [&] { world.ReadSnapshot("0"); },
             [&] { world.ReadSnapshot("0"); }, [&] { world.ReleaseSnapshot(); }},
            {[&] { world.Compact(); }},
            {[&] {
              world.Write({{"a", "0"}, {"b", ""}});
            }}};
  };
  return scenario;
}

// A flush brings the job that finds the rows which files share; a merge takes these files away.
EngineScenario OverlapsBesideAMerge() {
  EngineScenario scenario{.name = "OverlapsBesideAMerge", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"b", "0"}});
    world.Flush();
    world.Write({{"a", "1"}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Flush(); }, [&] { world.Query("0"); }},
            {[&] { world.Compact(); }},
            {[&] { world.Query("0"); }, [&] { world.Query("1"); }}};
  };
  return scenario;
}

// Each write brings a flush, which a walk runs if it is due.
EngineScenario OverlapsBesideSwitches() {
  EngineScenario scenario{.name = "OverlapsBesideSwitches", .plan = {.tuning = SwitchingTuning()}};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}, {"b", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    const auto put = [&](const char* row) { return [&world, row] { world.Write({{row, "1"}}); }; };
    return {{put("a"), put("b")}, {[&] { world.Query("0"); }, [&] { world.Query("1"); }}};
  };
  return scenario;
}

// Each row is a part of the scan.
EngineScenario ScanOnThreads(std::string name, std::function<Threads(World&)> threads) {
  EngineScenario scenario{.name = std::move(name), .plan = {.tuning = QuietTuning()}};
  scenario.plan.tuning.memstore_bytes = 64;
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"b", "0"}, {"c", "0"}, {"d", "0"}, {"e", "0"}, {"f", "0"}});
    world.Flush();
    world.Write({{"b", "1"}, {"g", "1"}});
  };
  scenario.threads = std::move(threads);
  return scenario;
}

EngineScenario AScanOnThreadsBesideAFlush() {
  return ScanOnThreads("AScanOnThreadsBesideAFlush", [](World& world) -> Threads {
    return {{[&] { world.Scan(3); }},
            {[&] {
               world.Write({{"c", "2"}, {"h", "2"}});
             },
             [&] { world.Flush(); }}};
  });
}

EngineScenario AScanOnThreadsBesideASplit() {
  return ScanOnThreads("AScanOnThreadsBesideASplit", [](World& world) -> Threads {
    return {{[&] { world.Scan(3); }, [&] { world.Scan(2); }},
            {[&] { world.Split("d"); },
             [&] {
               world.Write({{"a", "2"}, {"f", "2"}});
             }}};
  });
}

EngineScenario AScanOnThreadsBesideClose() {
  return ScanOnThreads("AScanOnThreadsBesideClose", [](World& world) -> Threads {
    return {{[&] { world.Scan(3); }}, {[&] { world.Close(); }}};
  });
}

// Batches over both halves, and reads that began before the region was split.
EngineScenario ASplitBesideWritersAndReaders() {
  EngineScenario scenario{.name = "ASplitBesideWritersAndReaders",
                          .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Write(Pair("0")); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Split("m"); }},
            {[&] { world.Write(Pair("1")); }, [&] { world.Write(Pair("2")); }},
            {[&] { world.Scan(); }, [&] { world.Get("z"); }, [&] { world.Query("2"); }}};
  };
  return scenario;
}

// Flushes and merges of the region and of its halves, a split of a half, and a batch at kMemory
// that was planned for one region.
EngineScenario SplitsBesideFlushesAndMerges() {
  EngineScenario scenario{.name = "SplitsBesideFlushesAndMerges",
                          .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write(Pair("0"));
    world.Flush();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Split("m"); }, [&] { world.Split("t"); }},
            {[&] { world.Write(Pair("1")); }, [&] { world.Flush(); }, [&] { world.Compact(); }},
            {[&] { world.Write(Pair("2"), Durability::kMemory); }, [&] { world.Count("2"); }}};
  };
  return scenario;
}

// What a flush made durable stays, whichever half it is in.
EngineScenario ASplitThenAPowerCut() {
  EngineScenario scenario{.name = "ASplitThenAPowerCut",
                          .plan = {.tuning = QuietTuning(), .power_cut = true}};
  scenario.prepare = [](World& world) { world.Write(Pair("0"), Durability::kSynced); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Split("m"); }},
            {[&] { world.Write(Pair("1"), Durability::kMemory); },
             [&] { world.Write(Pair("2"), Durability::kSynced); }},
            {[&] { world.Flush(); }}};
  };
  return scenario;
}

// Batches over both regions, reads that began before they were one, and a flush that finds them
// writing into one memstore.
EngineScenario AMergeOfRegionsBesideWritersAndAFlush() {
  EngineScenario scenario{.name = "AMergeOfRegionsBesideWritersAndAFlush",
                          .plan = {.tuning = QuietTuning(), .two_regions = true}};
  scenario.prepare = [](World& world) { world.Write(Pair("0")); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.MergeRegions(); }},
            {[&] { world.Write(Pair("1")); }, [&] { world.Write(Pair("2"), Durability::kMemory); }},
            {[&] { world.Flush(); }, [&] { world.Scan(); }, [&] { world.Query("2"); }}};
  };
  return scenario;
}

// What was acknowledged stays, whichever region it was written to.
EngineScenario AMergeOfRegionsThenAPowerCut() {
  EngineScenario scenario{
      .name = "AMergeOfRegionsThenAPowerCut",
      .plan = {.tuning = QuietTuning(), .two_regions = true, .power_cut = true}};
  scenario.prepare = [](World& world) { world.Write(Pair("0"), Durability::kSynced); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.MergeRegions(); }},
            {[&] { world.Write(Pair("1"), Durability::kSynced); },
             [&] { world.Write(Pair("2"), Durability::kSynced); }},
            {[&] { world.Flush(); }}};
  };
  return scenario;
}

EngineScenario CreateTableBesideWrites() {
  EngineScenario scenario{.name = "CreateTableBesideWrites", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CreateTable("u"); },
             [&] {
               world.Write({{"u/a", "1"}});
             }},
            {[&] {
               world.Write({{"a", "1"}});
             },
             [&] {
               world.Write({{"u/b", "2"}});
             }},
            {[&] { world.Flush(); }, [&] { world.Scan(); }}};
  };
  return scenario;
}

// Batches over two tables, read at a snapshot of both.
EngineScenario BatchesOverTables() {
  EngineScenario scenario{.name = "BatchesOverTables",
                          .plan = {.tuning = QuietTuning(), .two_tables = true}};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}, {"u/a", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.Write({{"a", "1"}, {"u/a", "1"}});
             },
             [&] {
               world.Write({{"u/a", "2"}, {"a", "2"}});
             }},
            {[&] { world.TakeSnapshot(); }, [&] { world.ReadSnapshot("1"); },
             [&] { world.ReleaseSnapshot(); }},
            {[&] { world.Flush(); }, [&] { world.Scan(); }}};
  };
  return scenario;
}

// Log, files and catalog are synced by several threads; one of these syncs fails.
EngineScenario ASyncFails() {
  EngineScenario scenario{.name = "ASyncFails",
                          .plan = {.tuning = QuietTuning(), .failing_syncs = 12}};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}}, Durability::kSynced); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.Write({{"a", "1"}}, Durability::kSynced);
             },
             [&] { world.Flush(); }},
            {[&] {
               world.Write({{"b", "2"}}, Durability::kSynced);
             },
             [&] { world.Flush(); }},
            {[&] { world.Scan(); }, [&] { world.Query("1"); }}};
  };
  return scenario;
}

// A flush syncs the log while others write to it; then the power goes. What counts as durable, for
// the flush or in the manifest, has to be.
EngineScenario AFlushSyncsBesideWriters() {
  EngineScenario scenario{.name = "AFlushSyncsBesideWriters",
                          .plan = {.tuning = SmallTuning(), .power_cut = true}};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Flush(); }},
            {[&] {
               world.Write({{"b", "1"}}, Durability::kSynced);
             },
             [&] {
               world.Write({{"c", "2"}});
             }}};
  };
  return scenario;
}

// Of a flush and a synced write that sync the log, one fails.
EngineScenario AFlushFailsToSyncBesideAWriter() {
  EngineScenario scenario{.name = "AFlushFailsToSyncBesideAWriter",
                          .plan = {.tuning = SmallTuning(), .failing_syncs = 1, .power_cut = true}};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}}, Durability::kSynced); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.Write({{"a", "1"}}, Durability::kBuffered);
             },
             [&] { world.Flush(); }},
            {[&] {
              world.Write({{"b", "2"}}, Durability::kSynced);
            }}};
  };
  return scenario;
}

// Each change of the catalog is made from what the one before left: a table, a run, and a merge.
EngineScenario ChangesOfTheCatalog() {
  EngineScenario scenario{.name = "ChangesOfTheCatalog",
                          .plan = {.tuning = QuietTuning(), .two_tables = true}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}});
    world.Flush();
    world.Write({{"a", "1"}, {"u/a", "1"}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CreateTable("v"); },
             [&] {
               world.Write({{"v/a", "1"}});
             }},
            {[&] { world.Flush("u"); }},
            {[&] { world.Compact(); }},
            {[&] { world.CreateTable("w"); }}};
  };
  return scenario;
}

EngineScenario ATruncationBesideWritersAndReaders() {
  EngineScenario scenario{.name = "ATruncationBesideWritersAndReaders",
                          .plan = {.tuning = QuietTuning(), .two_regions = true}};
  scenario.prepare = [](World& world) {
    world.Write(Pair("0"));
    world.Flush();
    world.Write({{"a", "1"}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Write(Pair("1")); }, [&] { world.Scan(); }, [&] { world.Query("1"); }},
            {[&] { world.Truncate(); }},
            {[&] { world.TakeSnapshot(); }, [&] { world.ReadSnapshot("1"); },
             [&] { world.ReadSnapshot("1"); }, [&] { world.ReleaseSnapshot(); }}};
  };
  return scenario;
}

// Merges leave out what the family had; a snapshot from before sees all of it.
EngineScenario AFamilyGoesBesideASnapshotAndAMerge() {
  EngineScenario scenario{
      .name = "AFamilyGoesBesideASnapshotAndAMerge",
      .plan = {.tuning = QuietTuning(), .two_regions = true, .two_families = true}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"a:e", "1"}, {"z", "0"}, {"z:e", "1"}});
    world.Flush();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.TakeSnapshot(); }, [&] { world.ReadSnapshot("0"); }},
            {[&] { world.DropFamily(); }, [&] { world.Compact(); }}};
  };
  return scenario;
}

// A read does not miss what was written before the family went.
EngineScenario AFamilyGoesBesideAScan() {
  EngineScenario scenario{.name = "AFamilyGoesBesideAScan",
                          .plan = {.tuning = QuietTuning(), .two_families = true},
                          .budget = kFew};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}, {"a:e", "1"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Scan(); }},
            {[&] {
               world.Write({{"a", "1"}});
             },
             [&] { world.DropFamily(); }}};
  };
  return scenario;
}

EngineScenario ATruncationBesideFlushesAndMerges() {
  EngineScenario scenario{.name = "ATruncationBesideFlushesAndMerges",
                          .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"b", "0"}});
    world.Flush();
    world.Write({{"a", "1"}});
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Compact(); },
             [&] {
               world.Write({{"b", "1"}});
             }},
            {[&] { world.Truncate(); }, [&] { world.Get("a"); }},
            {[&] { world.Flush(); }}};
  };
  return scenario;
}

// The truncation comes between the edit of a split, or of a merge, and its exchange.
EngineScenario ATruncationBesideASplit() {
  EngineScenario scenario{.name = "ATruncationBesideASplit", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}, {"g", "0"}, {"k", "0"}});
    world.Flush();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Split("g"); }, [&] { world.MergeRegions(); }},
            {[&] { world.Truncate(); }, [&] { world.Truncate(); }},
            {[&] {
              world.Write({{"a", "1"}, {"k", "1"}});
            }}};
  };
  return scenario;
}

// What a reader has found empty is empty at a snapshot that it takes afterwards.
EngineScenario ATruncationThenASnapshot() {
  EngineScenario scenario{.name = "ATruncationThenASnapshot", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Write({{"a", "1"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Truncate(); }},
            {[&] { world.Get("a"); }, [&] { world.TakeSnapshot(); },
             [&] { world.ReadSnapshot("1"); }, [&] { world.ReleaseSnapshot(); }}};
  };
  return scenario;
}

// The same with a name that has gone.
EngineScenario ARenameThenASnapshot() {
  EngineScenario scenario{.name = "ARenameThenASnapshot",
                          .plan = {.tuning = QuietTuning(), .two_tables = true}};
  scenario.prepare = [](World& world) { world.Write({{"u/a", "1"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.RenameTable("u", "v"); }},
            {[&] { world.LookFor("u"); }, [&] { world.TakeSnapshot(); },
             [&] { world.ReadSnapshot("1"); }, [&] { world.ReleaseSnapshot(); }}};
  };
  return scenario;
}

// A row that a get finds by the former name was not written by the later one.
EngineScenario ARenameBesideAGet() {
  EngineScenario scenario{.name = "ARenameBesideAGet",
                          .plan = {.tuning = QuietTuning(), .two_tables = true},
                          .budget = kFew};
  scenario.prepare = [](World& world) { world.Write({{"u/a", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Get("u/a"); }},
            {[&] { world.RenameTable("u", "v"); },
             [&] {
               world.Write({{"v/a", "1"}});
             }}};
  };
  return scenario;
}

// Batches that were planned before the drop name a table that is gone, or another one.
EngineScenario ADropBesideBatchesOverTables() {
  EngineScenario scenario{.name = "ADropBesideBatchesOverTables",
                          .plan = {.tuning = QuietTuning(), .two_tables = true}};
  scenario.prepare = [](World& world) { world.Write({{"a", "0"}, {"u/a", "0"}}); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.Write({{"a", "1"}, {"u/a", "1"}});
             },
             [&] {
               world.Write({{"u/b", "1"}}, Durability::kMemory);
             }},
            {[&] { world.DropTable("u"); }, [&] { world.CreateTable("u"); }},
            {[&] { world.TakeSnapshot(); },
             [&] {
               world.Write({{"a", "2"}, {"u/a", "2"}});
             },
             [&] { world.ReleaseSnapshot(); }}};
  };
  return scenario;
}

// What a writer read of files before it queued is too little when a flush comes in between.
EngineScenario IncrementsBesideAFlush() {
  EngineScenario scenario{.name = "IncrementsBesideAFlush", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) { world.Increment("a"); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Increment("a"); }, [&] { world.Increment("a"); }},
            {[&] { world.Increment("a"); }, [&] { world.Get("a"); }},
            {[&] { world.Flush(); }}};
  };
  return scenario;
}

// Each increment fills a memstore, and the files are merged.
EngineScenario IncrementsBesideSwitchesAndAMerge() {
  EngineScenario scenario{.name = "IncrementsBesideSwitchesAndAMerge",
                          .plan = {.tuning = SwitchingTuning()}};
  scenario.prepare = [](World& world) { world.Increment("a"); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Increment("a"); }, [&] { world.Increment("b"); }},
            {[&] { world.Increment("a", Durability::kMemory); }, [&] { world.Increment("a"); }},
            {[&] { world.Compact(); }}};
  };
  return scenario;
}

EngineScenario ADeleteCellBesideAPut() {
  EngineScenario scenario{.name = "ADeleteCellBesideAPut", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}});
    world.Flush();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.DeleteCell("a"); }, [&] { world.Get("a"); }},
            {[&] {
               world.Write({{"a", "1"}});
             },
             [&] { world.DeleteCell("a"); }},
            {[&] { world.Flush(); }, [&] { world.Query("1"); }}};
  };
  return scenario;
}

EngineScenario ChecksBesideATruncation() {
  EngineScenario scenario{.name = "ChecksBesideATruncation", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Write({{"a", "0"}});
    world.Flush();
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.CheckAndPut("a", "0", "1"); }, [&] { world.CheckAndPut("a", "", "2"); }},
            {[&] { world.CheckAndPut("a", "1", "3"); }, [&] { world.Increment("a"); }},
            {[&] { world.Truncate(); }}};
  };
  return scenario;
}

// The row moves to another region, and what it was read from is flushed there.
EngineScenario IncrementsBesideASplit() {
  EngineScenario scenario{.name = "IncrementsBesideASplit", .plan = {.tuning = QuietTuning()}};
  scenario.prepare = [](World& world) {
    world.Increment("a");
    world.Increment("k");
    world.Flush();
    world.Increment("k");
  };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Increment("k"); }, [&] { world.Increment("a"); }},
            {[&] { world.Split("g"); }, [&] { world.Flush(); }, [&] { world.MergeRegions(); }},
            {[&] { world.Increment("k"); }}};
  };
  return scenario;
}

EngineScenario IncrementsThenAPowerCut() {
  EngineScenario scenario{.name = "IncrementsThenAPowerCut",
                          .plan = {.tuning = QuietTuning(), .power_cut = true}};
  scenario.prepare = [](World& world) { world.Increment("a", Durability::kSynced); };
  scenario.threads = [](World& world) -> Threads {
    return {{[&] { world.Increment("a", Durability::kSynced); },
             [&] { world.Increment("b", Durability::kSynced); }},
            {[&] { world.Increment("a", Durability::kSynced); }},
            {[&] { world.Increment("a", Durability::kSynced); }, [&] { world.Flush(); }}};
  };
  return scenario;
}

// A writer waits because flushes fell behind, and has to be woken.
EngineScenario WritersWaitForFlushes() {
  EngineScenario scenario{.name = "WritersWaitForFlushes", .plan = {.tuning = SwitchingTuning()}};
  scenario.plan.tuning.memstores_total_bytes = 1;
  scenario.prepare = [](World&) {};
  scenario.threads = [](World& world) -> Threads {
    return {{[&] {
               world.Write({{"a", "1"}});
             },
             [&] {
               world.Write({{"a", "2"}});
             }},
            {[&] {
               world.Write({{"b", "1"}});
             },
             [&] { world.Get("a"); }},
            {[&] { world.Count("1"); }}};
  };
  return scenario;
}

}  // namespace

engine::Tuning QuietTuning() {
  engine::Tuning tuning = SmallTuning();
  tuning.compaction_runs = 100;
  return tuning;
}

World::Rows Pair(const std::string& value) { return {{"a", value}, {"z", value}}; }

std::vector<EngineScenario> EngineScenarios() {
  std::vector<EngineScenario> scenarios = {WritersReaderAndFlush(),
                                           ReadsBesideAFlush(),
                                           ReadsBesideACompaction(),
                                           GetsBesideAMerge(),
                                           ReadsBesideAMemstoreSwitch(),
                                           WritersAndLogRoll(),
                                           LogRollsThenAPowerCut(),
                                           ExtensionsBesideRolls(),
                                           CloseBesideCalls(),
                                           SnapshotGoesWhileACompactionBegins(),
                                           OverlapsBesideAMerge(),
                                           OverlapsBesideSwitches(),
                                           AScanOnThreadsBesideAFlush(),
                                           AScanOnThreadsBesideASplit(),
                                           AScanOnThreadsBesideClose(),
                                           ASplitBesideWritersAndReaders(),
                                           SplitsBesideFlushesAndMerges(),
                                           ASplitThenAPowerCut(),
                                           AMergeOfRegionsBesideWritersAndAFlush(),
                                           AMergeOfRegionsThenAPowerCut(),
                                           CreateTableBesideWrites(),
                                           BatchesOverTables(),
                                           ChangesOfTheCatalog(),
                                           ATruncationBesideWritersAndReaders(),
                                           AFamilyGoesBesideASnapshotAndAMerge(),
                                           AFamilyGoesBesideAScan(),
                                           ATruncationBesideFlushesAndMerges(),
                                           ATruncationBesideASplit(),
                                           ATruncationThenASnapshot(),
                                           ARenameThenASnapshot(),
                                           ARenameBesideAGet(),
                                           ADropBesideBatchesOverTables(),
                                           ASyncFails(),
                                           AFlushSyncsBesideWriters(),
                                           AFlushFailsToSyncBesideAWriter(),
                                           IncrementsBesideAFlush(),
                                           IncrementsBesideSwitchesAndAMerge(),
                                           ADeleteCellBesideAPut(),
                                           ChecksBesideATruncation(),
                                           IncrementsBesideASplit(),
                                           IncrementsThenAPowerCut(),
                                           WritersWaitForFlushes()};
  for (auto* some : {UniqueScenarios, GlobalScenarios, TransactionScenarios, ReadScenarios}) {
    for (EngineScenario& scenario : some()) scenarios.push_back(std::move(scenario));
  }
  for (EngineScenario& scenario : scenarios) {
    if (scenario.budget.random == 0) scenario.budget = kUsualBudget;
  }
  for (EngineScenario& scenario : FileScenarios()) scenarios.push_back(std::move(scenario));
  return scenarios;
}

Scenario ScenarioOf(const EngineScenario& scenario, CausesMet* causes) {
  const auto body = [&scenario, causes](Scheduler* scheduler) {
    World world(scenario.plan, scheduler);
    scenario.prepare(world);
    world.Run(scenario.threads(world));
    if (causes != nullptr) world.AddTo(causes);
    return world.Finish();
  };
  return {.name = scenario.suite + "/" + scenario.name, .body = body};
}

}  // namespace tandem::test
