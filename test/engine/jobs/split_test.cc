// Splitting regions: reads before and after are the same at every snapshot, no byte of a row or an
// index is written, and the files go with the last half that refers to them.
#define BOOST_TEST_DYN_LINK
#include <tandem/event_listener.h>
#include <tandem/limits.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "test/engine/jobs/region_fixture.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using SplitFixture = RegionFixture;

// About 50 splits of a new table, and now and then a compaction; returns how many.
uint64_t SplitBesideTheClassicProcedure(TestRandom& random) {
  RegionFixture world;
  RegionFixture::EntriesByRegion classic = {{"", {}}};
  for (int flush = 0; flush < 2; ++flush) {
    WriteBatch batch;
    for (int i = 0; i < 75; ++i) {
      const std::string key = Key(random.Below(1000)), value = std::to_string(random.Below(20));
      batch.Put("t", key, "d", "c", value);
      std::erase_if(classic[""], [&](const auto& entry) { return entry.second == key; });
      classic[""].emplace_back(value, key);
    }
    BOOST_REQUIRE_EQUAL(world.Write(batch).ToString(), "OK");
    if (random.OneIn(2)) world.Flush();
  }
  for (int i = 0; i < 50; ++i) {
    const std::string key = Key(random.Below(1000));
    const auto region = std::prev(classic.upper_bound(key));
    if (region->first == key) continue;
    RegionFixture::Entries left, right;
    for (const auto& entry : region->second) (entry.second < key ? left : right).push_back(entry);
    region->second = std::move(left);
    classic[key] = std::move(right);
    world.Split({.key = key});
    if (random.OneIn(50)) world.Compact();
  }
  for (auto& [start, entries] : classic) std::sort(entries.begin(), entries.end());
  BOOST_CHECK(world.FindEntries() == classic);
  world.CheckSound();
  return classic.size() - 1;
}

BOOST_FIXTURE_TEST_SUITE(SplitTest, SplitFixture)

BOOST_AUTO_TEST_CASE(ReadsAreTheSameAndNothingIsWritten) {
  PutRows(0, 300, "a");
  Flush();
  PutRows(100, 200, "b");
  Flush();
  const std::string before = Rows();
  const std::vector<std::string> hits = Hits("b3");
  BOOST_REQUIRE(!hits.empty());
  const uint64_t written = engine().GetStatistics().flushed_bytes;
  const uint64_t files = StoreFiles();

  const SplitResult preview = Split({.dry_run = true});
  BOOST_CHECK_EQUAL(Info().regions.size(), 1u);
  const SplitResult split = Split();
  BOOST_CHECK_EQUAL(split.key, Key(150));
  BOOST_CHECK_EQUAL(preview.key, split.key);
  BOOST_CHECK_EQUAL(preview.left.rows, 200u);
  BOOST_CHECK_EQUAL(split.left.rows, 200u);
  BOOST_CHECK_EQUAL(split.right.rows, 200u);
  BOOST_CHECK_EQUAL(preview.left.region_id, 0u);
  BOOST_CHECK(
      (listener->ids == std::vector{split.region_id, split.left.region_id, split.right.region_id}));
  BOOST_CHECK_EQUAL(engine().GetStatistics().region_splits, 1u);
  BOOST_CHECK_EQUAL(engine().GetStatistics().flushed_bytes, written);
  BOOST_CHECK_EQUAL(StoreFiles(), files);

  for (int life = 0; life < 2; ++life) {
    const TableInfo info = Info();
    BOOST_REQUIRE_EQUAL(info.regions.size(), 2u);
    BOOST_CHECK_EQUAL(info.regions[0].end_key, split.key);
    BOOST_CHECK_EQUAL(info.regions[1].start_key, split.key);
    BOOST_REQUIRE_EQUAL(info.regions[1].files.size(), 2u);
    BOOST_CHECK_EQUAL(info.regions[1].files[0].low_row, 150u);
    BOOST_CHECK_EQUAL(info.regions[1].files[1].low_row, 50u);
    BOOST_CHECK_EQUAL(Rows(), before);
    BOOST_CHECK(Hits("b3") == hits);
    BOOST_CHECK_EQUAL(*engine().Count({}, "t", Predicate::Equal("c", "b3"), {}), hits.size());
    CheckSound();
    Reopen();
  }
}

