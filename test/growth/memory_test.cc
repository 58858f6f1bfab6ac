// Memory with the number of things that are held, and after n things that are gone. Bytes are those
// that operator new gave and did not get back. The simulated disk takes some of them, too: what
// only reads leaves it as it is.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <deque>

#include "engine/transaction_state.h"
#include "test/allocations/allocations.h"
#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 1000;
constexpr uint64_t kHits = 10;
constexpr int kTimesBefore = 16;  // What a file keeps of its keys is loaded after some searches.
const Predicate kIsHit = Predicate::Equal("c", "hit");

uint64_t Accounted(const MemoryInfo& memory) {
  return memory.block_cache_bytes + memory.memstore_bytes + memory.append_buffer_bytes +
         memory.block_index_bytes + memory.key_hash_bytes + memory.filter_bytes +
         memory.bitmap_bytes + memory.dictionary_bytes + memory.index_directory_bytes +
         memory.read_buffer_bytes + memory.overlap_bytes;
}

/// Live bytes that `work` adds, when it is done n times on a table that it was done on before.
std::function<double(uint64_t)> Added(std::function<void(TestEngine*)> work) {
  return [=](uint64_t n) {
    TestEngine engine;
    OpenColdTable(&engine, kRows, kHits);
    for (int i = 0; i < kTimesBefore; ++i) work(&engine);
    const int64_t before = LiveBytes();
    for (uint64_t i = 0; i < n; ++i) work(&engine);
    return static_cast<double>(LiveBytes() - before);
  };
}

/// Live bytes of n things that are held at once.
template <typename Thing>
std::function<double(uint64_t)> Held(std::function<Thing(TestEngine*)> make) {
  return [=](uint64_t n) {
    TestEngine engine;
    OpenColdTable(&engine, kRows, kHits);
    std::deque<Thing> held;
    for (int i = 0; i < kTimesBefore; ++i) held.push_back(make(&engine));
    const int64_t before = LiveBytes();
    for (uint64_t i = 0; i < n; ++i) held.push_back(make(&engine));
    return static_cast<double>(LiveBytes() - before);
  };
}

struct HitQuery {
  bool is_range = false;      ///< Of n values; else of one that n rows have.
  bool in_two_files = false;  ///< That overlap; else in one.
  bool is_covered = false;    ///< The index has the column.
  uint64_t limit = 0;
};

/// The most bytes that a query of n rows holds.
double PeakOfHits(uint64_t n, const HitQuery& asked) {
  TestEngine engine;
  engine.tuning.read_buffer_bytes = 256 << 10;
  engine.tuning.hit_bytes = 64 << 10;
  engine.tuning.memstore_bytes = 256 << 20;
  engine.tuning.memstores_total_bytes = 512 << 20;
  TableOptions table = SimpleTable();
  table.indexes = {{.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}},
                   {.name = "by_p", .columns = {{.family = "d", .qualifier = "p"}}}};
  if (asked.is_covered) table.indexes[0].include = {{.family = "d", .qualifier = "p"}};
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->CreateTable(table).ToString(), "OK");
  const auto write = [&](uint64_t step) {
    WriteBatch batch;
    for (uint64_t row = 0; row < n; row += step) {
      batch.Put("t", RowKey(row), "d", "c", "hit");
      batch.Put("t", RowKey(row), "d", "p", RowKey(row));
      if (batch.operation_count() < 10'000 && row + step < n) continue;
      BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
      batch.Clear();
    }
  };
  write(1);
  BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
  if (asked.in_two_files) {
    write(2);
    BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
  }
  engine.executor.Drain();
  // Cached blocks lie in a pool that operator new knows nothing of: a cache that gives way to the
  // query is no memory of the query.
  const auto held = [&] {
    const MemoryInfo memory = engine->Info().memory;
    return LiveBytes() - static_cast<int64_t>(Accounted(memory) - memory.block_cache_bytes);
  };
  const Predicate hits = asked.is_range ? Predicate::Prefix("p", "row") : kIsHit;
  const QueryOptions query{.limit = asked.limit, .use_index = asked.is_range ? "by_p" : "by_c"};
  const uint64_t expected = asked.limit == 0 ? n : asked.limit;
  ReadOptions read;
  if (asked.is_covered) read.columns = {{.family = "d", .qualifier = "p"}};
  BOOST_REQUIRE_EQUAL(RowsOf(engine->Query(read, "t", hits, query)), expected);
  const int64_t before = held();
  int64_t most = before;
  auto cursor = engine->Query(read, "t", hits, query);
  BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
  uint64_t rows = 0;
  for (; cursor->Next(); ++rows) {
    if (rows % 512 == 0) most = std::max(most, held());
  }
  BOOST_REQUIRE_EQUAL(rows, expected);
  return static_cast<double>(most - before);
}

