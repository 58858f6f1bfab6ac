// What a page costs in index order and in key order, at the beginning, in the middle and at the end
// of n rows: what it returns, and the way there.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 1'024;
constexpr uint64_t kPage = 16;

struct Layout {
  uint64_t rows_of_value = 1;  // 0: all have the same.
  uint64_t files = 1;          // Each with every so many rows.
};

/// Opens "t" with n rows, in the order of their values and keys.
void OpenPriced(TestEngine* engine, uint64_t n, const Layout& layout) {
  engine->tuning.compaction_runs = 100;
  TableOptions table = SimpleTable();
  table.families[0].block_size_bytes = 1'024;
  table.indexes = {{.name = "by_p", .columns = {{.family = "d", .qualifier = "p"}}}};
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**engine).CreateTable(table).ToString(), "OK");
  for (uint64_t file = 0; file < layout.files; ++file) {
    for (uint64_t row = file; row < n; row += layout.files) {
      const uint64_t value = layout.rows_of_value == 0 ? 0 : row / layout.rows_of_value;
      BOOST_REQUIRE(engine->Put(RowKey(row), "p", RowKey(value)).ok());
    }
    BOOST_REQUIRE_EQUAL((**engine).Flush("t").ToString(), "OK");
  }
  engine->executor.Drain();
}

/// The token of that row of the query.
std::string TokenAt(TestEngine* engine, const Predicate& predicate, const QueryOptions& query,
                    uint64_t row) {
  auto cursor = (**engine).Query({}, "t", predicate, query);
  BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
  for (uint64_t i = 0; i <= row; ++i) BOOST_REQUIRE(cursor->Next());
  auto token = cursor->Token();
  BOOST_REQUIRE_EQUAL(token.status().ToString(), "OK");
  return *std::move(token);
}

// Rows read for the first 10 of one state in the order of an index, of n rows of which one in 16
// has the state, and its place anywhere.
double RowsReadOfAState(uint64_t n) {
  TestEngine engine;
  TableOptions table = SimpleTable();
  table.indexes = {{.name = "by_p", .columns = {{.family = "d", .qualifier = "p"}}},
                   {.name = "by_s", .columns = {{.family = "d", .qualifier = "s"}}}};
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->CreateTable(table).ToString(), "OK");
  WriteBatch batch;
  for (uint64_t row = 0; row < n; ++row) {
    batch.Put("t", RowKey(row), "d", "p", RowKey(row * 7'919 % n));
    batch.Put("t", RowKey(row), "d", "s", row % 16 == 0 ? "open" : "done");
    if (batch.operation_count() < 1'000 && row + 1 < n) continue;
    BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
    batch.Clear();
  }
  BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
  const auto explained =
      engine->Explain({}, "t", Predicate::Equal("s", "open"), {.order_by = "by_p", .limit = 10});
  BOOST_REQUIRE_EQUAL(explained.status().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(explained->rows, 10u);
  return static_cast<double>(explained->candidate_rows);
}

struct Page {
  Predicate predicate;
  QueryOptions query;
  bool back = false;
};

/// The most that a page at one of the three places costs.
template <typename Cost>
std::function<double(uint64_t)> MostOfPages(Layout layout, Page page, Cost cost) {
  return [=](uint64_t n) {
    TestEngine engine;
    OpenPriced(&engine, n, layout);
    double most = 0;
    for (const uint64_t place : {uint64_t{0}, n / 2, n - kPage - 1}) {
      QueryOptions query = page.query;
      if (page.back) {
        query.before = TokenAt(&engine, page.predicate, page.query, place + kPage);
      } else if (place > 0) {
        query.after = TokenAt(&engine, page.predicate, page.query, place);
      }
      query.limit = kPage;
      const auto plan = engine->Explain({}, "t", page.predicate, query);
      BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
      BOOST_CHECK_EQUAL(plan->rows, kPage);
      most = std::max(most, static_cast<double>(cost(*plan)));
    }
    return most;
  };
}

uint64_t RowsLookedAt(const Explanation& plan) { return plan.candidate_rows; }
uint64_t BlocksRead(const Explanation& plan) { return plan.candidate_blocks; }

const Page kInOrder{.predicate = {}, .query = {.order_by = "by_p"}};
const Page kFalling{.predicate = {}, .query = {.order_by = "by_p", .descending = true}};
const Page kBack{.predicate = {}, .query = {.order_by = "by_p"}, .back = true};

}  // namespace

BOOST_AUTO_TEST_SUITE(Pages)

BOOST_AUTO_TEST_CASE(APageInIndexOrderCostsTheSameWhereverItLies) {
  Check({.cost = "rows looked at for a page of 16 in index order, wherever, among n rows",
         .n = kRows,
         .bound = AtMost(128),
         .measure = MostOfPages({}, kInOrder, RowsLookedAt)});
  Check({.cost = "blocks of a page of 16 in index order, wherever, among n rows",
         .n = kRows,
         .bound = AtMost(16),
         .measure = MostOfPages({}, kInOrder, BlocksRead)});
  Check({.cost = "rows looked at for a page of 16 in falling order, wherever, among n rows",
         .n = kRows,
         .bound = AtMost(128),
         .measure = MostOfPages({}, kFalling, RowsLookedAt)});
  Check({.cost = "rows looked at for a page of 16 back in index order, wherever, among n rows",
         .n = kRows,
         .bound = AtMost(128),
         .measure = MostOfPages({}, kBack, RowsLookedAt)});
}

BOOST_AUTO_TEST_CASE(AnOrderWithAFilterReadsTheRowsThatPassIt) {
  Check({.cost = "rows read for the first 10 of 1 state of 16 in index order, among n rows",
         .n = 4 * kRows,
         .bound = AtMost(48),
         .measure = RowsReadOfAState});
}

BOOST_AUTO_TEST_CASE(APageAmongEqualValuesCostsTheSameWhereverItLies) {
  for (const bool falling : {false, true}) {
    Check({.cost =
               falling
                   ? "rows looked at for a page of 16 of one value, in falling order, among n rows"
                   : "rows looked at for a page of 16 of one value, in index order, among n rows",
           .n = kRows,
           .bound = AtMost(32),
           .measure =
               MostOfPages({.rows_of_value = 0}, falling ? kFalling : kInOrder, RowsLookedAt)});
  }
  Check({.cost = "rows looked at for a page of 16 of one value in 4 files, among n rows",
         .n = kRows,
         .bound = AtMost(1'024),
         .measure = MostOfPages({.rows_of_value = 0, .files = 4}, kInOrder, RowsLookedAt)});
  Check({.cost = "rows looked at for a page of 16 back among one value, among n rows",
         .n = kRows,
         .bound = AtMost(512),
         .measure = MostOfPages({.rows_of_value = 0}, kBack, RowsLookedAt)});
}

BOOST_AUTO_TEST_CASE(APageByKeyOfAnIndexedValueCostsTheSameWhereverItLies) {
  const Predicate all = Predicate::Equal("p", RowKey(0));
  const Page forward{.predicate = all, .query = {.use_index = "by_p"}};
  const Page back{.predicate = all, .query = {.use_index = "by_p"}, .back = true};
  Check({.cost = "rows looked at for a page of 16 by key of one value, among n rows",
         .n = kRows,
         .bound = AtMost(32),
         .measure = MostOfPages({.rows_of_value = 0}, forward, RowsLookedAt)});
  Check({.cost = "rows looked at for a page of 16 back by key of one value, among n rows",
         .n = kRows,
         .bound = AtMost(512),
         .measure = MostOfPages({.rows_of_value = 0}, back, RowsLookedAt)});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
