// The values that a column has had, queries that any of them may satisfy, and scans in parts.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

struct HistoryFixture {
  HistoryFixture() : database(OpenSmall(directory.Path("db"))) {
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d", .max_versions = 3, .block_size_bytes = 512}};
    table.indexes = {
        {.name = "c", .columns = {{"d", "c", ColumnType::kText}}},
        {.name = "open", .columns = {{"d", "c", ColumnType::kText}}, .where = "c = 'open'"}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }

  void Put(const std::string& row, const std::string& value, int64_t timestamp) {
    WriteBatch batch;
    batch.Put("t", row, "d", "c", value, timestamp);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  // "1-5:a 5-:b"
  std::string History(const std::string& row, const ReadOptions& read = {}) {
    const auto values = database->History(read, "t", row, {"", "c"});
    if (!values.has_value()) return values.error().ToString();
    std::string text;
    for (const HistoryValue& value : *values) {
      text += (text.empty() ? "" : " ") + std::to_string(value.from) + "-" +
              (value.to.has_value() ? std::to_string(*value.to) : "") + ":" + value.value;
    }
    return text;
  }
  // The keys of the rows, and the same by their number; with and without index.
  std::string Rows(const std::string& predicate, ReadOptions read = {}) {
    QueryOptions query;
    query.any_version = true;
    std::string all;
    for (const bool no_index : {true, false}) {
      query.no_index = no_index;
      auto rows = database->Query(read, "t", *Predicate::Parse(predicate), query);
      if (!rows.has_value()) return rows.error().ToString();
      std::string keys;
      uint64_t number = 0;
      for (const RowView& row : *rows) {
        keys += row.key();
        ++number;
      }
      BOOST_TEST(rows->status().ToString() == "OK");
      BOOST_TEST(database->Count(read, "t", *Predicate::Parse(predicate), query).value() == number);
      if (!no_index) BOOST_TEST(keys == all);
      all = keys;
    }
    return all;
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
};

BOOST_FIXTURE_TEST_SUITE(history, HistoryFixture)

BOOST_AUTO_TEST_CASE(a_history_has_the_kept_versions_from_the_first) {
  BOOST_TEST(History("r") == "");
  Put("r", "a", 10);
  Put("r", "c", 30);
  Put("r", "b", 20);
  BOOST_TEST(History("r") == "10-20:a 20-30:b 30-:c");
  Put("r", "d", 40);  // Three are kept.
  BOOST_TEST(History("r") == "20-30:b 30-40:c 40-:d");
  WriteBatch batch;
  batch.DeleteCell("t", "r", "d", "c", 30);
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  BOOST_TEST(History("r") == "20-40:b 40-:d");
  ReadOptions read;
  read.as_of = 39;
  BOOST_TEST(History("r", read) == "20-:b");
  read.since = 21;
  BOOST_TEST(History("r", read) == "");
  BOOST_TEST(database->History({}, "none", "r", {"", "c"}).error().ToString() ==
             "NotFound: table 'none' does not exist");
  BOOST_TEST(database->History({}, "t", "", {"", "c"})->empty());
}

BOOST_AUTO_TEST_CASE(a_history_is_what_reads_as_of_each_time_return) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    const auto timestamp = static_cast<int64_t>(random() % 40);
    WriteBatch batch;
    switch (random() % 8) {
      case 0:
        batch.DeleteColumn("t", "r", "d", "c", timestamp);
        break;
      case 1:
        batch.DeleteCell("t", "r", "d", "c", timestamp);
        break;
      default:
        batch.Put("t", "r", "d", "c", std::to_string(i), timestamp);
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    if (random() % 20 == 0) BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
    const auto values = *database->History({}, "t", "r", {"d", "c"});
    for (int64_t time = -1; time <= 41; ++time) {
      ReadOptions read;
      read.as_of = time;
      const auto row = *database->Get(read, "t", "r");
      const auto value = std::ranges::find_if(values, [time](const HistoryValue& each) {
        return each.from <= time && (!each.to.has_value() || time < *each.to);
      });
      BOOST_REQUIRE_EQUAL(row.has_value(), value != values.end());
      if (row.has_value()) BOOST_REQUIRE_EQUAL(std::string(*row->Find("d", "c")), value->value);
    }
  }
}

BOOST_AUTO_TEST_CASE(any_version_may_satisfy_a_condition) {
  Put("1", "open", 10);
  Put("1", "done", 20);
  Put("2", "open", 30);
  Put("3", "new", 10);
  WriteBatch batch;
  batch.Put("t", "4", "d", "x", "1", 5);
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  for (const bool in_files : {false, true}) {
    if (in_files) BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
    BOOST_TEST(Rows("c = 'open'") == "12");
    BOOST_TEST(Rows("c = 'open' AND c = 'done'") == "1");
    BOOST_TEST(Rows("NOT c = 'open'") == "34");
    BOOST_TEST(Rows("c != 'open'") == "13");
    BOOST_TEST(Rows("c IS NULL") == "4");
    BOOST_TEST(Rows("c PREFIX 'o' OR x = '1'") == "124");
    BOOST_TEST(Rows("(c, x) > ('a', 'b')").find("InvalidArgument: any_version: a tuple") == 0);
    ReadOptions read;
    read.since = 11;
    read.as_of = 30;
    BOOST_TEST(Rows("c = 'open'", read) == "2");
    BOOST_TEST(Rows("c = 'done'", read) == "1");
    read.as_of = 19;
    BOOST_TEST(Rows("c IS NOT NULL", read) == "");
  }
  QueryOptions query;
  query.any_version = true;
  query.order_by = "c";
  BOOST_TEST(database->Query({}, "t", {}, query)
                 .error()
                 .ToString()
                 .find("InvalidArgument: any_version and order_by are both given") == 0);
  // The newest versions of a row are returned, whichever version was asked for.
  query.order_by.clear();
  auto rows = *database->Query({}, "t", *Predicate::Parse("c = 'open'"), query);
  BOOST_REQUIRE(rows.Next());
  BOOST_TEST(std::string(*rows.row().Find("d", "c")) == "done");
}

BOOST_AUTO_TEST_CASE(parts_of_a_scan_are_the_scan_and_about_equal) {
  const auto key = [](int row) { return "row" + std::to_string(10'000 + row); };
  BOOST_TEST(database->SplitScan({}, "t", 4)->size() == 1u);
  for (int row = 0; row < 4000; ++row) Put(key(row), std::string(40, 'x'), 1);
  for (const char* state : {"in memory", "in files", "in regions"}) {
    if (state == std::string("in files")) BOOST_REQUIRE(database->Compact("t").ok());
    if (state == std::string("in regions")) {
      BOOST_REQUIRE(database->Split("t", {.key = key(500)}).has_value());
    }
    for (const uint32_t parts : {1u, 2u, 7u}) {
      const auto ranges = *database->SplitScan({}, "t", parts);
      BOOST_TEST(ranges.size() == parts);
      BOOST_TEST(ranges.front().start.empty());
      BOOST_TEST(ranges.back().end.empty());
      size_t all = 0;
      for (size_t i = 0; i < ranges.size(); ++i) {
        if (i > 0) BOOST_TEST(ranges[i].start == ranges[i - 1].end);
        ScanOptions scan;
        scan.start = ranges[i].start;
        scan.end = ranges[i].end;
        auto rows = *database->Scan({}, "t", scan);
        size_t number = 0;
        while (rows.Next()) ++number;
        all += number;
        BOOST_TEST_CONTEXT(state << ", part " << i << " of " << parts << ": " << number) {
          BOOST_TEST(number >= 4000 / parts / 2);
          BOOST_TEST(number <= 4000 / parts * 3 / 2);
        }
      }
      BOOST_TEST(all == 4000u);
    }
  }
  BOOST_TEST(database->SplitScan({}, "t", 0).error().ToString() ==
             "InvalidArgument: a scan is split into 1 to 4096 parts, not 0");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