BOOST_AUTO_TEST_CASE(BytesAreThoseOfCellsAndOfEachIndex) {
  PutRows(0, 300, "a");
  Flush();
  const FileInfo file = Info().regions[0].files[0];
  const SplitResult preview = Split({.key = Key(100), .region_id = 0, .dry_run = true});
  BOOST_CHECK_EQUAL(preview.left.rows, 100u);
  BOOST_CHECK_EQUAL(preview.left.data_bytes, file.data_bytes / 3);
  BOOST_CHECK_EQUAL(preview.right.data_bytes, file.data_bytes * 2 / 3);
  BOOST_REQUIRE_EQUAL(preview.left.indexes.size(), 1u);
  BOOST_CHECK_EQUAL(preview.left.indexes[0].name, "by_c");
  BOOST_CHECK_EQUAL(preview.left.indexes[0].bytes, file.index_bytes / 3);
  BOOST_CHECK_EQUAL(preview.right.indexes[0].bytes, file.index_bytes * 2 / 3);
  const uint64_t parts = preview.left.data_bytes + preview.left.indexes[0].bytes;
  BOOST_CHECK(preview.left.bytes > parts);

  PutRows(300, 400, "b");  // What is in a memstore has no file.
  const SplitResult later = Split({.key = Key(300), .region_id = 0, .dry_run = true});
  BOOST_CHECK_EQUAL(later.right.rows, 100u);
  BOOST_CHECK(later.right.bytes > 0);
  BOOST_CHECK_EQUAL(later.right.data_bytes, 0u);
  BOOST_CHECK_EQUAL(later.right.indexes[0].bytes, 0u);
  BOOST_REQUIRE_EQUAL(engine().DropIndex("t", "by_c").ToString(), "OK");
  BOOST_CHECK(Split({.key = {}, .region_id = 0, .dry_run = true}).left.indexes.empty());
}

BOOST_AUTO_TEST_CASE(TheMiddleIsThatOfLiveRows) {
  PutRows(0, 300, "a");
  Flush();
  for (const char* value : {"b", "c", "d"}) {
    PutRows(200, 300, value);
    Flush();
  }
  executor.Drain();  // What files share is known.
  SplitResult preview = Split({.key = {}, .region_id = 0, .dry_run = true});
  BOOST_CHECK_EQUAL(preview.key, Key(150));
  BOOST_CHECK(preview.is_live_middle);

  PutRows(0, 1, "e");  // By all rows, those of the memstore too.
  preview = Split({.key = {}, .region_id = 0, .dry_run = true});
  BOOST_CHECK(preview.key > Key(200));
  BOOST_CHECK(!preview.is_live_middle);
  Flush();
  executor.Drain();
  BOOST_CHECK_EQUAL(Split({.key = {}, .region_id = 0, .dry_run = true}).key, Key(150));

  WriteBatch batch;
  for (uint64_t i = 0; i < 100; ++i) batch.DeleteRow("t", Key(i));
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  Flush();
  executor.Drain();  // Each row of them would have to be looked at.
  BOOST_CHECK(!Split({.key = {}, .region_id = 0, .dry_run = true}).is_live_middle);
  // And so each that has an older version.
  Compact();
  BOOST_CHECK(!Split({.key = {}, .region_id = 0, .dry_run = true}).is_live_middle);
  FamilyOptions family = Info().options.families[0];
  family.max_versions = 1;
  BOOST_REQUIRE_EQUAL(engine().AlterFamily("t", family).ToString(), "OK");
  Compact();
  const SplitResult split = Split();
  BOOST_CHECK_EQUAL(split.key, Key(200));
  BOOST_CHECK(split.is_live_middle);
  BOOST_CHECK(!Split({.key = Key(120), .region_id = 0, .dry_run = true}).is_live_middle);
}

