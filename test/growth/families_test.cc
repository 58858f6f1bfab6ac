// What an index over the qualifiers or values of a family costs: a write of one column is blind,
// whatever the row has besides, and files have an entry of each column.
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

/// One with an index over the qualifiers of family d, and one over its values.
struct FamilyTable : TestEngine {
  FamilyTable() {
    tuning.memstore_bytes = 32 << 20;
    tuning.memstores_total_bytes = 64 << 20;
    BOOST_REQUIRE(Open().ok());
    TableOptions table = SimpleTable();
    table.indexes.clear();
    for (const char* text : {"map_keys(d)", "map_values(d)"}) {
      table.indexes.push_back({.name = text, .columns = {*IndexColumn::Parse(text)}});
    }
    BOOST_REQUIRE((**this).CreateTable(table).ok());
  }
  // Puts n columns of a row.
  void PutColumns(uint64_t n, const std::string& value) {
    WriteBatch batch;
    for (uint64_t i = 0; i < n; ++i) {
      batch.Put("t", "row", "d", "column" + std::to_string(i), value + std::to_string(i));
    }
    BOOST_REQUIRE(Write(batch).ok());
  }
  // Of both indexes, in a file.
  double Entries() {
    BOOST_REQUIRE(Close().ok());
    BOOST_REQUIRE(Open().ok());
    double entries = 0;
    for (const IndexInfo& index : (**this).Info().tables.at(0).indexes) {
      BOOST_REQUIRE(index.size_bytes > 0);
      entries += static_cast<double>(index.entries);
    }
    return entries;
  }
};

double EntriesAfterUpdates(uint64_t n) {
  FamilyTable table;
  table.PutColumns(16, "value");
  for (uint64_t i = 0; i < n; ++i) {
    BOOST_REQUIRE(table.Put("row", "column3", std::to_string(i)).ok());
  }
  return table.Entries();
}

double EntriesOfColumns(uint64_t n) {
  FamilyTable table;
  table.PutColumns(n, "value");
  return table.Entries();
}

double OfAPut(uint64_t n) {
  FamilyTable table;
  table.PutColumns(n, "value");
  return static_cast<double>(
      AllocationsOf([&] { BOOST_REQUIRE(table.Put("row", "column3", "x").ok()); }));
}

double OfACount(uint64_t n) {
  FamilyTable table;
  table.PutColumns(n, "value");
  BOOST_REQUIRE(table->Flush("t").ok());
  const Predicate has = *Predicate::Parse("map_keys(d) = 'column3'");
  const auto count = [&] { BOOST_REQUIRE_EQUAL(table->Count({}, "t", has, {}).value(), 1u); };
  count();
  return static_cast<double>(AllocationsOf(count));
}

// Rows that a query by one qualifier looks at, when n rows that had it were deleted and 4 were not.
double LookedAtAfterDeletes(uint64_t n, bool in_files) {
  FamilyTable table;
  WriteBatch puts, deletes;
  for (uint64_t i = 0; i < n + 4; ++i) puts.Put("t", RowKey(i), "d", "tag", "1");
  for (uint64_t i = 0; i < n; ++i) deletes.DeleteRow("t", RowKey(i));
  BOOST_REQUIRE(table.Write(puts).ok());
  BOOST_REQUIRE(table->Flush("t").ok());
  BOOST_REQUIRE(table.Write(deletes).ok());
  if (in_files) {
    BOOST_REQUIRE(table->Flush("t").ok());
    table.executor.Drain();  // It builds the overlaps.
  }
  const Predicate has = *Predicate::Parse("map_keys(d) = 'tag'");
  const auto explained = table->Explain({}, "t", has, {.use_index = "map_keys(d)"});
  BOOST_REQUIRE_MESSAGE(explained.has_value(), explained.status().ToString());
  BOOST_REQUIRE_EQUAL(explained->rows, 4u);
  return static_cast<double>(explained->candidate_rows + explained->merged_rows);
}

BOOST_AUTO_TEST_SUITE(Families)

BOOST_AUTO_TEST_CASE(EntriesAreThoseOfTheColumns) {
  Check({.cost = "entries of 2 indexes over a family in files after n values of 1 of 16 columns",
         .n = 64,
         .bound = AtMost(32),
         .measure = EntriesAfterUpdates});
  Check({.cost = "entries of 2 indexes over a family in files of a row of n columns",
         .n = 64,
         .bound = AtMostLinear(0, 2),
         .measure = EntriesOfColumns});
}

BOOST_AUTO_TEST_CASE(AWriteReadsNoOtherColumn) {
  Check({.cost = "allocations of a put of a column of a row of n columns, indexes over its family",
         .n = 64,
         .bound = AtMost(60),
         .measure = OfAPut});
}

BOOST_AUTO_TEST_CASE(DeletedRowsAreNotLookedAt) {
  Check({.cost = "rows looked at for 4 of a qualifier after n more were deleted, in files",
         .n = 64,
         .bound = AtMost(4),
         .measure = [](uint64_t n) { return LookedAtAfterDeletes(n, true); }});
  Check({.cost = "rows looked at for 4 of a qualifier after n more were deleted, in a memstore",
         .n = 64,
         .bound = AtMost(4),
         .measure = [](uint64_t n) { return LookedAtAfterDeletes(n, false); }});
}

BOOST_AUTO_TEST_CASE(ACountOfOneQualifierReadsNoRow) {
  Check({.cost = "allocations of a count of 1 qualifier by index, in a row of n columns",
         .n = 64,
         .bound = AtMost(120),
         .measure = OfACount});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
