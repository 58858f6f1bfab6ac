// What rows under former keys cost: reads for one row, and the rewrite of all.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/growth/typed_table.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

std::vector<RowKeyField> RowOf(uint64_t id) { return {{"id", std::to_string(id)}}; }

/// Opens "t" with n rows of salted keys in one file, nothing cached, whose key has changed since.
void OpenChangedTable(TestEngine* engine, uint64_t n) {
  OpenTypedTable(engine, "salt(4), id:int64", n, RowOf);
  BOOST_REQUIRE_EQUAL((**engine).ChangeRowKey("t", "salt(64), id:int64").ToString(), "OK");
  OpenAgain(engine);
}

double ReadsOfOneRow(uint64_t n) {
  TestEngine engine;
  OpenChangedTable(&engine, n);
  return static_cast<double>(ReadsOf(&engine, [&] {
    const Result<RowKeyEpochs> epochs = engine->RowKeysOf({}, "t");
    const std::vector<std::string> keys = *epochs->Keys(RowOf(n / 2));
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    const auto rows = engine->MultiGet({}, "t", views);
    BOOST_REQUIRE_EQUAL(rows.status().ToString(), "OK");
    BOOST_REQUIRE(rows->front().has_value() || rows->back().has_value());
  }));
}

double ReadsOfOneMove(uint64_t n) {
  TestEngine engine;
  OpenChangedTable(&engine, n);
  return static_cast<double>(ReadsOf(&engine, [&] {
    BOOST_REQUIRE_EQUAL(engine->KeyForWrite({}, "t", RowOf(n / 2)).status().ToString(), "OK");
  }));
}

double RowsLookedAt(uint64_t n) {
  TestEngine engine;
  OpenChangedTable(&engine, n);
  const auto report = engine->RewriteKeys("t", {});
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  BOOST_REQUIRE(report->closed);
  BOOST_REQUIRE_GT(report->moved, n / 2);
  return static_cast<double>(report->rows);
}

double BytesLogged(uint64_t n) {
  TestEngine engine;
  OpenChangedTable(&engine, n);
  return static_cast<double>(IoBytesOf(&engine, [&] {
                               BOOST_REQUIRE_EQUAL(engine->RewriteKeys("t", {}).status().ToString(),
                                                   "OK");
                             }).written_to_log);
}

BOOST_AUTO_TEST_SUITE(row_key_epochs)

BOOST_AUTO_TEST_CASE(ARowIsReadUnderEachKey) {
  Check({.cost = "reads of a cold row among n, with a former row key",
         .n = 512,
         .bound = AtMost(8),
         .measure = ReadsOfOneRow});
  Check({.cost = "reads of the move of a cold row among n to its newest key",
         .n = 512,
         .bound = AtMost(8),
         .measure = ReadsOfOneMove});
}

// In the first pass, there again if it moved ahead of it, and in the last one.
BOOST_AUTO_TEST_CASE(ARewriteLooksAtEachRowThreeTimes) {
  Check({.cost = "rows that a rewrite of the keys of n rows looks at",
         .n = 512,
         .bound = AtMostLinear(0, 3),
         .measure = RowsLookedAt});
  Check({.cost = "bytes logged by a rewrite of the keys of n rows of 100 bytes",
         .n = 512,
         .bound = AtMostLinear(65'536, 256),
         .measure = BytesLogged});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
