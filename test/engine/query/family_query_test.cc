// Queries by an index over a family: a DeleteFamily or DeleteRow makes the postings of older
// sources dead, and nothing else does (rule 32). Which rows are looked at, and that the answer is
// that of a scan.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr int kRows = 40;
constexpr int64_t kTime = 1'000;

// Rows that have the columns "c" and "x", and an index over the qualifiers.
struct FamilyQueryFixture : TestEngine {
  FamilyQueryFixture() {
    tuning.compaction_runs = 100;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable();
    table.indexes = {{.name = "keys", .columns = {*IndexColumn::Parse("map_keys(d)")}}};
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
    for (int row = 0; row < kRows; ++row) {
      for (const char* column : {"c", "x"}) PutAt(row, column, kTime);
    }
  }
  static std::string Key(int row) { return "row" + std::to_string(100 + row); }
  void PutAt(int row, std::string_view column, int64_t timestamp) {
    BOOST_REQUIRE_EQUAL(Put(Key(row), column, "1", Durability::kWritten, timestamp).ToString(),
                        "OK");
  }
  void Flush() {
    BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
    executor.Drain();  // It builds the overlaps.
  }
  void WriteBatchOf(const std::function<void(WriteBatch*)>& fill) {
    WriteBatch batch;
    fill(&batch);
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
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
  /// Of the rows with the column: how many are returned, and looked at in all files, or merged.
  std::string Figures(const std::string& column, const ReadOptions& options = {}) {
    const Predicate has = *Predicate::Parse("map_keys(d) = '" + column + "'");
    const QueryOptions by_index{.use_index = "keys"};
    QueryOptions scan;
    scan.no_index = true;
    BOOST_CHECK_EQUAL(Keys(has, options, by_index), Keys(has, options, scan));
    const auto explained = (**this).Explain(options, "t", has, by_index);
    BOOST_REQUIRE_EQUAL(explained.status().ToString(), "OK");
    const auto count = (**this).Count(options, "t", has, by_index);
    BOOST_REQUIRE_EQUAL(count.status().ToString(), "OK");
    BOOST_CHECK_EQUAL(*count, explained->rows);
    return std::to_string(explained->rows) + ' ' +
           std::to_string(std::max(explained->candidate_rows, explained->merged_rows));
  }
  int Rows(const std::string& column, const ReadOptions& options) {
    return std::stoi(Figures(column, options));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(FamilyQuery, FamilyQueryFixture)

BOOST_AUTO_TEST_CASE(DeletesOfRowAndFamilyKill) {
  Flush();
  WriteBatchOf([&](WriteBatch* batch) {
    for (int row = 0; row < 10; ++row) batch->DeleteRow("t", Key(row));
    for (int row = 10; row < 20; ++row) batch->DeleteFamily("t", Key(row), "d");
  });
  BOOST_CHECK_EQUAL(Figures("c"), "20 20");  // In the memstore,
  Flush();
  BOOST_CHECK_EQUAL(Figures("c"), "20 20");  // and in a file.
}

BOOST_AUTO_TEST_CASE(NothingElseKills) {
  Flush();
  WriteBatchOf([&](WriteBatch* batch) {
    for (int row = 0; row < 10; ++row) batch->DeleteColumn("t", Key(row), "d", "x");
    for (int row = 10; row < 20; ++row) batch->DeleteCell("t", Key(row), "d", "x", kTime);
    for (int row = 20; row < 30; ++row) batch->Put("t", Key(row), "d", "y", "2");
  });
  BOOST_CHECK_EQUAL(Figures("c"), "40 40");
  BOOST_CHECK_EQUAL(Figures("x"), "20 40");
  BOOST_CHECK_EQUAL(Figures("y"), "10 10");
  Flush();  // Now 30 rows are in two files.
  BOOST_CHECK_EQUAL(Figures("c"), "40 70");
  BOOST_CHECK_EQUAL(Figures("x"), "20 70");
  BOOST_CHECK_EQUAL(Figures("y"), "10 20");
}

BOOST_AUTO_TEST_CASE(ARowThatComesBackIsFoundByWhatItHasNow) {
  Flush();
  WriteBatchOf([&](WriteBatch* batch) {
    for (int row = 0; row < 10; ++row) {
      batch->DeleteRow("t", Key(row));
      batch->Put("t", Key(row), "d", "y", "2");
    }
  });
  BOOST_CHECK_EQUAL(Figures("c"), "30 30");
  BOOST_CHECK_EQUAL(Figures("y"), "10 10");
  Flush();
  BOOST_CHECK_EQUAL(Figures("c"), "30 30");
  BOOST_CHECK_EQUAL(Figures("y"), "10 20");
}

BOOST_AUTO_TEST_CASE(ADeleteAtAnOlderTimestampKillsNothing) {
  Flush();
  WriteBatchOf([&](WriteBatch* batch) {
    batch->DeleteRow("t", Key(0), kTime - 1);
    batch->DeleteRow("t", Key(1), kTime);
  });
  BOOST_CHECK_EQUAL(Figures("c"), "39 39");
  Flush();
  BOOST_CHECK_EQUAL(Figures("c"), "39 40");
}

BOOST_AUTO_TEST_CASE(ReadersOfThePastSeeWhatIsDeadNow) {
  Flush();
  Result<Snapshot> before = (**this).TakeSnapshot();
  WriteBatchOf([&](WriteBatch* batch) {
    for (int row = 0; row < 10; ++row) batch->DeleteRow("t", Key(row));
  });
  ReadOptions then, past;
  then.snapshot = &*before;
  past.as_of = kTime;
  BOOST_CHECK_EQUAL(Figures("c", then), "40 40");
  BOOST_CHECK_EQUAL(Figures("c", past), "30 40");
  BOOST_CHECK_EQUAL(Figures("c"), "30 30");
  Flush();
  BOOST_CHECK_EQUAL(Rows("c", then), 40);
  BOOST_CHECK_EQUAL(Rows("c", past), 30);
  BOOST_CHECK_EQUAL(Figures("c"), "30 30");
  before = Status::Closed("");
}

BOOST_AUTO_TEST_CASE(DeletesInTheSameMemstoreKill) {
  WriteBatchOf([&](WriteBatch* batch) {
    for (int row = 0; row < 10; ++row) batch->DeleteRow("t", Key(row));
    for (int row = 10; row < 20; ++row) batch->DeleteColumn("t", Key(row), "d", "x");
    batch->DeleteFamily("t", Key(20), "d", kTime - 1);
    batch->DeleteFamily("t", Key(21), "d");
    batch->Put("t", Key(21), "d", "y", "2");
  });
  BOOST_CHECK_EQUAL(Figures("c"), "29 30");  // A row with another column now is looked at.
  BOOST_CHECK_EQUAL(Figures("x"), "19 30");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
