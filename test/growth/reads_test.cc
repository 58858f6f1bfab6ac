// What reads cost among n rows: a cold query, count, page and get read what they return and the way
// there, wherever it lies.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kHits = 16;
constexpr uint64_t kRows = 512;
const Predicate kIsHit = Predicate::Equal("c", "hit");

/// Reads of the disk by `work` on a cold table of n rows.
std::function<double(uint64_t)> ColdReads(std::function<void(TestEngine*, uint64_t)> work) {
  return [=](uint64_t n) {
    TestEngine engine;
    OpenColdTable(&engine, n, kHits);
    return static_cast<double>(ReadsOf(&engine, [&] { work(&engine, n); }));
  };
}

/// Opens "t" with n rows in one file, nothing cached: `hits` have a = 'x' and b = 'y'; about a
/// tenth has a = 'x', another b = 'y'.
void OpenTableOfTenths(TestEngine* engine, uint64_t n, uint64_t hits,
                       std::vector<IndexOptions> indexes) {
  TableOptions table = SimpleTable();
  table.indexes = std::move(indexes);
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**engine).CreateTable(table).ToString(), "OK");
  for (uint64_t row = 0; row < n; ++row) {
    const bool is_hit = row % (n / hits) == 0;
    WriteBatch batch;
    batch.Put("t", RowKey(row), "d", "a", is_hit || row % 10 == 1 ? "x" : RowKey(row));
    batch.Put("t", RowKey(row), "d", "b", is_hit || row % 10 == 3 ? "y" : RowKey(row));
    BOOST_REQUIRE_EQUAL(engine->Write(batch).ToString(), "OK");
  }
  BOOST_REQUIRE_EQUAL((**engine).Compact("t").ToString(), "OK");
  engine->executor.Drain();
  BOOST_REQUIRE_EQUAL(engine->Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
}

/// Opens "t" with n rows in a memstore, of whose keys 16 end with 1, the others with 0.
void OpenTableOfKeys(TestEngine* engine, uint64_t n) {
  TableOptions table = SimpleTable();
  const IndexColumn part{.functions = {Function::SplitPart("-", 2)}, .is_row_key = true};
  table.indexes = {{.name = "by_key", .columns = {part}}};
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**engine).CreateTable(table).ToString(), "OK");
  for (uint64_t row = 0; row < n; ++row) {
    WriteBatch batch;
    batch.Put("t", RowKey(row) + (row % (n / kHits) == 0 ? "-1" : "-0"), "d", "a", "x");
    BOOST_REQUIRE_EQUAL(engine->Write(batch).ToString(), "OK");
  }
}

/// Those that lead to the keys that end with 1.
double EntriesOfKeys(TestEngine* engine) {
  const auto plan =
      (**engine).Explain({}, "t", *Predicate::Parse("split_part(_row, '-', 2) = '1'"), {});
  BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
  BOOST_CHECK_EQUAL(plan->rows, kHits);
  return static_cast<double>(plan->entries);
}

const std::vector<IndexOptions> kIndexOfEach = {
    {.name = "by_a", .columns = {{.family = "d", .qualifier = "a"}}},
    {.name = "by_b", .columns = {{.family = "d", .qualifier = "b"}}}};
const std::vector<IndexOptions> kIndexOfBoth = {
    {.name = "by_a_b",
     .columns = {{.family = "d", .qualifier = "a"}, {.family = "d", .qualifier = "b"}}}};

/// That are read for those with a = 'x' and b = 'y' by an index over what concat makes of both.
double RowsOfJoined(uint64_t n, bool updates, bool merges) {
  TestEngine engine;
  OpenTableOfTenths(&engine, n, kHits,
                    {{.name = "joined", .columns = {*IndexColumn::Parse("concat(a, b)")}}});
  for (uint64_t row = 5; updates && row < n; row += 10) {
    WriteBatch batch;
    batch.Put("t", RowKey(row), "d", "b", "z");
    BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
  }
  BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
  if (merges) BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
  engine.executor.Drain();
  const auto plan =
      engine->Explain({}, "t", *Predicate::Parse("concat(a, b) = 'xy'"), {.use_index = "joined"});
  BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
  return static_cast<double>(plan->candidate_rows);
}

/// The first and the last 8 of n rows.
Predicate BothEnds(uint64_t n) {
  return Predicate::Or(
      {Predicate::Less("_row", RowKey(8)), Predicate::GreaterOrEqual("_row", RowKey(n - 8))});
}

