// Queries with a limit take the hits of a large file part by part: what they return is the
// beginning of what the query without it returns, wherever the limit falls.
#define BOOST_TEST_DYN_LINK
#include <tandem/tandem.h>

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"

namespace tandem {
namespace {

constexpr uint32_t kRows = 120'000;  // The parts are of 16,384, 65,536, ... rows.

std::string KeyOf(uint32_t row) {
  char key[16];
  std::snprintf(key, sizeof key, "row%06u", row);
  return key;
}

class LargeTable {
 public:
  LargeTable() {
    Options options;
    options.create_if_missing = true;
    auto database = Database::Open(place_.Path("db"), options);
    BOOST_TEST_REQUIRE(database.has_value(), database.status());
    database_ = std::move(*database);
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "f"}};
    table.indexes = {{"by_v", {{"f", "v"}}}};
    BOOST_REQUIRE(database_->CreateTable(table).ok());
    WriteBatch batch;
    for (uint32_t row = 0; row < kRows; ++row) {
      batch.Put("t", KeyOf(row), "f", "v", ValueOf(row));
      if (row % 1000 != 999) continue;
      BOOST_REQUIRE(database_->Write({}, batch).ok());
      batch.Clear();
    }
    BOOST_REQUIRE(database_->Compact("t").ok());
  }

  /// "many" in every second row, "late" in three of the last rows, else "rest".
  static std::string ValueOf(uint32_t row) {
    if (row > kRows - 4) return "late";
    return row % 2 == 0 ? "many" : "rest";
  }

  std::vector<std::string> Query(const Predicate& predicate, uint64_t limit) {
    QueryOptions query;
    query.limit = limit;
    auto rows = database_->Query({}, "t", predicate, query);
    BOOST_TEST_REQUIRE(rows.has_value(), rows.status());
    std::vector<std::string> keys;
    while (rows->Next()) keys.emplace_back(rows->row().key());
    BOOST_TEST_REQUIRE(rows->status().ok(), rows->status());
    return keys;
  }

  /// An update of a row, in the memstore.
  void Put(uint32_t row, const std::string& value) {
    WriteBatch batch;
    batch.Put("t", KeyOf(row), "f", "v", value);
    BOOST_REQUIRE(database_->Write({}, batch).ok());
  }

 private:
  test::TemporaryDirectory place_;
  std::unique_ptr<Database> database_;
};

void CheckLimits(LargeTable* table, const Predicate& predicate, test::TestRandom* random) {
  const std::vector<std::string> all = table->Query(predicate, 0);
  BOOST_REQUIRE(!all.empty());
  std::vector<uint64_t> limits{1, all.size() - 1, all.size(), all.size() + 1, 8'192, 8'193};
  for (int i = 0; i < 5; ++i) limits.push_back(1 + random->Below(all.size()));
  for (const uint64_t limit : limits) {
    if (limit == 0) continue;
    std::vector<std::string> expected = all;
    expected.resize(std::min<uint64_t>(limit, all.size()));
    BOOST_TEST((table->Query(predicate, limit) == expected), "limit " << limit);
  }
}

BOOST_AUTO_TEST_SUITE(LimitedQuery)

BOOST_AUTO_TEST_CASE(IsTheBeginningOfTheWhole) {
  test::TestRandom random("LimitedQuery");
  LargeTable table;
  const Predicate many = Predicate::Equal("v", "many"), late = Predicate::Equal("v", "late");
  BOOST_TEST(table.Query(many, 0).size() == kRows / 2 - 1);
  BOOST_TEST(table.Query(late, 0).size() == 3u);
  for (const Predicate& predicate : {many, late}) CheckLimits(&table, predicate, &random);
  table.Put(3, "many");
  table.Put(20'000, "late");
  for (const Predicate& predicate : {many, late}) CheckLimits(&table, predicate, &random);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem
