// How many rows are looked at for counts and groups of n rows in a file while the memstore has two:
// by the smallest budget that is enough. A table that is written to always has such rows.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 4'096;
constexpr uint64_t kValues = 4;

// n rows in a file, with `values` values in turn; the memstore gives one of them another value and
// has a row of its own, without a value.
void OpenUnmerged(TestEngine* engine, uint64_t n, uint64_t values = kValues) {
  TableOptions table = SimpleTable();
  table.indexes = {{.name = "by_p", .columns = {{.family = "d", .qualifier = "p"}}}};
  engine->tuning.memstore_bytes = 32 << 20;     // Nothing is flushed meanwhile,
  engine->tuning.block_cache_bytes = 16 << 20;  // and key hashes fit.
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**engine).CreateTable(table).ToString(), "OK");
  for (uint64_t row = 0; row < n; ++row) {
    BOOST_REQUIRE(engine->Put(RowKey(row), "p", RowKey(row % values)).ok());
  }
  BOOST_REQUIRE_EQUAL((**engine).Flush("t").ToString(), "OK");
  engine->executor.Drain();
  BOOST_REQUIRE(engine->Put(RowKey(0), "p", RowKey(1)).ok());
  BOOST_REQUIRE(engine->Put(RowKey(n), "q", "no value").ok());
}

// The smallest power of two that is enough rows for `read`, which returns what it found.
template <typename Read>
double RowsLookedAt(uint64_t expected, const Read& read) {
  for (uint64_t rows = 1;; rows *= 2) {
    ReadOptions options;
    options.budget.rows = rows;
    const Result<uint64_t> found = read(options);
    if (found.status().code() == StatusCode::kOverBudget) continue;
    BOOST_REQUIRE_EQUAL(found.status().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(*found, expected);
    return static_cast<double>(rows);
  }
}

// What the cursor gives.
template <typename AnyCursor>
Result<uint64_t> CountOf(Result<AnyCursor> cursor) {
  if (!cursor.has_value()) return cursor.status();
  uint64_t found = 0;
  while (cursor->Next()) ++found;
  return cursor->status().ok() ? Result<uint64_t>(found) : cursor->status();
}

// The first `rows` rows get another column.
void Update(TestEngine* engine, uint64_t rows) {
  for (uint64_t row = 0; row < rows; ++row) {
    BOOST_REQUIRE(engine->Put(RowKey(row), "q", "another").ok());
  }
}

// The first `updated` rows have another column in the memstore too.
double RowsLookedAtByCount(uint64_t n, const Predicate& predicate, uint64_t expected,
                           uint64_t updated = 0) {
  TestEngine engine;
  OpenUnmerged(&engine, n);
  Update(&engine, updated);
  return RowsLookedAt(
      expected, [&](const ReadOptions& read) { return (*engine).Count(read, "t", predicate, {}); });
}

BOOST_AUTO_TEST_SUITE(Unmerged)

BOOST_AUTO_TEST_CASE(ACountOfAllRowsLooksAtThoseOfTheMemstore) {
  Check({.cost = "rows looked at for a count of n rows, two in the memstore",
         .n = kRows,
         .bound = AtMost(8),
         .measure = [](uint64_t n) { return RowsLookedAtByCount(n, {}, n + 1); }});
}

BOOST_AUTO_TEST_CASE(ACountOfAllValuesButOneLooksAtRowsOfTheMemstore) {
  Check({.cost = "rows looked at for a count of all but one value of n rows, two in the memstore",
         .n = kRows,
         .bound = AtMost(8),
         .measure = [](uint64_t n) {
           const Predicate others = Predicate::Not(Predicate::Equal("p", RowKey(0)));
           return RowsLookedAtByCount(n, others, n - n / kValues + 2);
         }});
}

BOOST_AUTO_TEST_CASE(ACountOfAllRowsLooksAtNoneOfMany) {
  Check({.cost = "rows looked at for a count of n rows, a quarter of them in the memstore too",
         .n = kRows,
         .bound = AtMost(8),
         .measure = [](uint64_t n) { return RowsLookedAtByCount(n, {}, n + 1, n / 4); }});
}

BOOST_AUTO_TEST_CASE(ACountOfAllValuesButOneLooksAtFewOfMany) {
  Check({.cost = "rows looked at for a count of all but one value of n rows, a quarter of them in "
                 "the memstore too",
         .n = kRows,
         .bound = AtMost(8),
         .measure = [](uint64_t n) {
           const Predicate others = Predicate::Not(Predicate::Equal("p", RowKey(0)));
           return RowsLookedAtByCount(n, others, n - n / kValues + 2, n / 4);
         }});
}

// By rows 1 and 1 + n / 4 and so on, and row 0, which the memstore gives their value.
double RowsLookedAtByLookup(uint64_t n) {
  TestEngine engine;
  OpenUnmerged(&engine, n, n / 4);
  Update(&engine, n / 4);
  return RowsLookedAt(5, [&](const ReadOptions& read) {
    return CountOf((*engine).Query(read, "t", Predicate::Equal("p", RowKey(1)), {}));
  });
}

BOOST_AUTO_TEST_CASE(ALookupLooksAtItsRows) {
  Check({.cost = "rows looked at for a query of 5 of n rows, a quarter of them in the memstore too",
         .n = kRows,
         .bound = AtMost(8),
         .measure = RowsLookedAtByLookup});
}

double RowsLookedAtByGroups(uint64_t n, uint64_t values) {
  TestEngine engine;
  OpenUnmerged(&engine, n, values);
  const AggregateOptions groups{.group_by = {"p"}, .values = {{AggregateKind::kRows}}};
  return RowsLookedAt(values + 1, [&](const ReadOptions& read) {
    return CountOf((*engine).Aggregate(read, "t", {}, groups));
  });
}

BOOST_AUTO_TEST_CASE(GroupsLookAtRowsOfTheMemstore) {
  Check({.cost = "rows looked at for the counts of 4 groups of n rows, two in the memstore",
         .n = kRows,
         .bound = AtMost(16),
         .measure = [](uint64_t n) { return RowsLookedAtByGroups(n, kValues); }});
}

BOOST_AUTO_TEST_CASE(ManyGroupsLookAtRowsOfTheMemstore) {
  Check({.cost = "rows looked at for the counts of n / 4 groups of n rows, two in the memstore",
         .n = kRows,
         .bound = AtMost(16),
         .measure = [](uint64_t n) { return RowsLookedAtByGroups(n, n / 4); }});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
