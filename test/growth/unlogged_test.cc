// What deletions among unlogged batches cost: a flush before the first that reads one, and none for
// the next until a memstore is full.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "test/engine/test_engine.h"
#include "test/growth/growth.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

/// Flushes that n deletions cause, each of a cell that an unlogged batch wrote just before.
uint64_t FlushesOf(uint64_t n) {
  TestEngine engine;
  engine.tuning.memstore_bytes = 64 << 20;
  engine.tuning.memstores_total_bytes = 128 << 20;
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL((*engine).CreateTable(SimpleTable(2)).ToString(), "OK");
  for (uint64_t i = 0; i < n; ++i) {
    const std::string row = "row" + std::to_string(i);
    BOOST_REQUIRE_EQUAL(engine.Put(row, "c", "1", Durability::kMemory).ToString(), "OK");
    WriteBatch batch;
    batch.DeleteCell("t", row, "d", "c");
    BOOST_REQUIRE_EQUAL(engine.Write(batch, Durability::kMemory).ToString(), "OK");
  }
  return (*engine).GetStatistics().flushes;
}

BOOST_AUTO_TEST_SUITE(UnloggedGrowth)

BOOST_AUTO_TEST_CASE(FlushesForDeletions) {
  Check({.cost = "flushes for n deletions that read unlogged batches",
         .n = 50,
         .bound = AtMost(1),
         .measure = FlushesOf});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