BOOST_AUTO_TEST_CASE(AFileGoesWithTheLastHalfThatRefersToIt) {
  PutRows(0, 100, "a");
  Flush();
  const std::string before = Rows();
  Split();
  BOOST_CHECK_EQUAL(StoreFiles(), 1u);
  // A run of the left half alone.
  PutRows(0, 1, "a");
  Flush();
  for (int i = 0; i < 2; ++i) {
    Compact();
    executor.Drain();
    BOOST_CHECK_EQUAL(StoreFiles(), 2u);
    const TableInfo info = Info();
    for (const RegionInfo& region : info.regions) {
      BOOST_REQUIRE_EQUAL(region.files.size(), 1u);
      BOOST_CHECK_EQUAL(region.files[0].low_row, 0u);
      BOOST_CHECK_EQUAL(region.files[0].high_row, region.files[0].rows);
    }
    BOOST_CHECK_EQUAL(Rows(), before);
    CheckSound();
    Reopen();
  }
}

// Writers come between the flush and the exchange: what they leave in memory is shared.
BOOST_AUTO_TEST_CASE(HalvesFlushTheirPartsOfASharedMemstore) {
  struct Writer final : EventListener {
    void OnFlushEnd(const FlushEvent&) override {
      if (std::exchange(writes, false)) fixture->PutRows(20, 60, "m");
    }
    SplitFixture* fixture = nullptr;
    bool writes = false;
  };
  const auto writer = std::make_shared<Writer>();
  writer->fixture = this;
  options.listener = writer;
  Reopen();
  for (const bool killed : {false, true}) {
    PutRows(0, 100, "a");
    writer->writes = true;
    Split();
    BOOST_REQUIRE(!writer->writes);
    const std::string rows = Rows();
    BOOST_CHECK_EQUAL(Value(Key(20), "q"), "m");
    BOOST_CHECK_EQUAL(Hits("m3").size(), 6u);
    uint64_t memstores = 0;
    for (const RegionInfo& region : Info().regions) memstores += region.memstores;
    BOOST_CHECK_GE(memstores, Info().regions.size() + 2);
    if (killed) {
      Kill();
      BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    } else {
      Flush();
      for (const RegionInfo& region : Info().regions) BOOST_CHECK_EQUAL(region.memstores, 1u);
    }
    BOOST_CHECK_EQUAL(Rows(), rows);
    CheckSound();
  }
}

BOOST_AUTO_TEST_CASE(SnapshotsCursorsAndDeletesGoOn) {
  PutRows(0, 100, "a");
  Flush();
  PutRows(40, 60, "b");
  auto snapshot = engine().TakeSnapshot();
  const ReadOptions then{.snapshot = &*snapshot};
  const std::vector<std::string> hits = Hits("a3", then);
  auto cursor = engine().Scan({}, "t", {});
  BOOST_REQUIRE(cursor->Next());
  Split({.key = Key(50)});
  Split({.key = Key(52)});
  WriteBatch batch;
  batch.DeleteRow("t", Key(51));
  batch.DeleteColumn("t", Key(53), "d", "c");
  batch.DeleteCell("t", Key(45), "d", "q");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  PutRows(49, 53, "z", Durability::kMemory);  // Over three regions.
  BOOST_CHECK_EQUAL(Value(Key(45), "q"), "a");
  BOOST_CHECK_EQUAL(Value(Key(53), "c"), "-");
  BOOST_CHECK(Hits("a3", then) == hits);
  Compact();
  BOOST_CHECK(Hits("a3", then) == hits);
  uint64_t rows = 1;
  while (cursor->Next()) ++rows;
  BOOST_CHECK_EQUAL(cursor->status().ToString(), "OK");
  BOOST_CHECK_EQUAL(rows, 100u);
  CheckSound();
  cursor = Status::NotFound("");
  snapshot = Status::NotFound("");
  const std::string text = Rows();
  Reopen();
  BOOST_CHECK_EQUAL(Rows(), text);
}

