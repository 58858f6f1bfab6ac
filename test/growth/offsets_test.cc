// What a page by its number and a count cost among n rows: the way to their ends, not what lies
// before or between.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "test/allocations/allocations.h"
#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 512, kHits = 16, kPage = 10;

/// n rows in two files: every tenth is in both, whole.
void OpenUpdatedTable(TestEngine* engine, uint64_t n) {
  CreateTable(engine);
  PutRows(engine, n, kHits);
  BOOST_REQUIRE_EQUAL((**engine).Compact("t").ToString(), "OK");
  engine->executor.Drain();
  for (uint64_t row = 0; row < n; row += 10) {
    WriteBatch batch;
    batch.Put("t", RowKey(row), "d", "c", "other" + RowKey(n + row));
    batch.Put("t", RowKey(row), "d", "payload", "x");
    BOOST_REQUIRE_EQUAL(engine->Write(batch).ToString(), "OK");
  }
  BOOST_REQUIRE_EQUAL((**engine).Flush("t").ToString(), "OK");
  engine->executor.Drain();  // It builds the overlaps.
}

/// The second explanation of a page after half of the rows: the first one builds what is missing.
Explanation PageAfterHalf(TestEngine* engine, uint64_t n, QueryOptions query) {
  query.limit = kPage;
  query.offset = n / 2;
  Explanation explained;
  for (int i = 0; i < 2; ++i) {
    auto found = (**engine).Explain({}, "t", Predicate(), query);
    BOOST_REQUIRE_EQUAL(found.status().ToString(), "OK");
    explained = *std::move(found);
  }
  BOOST_CHECK_EQUAL(explained.rows, kPage);
  return explained;
}

double RowsOfPage(uint64_t n, const QueryOptions& query) {
  TestEngine engine;
  OpenUpdatedTable(&engine, n);
  const Explanation explained = PageAfterHalf(&engine, n, query);
  return static_cast<double>(explained.candidate_rows + explained.skipped_by_reading);
}

BOOST_AUTO_TEST_SUITE(Offsets)

BOOST_AUTO_TEST_CASE(APageReadsNoRowsBeforeIt) {
  Check({.cost = "reads of a cold page of 10 after n / 2 rows by key",
         .n = kRows,
         .bound = AtMostLogarithmic(8, 1),
         .measure = [](uint64_t n) {
           TestEngine engine;
           OpenColdTable(&engine, n, kHits);
           return static_cast<double>(ReadsOf(&engine, [&] {
             BOOST_CHECK_EQUAL(
                 RowsOf((*engine).Query({}, "t", Predicate(), {.limit = kPage, .offset = n / 2})),
                 kPage);
           }));
         }});
  Check({.cost = "rows read of a page of 10 after n / 2 rows by key, n / 10 in two files",
         .n = kRows,
         .bound = AtMost(4 * kPage),
         .measure = [](uint64_t n) { return RowsOfPage(n, {}); }});
  Check({.cost = "rows read of a page of 10 after n / 2 rows of an index, n / 10 in two files",
         .n = kRows,
         .bound = AtMost(400),
         .measure = [](uint64_t n) { return RowsOfPage(n, {.order_by = "by_c"}); }});
}

BOOST_AUTO_TEST_CASE(ACountLooksAtNoEntry) {
  Check({.cost = "bytes allocated by a count of n rows of which n / 10 were updated",
         .n = kRows,
         .bound = AtMost(20000),
         .measure = [](uint64_t n) {
           TestEngine engine;
           OpenUpdatedTable(&engine, n);
           const Predicate others = Predicate::GreaterOrEqual("c", "other");
           const auto count = [&] {
             const auto found = (*engine).Count({}, "t", others, {});
             BOOST_REQUIRE_EQUAL(found.status().ToString(), "OK");
             BOOST_CHECK_GT(*found, n - kHits - 1);
           };
           count();
           count();
           const uint64_t before = ThisThreadsAllocations().bytes;
           count();
           return static_cast<double>(ThisThreadsAllocations().bytes - before);
         }});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
