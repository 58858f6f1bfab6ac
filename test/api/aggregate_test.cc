// Groups of rows: whichever way they are made, they are those of a scan. The model test compares
// them over random histories (test/model/checker.cc).
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

using Kind = AggregateKind;

// "a,b=1,2; ...", with - for an absent value; or the error.
std::string TextOf(Result<GroupCursor> groups) {
  if (!groups.has_value()) return groups.error().ToString();
  std::string text;
  const auto add = [&text](const auto& values) {
    bool is_first = true;
    for (const auto& value : values) {
      if (!std::exchange(is_first, false)) text += ',';
      text += value.has_value() ? std::string(*value) : "-";
    }
  };
  while (groups->Next()) {
    if (!text.empty()) text += "; ";
    add(groups->keys());
    text += '=';
    add(groups->values());
  }
  return groups->status().ok() ? text : groups->status().ToString();
}

struct AggregateFixture {
  AggregateFixture() : database(OpenSmall(directory.Path("db"))) {
    TableOptions table;
    table.name = "orders";
    table.families = {{.name = "d"}};
    table.columns = {{"d", "total", ColumnType::kInt64}, {"d", "price", ColumnType::kDouble}};
    table.indexes = {
        {.name = "city", .columns = {{"d", "city", ColumnType::kText}}},
        {.name = "total", .columns = {{"d", "total", ColumnType::kInt64, true}}},
        {.name = "city_total",
         .columns = {{"d", "city", ColumnType::kText}, {"d", "total", ColumnType::kInt64}}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }

  void Put(const std::string& row, const std::vector<std::pair<std::string, std::string>>& cells) {
    WriteBatch batch;
    for (const auto& [column, value] : cells) batch.Put("orders", row, "d", column, value);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void PutSome() {
    Put("1", {{"city", "Oslo"}, {"total", "5"}, {"price", "0.5"}});
    Put("2", {{"city", "Bergen"}, {"total", "007"}, {"price", "1e300"}});
    Put("3", {{"city", "Oslo"}, {"total", "7"}, {"state", "open"}});
    Put("4", {{"state", "open"}, {"total", "-3"}});
    Put("5", {{"city", "Oslo"}, {"state", "open"}});
  }
  void Delete(const std::string& row, const std::string& column) {
    WriteBatch batch;
    batch.DeleteColumn("orders", row, "d", column);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  std::string Groups(const AggregateOptions& options, const std::string& predicate = "") {
    Predicate parsed;
    if (!predicate.empty()) parsed = *Predicate::Parse(predicate);
    return TextOf(database->Aggregate({}, "orders", parsed, options));
  }
  std::string Way(const AggregateOptions& options, const std::string& predicate = "") {
    Predicate parsed;
    if (!predicate.empty()) parsed = *Predicate::Parse(predicate);
    const auto explained = database->ExplainAggregate({}, "orders", parsed, options);
    if (!explained.has_value()) return explained.error().ToString();
    return explained->grouping + ": " + std::to_string(explained->groups);
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
};

BOOST_FIXTURE_TEST_SUITE(aggregate, AggregateFixture)

BOOST_AUTO_TEST_CASE(groups_are_those_of_a_scan_in_memory_and_in_files) {
  PutSome();
  for (const bool in_files : {false, true}) {
    if (in_files) BOOST_REQUIRE_EQUAL(database->Compact("orders").ToString(), "OK");
    BOOST_TEST(Groups({.group_by = {"city"}, .values = {{Kind::kRows}}}) ==
               "-=1; Bergen=1; Oslo=3");
    BOOST_TEST(Groups({.group_by = {"city"}}) == "-=; Bergen=; Oslo=");
    BOOST_TEST(Groups({.group_by = {"city"},
                       .values = {{Kind::kCount, "total"},
                                  {Kind::kMin, "total"},
                                  {Kind::kMax, "total"},
                                  {Kind::kSum, "total"},
                                  {Kind::kAverage, "total"}}}) ==
               "-=1,-3,-3,-3,-3; Bergen=1,7,7,7,7; Oslo=2,5,7,12,6");
    // 007 is 7.
    BOOST_TEST(Groups({.group_by = {"total"}, .values = {{Kind::kRows}}, .descending = true}) ==
               "7=2; 5=1; -3=1; -=1");
    BOOST_TEST(Groups({.group_by = {"city", "total"}, .values = {{Kind::kRows}}}) ==
               "-,-3=1; Bergen,7=1; Oslo,-=1; Oslo,5=1; Oslo,7=1");
    BOOST_TEST(Groups({.group_by = {"city"}, .values = {{Kind::kRows}}}, "state = 'open'") ==
               "-=1; Oslo=2");
    BOOST_TEST(Groups({.group_by = {"city"}, .values = {{Kind::kRows}}}, "city > 'C'") == "Oslo=3");
    BOOST_TEST(Groups({.group_by = {"lower(city)"}, .values = {{Kind::kRows}}, .limit = 2}) ==
               "-=1; bergen=1");
  }
}

BOOST_AUTO_TEST_CASE(all_rows_are_one_group_also_if_there_are_none) {
  const AggregateOptions all{
      .values = {{Kind::kRows}, {Kind::kMin, "total"}, {Kind::kMax, "total"}}};
  BOOST_TEST(Groups(all) == "=0,-,-");
  BOOST_TEST(Groups({.values = {{Kind::kSum, "total"}, {Kind::kAverage, "price"}}}) == "=0,-");
  PutSome();
  BOOST_TEST(Groups(all) == "=5,-3,7");
  BOOST_TEST(Groups(all, "city = 'Oslo'") == "=3,5,7");
  BOOST_TEST(Way(all) == "rows counted, the end of index total, the end of index total: 1");
  BOOST_TEST(Groups({.values = {{Kind::kSum, "price"}}}) == "=1e+300");
}

BOOST_AUTO_TEST_CASE(the_way_is_by_entries_in_order_or_collected) {
  for (int row = 0; row < 1000; ++row) {
    Put("row" + std::to_string(row),
        {{"city", row % 2 == 0 ? "Oslo" : "Bergen"}, {"total", std::to_string(row % 10)}});
  }
  const AggregateOptions rows{.group_by = {"city"}, .values = {{Kind::kRows}}};
  BOOST_TEST(Way(rows) == "collected in memory: 2");
  BOOST_REQUIRE_EQUAL(database->Compact("orders").ToString(), "OK");
  BOOST_TEST(Way(rows) == "counted by the entries of index city: 2");
  BOOST_TEST(Groups(rows) == "Bergen=500; Oslo=500");
  // Rows in memory are decided: one has another value now, two have new ones, one has lost its own.
  Put("row7", {{"city", "Oslo"}});
  Put("none", {{"state", "open"}});
  Put("first", {{"city", "Aba"}});
  Put("last", {{"city", "Zug"}});
  Delete("row9", "city");
  BOOST_TEST(Way(rows) == "counted by the entries of index city: 5");
  BOOST_TEST(Groups(rows) == "-=2; Aba=1; Bergen=498; Oslo=501; Zug=1");
  BOOST_TEST(Groups({.group_by = {"city"}, .values = {{Kind::kRows}}, .descending = true}) ==
             "Zug=1; Oslo=501; Bergen=498; Aba=1; -=2");
  BOOST_TEST(Groups(rows, "city >= 'B' AND city < 'P'") == "Bergen=498; Oslo=501");
  BOOST_TEST(Groups(rows, "city IN ('Aba', 'Zug')") == "Aba=1; Zug=1");
  // Too many of them for that: values are counted one by one.
  for (int row = 0; row < 20; row += 2) Put("row" + std::to_string(row), {{"city", "Oslo"}});
  BOOST_TEST(Way(rows) == "counted value by value by index city: 5");
  BOOST_TEST(Groups(rows) == "-=2; Aba=1; Bergen=498; Oslo=501; Zug=1");
  AggregateOptions sums{.group_by = {"city"}, .values = {{Kind::kSum, "total"}}};
  BOOST_TEST(Way(sums) == "collected in memory: 5");
  const std::string found = Groups(sums);
  BOOST_TEST(found == "-=9; Aba=0; Bergen=2484; Oslo=2007; Zug=0");
  sums.use_indexes = {"city_total"};
  BOOST_TEST(Way(sums) == "in the order of index city_total: 5");
  BOOST_TEST(Groups(sums) == found);
  sums.descending = true;
  sums.limit = 1;
  sums.use_indexes.clear();
  BOOST_TEST(Way(sums) == "in the order of index city: 1");
  BOOST_TEST(Groups(sums) == "Zug=0");
  sums.no_index = true;
  BOOST_TEST(Way(sums) == "collected in memory: 1");
  BOOST_TEST(Groups(sums) == "Zug=0");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
  const auto refused = [&](const AggregateOptions& options, const std::string& why) {
    const std::string found = Groups(options);
    BOOST_TEST(found.find(why) != std::string::npos, found << " lacks " << why);
  };
  refused({}, "InvalidArgument: there is neither a column to group by nor a value");
  refused({.group_by = {"_row"}}, "InvalidArgument: _row: rows neither group by their keys");
  refused({.group_by = {"words(city)"}}, "InvalidArgument: words(city) has several values");
  refused({.group_by = {"city city"}}, "InvalidArgument: column 'city city': at position 6");
  refused({.group_by = {"x:city"}}, "NotFound: table 'orders' has no family 'x'");
  refused({.values = {{Kind::kSum, "city::text"}}}, "InvalidArgument: column 'city' is text: only");
  refused({.values = {{Kind::kRows, "city"}}}, "InvalidArgument: a number of rows is of no column");
  refused({.group_by = std::vector<std::string>(kGroupColumnsMax + 1, "city")},
          "InvalidArgument: rows group by at most 16 columns");
  refused({.group_by = {"city"}, .use_indexes = {"none"}}, "NotFound: table 'orders' has no index");
}

BOOST_AUTO_TEST_CASE(a_sum_that_does_not_fit_ends_the_read) {
  Put("1", {{"total", "9223372036854775807"}});
  Put("2", {{"total", "9223372036854775807"}});
  const AggregateOptions sum{.values = {{Kind::kSum, "total"}, {Kind::kAverage, "total"}}};
  const std::string found = Groups(sum);
  BOOST_TEST(found.find("InvalidArgument: the sum of column 'total' does not fit its type int64") !=
                 std::string::npos,
             found);
  // Sums on the way may be larger.
  Put("3", {{"total", "-9223372036854775807"}});
  BOOST_TEST(Groups({.values = {{Kind::kSum, "total"}}}) == "=9223372036854775807");
}

BOOST_AUTO_TEST_CASE(groups_stay_within_their_memory) {
  for (int row = 0; row < 5000; ++row) {
    Put("row" + std::to_string(row), {{"name", "name " + std::to_string(row)}});
  }
  ReadOptions read;
  read.budget.memory = 200'000;
  const auto groups = [&](const AggregateOptions& options) {
    return TextOf(database->Aggregate(read, "orders", {}, options));
  };
  const std::string found = groups({.group_by = {"name"}, .values = {{Kind::kRows}}});
  BOOST_TEST(found.find("OverBudget") == 0, found.substr(0, 200));
  read.budget.memory = 20'000'000;
  BOOST_TEST(groups({.group_by = {"name"}, .values = {{Kind::kRows}}, .limit = 1}) == "name 0=1");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
