// Merging regions: reads before and after are the same at every snapshot, nothing is written, runs
// stay as few as they were, and a split undone leaves what was there before it.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/engine/jobs/region_fixture.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

struct RegionMergeFixture : RegionFixture {
  /// The runs of the i-th region.
  size_t Runs(size_t i) {
    std::set<uint64_t> runs;
    const TableInfo info = Info();
    for (const FileInfo& file : info.regions[i].files) runs.insert(file.run);
    return runs.size();
  }
  std::vector<std::string> Files() {
    std::vector<std::string> files;
    const TableInfo info = Info();
    for (const RegionInfo& region : info.regions) {
      for (const FileInfo& file : region.files) {
        files.push_back(std::to_string(file.number) + ":" + std::to_string(file.low_row) + "-" +
                        std::to_string(file.high_row));
      }
    }
    return files;
  }
  uint64_t WrittenBytes() {
    const Statistics statistics = engine().GetStatistics();
    return statistics.flushed_bytes + statistics.compacted_bytes;
  }
  /// Writes whenever a flush ends, as long as it is asked to.
  struct Writer final : EventListener {
    void OnFlushEnd(const FlushEvent&) override {
      if (times > 0 && times-- > 0) write();
    }
    std::function<void()> write;
    int times = 0;
  };
  std::shared_ptr<Writer> ListenAsWriter() {
    const auto writer = std::make_shared<Writer>();
    options.listener = writer;
    Reopen();
    return writer;
  }
};

BOOST_FIXTURE_TEST_SUITE(RegionMergeTest, RegionMergeFixture)

BOOST_AUTO_TEST_CASE(ASplitUndoneIsWhatItWas) {
  PutRows(0, 300, "a");
  Flush();
  PutRows(100, 200, "b");
  Flush();
  const std::string rows = Rows();
  const std::vector<std::string> hits = Hits("b3"), files = Files();
  const SplitResult split = Split();
  const uint64_t written = WrittenBytes();
  const RegionMergeResult preview = Merge({.dry_run = true});
  BOOST_CHECK_EQUAL(Info().regions.size(), 2u);
  BOOST_CHECK_EQUAL(preview.region_id, 0u);
  BOOST_CHECK_EQUAL(preview.left.region_id, split.left.region_id);
  BOOST_CHECK_EQUAL(preview.left.rows, split.left.rows);
  BOOST_CHECK_EQUAL(preview.right.bytes, split.right.bytes);
  const RegionMergeResult merge = Merge();
  BOOST_CHECK_EQUAL(merge.key, split.key);
  BOOST_CHECK(
      (listener->ids == std::vector{merge.region_id, split.left.region_id, split.right.region_id}));
  BOOST_CHECK_EQUAL(engine().GetStatistics().region_merges, 1u);
  BOOST_CHECK_EQUAL(WrittenBytes(), written);
  for (int life = 0; life < 2; ++life) {
    BOOST_REQUIRE_EQUAL(Info().regions.size(), 1u);
    BOOST_CHECK_EQUAL(Info().regions[0].id, merge.region_id);
    BOOST_CHECK(Files() == files);
    BOOST_CHECK_EQUAL(Runs(0), 2u);
    BOOST_CHECK_EQUAL(Rows(), rows);
    BOOST_CHECK(Hits("b3") == hits);
    BOOST_CHECK_EQUAL(*engine().Count({}, "t", Predicate::Equal("c", "b3"), {}), hits.size());
    CheckSound();
    Reopen();
  }
}

// Runs of either side overlap those of the other in sequence; their keys are disjoint.
BOOST_AUTO_TEST_CASE(EightAndEightStayEight) {
  Split({.key = Key(100)});
  for (uint64_t i = 0; i < 8; ++i) {
    PutRows(10 * i, 10 * i + 30, "l" + std::to_string(i));
    Flush();
    if (i == 5) continue;
    PutRows(100 + 10 * i, 130 + 10 * i, "r" + std::to_string(i));
    Flush();
  }
  BOOST_REQUIRE_EQUAL(Runs(0), 8u);
  BOOST_REQUIRE_EQUAL(Runs(1), 7u);
  const std::string rows = Rows();
  const std::vector<std::string> hits = Hits("l73");
  Merge();
  BOOST_CHECK_EQUAL(Runs(0), 8u);
  for (int life = 0; life < 2; ++life) {
    BOOST_CHECK_EQUAL(Rows(), rows);
    BOOST_CHECK(Hits("l73") == hits);
    executor.Drain();  // Overlaps are built.
    BOOST_CHECK(Hits("l73") == hits);
    CheckSound();
    Compact();
  }
}

