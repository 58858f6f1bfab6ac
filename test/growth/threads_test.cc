// What reads on several threads take and start.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

ReadOptions OnFourThreads() {
  ReadOptions read;
  read.threads = 4;
  return read;
}

// n rows in a file.
void OpenRows(TestEngine* engine, uint64_t n) {
  TableOptions table = SimpleTable();
  table.indexes = {{.name = "by_p", .columns = {{.family = "d", .qualifier = "p"}}}};
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**engine).CreateTable(table).ToString(), "OK");
  for (uint64_t row = 0; row < n; ++row) {
    BOOST_REQUIRE(engine->Put(RowKey(row), "p", RowKey(row) + std::string(100, 'v')).ok());
  }
  BOOST_REQUIRE_EQUAL((**engine).Flush("t").ToString(), "OK");
  engine->executor.Drain();
}

BOOST_AUTO_TEST_SUITE(Threads)

BOOST_AUTO_TEST_CASE(WhatIsReadAheadDoesNotGrow) {
  Check({.cost = "bytes that a scan of n rows on 4 threads has read ahead",
         .n = 2'000,
         .bound = AtMost(1'000'000),
         .measure = [](uint64_t n) {
           TestEngine engine;
           engine.tuning.memstore_bytes = 1 << 20;
           OpenRows(&engine, n);
           auto cursor = engine->Scan(OnFourThreads(), "t", {});
           uint64_t rows = 0, most = 0;
           for (; cursor->Next(); ++rows) {
             engine.executor.Drain();  // Other threads read as far ahead as they may.
             if (rows % 64 == 0) most = std::max(most, engine->Info().memory.read_buffer_bytes);
           }
           BOOST_REQUIRE_EQUAL(rows, n);
           BOOST_REQUIRE_GT(most, 10'000u);
           return static_cast<double>(most);
         }});
}

BOOST_AUTO_TEST_CASE(AMergeReadsAheadAPartOfEachRange) {
  Check({.cost = "bytes that a scan which merges n ranges on 4 threads has read ahead",
         .n = 4,
         .bound = AtMostLinear(400'000, 40'000),
         .measure = [](uint64_t n) {
           constexpr uint64_t kRows = 32'000;
           TestEngine engine;
           engine.tuning.memstore_bytes = 1 << 20;
           BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
           BOOST_REQUIRE_EQUAL(engine->CreateTable(SimpleTable()).ToString(), "OK");
           ScanOptions scan;
           for (uint64_t i = 0; i < n; ++i) {
             const std::string lead(1, static_cast<char>(i)), end(1, static_cast<char>(i + 1));
             scan.ranges.push_back({lead, end, 1});
           }
           for (uint64_t row = 0; row < kRows; ++row) {
             const std::string key = scan.ranges[row % n].start + RowKey(row);
             BOOST_REQUIRE(engine.Put(key, "p", std::string(100, 'v')).ok());
           }
           BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
           engine.executor.Drain();
           auto cursor = engine->Scan(OnFourThreads(), "t", scan);
           uint64_t rows = 0, most = 0;
           for (; cursor->Next(); ++rows) {
             engine.executor.Drain();
             if (rows % 64 == 0) most = std::max(most, engine->Info().memory.read_buffer_bytes);
           }
           BOOST_REQUIRE_EQUAL(rows, kRows);
           BOOST_REQUIRE_GT(most, 10'000u);
           return static_cast<double>(most);
         }});
}

BOOST_AUTO_TEST_CASE(ASmallReadAsksForNoThread) {
  Check({.cost = "threads that small reads among n rows ask for, 4 of them allowed",
         .n = 2'000,
         .bound = AtMost(0),
         .measure = [](uint64_t n) {
           TestEngine engine;
           engine.tuning.memstore_bytes = 1 << 20;
           OpenRows(&engine, n);
           const auto all = [](Result<Cursor> cursor) {
             uint64_t rows = 0;
             while (cursor->Next()) ++rows;
             return rows;
           };
           const ReadOptions read = OnFourThreads();
           const Predicate one = Predicate::Equal("p", RowKey(n / 2) + std::string(100, 'v'));
           BOOST_REQUIRE_EQUAL(all(engine->Query(read, "t", one, {})), 1u);
           BOOST_REQUIRE_EQUAL(all(engine->Query(read, "t", {}, {.order_by = "by_p", .limit = 10})),
                               10u);
           BOOST_REQUIRE_EQUAL(all(engine->Scan(read, "t", {.limit = 50})), 50u);
           BOOST_REQUIRE_EQUAL(*engine->Count(read, "t", {}, {}), n);
           return static_cast<double>(engine.executor.due_count());
         }});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
