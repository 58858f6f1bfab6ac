// Queries over rows that a memstore has updated: which hits of the file are looked at, and that the
// answer is that of a scan.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr int kRows = 40;
constexpr int64_t kFileTime = 1'000;

// A file of rows whose column c is "1", and a memstore over it.
struct MemstoreQueryFixture : TestEngine {
  explicit MemstoreQueryFixture(uint32_t max_versions = 1, uint64_t cache_bytes = 1 << 20) {
    tuning.compaction_runs = 100;
    tuning.block_cache_bytes = cache_bytes;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable(max_versions)).ToString(), "OK");
    for (int row = 0; row < kRows; ++row) PutAt(row, "1", kFileTime);
    BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  }
  static std::string Key(int row) { return "row" + std::to_string(100 + row); }
  void PutAt(int row, std::string_view value, int64_t timestamp, std::string_view column = "c") {
    BOOST_REQUIRE_EQUAL(Put(Key(row), column, value, Durability::kWritten, timestamp).ToString(),
                        "OK");
  }
  /// Of rows with that value, after comparing them with those that a scan returns.
  Explanation Explained(const std::string& value, const ReadOptions& options = {}) {
    QueryOptions by_index, scan;
    by_index.use_index = "by_c";
    scan.no_index = true;
    const Predicate predicate = Predicate::Equal("c", value);
    const auto explained = (**this).Explain(options, "t", predicate, by_index);
    BOOST_REQUIRE_EQUAL(explained.status().ToString(), "OK");
    BOOST_CHECK_EQUAL(Keys(predicate, options, by_index), Keys(predicate, options, scan));
    const auto count = (**this).Count(options, "t", predicate, by_index);
    BOOST_REQUIRE_EQUAL(count.status().ToString(), "OK");
    BOOST_CHECK_EQUAL(*count, explained->rows);
    return *explained;
  }
  /// Of a count of rows with that value, the second time: the first loads what it looks up in.
  size_t ReadsOfCount(const std::string& value, uint64_t expected) {
    for (int run = 0; run < 2; ++run) {
      disk.control().SetTracing(true);
      (void)disk.control().TakeTrace();
      const auto count = (**this).Count({}, "t", Predicate::Equal("c", value), {});
      BOOST_REQUIRE_EQUAL(count.status().ToString(), "OK");
      BOOST_CHECK_EQUAL(*count, expected);
    }
    const std::vector<DiskEvent> trace = disk.control().TakeTrace();
    return static_cast<size_t>(std::count_if(
        trace.begin(), trace.end(),
        [](const DiskEvent& event) { return event.operation == DiskOperation::kRead; }));
  }
  std::string Keys(const Predicate& predicate, const ReadOptions& options,
                   const QueryOptions& query) {
    auto cursor = (**this).Query(options, "t", predicate, query);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::string keys;
    while (cursor->Next()) keys += std::string(cursor->row().key()) + ' ';
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return keys;
  }
};

struct Uncached : MemstoreQueryFixture {
  Uncached() : MemstoreQueryFixture(1, 0) {}
};

struct TwoVersions : MemstoreQueryFixture {
  TwoVersions() : MemstoreQueryFixture(2) {}
};