Cursor BegunScan(TestEngine* engine) {
  auto cursor = (**engine).Scan({}, "t", {});
  BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
  BOOST_REQUIRE(cursor->Next());
  return std::move(*cursor);
}

Cursor BegunQuery(TestEngine* engine) {
  auto cursor = (**engine).Query({}, "t", kIsHit, {});
  BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
  BOOST_REQUIRE(cursor->Next());
  return std::move(*cursor);
}

Snapshot TakenSnapshot(TestEngine* engine) {
  auto snapshot = (**engine).TakeSnapshot();
  BOOST_REQUIRE_EQUAL(snapshot.status().ToString(), "OK");
  return std::move(*snapshot);
}

/// With a row read and another written.
Transaction BegunTransaction(TestEngine* engine) {
  auto transaction = engine::TransactionState::Begin(&**engine);
  BOOST_REQUIRE_EQUAL(transaction.status().ToString(), "OK");
  BOOST_REQUIRE(transaction->Get({}, "t", RowKey(1)).has_value());
  BOOST_REQUIRE(transaction->Put("t", RowKey(2), "d", "c", "own").ok());
  return std::move(*transaction);
}

BOOST_AUTO_TEST_SUITE(Memory)

BOOST_AUTO_TEST_CASE(WhatIsGoneLeavesNothing) {
  Check({.cost = "bytes left by n scans that were begun and dropped",
         .n = 16,
         .bound = AtMost(1024),
         .measure = Added([](TestEngine* engine) { (void)BegunScan(engine); })});
  Check({.cost = "bytes left by n queries that were begun and dropped",
         .n = 16,
         .bound = AtMost(1024),
         .measure = Added([](TestEngine* engine) { (void)BegunQuery(engine); })});
  Check({.cost = "bytes left by n transactions that were begun and dropped",
         .n = 16,
         .bound = AtMost(1024),
         .measure = Added([](TestEngine* engine) { (void)BegunTransaction(engine); })});
  Check({.cost = "bytes left by n snapshots that were taken and dropped",
         .n = 16,
         .bound = AtMost(1024),
         .measure = Added([](TestEngine* engine) { (void)TakenSnapshot(engine); })});
}

BOOST_AUTO_TEST_CASE(WhatIsHeldTakesLittleEach) {
  Check({.cost = "bytes of n begun scans",
         .n = 16,
         .bound = AtMostLinear(0, 65536),
         .measure = Held<Cursor>(BegunScan)});
  Check({.cost = "bytes of n begun queries",
         .n = 16,
         .bound = AtMostLinear(0, 65536),
         .measure = Held<Cursor>(BegunQuery)});
  Check({.cost = "bytes of n snapshots",
         .n = 16,
         .bound = AtMostLinear(0, 512),
         .measure = Held<Snapshot>(TakenSnapshot)});
}

// A cursor holds the memstore of own writes that it reads, so the next put goes into another one.
BOOST_AUTO_TEST_CASE(ATransactionHasAFewMemstores) {
  const auto memstores = [](uint64_t n) {
    TestEngine engine;
    CreateTable(&engine);
    const auto state = *(*engine).BeginTransaction();
    const Snapshot* snapshot = *state->open->Enter();
    ReadOptions options;
    options.snapshot = snapshot;
    std::vector<Cursor> cursors;
    for (uint64_t i = 0; i < n; ++i) {
      WriteBatch batch;
      batch.Put("t", RowKey(i), "d", "c", "own");
      BOOST_REQUIRE((*engine).AddToTransaction(*snapshot, batch, state.get()).ok());
      cursors.push_back(*(*engine).Scan(options, "t", {}));
    }
    state->open->Leave();
    return static_cast<double>(state->own->memstores());
  };
  Check({.cost = "memstores of a transaction after n puts, a scan begun after each",
         .n = 16,
         .bound = AtMost(9),
         .measure = memstores});
}

// What readers keep with a memstore, and its log of changes.
BOOST_AUTO_TEST_CASE(AMemstoreThatIsReadTakesLittleMore) {
  const auto put_and_count = [](TestEngine* engine, uint64_t row) {
    BOOST_REQUIRE(engine->Put(RowKey(row), "c", "hit").ok());
    BOOST_REQUIRE((**engine).Count({}, "t", kIsHit, {}).has_value());
  };
  Check({.cost = "bytes of n puts of a row, a count after each",
         .n = 256,
         .bound = AtMostLinear(65536, 400),
         .measure = [&](uint64_t n) {
           TestEngine engine;
           OpenColdTable(&engine, kRows, kHits);
           put_and_count(&engine, 1);
           const int64_t before = LiveBytes();
           for (uint64_t i = 0; i < n; ++i) put_and_count(&engine, 1);
           return static_cast<double>(LiveBytes() - before);
         }});
  Check({.cost = "allocations of a count after n puts of rows, a count after each",
         .n = 50,
         .bound = AtMost(80),
         .measure = [&](uint64_t n) {
           TestEngine engine;
           OpenColdTable(&engine, kRows, kHits);
           for (uint64_t i = 0; i < n; ++i) put_and_count(&engine, i * 7 % kRows);
           return static_cast<double>(AllocationsOf(
               [&engine] { BOOST_REQUIRE((*engine).Count({}, "t", kIsHit, {}).has_value()); }));
         }});
}