/// Two rows each of 16 ranges, far from each other.
void ScanPairs(TestEngine* engine, uint64_t n) {
  ScanOptions pairs;
  for (uint64_t i = kHits; i > 0; --i) {
    pairs.ranges.push_back({RowKey(i * n / kHits - 2), RowKey(i * n / kHits)});
  }
  BOOST_CHECK_EQUAL(RowsOf((**engine).Scan({}, "t", pairs)), 2 * kHits);
}

BOOST_AUTO_TEST_SUITE(Reads)

BOOST_AUTO_TEST_CASE(AQueryReadsTheBlocksOfItsHits) {
  Check({.cost = "data blocks of a query of 16 hits among n rows",
         .n = kRows,
         .bound = AtMost(kHits),
         .measure = [](uint64_t n) {
           TestEngine engine;
           OpenColdTable(&engine, n, kHits);
           const auto plan = engine->Explain({}, "t", kIsHit, {});
           BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
           BOOST_CHECK_EQUAL(plan->rows, kHits);
           BOOST_CHECK_EQUAL(plan->index, "by_c");
           return static_cast<double>(plan->candidate_blocks);
         }});
  Check({.cost = "reads of a cold query of 16 hits among n rows",
         .n = kRows,
         .bound = AtMostLogarithmic(kHits, 1),
         .measure = ColdReads([](TestEngine* engine, uint64_t) {
           BOOST_CHECK_EQUAL(RowsOf((**engine).Query({}, "t", kIsHit, {})), kHits);
         })});
}

// What is asked for lies in the index: a block of its records, and what leads to them.
BOOST_AUTO_TEST_CASE(ACoveredQueryReadsNoBlockOfRows) {
  const std::vector<IndexOptions> covering = {{.name = "by_a",
                                               .columns = {{.family = "d", .qualifier = "a"}},
                                               .include = {{.family = "d", .qualifier = "b"}}}};
  ReadOptions read;
  read.columns = {{"d", "b"}};
  const QueryOptions by_a{.use_index = "by_a"};
  const auto is_hit = [](uint64_t n) { return Predicate::Equal("a", RowKey(n / 2 + 3)); };
  Check({.cost = "data blocks of a covered query of n / 8 hits among n rows",
         .n = kRows,
         .bound = AtMost(0),
         .measure = [&](uint64_t n) {
           TestEngine engine;
           OpenTableOfTenths(&engine, n, kHits, covering);
           const auto plan = engine->Explain(read, "t", Predicate::Equal("a", "x"), by_a);
           BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
           BOOST_CHECK_GT(plan->rows, n / 10);
           BOOST_CHECK_EQUAL(plan->rows_from_index, plan->rows);
           return static_cast<double>(plan->candidate_blocks);
         }});
  Check({.cost = "reads of a cold covered query of a hit among n rows",
         .n = kRows,
         .bound = AtMost(kHits),
         .measure = [&](uint64_t n) {
           TestEngine engine;
           OpenTableOfTenths(&engine, n, kHits, covering);
           return static_cast<double>(ReadsOf(&engine, [&] {
             BOOST_CHECK_EQUAL(RowsOf((*engine).Query(read, "t", is_hit(n), by_a)), 1u);
           }));
         }});
}

BOOST_AUTO_TEST_CASE(AnIndexOverBothColumnsReadsTheEntriesOfItsHits) {
  const Predicate is_hit = *Predicate::Parse("a = 'x' AND b = 'y'");
  Check({.cost = "entries of an AND of two tenths of n rows that 16 satisfy, in an index over both",
         .n = kRows,
         .bound = AtMost(kHits),
         .measure = [&](uint64_t n) {
           TestEngine engine;
           OpenTableOfTenths(&engine, n, kHits, kIndexOfBoth);
           const auto plan = engine->Explain({}, "t", is_hit, {});
           BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
           BOOST_CHECK_EQUAL(plan->rows, kHits);
           BOOST_CHECK_EQUAL(plan->candidate_rows, kHits);
           return static_cast<double>(plan->entries);
         }});
  // Of a tenth of the rows b is written again: their entries are of b alone.
  Check({.cost = "the same, after n / 10 updates of the second column",
         .n = kRows,
         .bound = AtMost(2 * kHits),
         .measure = [&](uint64_t n) {
           TestEngine engine;
           OpenTableOfTenths(&engine, n, kHits, kIndexOfBoth);
           for (uint64_t row = 5; row < n; row += 10) {
             WriteBatch batch;
             batch.Put("t", RowKey(row), "d", "b", "z");
             BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
           }
           BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
           const auto plan = engine->Explain({}, "t", is_hit, {});
           BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
           return static_cast<double>(plan->entries);
         }});
}

