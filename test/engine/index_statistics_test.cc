// What GetIndexStatistics says of tables whose rows are known.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::engine {
namespace {

struct StatisticsFixture {
  StatisticsFixture() {
    BOOST_REQUIRE(db.Open().ok());
    TableOptions table = test::SimpleTable(3);
    table.families[0].block_size_bytes = 512;
    BOOST_REQUIRE(db->CreateTable(table).ok());
  }
  static std::string Row(int i) { return "row" + std::to_string(1000 + i); }
  /// Row i gets the value `value_of(i)`, in one flush.
  template <typename ValueOf>
  void Fill(int rows, const ValueOf& value_of) {
    WriteBatch batch;
    for (int i = 0; i < rows; ++i) {
      batch.Put("t", Row(i), "d", "c", value_of(i));
      batch.Put("t", Row(i), "d", "x", std::string(40, 'x'));
    }
    BOOST_REQUIRE(db.Write(batch).ok());
    BOOST_REQUIRE(db->Flush("t").ok());
  }
  IndexStatistics Get() {
    const auto found = db->GetIndexStatistics("t", "by_c", nullptr);
    BOOST_REQUIRE_MESSAGE(found.has_value(), found.status().ToString());
    return *found;
  }

  test::TestEngine db;
};

BOOST_FIXTURE_TEST_SUITE(index_statistics, StatisticsFixture)

BOOST_AUTO_TEST_CASE(RowsInTheOrderOfTheIndexChangeBlocksRarely) {
  Fill(300, [](int i) { return std::to_string(1000 + i); });
  const IndexStatistics found = Get();
  BOOST_TEST(found.files == 1u);
  BOOST_TEST(found.files_without == 0u);
  BOOST_TEST(found.entries == 300u);
  BOOST_TEST(found.older_entries == 0u);
  BOOST_TEST(found.values == 300u);
  BOOST_TEST(found.blocks > 20u);
  BOOST_TEST(found.block_changes == found.blocks);
  BOOST_TEST(found.size_bytes > 300u);
}

BOOST_AUTO_TEST_CASE(RowsInAnotherOrderChangeBlocksOften) {
  Fill(300, [](int i) { return std::to_string(1000 + i * 97 % 300); });
  const IndexStatistics found = Get();
  BOOST_TEST(found.values == 300u);
  BOOST_TEST(found.block_changes == 300u);
}

// Each row is indexed again, by the index and by one over its first column.
BOOST_AUTO_TEST_CASE(TheCostOfARowIsThatOfItsEntries) {
  BOOST_TEST(Get().rows_indexed == 0u);
  IndexOptions both = *IndexOptions::Parse("c, x");
  both.name = "both";
  BOOST_REQUIRE(db->CreateIndex("t", both).ok());
  Fill(3000, [](int i) { return std::to_string(1000 + i % 7); });
  const IndexStatistics one = Get();
  BOOST_TEST(one.rows_indexed == 3000u);
  BOOST_TEST(one.row_bytes == one.first_column_bytes);
  BOOST_TEST(one.row_bytes * 3000 < 2.0 * static_cast<double>(one.size_bytes));
  BOOST_TEST(one.row_bytes * 3000 > 0.5 * static_cast<double>(one.size_bytes));
  BOOST_TEST(one.row_micros > 0);
  BOOST_TEST(one.first_column_micros > 0);
  const auto two = db->GetIndexStatistics("t", "both", nullptr);
  BOOST_REQUIRE_MESSAGE(two.has_value(), two.status().ToString());
  BOOST_TEST(two->rows_indexed == 3000u);
  BOOST_TEST(two->first_column_bytes == one.row_bytes);
  BOOST_TEST(two->row_bytes > two->first_column_bytes);
  // Of a large table some rows stand for all.
  Fill(60'000, [](int i) { return std::to_string(1000 + i % 7); });
  const IndexStatistics many = Get();
  BOOST_TEST(many.rows_indexed > 8'000u);
  BOOST_TEST(many.rows_indexed < 30'000u);
}

BOOST_AUTO_TEST_CASE(AValueCountsOnceInAllFilesAndARowInEach) {
  Fill(300, [](int i) { return std::to_string(i % 7); });
  Fill(100, [](int i) { return std::to_string(i % 9); });
  BOOST_REQUIRE(db.Put("memory", "c", "only").ok());
  IndexStatistics found = Get();
  BOOST_TEST(found.files == 2u);
  BOOST_TEST(found.entries == 400u);
  BOOST_TEST(found.values == 9u);
  BOOST_REQUIRE(db->Compact("t").ok());
  found = Get();
  BOOST_TEST(found.files == 1u);
  BOOST_TEST(found.entries == 301u);
  BOOST_TEST(found.older_entries == 86u);  // 14 rows have the value that they had.
  BOOST_TEST(found.values == 10u);
}

// Halves of a split region share a file, whose entries count once.
BOOST_AUTO_TEST_CASE(ASharedFileCountsOnce) {
  Fill(300, [](int i) { return std::to_string(i % 7); });
  const IndexStatistics before = Get();
  BOOST_REQUIRE(db->Split("t", {.key = Row(100)}).has_value());
  const IndexStatistics found = Get();
  BOOST_TEST(found.files == 1u);
  BOOST_TEST(found.entries == before.entries);
  BOOST_TEST(found.size_bytes == before.size_bytes);
  BOOST_TEST(found.block_changes == before.block_changes);
}

BOOST_AUTO_TEST_CASE(FilesFromBeforeTheIndexAreWithoutIt) {
  Fill(50, [](int i) { return std::to_string(i); });
  BOOST_REQUIRE(db->DropIndex("t", "by_c").ok());
  BOOST_TEST(
      (db->GetIndexStatistics("t", "by_c", nullptr).error().code() == StatusCode::kNotFound));
  IndexOptions other{.name = "by_x", .columns = {{.family = "d", .qualifier = "x"}}};
  BOOST_REQUIRE(db->CreateIndex("t", other).ok());
  const auto found = db->GetIndexStatistics("t", "by_x", nullptr);
  BOOST_REQUIRE(found.has_value());
  BOOST_TEST(found->files == 1u);
  BOOST_TEST(found->files_without + found->entries / 50 == 1u);
}

BOOST_AUTO_TEST_CASE(ItCanBeCancelled) {
  Fill(50, [](int i) { return std::to_string(i); });
  const std::atomic<bool> cancelled = true;
  BOOST_TEST(
      (db->GetIndexStatistics("t", "by_c", &cancelled).error().code() == StatusCode::kCancelled));
  BOOST_TEST(
      (db->GetIndexStatistics("none", "by_c", nullptr).error().code() == StatusCode::kNotFound));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine
