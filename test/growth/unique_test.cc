// What a unique index costs a write: the same however often a value was refused, or a row had it.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/allocations/allocations.h"
#include "test/engine/test_engine.h"
#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

/// One whose index over d:c is unique, and whose memstores take everything.
struct UniqueTable : TestEngine {
  UniqueTable() {
    tuning.memstore_bytes = 32 << 20;
    tuning.memstores_total_bytes = 64 << 20;
    BOOST_REQUIRE(Open().ok());
    TableOptions table = SimpleTable();
    table.indexes[0].unique = true;
    BOOST_REQUIRE((**this).CreateTable(table).ok());
  }
  /// Allocations of a put of d:c that ends with `code`.
  double OfPut(std::string_view row, std::string_view value, StatusCode code = StatusCode::kOk) {
    return static_cast<double>(
        AllocationsOf([&] { BOOST_REQUIRE(Put(row, "c", value).code() == code); }));
  }
};

double OfRefusal(uint64_t n) {
  UniqueTable table;
  double last = table.OfPut("holder", "x");
  for (uint64_t i = 0; i < n; ++i) last = table.OfPut("row", "x", StatusCode::kAlreadyExists);
  return last;
}

double OfReturn(uint64_t n) {
  UniqueTable table;
  for (uint64_t i = 0; i < n; ++i) {
    (void)table.OfPut("row", "x");
    (void)table.OfPut("row", "y");
  }
  return table.OfPut("row", "x");
}

double OfPassing(uint64_t n) {
  UniqueTable table;
  for (uint64_t i = 0; i < n; ++i) {
    (void)table.OfPut("a", "x");
    (void)table.OfPut("a", "y");
    (void)table.OfPut("b", "x");
    (void)table.OfPut("b", "z");
  }
  return table.OfPut("a", "x");
}

double OfRowOfABatch(uint64_t n) {
  UniqueTable table;
  WriteBatch batch;
  for (uint64_t i = 0; i < n; ++i) batch.Put("t", RowKey(i), "d", "c", std::to_string(i));
  const uint64_t all = AllocationsOf([&] { BOOST_REQUIRE(table.Write(batch).ok()); });
  return static_cast<double>(all) / static_cast<double>(n);
}

BOOST_AUTO_TEST_SUITE(Unique)

BOOST_AUTO_TEST_CASE(AHotValueCostsTheSame) {
  Check({.cost = "allocations of a put that a unique index refuses after n that it refused",
         .n = 64,
         .bound = AtMost(100),
         .measure = OfRefusal});
  Check({.cost = "allocations of a put of a unique value that the row had n times before",
         .n = 64,
         .bound = AtMost(160),
         .measure = OfReturn});
  Check({.cost = "allocations of a put of a unique value that two rows had n times in turn",
         .n = 64,
         .bound = AtMost(160),
         .measure = OfPassing});
}

BOOST_AUTO_TEST_CASE(ABatchCostsWhatItsRowsCost) {
  Check({.cost = "allocations for each of n new unique values of a batch",
         .n = 64,
         .bound = AtMost(40),
         .measure = OfRowOfABatch});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