// A file of runs that are merged must not reach over the operations of another one. The right
// region had its large runs first, then small ones; then the left one had its large runs. The small
// runs, and newer ones of both sides, are similar in size.
BOOST_AUTO_TEST_CASE(MergesOfItsFilesKeepThemInOrder) {
  TestRandom random("merges of files");
  const auto flush = [&](uint64_t first, uint64_t rows, size_t bytes) {
    WriteBatch batch;
    for (uint64_t i = first; i < first + rows; ++i) {
      std::string value(bytes, 0);
      for (char& byte : value) byte = static_cast<char>(random.Below(256));
      batch.Put("t", Key(i), "d", "q", value);
      batch.Put("t", Key(i), "d", "c", std::to_string(random.Below(5)));
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    Flush();
  };
  flush(0, 200, 5000);
  Split({.key = Key(100)});
  for (int i = 0; i < 4; ++i) flush(110, 40, 200);
  for (int i = 0; i < 4; ++i) flush(110 + random.Below(50), 5, 10);
  for (int i = 0; i < 4; ++i) flush(30, 40, 200);
  Merge();
  BOOST_REQUIRE_EQUAL(Runs(0), 9u);
  CheckSound();
  tuning.compaction_runs = 8;
  Reopen();
  uint64_t merges = 0;
  for (int i = 0; i < 8; ++i) {
    flush(50, 80, 10);
    const uint64_t before = Runs(0);
    executor.Drain();
    merges += Runs(0) < before ? 1 : 0;
    CheckSound();
  }
  BOOST_CHECK_GE(merges, 1u);
}

// One half has rewritten its part of a file, the other one has not: the old rows must not come
// back.
BOOST_AUTO_TEST_CASE(AHalfThatWasRewrittenLetsTheOtherOneFollow) {
  PutRows(0, 100, "a");
  Flush();
  Split({.key = Key(50)});
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  tuning.compaction_runs = 2;
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  for (const bool left : {true, false}) {
    WriteBatch batch;
    batch.DeleteRow("t", Key(left ? 3 : 80));
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    for (int i = 0; i < 4; ++i) {
      PutRows(left ? 20 : 60, left ? 40 : 70, "b");
      Flush();
    }
    executor.Drain();
    const TableInfo info = Info();
    BOOST_REQUIRE_EQUAL(info.regions[left ? 0 : 1].files[0].low_row, 0u);
    BOOST_REQUIRE_EQUAL(info.regions[left ? 1 : 0].files[0].rows, 100u);  // Still the shared one.
    const std::string rows = Rows();
    const std::vector<std::string> hits = Hits("a3");
    Merge();
    executor.Drain();
    BOOST_REQUIRE_EQUAL(Info().regions.size(), 1u);
    BOOST_CHECK_EQUAL(Rows(), rows);
    BOOST_CHECK(Hits("a3") == hits);
    CheckSound();
    PutRows(0, 100, "a");
    Compact();
    Split({.key = Key(50)});
  }
}

// A file has no row in the region between two that share it, whose file is both older and newer.
BOOST_AUTO_TEST_CASE(AFileWithAnotherOneBetweenItsPartsIsRewritten) {
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  tuning.compaction_runs = 2;
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  for (const bool left_first : {true, false}) {
    PutRows(60, 70, "b");
    Flush();
    PutRows(0, 10, "a");
    PutRows(200, 210, "a");
    Flush();
    Split({.key = Key(50)});
    Split({.key = Key(150)});
    for (int i = 0; i < 4; ++i) {
      PutRows(60, 80, "c");
      Flush();
    }
    executor.Drain();
    BOOST_REQUIRE_EQUAL(Runs(1), 1u);
    const std::string rows = Rows();
    Merge({.key = Key(left_first ? 0 : 60)});
    CheckSound();
    Merge();
    CheckSound();
    BOOST_REQUIRE_EQUAL(Info().regions.size(), 1u);
    BOOST_CHECK_EQUAL(Rows(), rows);
    WriteBatch batch;
    for (uint64_t i = 0; i < 300; ++i) batch.DeleteRow("t", Key(i));
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    Compact();
    executor.Drain();
  }
}

// What comes between the flushes and the exchange is in a memstore that both share.
BOOST_AUTO_TEST_CASE(WritersGoOnMeanwhile) {
  const auto writer = ListenAsWriter();
  int written = 0;
  bool killed = false;  // What is not in the log is lost then.
  writer->write = [&] {
    PutRows(20, 80, "m" + std::to_string(++written));
    PutRows(45, 55, "n" + std::to_string(written),
            killed ? Durability::kWritten : Durability::kMemory);
  };
  for (;; killed = true) {
    for (int times = 1; times < 8; ++times) {
      PutRows(0, 100, "a");
      Split({.key = Key(50)});
      PutRows(0, 100, "b");
      PutRows(40, 60, "u", Durability::kMemory);
      writer->times = times;
      Merge();
      writer->times = 0;
      BOOST_REQUIRE_EQUAL(Info().regions.size(), 1u);
      BOOST_CHECK_EQUAL(Info().regions[0].memstores, 1u);
      const std::string rows = Rows();
      BOOST_CHECK_EQUAL(Value(Key(50), "q"), "n" + std::to_string(written));
      BOOST_CHECK_EQUAL(Value(Key(79), "q"), "m" + std::to_string(written));
      BOOST_CHECK_EQUAL(Hits("m" + std::to_string(written) + "3").size(), 6u);
      if (killed) {
        Kill();
        BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
      } else {
        Flush();
      }
      BOOST_CHECK_EQUAL(Rows(), rows);
      CheckSound();
    }
    if (killed) break;
  }
}

// A flush, or a batch that reads, while both share a memstore waits for the merge.
BOOST_AUTO_TEST_CASE(SnapshotsCursorsAndDeletesGoOn) {
  PutRows(0, 100, "a");
  Split({.key = Key(50)});
  PutRows(40, 60, "b");
  auto snapshot = engine().TakeSnapshot();
  const ReadOptions then{.snapshot = &*snapshot};
  const std::vector<std::string> hits = Hits("a3", then);
  auto cursor = engine().Scan({}, "t", {});
  BOOST_REQUIRE(cursor->Next());
  BOOST_REQUIRE_EQUAL(engine().Checkpoint("before").ToString(), "OK");
  Merge();
  WriteBatch batch;
  batch.DeleteRow("t", Key(51));
  batch.DeleteColumn("t", Key(53), "d", "c");
  batch.DeleteCell("t", Key(45), "d", "q");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  PutRows(49, 53, "z", Durability::kMemory);
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
}

// Nothing is merged, and both go on with memstores of their own.
BOOST_AUTO_TEST_CASE(AMergeThatFailsLeavesBoth) {
  const auto writer = ListenAsWriter();
  writer->write = [&] {
    Put(Key(3), "q", "w").Ignore("the disk may be full");
    Put(Key(70), "q", "w").Ignore("the disk may be full");
  };
  for (uint64_t at = 1; at < 60; ++at) {
    PutRows(0, 100, "a");
    if (Info().regions.size() == 1) Split({.key = Key(50)});
    PutRows(30, 70, "b");
    writer->times = 2;
    disk.control().InjectFault({.operations = {DiskOperation::kCreate, DiskOperation::kWrite},
                                .at = at,
                                .sticky = true,
                                .status = Status::NoSpace("injected")});
    const Status merged = engine().MergeRegions("t", {}).status();
    const bool struck = disk.control().has_struck();
    disk.control().ClearFaults();
    writer->times = 0;
    if (merged.ok() && !struck) break;
    BOOST_REQUIRE(!engine().Info().read_only);
    const std::string rows = Rows();
    PutRows(0, 100, "c");
    PutRows(45, 55, "d");
    BOOST_REQUIRE_EQUAL(engine().Flush("t").ToString(), "OK");
    for (const RegionInfo& region : Info().regions) BOOST_CHECK_EQUAL(region.memstores, 1u);
    BOOST_CHECK_EQUAL(Value(Key(50), "q"), "d");
    PutRows(0, 100, "e");
    Kill();
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_CHECK_EQUAL(Value(Key(50), "q"), "e");
    CheckSound();
    BOOST_REQUIRE_LT(at, 59u);
  }
}

BOOST_AUTO_TEST_CASE(UnloggedRowsAreWholeAfterACrash) {
  PutRows(0, 10, "a");
  Split({.key = Key(5)});
  PutRows(0, 5, "b", Durability::kMemory);
  PutRows(5, 10, "c", Durability::kMemory);
  Merge();
  PutRows(0, 1, "x");
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Value(Key(4), "q"), "b");
  BOOST_CHECK_EQUAL(Value(Key(9), "q"), "c");
  BOOST_CHECK_EQUAL(Value(Key(0), "q"), "x");
}

