// What a change of one region costs beside n others: those of other tables, and those of its own.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/allocations/allocations.h"
#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

// Flushes a row of "t", and counts.
double AllocationsOfFlush(TestEngine* engine) {
  BOOST_REQUIRE_EQUAL(engine->Put(RowKey(0), "c", "first").ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**engine).Flush("t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->Put(RowKey(0), "c", "second").ToString(), "OK");
  return static_cast<double>(
      AllocationsOf([&] { BOOST_REQUIRE_EQUAL((**engine).Flush("t").ToString(), "OK"); }));
}

double AllocationsBesideTables(uint64_t n) {
  TestEngine engine(1, nullptr);  // The linter reads the whole manifest again and again.
  CreateTable(&engine);
  TableOptions options = SimpleTable();
  for (uint64_t i = 0; i < n; ++i) {
    options.name = "other" + std::to_string(i);
    BOOST_REQUIRE_EQUAL(engine->CreateTable(options).ToString(), "OK");
  }
  return AllocationsOfFlush(&engine);
}

double AllocationsBesideRegions(uint64_t n) {
  TestEngine engine(1, nullptr);  // The linter reads the whole manifest again and again.
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  TableOptions options = SimpleTable();
  for (uint64_t i = 1; i <= n; ++i) options.split_keys.push_back(RowKey(i));
  BOOST_REQUIRE_EQUAL(engine->CreateTable(options).ToString(), "OK");
  return AllocationsOfFlush(&engine);
}

BOOST_AUTO_TEST_SUITE(Neighbours)

BOOST_AUTO_TEST_CASE(CostAFlushNothing) {
  Check({.cost = "allocations of the flush of a row beside n tables",
         .n = 60,
         .bound = AtMost(500),
         .measure = AllocationsBesideTables});
  Check({.cost = "allocations of the flush of a row beside n regions of its table",
         .n = 60,
         .bound = AtMost(500),
         .measure = AllocationsBesideRegions});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