BOOST_AUTO_TEST_CASE(AnIndexOverAPartOfTheRowKeyReadsTheEntriesOfItsHits) {
  Check({.cost = "entries of a part of the row key that 16 of n rows have",
         .n = kRows,
         .bound = AtMost(kHits),
         .measure = [](uint64_t n) {
           TestEngine engine;
           OpenTableOfKeys(&engine, n);
           BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
           return EntriesOfKeys(&engine);
         }});
  // One of each memstore or file that has the row.
  Check({.cost = "the same of 16 rows, after n updates of one of them",
         .n = kRows,
         .bound = AtMost(2 * kHits),
         .measure = [](uint64_t n) {
           TestEngine engine;
           OpenTableOfKeys(&engine, kRows);
           for (uint64_t update = 0; update < n; ++update) {
             WriteBatch batch;
             batch.Put("t", RowKey(0) + "-1", "d", "a", std::to_string(update));
             BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
           }
           return EntriesOfKeys(&engine);
         }});
}

// A row of several sources is a candidate by the one that has only one of the columns, and counts
// in each of them.
BOOST_AUTO_TEST_CASE(AnIndexOverJoinedColumnsReadsTheEntriesOfItsHits) {
  Check(
      {.cost = "rows read for a concat of two columns that 16 of n rows have",
       .n = kRows,
       .bound = AtMost(kHits),
       .measure = [](uint64_t n) { return RowsOfJoined(n, /*updates=*/false, /*merges=*/false); }});
  Check(
      {.cost = "the same, after n / 10 updates of one of the two",
       .n = kRows,
       .bound = AtMostLinear(kHits, 0.2),
       .measure = [](uint64_t n) { return RowsOfJoined(n, /*updates=*/true, /*merges=*/false); }});
  Check({.cost = "the same, after a merge",
         .n = kRows,
         .bound = AtMost(kHits),
         .measure = [](uint64_t n) { return RowsOfJoined(n, /*updates=*/true, /*merges=*/true); }});
}

// Each of two conditions has a tenth of the rows.
BOOST_AUTO_TEST_CASE(AnIntersectionReadsTheRowsOfItsHits) {
  const Predicate is_hit = *Predicate::Parse("a = 'x' AND b = 'y'");
  Check({.cost = "rows read for an AND of two tenths of n rows that 16 satisfy",
         .n = kRows,
         .bound = AtMost(kHits),
         .measure = [&](uint64_t n) {
           TestEngine engine;
           OpenTableOfTenths(&engine, n, kHits, kIndexOfEach);
           const auto plan = engine->Explain({}, "t", is_hit, {});
           BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
           BOOST_CHECK_EQUAL(plan->rows, kHits);
           BOOST_CHECK_EQUAL(plan->index, "by_b AND by_a");
           return static_cast<double>(plan->candidate_rows);
         }});
  Check({.cost = "reads of a cold count of an AND of two tenths of n rows",
         .n = kRows,
         .bound = AtMost(16),
         .measure = [&](uint64_t n) {
           TestEngine engine;
           OpenTableOfTenths(&engine, n, kHits, kIndexOfEach);
           return static_cast<double>(ReadsOf(&engine, [&] {
             const auto count = engine->Count({}, "t", is_hit, {});
             BOOST_REQUIRE_EQUAL(count.status().ToString(), "OK");
             BOOST_CHECK_EQUAL(*count, kHits);
           }));
         }});
}

BOOST_AUTO_TEST_CASE(ACountReadsNoRows) {
  Check({.cost = "reads of a cold count of 16 hits among n rows",
         .n = kRows,
         .bound = AtMost(8),
         .measure = ColdReads([](TestEngine* engine, uint64_t) {
           const auto count = (**engine).Count({}, "t", kIsHit, {});
           BOOST_REQUIRE_EQUAL(count.status().ToString(), "OK");
           BOOST_CHECK_EQUAL(*count, kHits);
         })});
}

