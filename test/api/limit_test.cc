// Queries with a limit, which may begin with a scan: they return the first matches in key order,
// wherever these lie.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

constexpr int kRows = 2000;

std::string KeyOf(int row) {
  std::string key = std::to_string(row);
  return std::string(6 - key.size(), '0') + key;
}

/// Rows in one file whose `v` rises with the key, `w` is row % 7, and `x` is absent in every third.
struct LimitFixture {
  LimitFixture() : database(OpenSmall(directory.Path("db"))) {
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d"}};
    table.indexes = {{"by_v", {{"d", "v", ColumnType::kInt64}}},
                     {"by_w", {{"d", "w", ColumnType::kInt64}}},
                     {"by_x", {{"d", "x"}}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    Fill(0, kRows);
  }

  void Fill(int first, int end) {
    WriteBatch batch;
    for (int row = first; row < end; ++row) {
      batch.Put("t", KeyOf(row), "d", "v", std::to_string(row));
      batch.Put("t", KeyOf(row), "d", "w", std::to_string(row % 7));
      if (row % 3 != 0) batch.Put("t", KeyOf(row), "d", "x", row % 2 == 0 ? "even" : "odd");
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  }

  std::vector<std::string> KeysOf(const std::string& predicate, const QueryOptions& options) {
    auto cursor = database->Query({}, "t", *Predicate::Parse(predicate), options);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::vector<std::string> keys;
    while (cursor->Next()) keys.emplace_back(cursor->row().key());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return keys;
  }

  bool BeginsWithScan(const std::string& predicate, uint64_t limit) {
    const auto plan = database->Explain({}, "t", *Predicate::Parse(predicate), {.limit = limit});
    BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
    return plan->reason.find("after a scan of up to") != std::string::npos;
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(limits, LimitFixture)

BOOST_AUTO_TEST_CASE(AReadBeginsWithAScanWhereMatchesAreMany) {
  BOOST_TEST(BeginsWithScan("v < 1000", 10));
  BOOST_TEST(BeginsWithScan("v >= 1000", 10));  // They lie at the end, which is not known.
  BOOST_TEST(!BeginsWithScan("v < 20", 10));
  BOOST_TEST(!BeginsWithScan("v < 1000", 0));
  BOOST_TEST(!BeginsWithScan("v < 1000", 900));
  BOOST_TEST(!BeginsWithScan("w = 3", 10));  // Its entries come in the order of the rows.
  // One row in 14 satisfies both.
  BOOST_TEST(!BeginsWithScan("v < 1000 AND w = 3", 10));
}

// A part of the rows costs a part of the entries of an index that has few keys in the range.
BOOST_AUTO_TEST_CASE(AReadBeginsWithTheIndexThatHasFewKeys) {
  Fill(kRows, 10 * kRows);
  const auto begins_so = [this](const std::string& predicate, uint64_t limit) {
    const auto plan = database->Explain({}, "t", *Predicate::Parse(predicate), {.limit = limit});
    BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
    return plan->reason.find("after those of by_w among the first") != std::string::npos;
  };
  BOOST_TEST(begins_so("v < 1300 AND w < 1", 3));
  BOOST_TEST(begins_so("v >= 18700 AND w < 1", 3));  // They lie at the end, which is not known.
  BOOST_TEST(!begins_so("v < 1300 AND w < 1", 0));
  BOOST_TEST(!begins_so("v < 1300 AND w < 1", 50));
  BOOST_TEST(!begins_so("v < 100 AND w < 1", 3));
  for (const std::string predicate :
       {"v < 1300 AND w < 1", "v >= 18700 AND w < 1", "v BETWEEN 9000 AND 10300 AND w > 5",
        "v >= 18700 AND w < 1 AND x = 'odd'", "v < 1300 AND w < 1 AND x IS NULL"}) {
    const std::vector<std::string> all = KeysOf(predicate, {.no_index = true});
    for (const uint64_t limit : {1u, 2u, 3u, 4u, 5u, 10u, 100u}) {
      const std::vector<std::string> found = KeysOf(predicate, {.limit = limit});
      const auto end = all.begin() + static_cast<ptrdiff_t>(std::min<size_t>(limit, all.size()));
      BOOST_TEST_CONTEXT(predicate << " limit " << limit) {
        BOOST_TEST(found == std::vector<std::string>(all.begin(), end),
                   boost::test_tools::per_element());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(ABudgetIsNotSpentOnAScan) {
  ReadOptions read;
  read.budget.rows = 12;
  auto cursor = database->Query(read, "t", *Predicate::Parse("v >= 1000"), {.limit = 10});
  BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
  int rows = 0;
  while (cursor->Next()) ++rows;
  BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
  BOOST_TEST(rows == 10);
}

// A condition may take long on each row.
BOOST_AUTO_TEST_CASE(AScanThatMatchesNothingEndsAtTheNextRow) {
  std::atomic<bool> cancel = false;
  int calls = 0;
  BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
  Options options = SmallOptions();
  options.functions["cancels"] = std::make_shared<RegisteredFunction>(
      RegisteredFunction{.apply = [&](std::string_view) -> std::optional<std::string> {
        cancel = ++calls >= 5;
        return std::nullopt;
      }});
  database = OpenSmall(directory.Path("db"), options);
  ReadOptions read;
  read.cancelled = &cancel;
  auto cursor = database->Query(read, "t", *Predicate::Parse("call('cancels', x) = 'y'"));
  const bool is_row = cursor.status().ok() && cursor->Next();
  BOOST_TEST(!is_row);
  const Status status = cursor.status().ok() ? cursor->status() : cursor.status();
  BOOST_TEST((status.code() == StatusCode::kCancelled));
  BOOST_TEST(calls == 5);
}

BOOST_AUTO_TEST_CASE(TheFirstMatchesAreReturnedWhereverTheyLie) {
  const char* const predicates[] = {"v < 1000",
                                    "v >= 1000",
                                    "v >= 1990",
                                    "v < 1000 AND w < 3",
                                    "v >= 900 AND w IN (1, 2, 5)",
                                    "v >= 1000 AND x IS NULL",
                                    "x IS NULL",
                                    "NOT x = 'odd'",
                                    "NOT x = 'odd' AND v > 1500",
                                    "v < 700 OR w < 2",
                                    "v > 1200 AND _row < '001300'",
                                    "w != 3",
                                    "v > 5000 OR w < 6"};
  for (const std::string predicate : predicates) {
    const std::vector<std::string> all = KeysOf(predicate, {.no_index = true});
    for (const uint64_t limit : {1u, 10u, 40u, 300u, 5000u}) {
      const size_t count = std::min<size_t>(limit, all.size());
      const std::vector<std::string> first(all.begin(), all.begin() + static_cast<long>(count));
      BOOST_TEST(KeysOf(predicate, {.limit = limit}) == first, predicate << " " << limit);
      BOOST_TEST(KeysOf(predicate, {.limit = limit, .no_index = true}) == first);
    }
  }
}

// A scan decodes the columns of the condition first: rows of every form come out the same.
BOOST_AUTO_TEST_CASE(ARowOfAnyFormIsFiltered) {
  WriteBatch batch;
  batch.Put("t", "wide", "d", "v", "1");
  for (int i = 0; i < 3000; ++i) batch.Put("t", "wide", "d", KeyOf(i), std::string(40, 'c'));
  batch.Put("t", "large", "d", "v", "2");
  batch.Put("t", "large", "d", "payload", std::string(100'000, 'p'));
  batch.Put("t", "other", "d", "y", "no v");
  batch.Put("t", KeyOf(5), "d", "v", "6");
  batch.DeleteColumn("t", KeyOf(6), "d", "v");
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
  for (const bool merged : {false, true}) {
    if (merged) BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
    const auto scanned = [&](const std::string& predicate) {
      return KeysOf(predicate, {.no_index = true});
    };
    const std::vector<std::string> ones = {KeyOf(1), "wide"}, sixes = {KeyOf(5)};
    BOOST_TEST(scanned("v = 1") == ones);
    BOOST_TEST(scanned("v = 6") == sixes);
    BOOST_TEST(scanned("v IS NULL") == (std::vector<std::string>{KeyOf(6), "other"}));
    BOOST_TEST(scanned("payload PREFIX 'pp'") == std::vector<std::string>{"large"});
    BOOST_TEST(scanned("v < 3 AND _row > 'a'") == (std::vector<std::string>{"large", "wide"}));
    const auto counted = database->Count({}, "t", *Predicate::Parse("v < 7"), {.no_index = true});
    BOOST_REQUIRE_EQUAL(counted.status().ToString(), "OK");
    BOOST_TEST(*counted == 8u);  // Rows 0 to 5, "large" and "wide".
  }
  // Only other columns are returned, perhaps none of a row.
  ReadOptions returned;
  returned.columns = {{"d", "w"}};
  for (const QueryOptions& options : {QueryOptions{.no_index = true}, QueryOptions{}}) {
    auto cursor = database->Query(returned, "t", *Predicate::Parse("v < 3"), options);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    for (const std::string& key :
         {KeyOf(0), KeyOf(1), KeyOf(2), std::string("large"), std::string("wide")}) {
      BOOST_REQUIRE(cursor->Next());
      BOOST_TEST(cursor->row().key() == key);
      BOOST_TEST(cursor->row().cells().size() == (key.front() == '0' ? 1u : 0u));
    }
    BOOST_TEST(!cursor->Next());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
