// What the bytes of a directory are for: each byte counts once, cells are what reads and merges
// make of them, and a plan of merges is what merges then do.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "test/engine/copied_database.h"
#include "test/engine/jobs/region_fixture.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct SpaceFixture : RegionFixture {
  uint64_t DirectoryBytes() {
    const auto names = (*disk.OpenDirectory("db", false))->List();
    BOOST_REQUIRE(names.has_value());
    uint64_t bytes = 0;
    for (const std::string& name : *names) bytes += disk.Content("db", name)->size();
    return bytes;
  }

  SpaceUsage Usage(bool exact = false) {
    const auto usage = engine().GetSpaceUsage({.exact = exact});
    BOOST_REQUIRE_EQUAL(usage.status().ToString(), "OK");
    // Whatever the state: each byte counts once, and the cells of a region share its blocks.
    std::map<uint64_t, uint64_t> rows;
    uint64_t sum = 0;
    for (const SpacePart& part : usage->parts) {
      sum += part.bytes;
      if (part.kind == SpaceKind::kRows) rows[part.region_id] = part.bytes;
    }
    BOOST_CHECK_EQUAL(sum, DirectoryBytes());
    BOOST_CHECK_EQUAL(usage->directory_bytes, DirectoryBytes());
    for (const RegionSpace& space : usage->regions) {
      BOOST_CHECK_EQUAL(space.live.bytes + space.older.bytes + space.pinned.bytes +
                            space.expired.bytes + space.deletes.bytes,
                        rows[space.region_id]);
    }
    return *usage;
  }
  static uint64_t BytesOf(const SpaceUsage& usage, SpaceKind kind) {
    uint64_t bytes = 0;
    for (const SpacePart& part : usage.parts) {
      if (part.kind == kind) bytes += part.bytes;
    }
    return bytes;
  }
  /// "live older pinned expired deletes; entries dead" of all regions, exactly.
  std::string Cells() {
    RegionSpace sum;
    for (const RegionSpace& space : Usage(true).regions) {
      sum.live.cells += space.live.cells;
      sum.older.cells += space.older.cells;
      sum.pinned.cells += space.pinned.cells;
      sum.expired.cells += space.expired.cells;
      sum.deletes.cells += space.deletes.cells;
      sum.index_entries += space.index_entries;
      sum.dead_index_entries += space.dead_index_entries;
    }
    const auto text = [](uint64_t count) { return std::to_string(count); };
    return text(sum.live.cells) + " " + text(sum.older.cells) + " " + text(sum.pinned.cells) + " " +
           text(sum.expired.cells) + " " + text(sum.deletes.cells) + "; " +
           text(sum.index_entries) + " " + text(sum.dead_index_entries);
  }
  std::vector<CompactionPlan> Plans() {
    const auto plans = engine().PlanCompaction("t");
    BOOST_REQUIRE_EQUAL(plans.status().ToString(), "OK");
    return *plans;
  }
};

BOOST_FIXTURE_TEST_SUITE(space_usage, SpaceFixture)

BOOST_AUTO_TEST_CASE(EachByteOfTheDirectoryCountsOnce) {
  SpaceUsage usage = Usage();
  BOOST_CHECK_EQUAL(BytesOf(usage, SpaceKind::kLog), 0u);
  BOOST_REQUIRE_EQUAL(usage.regions.size(), 1u);
  PutRows(0, 300, "a");
  usage = Usage();
  BOOST_CHECK_GT(BytesOf(usage, SpaceKind::kLog), 3000u);
  for (const SpacePart& part : usage.parts) {
    if (part.kind == SpaceKind::kLog) BOOST_CHECK_EQUAL(part.region_id, usage.regions[0].region_id);
  }
  Flush();
  usage = Usage();
  BOOST_CHECK_EQUAL(BytesOf(usage, SpaceKind::kLog), 0u);
  for (const SpaceKind kind :
       {SpaceKind::kRoot, SpaceKind::kManifest, SpaceKind::kRows, SpaceKind::kIndex,
        SpaceKind::kBlockIndex, SpaceKind::kFilter, SpaceKind::kKeyHashes, SpaceKind::kRest}) {
    BOOST_CHECK_GT(BytesOf(usage, kind), 0u);
  }
  Reopen();
  Usage();
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  Usage();
  (*disk.OpenDirectory("db", false))->Create("notes").value()->Write(0, "mine").Ignore("checked");
  usage = Usage();
  BOOST_CHECK_EQUAL(BytesOf(usage, SpaceKind::kForeign), 4u);
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  options.read_only = true;
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  Usage();
  Usage(true);
}

