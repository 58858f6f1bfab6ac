// Budgets of reads: what is refused before it begins, what is stopped, how far it says it came, and
// that a read that is done in pieces of a small budget gives the same rows.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 4'000;

std::string Key(uint64_t row) { return "row" + std::to_string(10'000 + row); }

struct BudgetFixture {
  BudgetFixture() {
    Options options = SmallOptions();
    options.no_scan_tables = {"u"};
    database = OpenSmall(directory.Path("db"), options);
    for (const char* name : {"t", "u"}) {
      TableOptions table;
      table.name = name;
      table.families = {{.name = "d", .block_size_bytes = 1'024}};
      table.indexes = {{.name = "n", .columns = {{"d", "n", ColumnType::kInt64}}},
                       {.name = "m", .columns = {{"d", "m", ColumnType::kInt64}}}};
      BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    }
    for (uint64_t row = 0; row < kRows; ++row) {
      WriteBatch batch;
      batch.Put("t", Key(row), "d", "n", std::to_string(row % 100));
      batch.Put("t", Key(row), "d", "m", std::to_string(row % 7));
      batch.Put("t", Key(row), "d", "plain", std::to_string(row % 3));
      BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    }
    BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  }

  Status StatusOf(const ReadBudget& budget, std::string_view text, const QueryOptions& query = {}) {
    ReadOptions read;
    read.budget = budget;
    Predicate predicate;
    if (!text.empty()) predicate = *Predicate::Parse(text);
    auto cursor = database->Query(read, "t", predicate, query);
    if (!cursor.has_value()) return cursor.error();
    while (cursor->Next()) {
    }
    return cursor->status();
  }
  std::vector<std::string> All(std::string_view text, const QueryOptions& query) {
    Predicate predicate;
    if (!text.empty()) predicate = *Predicate::Parse(text);
    auto cursor = database->Query({}, "t", predicate, query);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::vector<std::string> keys;
    for (const RowView& row : *cursor) keys.emplace_back(row.key());
    return keys;
  }
  // The same rows, each piece within the budget. Returns how many pieces there were.
  int CheckInPieces(const ReadBudget& budget, std::string_view text, QueryOptions query,
                    bool backward = false) {
    const std::vector<std::string> all = All(text, query);
    Predicate predicate;
    if (!text.empty()) predicate = *Predicate::Parse(text);
    ReadOptions read;
    read.budget = budget;
    query.limit = UINT64_MAX;  // It may end early, so it is begun.
    std::vector<std::string> keys;
    if (backward) {
      QueryOptions last = query;
      auto cursor = database->Query({}, "t", predicate, last);
      while (cursor->Next()) {
      }
      query.before = *cursor->Token();
    }
    for (int pieces = 1;; ++pieces) {
      BOOST_REQUIRE_LT(pieces, 20'000);
      auto cursor = database->Query(read, "t", predicate, query);
      BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
      for (const RowView& row : *cursor) keys.emplace_back(row.key());
      if (cursor->status().ok()) {
        if (backward) {
          BOOST_CHECK(std::equal(keys.begin(), keys.end(), all.rbegin() + 1, all.rend()));
        } else {
          BOOST_CHECK(keys == all);
        }
        return pieces;
      }
      BOOST_REQUIRE(cursor->status().code() == StatusCode::kOverBudget);
      std::string& token = backward ? query.before : query.after;
      const std::string next = *cursor->Token();
      BOOST_REQUIRE_MESSAGE(next != token, "it does not get on: " << cursor->status().ToString());
      token = next;
    }
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
};

bool Says(const Status& status, std::string_view part) {
  return status.code() == StatusCode::kOverBudget &&
         status.message().find(part) != std::string_view::npos;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ReadBudgets, BudgetFixture)

BOOST_AUTO_TEST_CASE(WhatIsKnownToCostMoreIsNotBegun) {
  const Status rows = StatusOf({.rows = 1'000}, "plain = '1'");
  BOOST_CHECK_EQUAL(rows.ToString(),
                    "OverBudget: the read would pass its budget of 1000 rows: it was not begun, "
                    "since it looks at 4000");
  BOOST_CHECK(
      Says(StatusOf({.blocks = 10}, "plain = '1'"), "budget of 10 blocks: it was not begun"));
  BOOST_CHECK(Says(StatusOf({.bytes = 5'000}, ""), "bytes of blocks: it was not begun"));
  BOOST_CHECK(
      Says(StatusOf({.rows = 39}, "n = 5"), "39 rows: it was not begun, since it looks at 40"));
  BOOST_CHECK_EQUAL(StatusOf({.rows = 40}, "n = 5").ToString(), "OK");
  BOOST_CHECK_EQUAL(StatusOf({.rows = kRows}, "").ToString(), "OK");
  ReadOptions read;
  read.budget.rows = kRows - 1;
  BOOST_CHECK(Says(database->Scan(read, "t", {}).status(), "was not begun"));
  BOOST_CHECK(
      Says(database->Count(read, "t", *Predicate::Parse("plain = '1'")).status(), "was not begun"));
  read.budget.rows = 1;
  const Predicate by_index = *Predicate::Parse("n = 5");
  BOOST_CHECK_EQUAL(*database->Count(read, "t", by_index), kRows / 100);  // Reads no row.
  BOOST_CHECK(Says(database->Explain(read, "t", by_index).status(), "was not begun"));
}

BOOST_AUTO_TEST_CASE(AReadIsStoppedAtExactlySoManyRows) {
  for (const uint64_t rows : {1u, 31u, 32u, 33u, 500u}) {
    for (const char* order : {"", "n"}) {
      ReadOptions read;
      read.budget.rows = rows;
      auto cursor = database->Query(read, "t", {}, {.order_by = order, .limit = kRows});
      BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
      uint64_t given = 0;
      while (cursor->Next()) ++given;
      BOOST_CHECK_LE(given, rows);
      if (*order == '\0') BOOST_CHECK_EQUAL(given, rows);
      BOOST_CHECK(
          Says(cursor->status(), "budget of " + std::to_string(rows) + " rows: it has come"));
      if (*order == '\0') BOOST_CHECK(Says(cursor->status(), "it came to row '" + Key(rows - 1)));
    }
  }
  // A filter that lets nothing pass.
  ReadOptions read;
  read.budget.rows = 77;
  auto cursor = database->Query(read, "t", *Predicate::Parse("plain = 'x'"), {.limit = 1});
  BOOST_CHECK(!cursor->Next());
  BOOST_CHECK(Says(cursor->status(), "it came to row '" + Key(76)));
}

BOOST_AUTO_TEST_CASE(PiecesOfASmallBudgetAreTheWholeResult) {
  struct Plan {
    const char* text;
    QueryOptions query;
  };
  const std::vector<Plan> plans = {
      {"", {}},
      {"plain = '1'", {}},
      {"plain = 'x'", {}},
      {"n < 9", {.use_index = "n"}},
      {"n < 9 AND m = 3", {}},
      {"n < 9 AND plain = '1'", {.use_index = "n"}},
      {"", {.order_by = "n"}},
      {"plain = '1'", {.order_by = "n", .descending = true}},
      {"plain = 'x'", {.order_by = "n"}},
      {"plain = '2'", {.order_by = "m"}},
      {"plain = '2'", {.order_by = "m", .descending = true}},
  };
  for (const bool in_files : {true, false}) {
    for (const Plan& plan : plans) {
      for (const bool backward : {false, true}) {
        if (backward && All(plan.text, plan.query).empty()) continue;
        BOOST_TEST_CONTEXT(plan.text << " by " << plan.query.order_by << " backward " << backward
                                     << " in files " << in_files) {
          (void)CheckInPieces({.rows = 1'500}, plan.text, plan.query, backward);
          if (in_files) {
            (void)CheckInPieces({.blocks = 200}, plan.text, plan.query, backward);
          }
        }
      }
    }
    for (uint64_t row = 0; row < kRows; row += 3) {  // And now in a memstore, over the file.
      WriteBatch batch;
      batch.Put("t", Key(row), "d", "n", std::to_string((row + 1) % 100));
      BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    }
  }
  BOOST_CHECK_GT(CheckInPieces({.rows = 100}, "plain = 'x'", {}), 39);
}

BOOST_AUTO_TEST_CASE(TimeEndsARead) {
  ReadOptions read;
  read.budget.micros = 200'000;  // The first row comes in time on a busy machine, too.
  auto cursor = database->Query(read, "t", {}, {});
  BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
  BOOST_REQUIRE(cursor->Next());
  std::this_thread::sleep_for(std::chrono::milliseconds(201));
  while (cursor->Next()) {
  }
  BOOST_CHECK(Says(cursor->status(), "budget of 200000 microseconds"));
  BOOST_CHECK(!cursor->Token()->empty());
  read.budget.micros = 1;
  BOOST_CHECK(Says(database->Count(read, "t", *Predicate::Parse("plain = '1'")).status(),
                   "1 microseconds"));
  read.budget.micros = 60'000'000;
  BOOST_CHECK_EQUAL(*database->Count(read, "t", {}), kRows);
}

BOOST_AUTO_TEST_CASE(MemoryEndsASort) {
  const QueryOptions sorted{.order_by = "n", .no_index = true};
  BOOST_CHECK(Says(StatusOf({.memory = 50'000}, "plain = '1'", sorted), "bytes of memory"));
  BOOST_CHECK_EQUAL(StatusOf({.memory = 4 << 20}, "plain = '1'", sorted).ToString(), "OK");
  QueryOptions by_index{.use_index = "n"};
  BOOST_CHECK(Says(StatusOf({.memory = 1'000}, "n > 1", by_index), "bytes of memory"));
  BOOST_CHECK_EQUAL(StatusOf({.memory = 100'000}, "n > 1", by_index).ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(ATableMayForbidScans) {
  const auto message = [&](std::string_view table, std::string_view text,
                           const QueryOptions& query) {
    Predicate predicate;
    if (!text.empty()) predicate = *Predicate::Parse(text);
    return database->Query({}, table, predicate, query).status().ToString();
  };
  const QueryOptions no_scan{.no_scan = true};
  const std::string refused =
      "InvalidArgument: the query would scan table 't', since no index leads to all matches: of "
      "column 'plain' none has an index that serves it, or not each side of an OR; create one, or "
      "allow the scan";
  BOOST_CHECK_EQUAL(message("t", "plain = '1'", no_scan), refused);
  BOOST_CHECK_EQUAL(message("t", "plain = '1' OR n = 5", no_scan), refused);
  BOOST_CHECK_EQUAL(message("t", "plain = '1' AND n = 5", no_scan), "OK");
  BOOST_CHECK_EQUAL(message("t", "n > 0", no_scan), "OK");  // Otherwise a scan is cheaper.
  BOOST_CHECK_EQUAL(database->Explain({}, "t", *Predicate::Parse("n > 0"), no_scan)->index, "n");
  BOOST_CHECK_EQUAL(message("t", "_row > 'row10050'", no_scan), "OK");
  BOOST_CHECK_EQUAL(message("t", "_row IN ('row10050', 'row10060')", no_scan), "OK");
  BOOST_CHECK_EQUAL(message("t", "", {.order_by = "n", .no_scan = true}), "OK");
  BOOST_CHECK_EQUAL(message("t", "", no_scan),
                    "InvalidArgument: the query would scan table 't': it asks for every row, which "
                    "Scan returns");
  BOOST_CHECK_EQUAL(message("t", "n = 1", {.no_index = true, .no_scan = true}),
                    "InvalidArgument: no_index and no_scan are both given");
  // Of the database's options.
  BOOST_CHECK(message("u", "plain = '1'", {}).starts_with("InvalidArgument: the query would scan"));
  BOOST_CHECK(database->Count({}, "u", *Predicate::Parse("plain = '1'")).status().code() ==
              StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(message("u", "n = 1", {}), "OK");
  BOOST_CHECK_EQUAL(database->Scan({}, "u", {}).status().ToString(), "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