BOOST_AUTO_TEST_CASE(APageCostsTheSameWhereverItLies) {
  Check({.cost = "reads of a cold page of 10 rows behind n rows",
         .n = kRows,
         .bound = AtMost(12),
         .measure = ColdReads([](TestEngine* engine, uint64_t n) {
           const ScanOptions page = {.start = RowKey(n - 10), .limit = 10};
           BOOST_CHECK_EQUAL(RowsOf((**engine).Scan({}, "t", page)), 10u);
         })});
  Check({.cost = "reads of a cold get of the last of n rows",
         .n = kRows,
         .bound = AtMost(8),
         .measure = ColdReads([](TestEngine* engine, uint64_t n) {
           BOOST_CHECK_NE(engine->Value(RowKey(n - 1), "c"), "-");
         })});
}

// No section is read as a whole.
BOOST_AUTO_TEST_CASE(AColdGetReadsFewBytes) {
  Check({.cost = "bytes read by a cold get of one of n rows",
         .n = 4000,
         .bound = AtMost(24 << 10),
         .measure = [](uint64_t n) {
           TestEngine engine;
           OpenColdTable(&engine, n, kHits);
           const IoBytes bytes =
               IoBytesOf(&engine, [&] { BOOST_CHECK_NE(engine.Value(RowKey(n / 2), "c"), "-"); });
           return static_cast<double>(bytes.read);
         }});
}

BOOST_AUTO_TEST_CASE(AMultiGetReadsTheBlocksOfItsRows) {
  Check({.cost = "reads of a cold multi-get of 16 of n rows",
         .n = kRows,
         .bound = AtMostLogarithmic(2 * kHits, 1),
         .measure = ColdReads([](TestEngine* engine, uint64_t n) {
           std::vector<std::string> keys;
           for (uint64_t i = kHits; i > 0; --i) keys.push_back(RowKey(i * n / kHits - 1));
           const std::vector<std::string_view> wanted(keys.begin(), keys.end());
           const auto rows = (**engine).MultiGet({}, "t", wanted);
           BOOST_REQUIRE_EQUAL(rows.status().ToString(), "OK");
           for (const auto& row : *rows) BOOST_CHECK(row.has_value());
         })});
}

BOOST_AUTO_TEST_CASE(AQueryOfRowKeysReadsTheBlocksOfItsRows) {
  Check({.cost = "reads of a cold query of 16 row keys among n rows",
         .n = kRows,
         .bound = AtMostLogarithmic(2 * kHits, 1),
         .measure = ColdReads([](TestEngine* engine, uint64_t n) {
           std::vector<std::string> keys;
           for (uint64_t i = 1; i <= kHits; ++i) keys.push_back(RowKey(i * n / kHits - 1));
           const auto in = Predicate::Compare(Predicate::Kind::kIn, "_row", std::move(keys));
           BOOST_CHECK_EQUAL(RowsOf((**engine).Query({}, "t", in, {})), kHits);
         })});
}

BOOST_AUTO_TEST_CASE(AScanOfRangesReadsNothingBetweenThem) {
  Check({.cost = "reads of a cold scan of 16 ranges of 2 of n rows",
         .n = kRows,
         .bound = AtMostLogarithmic(kHits, 1),
         .measure = ColdReads(ScanPairs)});
  Check({.cost = "bytes that a cold scan of 16 ranges of 2 of n rows reads",
         .n = 8 * kRows,
         .bound = AtMost(128 << 10),
         .measure = [](uint64_t n) {
           TestEngine engine;
           OpenColdTable(&engine, n, kHits);
           return static_cast<double>(IoBytesOf(&engine, [&] { ScanPairs(&engine, n); }).read);
         }});
}

BOOST_AUTO_TEST_CASE(AQueryOfRangesReadsNothingBetweenThem) {
  Check({.cost = "reads of a cold query of the first and the last 8 of n rows",
         .n = kRows,
         .bound = AtMost(16),
         .measure = ColdReads([](TestEngine* engine, uint64_t n) {
           BOOST_CHECK_EQUAL(RowsOf((**engine).Query({}, "t", BothEnds(n), {})), 16u);
         })});
  Check({.cost = "reads of a cold count of the first and the last 8 of n rows",
         .n = kRows,
         .bound = AtMost(8),
         .measure = ColdReads([](TestEngine* engine, uint64_t n) {
           const auto count = (**engine).Count({}, "t", BothEnds(n), {});
           BOOST_REQUIRE_EQUAL(count.status().ToString(), "OK");
           BOOST_CHECK_EQUAL(*count, 16u);
         })});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