BOOST_AUTO_TEST_CASE(UnloggedRowsAreWholeAfterACrash) {
  // Of a batch at kMemory, one half would be flushed without the other.
  PutRows(0, 10, "a", Durability::kMemory);
  Split({.key = Key(5)});
  PutRows(0, 1, "x");
  BOOST_REQUIRE_EQUAL(engine().Info().tables[0].regions[0].memstores, 1u);
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Value(Key(9), "q"), "a");
  BOOST_CHECK_EQUAL(Value(Key(4), "q"), "a");
  BOOST_CHECK_EQUAL(Value(Key(0), "q"), "x");
}

BOOST_AUTO_TEST_CASE(BadSplitsAreRefused) {
  BOOST_CHECK_EQUAL(Refusal({}, "none"), "NotFound: table 'none' does not exist");
  BOOST_CHECK_EQUAL(Refusal({}),
                    "InvalidArgument: region 1 of table 't': it has fewer than two rows: there is "
                    "no row to split it at");
  PutRows(0, 1, "a");
  BOOST_CHECK(Refusal({}).starts_with("InvalidArgument"));
  Flush();
  BOOST_CHECK(Refusal({}).starts_with("InvalidArgument"));
  BOOST_CHECK_EQUAL(Info().regions.size(), 1u);
  PutRows(1, 9, "a");
  Split({.key = Key(5)});
  BOOST_CHECK_EQUAL(Refusal({.key = Key(5)}),
                    "InvalidArgument: region 3 of table 't' begins at '10005' already");
  BOOST_CHECK_EQUAL(
      Refusal({.key = Key(2), .region_id = 3}),
      "InvalidArgument: the key '10002' lies in region 2 of table 't', not in region 3");
  BOOST_CHECK_EQUAL(Refusal({.region_id = 1}), "NotFound: table 't' has no region 1");
  BOOST_CHECK(Refusal({.key = std::string(kRowKeyBytesMax + 1, 'x')}).starts_with("InvalidArg"));
  Split({.key = "zzz"});  // An empty half is allowed, as split keys of a new table are.
  BOOST_CHECK_EQUAL(Info().regions.size(), 3u);
  CheckSound();
}

BOOST_AUTO_TEST_CASE(TablesHaveSoManyRegionsAndNoMore) {
  TableOptions table = SimpleTable();
  table.name = "many";
  for (uint32_t i = 1; i < kRegionsMax; ++i) table.split_keys.push_back(Key(i));
  BOOST_REQUIRE_EQUAL(engine().CreateTable(table).ToString(), "OK");
  WriteBatch batch;
  batch.Put("many", Key(7), "d", "q", "v");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  const uint64_t flushes = engine().GetStatistics().flushes;
  BOOST_CHECK_EQUAL(Refusal({.key = Key(7) + "x"}, "many"),
                    "InvalidArgument: table 'many' has 4096 regions, the limit is 4096");
  BOOST_CHECK_EQUAL(engine().GetStatistics().flushes, flushes);  // A large region asks again.
  BOOST_CHECK_EQUAL(Put("k", "q", "v").ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(ALargeRegionIsSplitInTheBackground) {
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  tuning.region_bytes_max = 200'000;
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  TestRandom random("split");
  for (int flush = 0; flush < 10; ++flush) {
    WriteBatch batch;
    for (uint64_t i = 0; i < 500; ++i) {
      std::string value(200, 0);
      for (char& byte : value) byte = static_cast<char>(random.Below(256));
      batch.Put("t", Key(random.Below(5000)), "d", "q", value);
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    Flush();
    executor.Drain();
  }
  BOOST_CHECK_GE(Info().regions.size(), 4u);
  BOOST_CHECK_LE(Info().regions.size(), 16u);
  CheckSound();
  Compact();
  executor.Drain();
  CheckSound();
}

// The classic procedure: the entries whose row is at or after the split key move to the right index
// and get its start key. The logical entries (start key, index, value, row) must be the same.
BOOST_AUTO_TEST_CASE(EntriesEqualThoseOfTheClassicProcedure) {
  TestRandom random("classic");
  const size_t worlds = Trials(8);
  uint64_t splits = 0;
  for (size_t i = 0; i < worlds; ++i) splits += SplitBesideTheClassicProcedure(random);
  BOOST_CHECK_GE(splits, 40 * worlds);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
