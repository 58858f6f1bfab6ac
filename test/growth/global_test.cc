// What a global index costs: entries are those of the rows, however often these are written, and a
// look-up does not depend on how many regions there are.
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

/// One whose index over d:c is global, of `regions` regions.
struct GlobalTable : TestEngine {
  explicit GlobalTable(uint64_t regions = 1) {
    tuning.memstore_bytes = 32 << 20;
    tuning.memstores_total_bytes = 64 << 20;
    BOOST_REQUIRE(Open().ok());
    TableOptions table = SimpleTable();
    table.indexes[0].placement = IndexPlacement::kGlobal;
    for (uint64_t i = 1; i < regions; ++i) table.split_keys.push_back(RowKey(i));
    BOOST_REQUIRE((**this).CreateTable(table).ok());
  }
  IndexInfo Index() { return (**this).Info().tables.at(0).indexes.at(0); }
};

double EntriesOfAHotRow(uint64_t n) {
  GlobalTable table;
  for (uint64_t i = 0; i < n; ++i) {
    BOOST_REQUIRE(table.Put("row", "c", std::to_string(i)).ok());
  }
  BOOST_REQUIRE(table.Close().ok());
  BOOST_REQUIRE(table.Open().ok());
  BOOST_REQUIRE(table.Index().size_bytes > 0);
  return static_cast<double>(table.Index().entries);
}

// Of 16 rows that n loads give another value each.
double EntriesAfterLoads(uint64_t n) {
  GlobalTable table;
  for (uint64_t i = 0; i < n; ++i) {
    auto load = table->BeginBulkLoad("t", {});
    BOOST_REQUIRE_EQUAL(load.status().ToString(), "OK");
    WriteBatch batch;
    for (uint64_t row = 0; row < 16; ++row) {
      batch.Put("t", RowKey(row), "d", "c", std::to_string(i * 16 + row));
    }
    BOOST_REQUIRE_EQUAL(load->Add(batch).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(load->Commit().ToString(), "OK");
    table.executor.Drain();  // It merges, and builds the index.
  }
  BOOST_REQUIRE(table.Close().ok());
  BOOST_REQUIRE(table.Open().ok());
  BOOST_REQUIRE(!table.Index().is_building);
  return static_cast<double>(table.Index().entries);
}

double OfALookUp(uint64_t n) {
  GlobalTable table(n);
  for (uint64_t i = 0; i < n; ++i) {
    BOOST_REQUIRE(table.Put(RowKey(i), "c", i % (n / 4) == 0 ? "rare" : std::to_string(i)).ok());
  }
  const Predicate rare = *Predicate::Parse("c = 'rare'");
  const QueryOptions by{.use_index = "by_c"};
  const auto query = [&] { BOOST_REQUIRE(RowsOf(table->Query({}, "t", rare, by)) == 4); };
  query();
  return static_cast<double>(AllocationsOf(query));
}

double OfAPut(uint64_t n) {
  GlobalTable table;
  for (uint64_t i = 0; i < n; ++i) BOOST_REQUIRE(table.Put("row", "c", std::to_string(i)).ok());
  return static_cast<double>(
      AllocationsOf([&] { BOOST_REQUIRE(table.Put("row", "c", "x").ok()); }));
}

BOOST_AUTO_TEST_SUITE(Global)

BOOST_AUTO_TEST_CASE(EntriesAreThoseOfTheRows) {
  Check({.cost = "entries of a global index in files after n values of one row",
         .n = 256,
         .bound = AtMost(1),
         .measure = EntriesOfAHotRow});
  Check({.cost = "entries of a global index in files after n loads of the same 16 rows",
         .n = 8,
         .bound = AtMost(16),
         .measure = EntriesAfterLoads});
  Check({.cost = "allocations of a put of another value of a row that has had n, global index",
         .n = 64,
         .bound = AtMost(120),
         .measure = OfAPut});
}

BOOST_AUTO_TEST_CASE(ALookUpAsksTheRegionsOfItsRows) {
  Check({.cost = "allocations of a query by global index of 4 rows in a table of n regions",
         .n = 16,
         .bound = AtMost(400),
         .measure = OfALookUp});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
