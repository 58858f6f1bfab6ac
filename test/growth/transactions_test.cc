// What the checks of a commit look at.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>

#include "engine/transaction_state.h"
#include "tandem/limits.h"
#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

/// Rows of memstores that a commit looks at. The transaction has scanned rows 0 to `last(n)` of the
/// n that are in a memstore, `scans` times, while another row was written.
std::function<double(uint64_t)> Examined(std::function<uint64_t(uint64_t n)> last,
                                         std::function<uint64_t(uint64_t n)> scans) {
  return [=](uint64_t n) {
    TestEngine engine;
    engine.tuning.memstore_bytes = 32 << 20;
    engine.tuning.memstores_total_bytes = 64 << 20;
    engine.tuning.log_segment_bytes = 32 << 20;
    CreateTable(&engine);
    PutRows(&engine, n, 10);
    auto transaction = engine::TransactionState::Begin(&*engine, {.validate_ranges = true});
    BOOST_REQUIRE(transaction.has_value());
    for (uint64_t i = 0; i < scans(n); ++i) {
      BOOST_REQUIRE(transaction->Scan({}, "t", {.end = RowKey(last(n))}).has_value());
    }
    BOOST_REQUIRE(transaction->Put("t", "x", "d", "c", "own").ok());
    BOOST_REQUIRE(engine.Put("y", "c", "other").ok());
    (void)transaction->Commit();
    return static_cast<double>((*engine).GetStatistics().range_rows_examined);
  };
}

BOOST_AUTO_TEST_SUITE(Transactions)

BOOST_AUTO_TEST_CASE(ACheckOfARangeLooksAtItsRowsAlone) {
  const auto once = [](uint64_t) { return uint64_t{1}; };
  Check({.cost = "rows that the check of a range of 100 looks at, among n rows in a memstore",
         .n = 1000,
         .bound = AtMost(101),
         .measure = Examined([](uint64_t) { return uint64_t{100}; }, once)});
  Check({.cost = "rows that the check of a range of n rows looks at",
         .n = 2000,
         .bound = AtMost(kTransactionRangeRowsMax + 1),
         .measure = Examined([](uint64_t n) { return n; }, once)});
  Check({.cost = "rows that a check looks at after n scans of the same 100 rows",
         .n = 16,
         .bound = AtMost(101),
         .measure = [](uint64_t n) {
           const auto scans = [n](uint64_t) { return n; };
           return Examined([](uint64_t) { return uint64_t{100}; }, scans)(1000);
         }});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
