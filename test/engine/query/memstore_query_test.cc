// Queries over rows that a memstore has updated: which hits of the file are looked at, and that the
// answer is that of a scan.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr int kRows = 40;
constexpr int64_t kFileTime = 1'000;

// A file of rows whose column c is "1", and a memstore over it.
struct MemstoreQueryFixture : TestEngine {
  explicit MemstoreQueryFixture(uint32_t max_versions = 1) {
    tuning.compaction_runs = 100;
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

struct TwoVersions : MemstoreQueryFixture {
  TwoVersions() : MemstoreQueryFixture(2) {}
};

// How many rows were returned, looked at in files, decided on the cells of all sources.
std::string Figures(const Explanation& explained) {
  return std::to_string(explained.rows) + ' ' + std::to_string(explained.candidate_rows) + ' ' +
         std::to_string(explained.unsettled_rows);
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

BOOST_AUTO_TEST_CASE(APutOfAnotherColumnUnsettlesAndKillsNothing) {
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