// A half that was rewritten leaves its rows in the file that the other half still has.
BOOST_AUTO_TEST_CASE(RowsThatNoRegionHasAreOutside) {
  PutRows(0, 400, "a");
  Flush();
  Split();
  SpaceUsage usage = Usage();
  BOOST_CHECK_EQUAL(BytesOf(usage, SpaceKind::kOutside), 0u);
  BOOST_REQUIRE_EQUAL(usage.regions.size(), 2u);
  BOOST_CHECK_EQUAL(usage.regions[0].rows, 200u);
  std::optional<SpaceUsage> between;
  struct Listener final : EventListener {
    void OnCompactionEnd(const CompactionEvent&) override { called(); }
    std::function<void()> called;
  };
  const auto watching = std::make_shared<Listener>();
  watching->called = [&] {
    if (!between.has_value()) between = Usage(true);
  };
  options.listener = watching;
  Reopen();
  const uint64_t store_bytes = BytesOf(Usage(), SpaceKind::kRows);
  Compact();
  BOOST_REQUIRE(between.has_value());
  BOOST_CHECK_GT(BytesOf(*between, SpaceKind::kOutside), store_bytes / 3);
  BOOST_CHECK_EQUAL(BytesOf(Usage(), SpaceKind::kOutside), 0u);
}

BOOST_AUTO_TEST_CASE(FilesThatCursorsReadAreInUse) {
  PutRows(0, 300, "a");
  Flush();
  PutRows(0, 300, "b");
  Flush();
  std::optional<Cursor> cursor = *engine().Scan({}, "t", {});
  BOOST_REQUIRE(cursor->Next());
  const uint64_t before = BytesOf(Usage(), SpaceKind::kRows);
  Compact();
  SpaceUsage usage = Usage();
  BOOST_CHECK_GE(BytesOf(usage, SpaceKind::kInUse), before);
  BOOST_CHECK(usage.cursors == std::vector<std::string>{"t"});
  cursor.reset();
  usage = Usage();
  BOOST_CHECK_EQUAL(BytesOf(usage, SpaceKind::kInUse), 0u);
  BOOST_CHECK(usage.cursors.empty());
}

BOOST_AUTO_TEST_CASE(FilesOfAnotherReaderAreHeld) {
  PutRows(0, 300, "a");
  Flush();
  const uint64_t before = BytesOf(Usage(), SpaceKind::kRows);
  auto reader = std::make_unique<CopiedDatabase>(&disk, "db", /*read_only=*/true);
  Compact();
  BOOST_CHECK_GE(BytesOf(Usage(), SpaceKind::kHeld), before);
  reader.reset();
  PutRows(0, 1, "b");
  Flush();
  BOOST_CHECK_EQUAL(BytesOf(Usage(), SpaceKind::kHeld), 0u);
}

// A reader leaves it, a writer removes it.
BOOST_AUTO_TEST_CASE(WhatACrashLeftIsUnnamed) {
  PutRows(0, 10, "a");
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  const auto directory = *disk.OpenDirectory("db", false);
  for (const char* name : {"store-100000", "store-100001"}) {
    BOOST_REQUIRE(directory->Create(name).value()->Write(0, "left").ok());
  }
  BOOST_REQUIRE(directory->Sync().ok());
  options.read_only = true;
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(BytesOf(Usage(), SpaceKind::kUnnamed), 8u);
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  options.read_only = false;
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(BytesOf(Usage(), SpaceKind::kUnnamed), 0u);
}

BOOST_AUTO_TEST_CASE(CellsAreWhatReadsAndMergesMakeOfThem) {
  // Two versions are kept.
  BOOST_CHECK_EQUAL(Cells(), "0 0 0 0 0; 0 0");
  PutRows(0, 10, "a");
  Flush();
  BOOST_CHECK_EQUAL(Cells(), "20 0 0 0 0; 10 0");
  PutRows(0, 10, "b");
  Flush();
  BOOST_CHECK_EQUAL(Cells(), "40 0 0 0 0; 20 10");
  PutRows(0, 5, "c");
  Flush();
  BOOST_CHECK_EQUAL(Cells(), "40 10 0 0 0; 25 15");
  {
    const Snapshot snapshot = *engine().TakeSnapshot();
    clock.Advance(5'000'000);
    WriteBatch batch;
    batch.DeleteRow("t", Key(9));
    batch.DeleteColumn("t", Key(8), "d", "q");
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    Flush();
    BOOST_CHECK_EQUAL(Cells(), "34 10 6 0 2; 25 16");
    const SpaceUsage usage = Usage();
    BOOST_REQUIRE_EQUAL(usage.snapshots.size(), 1u);
    BOOST_CHECK_EQUAL(usage.snapshots[0].sequence, snapshot.sequence());
    BOOST_CHECK_GE(usage.snapshots[0].age_micros, 5'000'000);
  }
  BOOST_CHECK_EQUAL(Cells(), "34 16 0 0 2; 25 16");
  Split();
  BOOST_CHECK_EQUAL(Cells(), "34 16 0 0 2; 25 16");
  Compact();
  executor.Drain();
  BOOST_CHECK_EQUAL(Cells(), "34 0 0 0 0; 18 9");
}