// How many rows were returned, looked at in files, decided on the cells of all sources.
std::string Figures(const Explanation& explained) {
  return std::to_string(explained.rows) + ' ' + std::to_string(explained.candidate_rows) + ' ' +
         std::to_string(explained.merged_rows);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(MemstoreQuery, MemstoreQueryFixture)

BOOST_AUTO_TEST_CASE(HitsThatAMemstoreSupersedesAreNotLookedAt) {
  for (int row = 0; row < kRows; row += 4) PutAt(row, "2", kFileTime + 1);
  BOOST_CHECK_EQUAL(Figures(Explained("1")), "30 30 0");
  // These are found in the memstore, then in the file.
  BOOST_CHECK_EQUAL(Figures(Explained("2")), "10 10 10");
}

BOOST_AUTO_TEST_CASE(RowsThatOnlyMemstoresHaveAreLookedForInNoBlock) {
  for (int row = 0; row < 5; ++row) PutAt(kRows + row, "2", kFileTime + 1);
  BOOST_CHECK_EQUAL(Figures(Explained("2")), "5 0 5");
  BOOST_CHECK_EQUAL(Figures(Explained("1")), "40 40 0");
}

BOOST_AUTO_TEST_CASE(APutOfAnotherColumnIsMergedAndKillsNothing) {
  for (int row = 0; row < kRows; row += 4) PutAt(row, "2", kFileTime + 1, "other");
  BOOST_CHECK_EQUAL(Figures(Explained("1")), "40 40 10");
}

BOOST_AUTO_TEST_CASE(AnOlderTimestampKillsNothingAnEqualOneDoes) {
  PutAt(0, "2", kFileTime - 1);
  BOOST_CHECK_EQUAL(Figures(Explained("1")), "40 40 1");
  BOOST_CHECK_EQUAL(Figures(Explained("2")), "0 1 1");
  PutAt(1, "2", kFileTime);
  BOOST_CHECK_EQUAL(Figures(Explained("1")), "39 39 1");
}

BOOST_AUTO_TEST_CASE(ASnapshotFromBeforeSeesWhatIsDeadNow) {
  const Result<Snapshot> snapshot = (**this).TakeSnapshot();
  PutAt(0, "2", kFileTime + 1);
  ReadOptions options;
  options.snapshot = &*snapshot;
  BOOST_CHECK_EQUAL(Explained("1", options).rows, 40u);
  BOOST_CHECK_EQUAL(Figures(Explained("1")), "39 39 0");
}

BOOST_AUTO_TEST_CASE(APastByTimestampKnowsNoDeadPostings) {
  for (int row = 0; row < kRows; row += 4) PutAt(row, "2", kFileTime + 1);
  ReadOptions options;
  options.as_of = kFileTime + 1;
  BOOST_CHECK_EQUAL(Figures(Explained("1", options)), "30 40 40");
}

BOOST_AUTO_TEST_CASE(DeletesOfColumnAndRowKill) {
  WriteBatch batch;
  batch.DeleteColumn("t", Key(0), "d", "c");
  batch.DeleteRow("t", Key(1));
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_CHECK_EQUAL(Figures(Explained("1")), "38 38 0");
}

BOOST_FIXTURE_TEST_CASE(ADeletedCellRevealsWhatItHid, TwoVersions) {
  PutAt(0, "2", kFileTime + 1);
  BOOST_CHECK_EQUAL(Figures(Explained("1")), "39 39 0");
  WriteBatch batch;
  batch.DeleteCell("t", Key(0), "d", "c", kFileTime + 1);
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_CHECK_EQUAL(Explained("1").rows, 40u);
  BOOST_CHECK_EQUAL(Explained("2").rows, 0u);
}

BOOST_AUTO_TEST_CASE(OfARowsPostingsInAMemstoreTheLastLeadsToIt) {
  PutAt(0, "2", kFileTime + 1);
  PutAt(0, "3", kFileTime + 2);
  BOOST_CHECK_EQUAL(Figures(Explained("2")), "0 0 0");
  BOOST_CHECK_EQUAL(Figures(Explained("3")), "1 1 1");
  PutAt(0, "4", kFileTime + 1);  // Older than what is there.
  BOOST_CHECK_EQUAL(Explained("3").rows, 1u);
  BOOST_CHECK_EQUAL(Explained("4").rows, 0u);
  PutAt(0, "1", kFileTime + 3);
  BOOST_CHECK_EQUAL(Figures(Explained("1")), "40 40 1");
}

BOOST_AUTO_TEST_CASE(ASnapshotSeesThePostingThatWasTheLast) {
  PutAt(0, "2", kFileTime + 1);
  const Result<Snapshot> snapshot = (**this).TakeSnapshot();
  PutAt(0, "3", kFileTime + 2);
  ReadOptions options;
  options.snapshot = &*snapshot;
  BOOST_CHECK_EQUAL(Explained("2", options).rows, 1u);
  BOOST_CHECK_EQUAL(Explained("3", options).rows, 0u);
}

BOOST_AUTO_TEST_CASE(ARowOfVeryManyCellsKillsAsOneOfFew) {
  PutAt(0, "2", kFileTime + 1);
  for (int i = 0; i < 100; ++i) PutAt(0, "x", kFileTime + 2 + i, "other");
  BOOST_CHECK_EQUAL(Figures(Explained("1")), "39 39 0");
  BOOST_CHECK_EQUAL(Figures(Explained("2")), "1 1 1");
}

BOOST_AUTO_TEST_CASE(AnOrOfTwoColumnsKillsNothing) {
  PutAt(0, "2", kFileTime + 1);
  PutAt(1, "2", kFileTime + 1);
  QueryOptions scan;
  scan.no_index = true;
  const Predicate either = Predicate::Or({Predicate::Equal("c", "1"), Predicate::Equal("c", "2")});
  BOOST_CHECK_EQUAL(Keys(either, {}, {}), Keys(either, {}, scan));
}

BOOST_FIXTURE_TEST_CASE(ACountReadsNoRowThatAMemstoreDecides, Uncached) {
  PutAt(5, "1", kFileTime + 1);
  PutAt(kRows, "1", kFileTime + 1);  // In the memstore alone.
  const size_t ones = ReadsOfCount("1", 41), twos = ReadsOfCount("2", 0);
  PutAt(0, "2", kFileTime + 1);
  PutAt(1, "2", kFileTime);
  PutAt(2, "1", kFileTime + 1);
  PutAt(3, "2", kFileTime + 1, "other");
  BOOST_CHECK_EQUAL(ReadsOfCount("1", 39), ones);
  BOOST_CHECK_EQUAL(ReadsOfCount("2", 2), twos);
  PutAt(4, "2", kFileTime - 1);  // The file's Put is newer.
  BOOST_CHECK_GT(ReadsOfCount("1", 39), ones);
  BOOST_CHECK_GT(ReadsOfCount("2", 2), twos);
}

// One that is being added may be in some of the memstore's structures only.
BOOST_AUTO_TEST_CASE(RowsThatASnapshotDoesNotSeeAreNoCandidates) {
  PutAt(kRows, "x", kFileTime + 1, "other");
  const Result<Snapshot> snapshot = (**this).TakeSnapshot();
  for (int row = 1; row <= 5; ++row) PutAt(kRows + row, "x", kFileTime + 1, "other");
  QueryOptions by_index;
  by_index.use_index = "by_c";
  ReadOptions options;
  const auto explained = [&] {
    const auto found = (**this).Explain(options, "t", Predicate::IsNull("c"), by_index);
    BOOST_REQUIRE_EQUAL(found.status().ToString(), "OK");
    return Figures(*found);
  };
  BOOST_CHECK_EQUAL(explained(), "6 0 6");
  options.snapshot = &*snapshot;
  BOOST_CHECK_EQUAL(explained(), "1 0 1");
}

BOOST_AUTO_TEST_CASE(ADeletedCellOfAFileIsNotCounted) {
  WriteBatch batch;
  batch.DeleteCell("t", Key(0), "d", "c", kFileTime);
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_CHECK_EQUAL(Explained("1").rows, 39u);
}

BOOST_AUTO_TEST_CASE(ALaterWriteChangesNoCountAtASnapshot) {
  PutAt(0, "2", kFileTime + 1);
  const Result<Snapshot> snapshot = (**this).TakeSnapshot();
  for (int row = 0; row < 10; ++row) PutAt(row, "3", kFileTime + 2);
  for (int row = 10; row < 20; ++row) PutAt(row, "3", kFileTime + 2, "other");
  ReadOptions options;
  options.snapshot = &*snapshot;
  BOOST_CHECK_EQUAL(Explained("1", options).rows, 39u);
  BOOST_CHECK_EQUAL(Explained("2", options).rows, 1u);
  BOOST_CHECK_EQUAL(Explained("3", options).rows, 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