// Rows in the order of an index are collected some at a time.
BOOST_AUTO_TEST_CASE(AnOrderedQueryCollectsWhatFits) {
  Check({.cost = "bytes of an ordered query among n rows, 256 KiB for all that cursors read",
         .n = 1000,
         .bound = AtMost(400'000),
         .measure = [](uint64_t n) {
           TestEngine engine;
           engine.tuning.read_buffer_bytes = 256 << 10;
           OpenColdTable(&engine, n, kHits);
           const auto held = [&] {
             return LiveBytes() - static_cast<int64_t>(Accounted(engine->Info().memory));
           };
           const int64_t before = held();
           int64_t most = before;
           auto cursor = engine->Query({}, "t", {}, {.order_by = "by_c"});
           BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
           uint64_t rows = 0;
           for (; cursor->Next(); ++rows) {
             if (rows % 64 == 0) most = std::max(most, held());
           }
           BOOST_REQUIRE_EQUAL(rows, n);
           return static_cast<double>(most - before);
         }});
}

// Hits are found some at a time, however many they are.
BOOST_AUTO_TEST_CASE(AQueryHoldsAPartOfItsHits) {
  Check({.cost = "peak bytes of a query of n hits, 256 KiB for all that cursors read",
         .n = 10'000,
         .bound = AtMost(800'000),
         .measure = [](uint64_t n) { return PeakOfHits(n, {}); }});
  Check({.cost = "peak bytes of a query of a range of n values, 256 KiB for all reads",
         .n = 10'000,
         .bound = AtMost(800'000),
         .measure = [](uint64_t n) { return PeakOfHits(n, {.is_range = true}); }});
  Check({.cost = "peak bytes of a query of n hits in two files that overlap, 256 KiB for all reads",
         .n = 10'000,
         .bound = AtMost(1'200'000),
         .measure = [](uint64_t n) { return PeakOfHits(n, {.in_two_files = true}); }});
  Check({.cost = "peak bytes of a query of a range of n values in two files, 256 KiB for all reads",
         .n = 10'000,
         .bound = AtMost(1'200'000),
         .measure = [](uint64_t n) {
           return PeakOfHits(n, {.is_range = true, .in_two_files = true});
         }});
  Check({.cost = "peak bytes of the first 10 of n hits in two files that overlap",
         .n = 10'000,
         .bound = AtMost(1'200'000),
         .measure = [](uint64_t n) { return PeakOfHits(n, {.in_two_files = true, .limit = 10}); }});
  Check({.cost = "peak bytes of a covered query of n hits, 256 KiB for all reads",
         .n = 10'000,
         .bound = AtMost(800'000),
         .measure = [](uint64_t n) { return PeakOfHits(n, {.is_covered = true}); }});
}

// A row is found by each of its words, and is kept once.
BOOST_AUTO_TEST_CASE(AQueryOfManyValuesOfARowKeepsItOnce) {
  Check(
      {.cost = "peak bytes of a query of 2000 rows by n words of each",
       .n = 8,
       .bound = AtMost(200'000),
       .measure = [](uint64_t n) {
         TestEngine engine;
         TableOptions table = SimpleTable();
         table.indexes = {
             {.name = "words",
              .columns = {{.family = "d", .qualifier = "c", .functions = {Function::Split(" ")}}}}};
         BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
         BOOST_REQUIRE_EQUAL(engine->CreateTable(table).ToString(), "OK");
         std::string words;
         for (uint64_t i = 0; i < n; ++i) words += "w" + std::to_string(i) + " ";
         for (uint64_t row = 0; row < 2000; ++row) {
           WriteBatch batch;
           batch.Put("t", RowKey(row), "d", "c", words);
           BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
           engine.executor.Drain();
         }
         BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
         engine.executor.Drain();
         const auto all = Predicate::Prefix("c", "w").WithFunctions({Function::Split(" ")});
         const auto read = [&] {
           return RowsOf(engine->Query({}, "t", all, {.limit = 1, .use_index = "words"}));
         };
         BOOST_REQUIRE_EQUAL(read(), 1u);  // Everything is cached.
         ResetPeakBytes();
         const int64_t before = LiveBytes();
         BOOST_REQUIRE_EQUAL(read(), 1u);
         return static_cast<double>(PeakBytes() - before);
       }});
}

// Rows without gaps: what was collected is the whole file after each value.
BOOST_AUTO_TEST_CASE(ACountOfManyValuesSortsItsRowsAFewTimes) {
  Check({.cost = "allocations of a count of n rows by two values of each that no other row has",
         .n = 512,
         .bound = AtMost(100),
         .measure = [](uint64_t n) {
           TestEngine engine;
           TableOptions table = SimpleTable();
           const Functions parts = {Function::Split(" ")};
           table.indexes = {{.name = "parts",
                             .columns = {{.family = "d", .qualifier = "c", .functions = parts}}}};
           BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
           BOOST_REQUIRE_EQUAL(engine->CreateTable(table).ToString(), "OK");
           for (uint64_t row = 0; row < n; ++row) {
             WriteBatch batch;
             const std::string number = std::to_string(row);
             batch.Put("t", RowKey(row), "d", "c", "v" + number + " w" + number);
             BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
             engine.executor.Drain();
           }
           BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
           engine.executor.Drain();
           const auto all = Predicate::Greater("c", "a").WithFunctions(parts);
           const auto count = [&] { return *engine->Count({}, "t", all, {.use_index = "parts"}); };
           BOOST_REQUIRE_EQUAL(count(), n);  // Everything is cached.
           return static_cast<double>(AllocationsOf([&] { (void)count(); }));
         }});
}

BOOST_AUTO_TEST_CASE(FlushesAndMergesLeaveNoMemory) {
  Check({.cost = "accounted bytes after the same 100 rows were written, flushed and merged n times",
         .n = 4,
         .bound = AtMost(65536),
         .measure = [](uint64_t n) {
           TestEngine engine;
           CreateTable(&engine);
           for (uint64_t i = 0; i < n; ++i) {
             PutRows(&engine, 100, kHits);
             BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
             engine.executor.Drain();
             // Caches hold what the last file is read by, and nothing of those before it.
             BOOST_CHECK_EQUAL(RowsOf(engine->Scan({}, "t", {})), 100u);
             BOOST_CHECK_EQUAL(RowsOf(engine->Query({}, "t", kIsHit, {})), kHits);
           }
           return static_cast<double>(Accounted(engine->Info().memory));
         }});
}

// Of a quarter of the cache's budget. The tops of block indexes are part of it.
BOOST_AUTO_TEST_CASE(BlockIndexesAndFiltersTakeAShare) {
  Check({.cost = "bytes of block indexes and filters after n rows were read, with a cache of 4 MiB",
         .n = 16000,
         .bound = AtMost(1 << 20),
         .measure = [](uint64_t n) {
           TestEngine engine;
           engine.tuning.block_cache_bytes = 4 << 20;
           engine.tuning.memstore_bytes = 256 << 20;
           engine.tuning.memstores_total_bytes = 512 << 20;
           BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
           TableOptions table = SimpleTable();
           table.families[0].block_size_bytes = 1024;
           BOOST_REQUIRE_EQUAL(engine->CreateTable(table).ToString(), "OK");
           for (const uint64_t step : {1, 2}) {
             for (uint64_t row = 0; row < n;) {
               WriteBatch batch;
               for (; row < n && batch.operation_count() < 10'000; row += step) {
                 batch.Put("t", RowKey(row), "d", "p", RowKey(row));
               }
               BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
             }
             BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
           }
           engine.executor.Drain();
           uint64_t most = 0;
           const auto look = [&] {
             const MemoryInfo memory = engine->Info().memory;
             most = std::max(most, memory.block_index_bytes + memory.filter_bytes);
           };
           for (uint64_t row = 0; row < n; row += n / 100) {
             BOOST_REQUIRE((*engine->Get({}, "t", RowKey(row))).has_value());
             look();
           }
           BOOST_REQUIRE_EQUAL(RowsOf(engine->Scan({}, "t", {})), n);
           look();
           BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
           look();
           BOOST_REQUIRE_EQUAL(RowsOf(engine->Scan({}, "t", {.reverse = true})), n);
           look();
           return static_cast<double>(most);
         }});
}

BOOST_AUTO_TEST_CASE(ATableTakesLittle) {
  Check({.cost = "bytes of n empty tables",
         .n = 4,
         .bound = AtMostLinear(0, 65536),
         .measure = [](uint64_t n) {
           TestEngine engine;
           CreateTable(&engine);
           const int64_t before = LiveBytes();
           for (uint64_t i = 0; i < n; ++i) {
             TableOptions table = SimpleTable();
             table.name = "t" + std::to_string(i);
             BOOST_REQUIRE_EQUAL(engine->CreateTable(table).ToString(), "OK");
           }
           engine.executor.Drain();
           return static_cast<double>(LiveBytes() - before);
         }});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