BOOST_AUTO_TEST_CASE(BadMergesAreRefused) {
  BOOST_CHECK_EQUAL(MergeRefusal({}, "none"), "NotFound: table 'none' does not exist");
  BOOST_CHECK_EQUAL(MergeRefusal({}),
                    "InvalidArgument: table 't' has one region: there is none to merge it with");
  PutRows(0, 9, "a");
  Split({.key = Key(5)});
  BOOST_CHECK_EQUAL(MergeRefusal({.region_id = 1}), "NotFound: table 't' has no region 1");
  BOOST_CHECK_EQUAL(MergeRefusal({.region_id = 3}),
                    "InvalidArgument: region 3 of table 't' is the last one: no region follows it");
  BOOST_CHECK_EQUAL(MergeRefusal({.key = Key(7)}),
                    "InvalidArgument: region 3 of table 't' is the last one: no region follows it");
  BOOST_CHECK_EQUAL(
      MergeRefusal({.key = Key(2), .region_id = 3}),
      "InvalidArgument: the key '10002' lies in region 2 of table 't', not in region 3");
  Flush();
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  const uint64_t bytes = tuning.region_bytes_max;
  tuning.region_bytes_max = 100;
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK(Merge({.dry_run = true}).is_too_large);
  const std::string refused = MergeRefusal({});
  BOOST_CHECK_MESSAGE(refused.ends_with("bytes: one region above 100 would be split again"),
                      refused);
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  tuning.region_bytes_max = bytes;
  options.read_only = true;
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK(!Merge({.dry_run = true}).is_too_large);
  BOOST_CHECK(MergeRefusal({}).starts_with("ReadOnly: "));
  BOOST_CHECK_EQUAL(Info().regions.size(), 2u);
}