BOOST_AUTO_TEST_CASE(WhatIsPastItsTimeToLiveHasExpired) {
  TableOptions table = SimpleTable(1, 1'000'000);
  table.name = "u";
  BOOST_REQUIRE_EQUAL(engine().CreateTable(table).ToString(), "OK");
  for (uint64_t i = 0; i < 10; ++i) {
    WriteBatch batch;
    batch.Put("u", Key(i), "d", "q", "value");
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    clock.Advance(100'000);
  }
  BOOST_REQUIRE_EQUAL(engine().Flush("u").ToString(), "OK");
  const auto expired = [&](bool exact) { return Usage(exact).regions.back().expired.cells; };
  BOOST_CHECK_LE(expired(true), 1u);
  clock.Advance(500'000);
  BOOST_CHECK_GE(expired(true), 5u);
  BOOST_CHECK_LE(expired(true), 6u);
  BOOST_CHECK_GE(expired(false), 4u);
  BOOST_CHECK_LE(expired(false), 6u);
  // The flush dropped the first, which had expired by then.
  clock.Advance(1'000'000);
  BOOST_CHECK_EQUAL(expired(true), 9u);
  BOOST_CHECK_EQUAL(expired(false), 9u);
}

// A read-only database knows it too: what the estimate says of entries is what a query skips.
BOOST_AUTO_TEST_CASE(DeadEntriesAreKnownWithoutReadingRows) {
  PutRows(0, 300, "a");
  Flush();
  PutRows(100, 150, "b");
  Flush();
  Reopen();
  const RegionSpace space = Usage().regions.at(0);
  BOOST_CHECK_EQUAL(space.index_entries, 350u);
  BOOST_CHECK_EQUAL(space.dead_index_entries, 50u);
  const RegionInfo region = Info().regions.at(0);
  BOOST_CHECK_EQUAL(region.index_entries, 350u);
  BOOST_CHECK_EQUAL(region.dead_index_entries, 50u);
  BOOST_CHECK_EQUAL(region.rows, 350u);
  BOOST_CHECK_EQUAL(region.runs, 2u);
  BOOST_CHECK_EQUAL(region.shared_files, 0u);
  Split({.key = Key(200)});
  BOOST_CHECK_EQUAL(Info().regions.at(1).shared_files, 1u);
  BOOST_CHECK(Info().regions.at(1).files.at(0).is_shared);
}

BOOST_AUTO_TEST_CASE(APlanIsWhatMergesThenDo) {
  struct Listener final : EventListener {
    void OnCompactionEnd(const CompactionEvent& event) override { events.push_back(event); }
    std::vector<CompactionEvent> events;
  };
  const auto merges = std::make_shared<Listener>();
  options.listener = merges;
  tuning.compaction_runs = 8;
  Reopen();
  BOOST_CHECK_EQUAL(Plans().at(0).full.files, 0u);
  for (uint64_t i = 0; i < 3; ++i) {
    PutRows(i * 100, i * 100 + 200, "a");
    Flush();
    executor.Drain();
  }
  BOOST_CHECK(merges->events.empty());
  BOOST_CHECK_EQUAL(Plans().at(0).due.files, 0u);
  PutRows(300, 500, "b");
  Flush();
  const CompactionPlan due = Plans().at(0);
  BOOST_CHECK_EQUAL(due.runs, 4u);
  executor.Drain();
  BOOST_REQUIRE_EQUAL(merges->events.size(), 1u);
  BOOST_CHECK_EQUAL(due.due.files, merges->events[0].input_files);
  BOOST_CHECK_EQUAL(due.due.rows, merges->events[0].input_rows);
  BOOST_CHECK_EQUAL(due.due.read_bytes, merges->events[0].input_bytes);
  BOOST_CHECK_GE(due.due.written_bytes_max, merges->events[0].bytes);
  PutRows(0, 10, "c");
  BOOST_CHECK_GT(Plans().at(0).flushed_bytes, 0u);
  Flush();
  merges->events.clear();
  const uint64_t files = StoreFiles(), bytes = DirectoryBytes();
  const CompactionPlan full = Plans().at(0);
  BOOST_CHECK_EQUAL(StoreFiles(), files);
  BOOST_CHECK_EQUAL(DirectoryBytes(), bytes);
  BOOST_CHECK_EQUAL(full.freed_bytes, full.bytes);
  Compact();
  BOOST_REQUIRE_EQUAL(merges->events.size(), 1u);
  BOOST_CHECK_EQUAL(full.full.files, merges->events[0].input_files);
  BOOST_CHECK_EQUAL(full.full.read_bytes, merges->events[0].input_bytes);
  BOOST_CHECK_GE(full.full.written_bytes_max, merges->events[0].bytes);
  Split();
  BOOST_CHECK_EQUAL(Plans().at(0).freed_bytes, 0u);
}

BOOST_AUTO_TEST_CASE(WhatIsNotThereIsRefused) {
  BOOST_CHECK_EQUAL(engine().GetSpaceUsage({.table = "none"}).status().ToString(),
                    engine().PlanCompaction("none").status().ToString());
  BOOST_CHECK(engine().PlanCompaction("none").error().code() == StatusCode::kNotFound);
  PutRows(0, 10, "a");
  Flush();
  const std::atomic<bool> cancelled = true;
  BOOST_CHECK(engine().GetSpaceUsage({.exact = true, .cancelled = &cancelled}).error().code() ==
              StatusCode::kCancelled);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
