// How many rows are looked at for groups of n rows: by the smallest budget that is enough.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 1'024;
constexpr uint64_t kGroups = 16;

// n rows in a file, in the order of their values: kGroups values, or one for each row.
void OpenGrouped(TestEngine* engine, uint64_t n, bool are_distinct) {
  TableOptions table = SimpleTable();
  table.indexes = {{.name = "by_p", .columns = {{.family = "d", .qualifier = "p"}}}};
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**engine).CreateTable(table).ToString(), "OK");
  for (uint64_t row = 0; row < n; ++row) {
    const uint64_t value = are_distinct ? row : row % kGroups;
    BOOST_REQUIRE(engine->Put(RowKey(row), "p", RowKey(value)).ok());
  }
  BOOST_REQUIRE_EQUAL((**engine).Flush("t").ToString(), "OK");
  engine->executor.Drain();
}

// The smallest power of two that is enough rows.
double RowsLookedAt(TestEngine* engine, const AggregateOptions& groups, uint64_t expected) {
  for (uint64_t rows = 1;; rows *= 2) {
    ReadOptions read;
    read.budget.rows = rows;
    auto cursor = (**engine).Aggregate(read, "t", {}, groups);
    if (cursor.status().code() == StatusCode::kOverBudget) continue;
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    uint64_t found = 0;
    while (cursor->Next()) ++found;
    if (cursor->status().code() == StatusCode::kOverBudget) continue;
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(found, expected);
    return static_cast<double>(rows);
  }
}

BOOST_AUTO_TEST_SUITE(Groups)

BOOST_AUTO_TEST_CASE(GroupsByTheEntriesOfAnIndexLookAtNoRow) {
  Check({.cost = "rows looked at for the counts of 16 groups by an index, of n rows in a file",
         .n = kRows,
         .bound = AtMost(1),  // The smallest budget there is.
         .measure = [](uint64_t n) {
           TestEngine engine;
           OpenGrouped(&engine, n, /*are_distinct=*/false);
           const AggregateOptions groups{.group_by = {"p"}, .values = {{AggregateKind::kRows}}};
           return RowsLookedAt(&engine, groups, kGroups);
         }});
}

BOOST_AUTO_TEST_CASE(TheLastGroupsLookAtTheirRows) {
  Check({.cost = "rows looked at for the last 16 groups, of n rows with as many values",
         .n = kRows,
         .bound = AtMost(256),
         .measure = [](uint64_t n) {
           TestEngine engine;
           OpenGrouped(&engine, n, /*are_distinct=*/true);
           AggregateOptions groups{.group_by = {"p"}, .values = {{AggregateKind::kMax, "q"}}};
           groups.descending = true;
           groups.limit = kGroups;
           return RowsLookedAt(&engine, groups, kGroups);
         }});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