// Without a key, it is the two neighbours that hold the least.
BOOST_AUTO_TEST_CASE(TheSmallestNeighboursAreMerged) {
  for (const uint64_t key : {10, 20, 30, 40}) Split({.key = Key(key)});
  PutRows(0, 10, std::string(100, 'x'));
  PutRows(25, 26, "y");
  PutRows(30, 40, std::string(100, 'z'));
  Flush();
  BOOST_CHECK_EQUAL(Merge().key, Key(20));
  BOOST_CHECK_EQUAL(Merge({.key = Key(31)}).key, Key(40));
  BOOST_CHECK_EQUAL(Merge({.region_id = Info().regions[0].id}).key, Key(10));
  BOOST_CHECK_EQUAL(Merge().key, Key(30));
  BOOST_CHECK_EQUAL(Info().regions.size(), 1u);
  CheckSound();
}

/// Regions of at most 200,000 bytes, and rows of 200 bytes at random keys.
struct ResizedFixture : RegionMergeFixture {
  ResizedFixture() {
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    tuning.region_bytes_max = 200'000;
    tuning.compaction_runs = 4;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  }
  void PutRandom(uint64_t rows, uint64_t keys = 5000) {
    WriteBatch batch;
    for (uint64_t i = 0; i < rows; ++i) {
      std::string value(200, 0);
      for (char& byte : value) byte = static_cast<char>(random.Below(256));
      batch.Put("t", Key(random.Below(keys)), "d", "q", value);
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    Flush();
    executor.Drain();
  }
  void DeleteAllBut(uint64_t row) {
    WriteBatch batch;
    for (uint64_t i = 0; i < 5000; ++i) {
      if (i != row) batch.DeleteRow("t", Key(i));
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    Compact();
    executor.Drain();
  }
  TestRandom random{"resize"};
};

BOOST_FIXTURE_TEST_CASE(RegionsThatShrinkAreOneAgain, ResizedFixture) {
  PutRows(2000, 2001, "a");
  for (int i = 0; i < 12; ++i) PutRandom(500);
  const uint64_t splits = engine().GetStatistics().region_splits;
  BOOST_REQUIRE_GE(Info().regions.size(), 4u);
  BOOST_CHECK_EQUAL(engine().GetStatistics().region_merges, 0u);
  Reopen();  // The catalog knows which borders were made.
  DeleteAllBut(2000);
  BOOST_CHECK_EQUAL(Info().regions.size(), 1u);
  BOOST_CHECK_EQUAL(engine().GetStatistics().region_merges, splits);
  BOOST_CHECK_EQUAL(Rows().substr(0, 5), Key(2000));
  CheckSound();
}

BOOST_FIXTURE_TEST_CASE(BordersThatWereAskedForStay, ResizedFixture) {
  TableOptions table = SimpleTable();
  table.name = "cut";
  table.split_keys = {Key(1000), Key(2000)};
  BOOST_REQUIRE_EQUAL(engine().CreateTable(table).ToString(), "OK");
  Split({.key = Key(3000)});
  for (int i = 0; i < 12; ++i) PutRandom(500);
  BOOST_REQUIRE_GE(Info().regions.size(), 4u);
  DeleteAllBut(2000);
  WriteBatch batch;
  for (const uint64_t i : {500, 1500, 2500}) batch.Put("cut", Key(i), "d", "q", "v");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine().Compact("cut").ToString(), "OK");
  executor.Drain();
  const TableInfo left = Info();
  BOOST_REQUIRE_EQUAL(left.regions.size(), 2u);
  BOOST_CHECK_EQUAL(left.regions[1].start_key, Key(3000));
  BOOST_CHECK_EQUAL(engine().Info().tables[1].regions.size(), 3u);
}

// Neither follows from the other, whatever is written over.
BOOST_FIXTURE_TEST_CASE(RegionsAreNotSplitAndMergedInTurn, ResizedFixture) {
  for (int i = 0; i < 60; ++i) PutRandom(400, 550);
  const Statistics statistics = engine().GetStatistics();
  BOOST_CHECK_GE(statistics.region_splits, 1u);
  BOOST_CHECK_LE(statistics.region_splits, 4u);
  BOOST_CHECK_EQUAL(statistics.region_merges, 0u);
  CheckSound();
}

/// Random splits, merges and writes of a table, and what the classic procedures make of its index:
/// the entries on the right of a split key move to an index of their own and get its start key,
/// those of a region that goes get the start key of its neighbour.
class ClassicWorld {
 public:
  explicit ClassicWorld(TestRandom& random)
      : random_(random), splits_in_ten_(2 + random.Below(4)) {}

  void Step() {
    const std::string key = Key(random_.Below(kKeys));
    const auto region = RegionOf(key);
    const uint64_t choice = random_.Below(10);
    if (choice < splits_in_ten_ && region->first != key) {
      Split(region, key);
    } else if (choice < splits_in_ten_ + 3 && std::next(region) != classic_.end()) {
      MergeWithNext(region, key);
    } else {
      WriteRows();
    }
  }
  /// The logical entries (start key, value, row) are the same.
  void Check() {
    for (auto& [start, entries] : classic_) std::sort(entries.begin(), entries.end());
    BOOST_CHECK(world_.FindEntries() == classic_);
    world_.CheckSound();
  }

  uint64_t splits() const { return splits_; }
  uint64_t merges() const { return merges_; }

 private:
  using Entries = RegionFixture::Entries;
  using Classic = RegionFixture::EntriesByRegion;
  static constexpr uint64_t kKeys = 100;

  Classic::iterator RegionOf(const std::string& key) {
    return std::prev(classic_.upper_bound(key));
  }
  void Split(Classic::iterator region, const std::string& key) {
    Entries left, right;
    for (const auto& entry : region->second) (entry.second < key ? left : right).push_back(entry);
    region->second = std::move(left);
    classic_[key] = std::move(right);
    world_.Split({.key = key});
    ++splits_;
  }
  void MergeWithNext(Classic::iterator region, const std::string& key) {
    const auto right = std::next(region);
    region->second.insert(region->second.end(), right->second.begin(), right->second.end());
    classic_.erase(right);
    world_.Merge({.key = key});
    ++merges_;
  }
  void WriteRows() {
    WriteBatch batch;
    for (int i = 0; i < 8; ++i) {
      const std::string row = Key(random_.Below(kKeys)), value = std::to_string(random_.Below(20));
      batch.Put("t", row, "d", "c", value);
      Entries& entries = RegionOf(row)->second;
      std::erase_if(entries, [&](const auto& entry) { return entry.second == row; });
      entries.emplace_back(value, row);
    }
    BOOST_REQUIRE_EQUAL(world_.Write(batch).ToString(), "OK");
    if (random_.OneIn(4)) world_.Flush();
    if (random_.OneIn(60)) world_.Compact();
    if (random_.OneIn(6)) world_.executor.Drain();
  }

  TestRandom& random_;
  RegionFixture world_;
  Classic classic_ = {{"", {}}};
  const uint64_t splits_in_ten_;  // Steps; three more are merges.
  uint64_t splits_ = 0, merges_ = 0;
};

BOOST_AUTO_TEST_CASE(EntriesEqualThoseOfTheClassicProcedure) {
  TestRandom random("classic");
  const size_t worlds = Trials(20);
  uint64_t splits = 0, merges = 0;
  for (size_t i = 0; i < worlds; ++i) {
    ClassicWorld world(random);
    for (int step = 0; step < 60; ++step) world.Step();
    world.Check();
    splits += world.splits();
    merges += world.merges();
  }
  BOOST_CHECK_GE(splits, 5 * worlds);
  BOOST_CHECK_GE(merges, 3 * worlds);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
