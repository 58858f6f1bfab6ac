// Allocations of the calls that programs make most, on a table of n rows that is in memory and in a
// store file whose blocks are cached. The second of two calls counts: the first one loads.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "engine/transaction_state.h"
#include "test/allocations/allocations.h"
#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"
#include "tools/simulation/same_observer.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 250;

enum class Place { kMemstore, kFile };

/// Allocations of `work`, called the second time.
std::function<double(uint64_t)> Allocations(Place place,
                                            std::function<double(TestEngine*, uint64_t)> work) {
  return [=](uint64_t n) {
    TestEngine engine;
    engine.tuning.memstore_bytes = 8 << 20;
    engine.tuning.memstores_total_bytes = 16 << 20;
    engine.tuning.log_segment_bytes = 8 << 20;
    engine.tuning.block_cache_bytes = 8 << 20;
    CreateTable(&engine);
    PutRows(&engine, n, 10);
    if (place == Place::kFile) BOOST_REQUIRE_EQUAL(engine->Compact("t").ToString(), "OK");
    engine.executor.Drain();
    (void)work(&engine, n);
    return work(&engine, n);
  };
}

double OfGet(TestEngine* engine, uint64_t n) {
  const std::string key = RowKey(n / 2);
  return static_cast<double>(AllocationsOf([&] {
    const auto row = (**engine).Get({}, "t", key);
    BOOST_REQUIRE(row.has_value() && row->has_value());
  }));
}

double OfPut(TestEngine* engine, uint64_t n) {
  WriteBatch batch;
  batch.Put("t", RowKey(n / 2), "d", "c", "new");
  return static_cast<double>(AllocationsOf([&] { BOOST_REQUIRE(engine->Write(batch).ok()); }));
}

/// For each row; those of the cursor itself are few compared with n.
double OfScannedRow(TestEngine* engine, uint64_t n) {
  uint64_t rows = 0;
  const uint64_t all = AllocationsOf([&] { rows = RowsOf((**engine).Scan({}, "t", {})); });
  BOOST_CHECK_EQUAL(rows, n);
  return static_cast<double>(all) / static_cast<double>(n);
}

/// The same of a query that returns what functions make of each row.
double OfComputedRow(TestEngine* engine, uint64_t n) {
  const QueryOptions query{.expressions = {"upper(c)", "length(_row)", "split(c, 'x')"}};
  uint64_t rows = 0;
  const uint64_t all = AllocationsOf([&] { rows = RowsOf((**engine).Query({}, "t", {}, query)); });
  BOOST_CHECK_EQUAL(rows, n);
  return static_cast<double>(all) / static_cast<double>(n);
}

/// Of a query with ten hits, and of its cursor.
double OfQuery(TestEngine* engine, uint64_t) {
  const Predicate hits = Predicate::Equal("c", "hit");
  return static_cast<double>(
      AllocationsOf([&] { BOOST_CHECK_EQUAL(RowsOf((**engine).Query({}, "t", hits, {})), 10u); }));
}

/// Of a page of ten rows in the order of an index.
double OfOrderedPage(TestEngine* engine, uint64_t) {
  const QueryOptions page{.order_by = "by_c", .limit = 10};
  return static_cast<double>(
      AllocationsOf([&] { BOOST_CHECK_EQUAL(RowsOf((**engine).Query({}, "t", {}, page)), 10u); }));
}

/// For each row of an export of the table that is attached to it. The second time it is there.
double OfAttachedRow(TestEngine* engine, uint64_t n) {
  const Status exported = (**engine).ExportFiles("t", "export", {}).status();
  BOOST_REQUIRE(exported.ok() || exported.code() == StatusCode::kAlreadyExists);
  const uint64_t all = AllocationsOf([&] {
    const Result<TableCopy> copy = (**engine).Attach("t", "export", {});
    BOOST_REQUIRE(copy.has_value() && copy->rows == n);
  });
  return static_cast<double>(all) / static_cast<double>(n);
}

/// Of a write of n operations to an observed table, for each: with what the observer replaces.
double OfObservedOperation(uint64_t n) {
  TestEngine engine;
  engine.options.observers[kSameObserver] = NewSameObserver();
  engine.tuning.memstore_bytes = 8 << 20;
  engine.tuning.memstores_total_bytes = 16 << 20;
  CreateTable(&engine);
  const std::vector<std::string> observers = {kSameObserver};
  BOOST_REQUIRE(engine->SetObservers("t", observers).ok());
  WriteBatch batch;
  for (uint64_t i = 0; i < n; ++i) batch.Put("t", RowKey(i), "d", "c", "new");
  const uint64_t all = AllocationsOf([&] { BOOST_REQUIRE(engine.Write(batch).ok()); });
  return static_cast<double>(all) / static_cast<double>(n);
}

/// Of a transaction that increments n rows and takes half of that back, for each row.
double OfUpdatedRow(TestEngine* engine, uint64_t n) {
  Result<Transaction> transaction = engine::TransactionState::Begin(&**engine);
  BOOST_REQUIRE(transaction.has_value());
  const uint64_t all = AllocationsOf([&] {
    for (uint64_t row = 0; row < n; ++row) {
      BOOST_REQUIRE(transaction->Increment("t", RowKey(row), "d", "n").has_value());
      if (row % 2 == 0) BOOST_REQUIRE(transaction->DeleteCell("t", RowKey(row), "d", "n").ok());
    }
  });
  return static_cast<double>(all) / static_cast<double>(n);
}

BOOST_AUTO_TEST_SUITE(Calls)

BOOST_AUTO_TEST_CASE(AGetAllocatesTheSameInAnyTable) {
  Check({.cost = "allocations of a Get among n rows in memory",
         .n = kRows,
         .bound = AtMost(12),
         .measure = Allocations(Place::kMemstore, OfGet)});
  Check({.cost = "allocations of a Get among n rows in a file",
         .n = kRows,
         .bound = AtMost(8),
         .measure = Allocations(Place::kFile, OfGet)});
}

BOOST_AUTO_TEST_CASE(APutAllocatesTheSameInAnyTable) {
  Check({.cost = "allocations of a Put among n rows",
         .n = kRows,
         .bound = AtMost(16),
         .measure = Allocations(Place::kMemstore, OfPut)});
}

BOOST_AUTO_TEST_CASE(AQueryAllocatesTheSameInAnyTable) {
  Check({.cost = "allocations of a query of 10 hits among n rows in a file",
         .n = kRows,
         .bound = AtMost(40),
         .measure = Allocations(Place::kFile, OfQuery)});
}

BOOST_AUTO_TEST_CASE(AnOrderedPageAllocatesTheSameInAnyTable) {
  Check({.cost = "allocations of an ordered page of 10 among n rows in memory",
         .n = kRows,
         .bound = AtMost(1000),
         .measure = Allocations(Place::kMemstore, OfOrderedPage)});
}

BOOST_AUTO_TEST_CASE(AScanAllocatesOncePerBlockAtMost) {
  Check({.cost = "allocations of a scan of n rows in memory, for each row",
         .n = kRows,
         .bound = AtMost(0.5),
         .measure = Allocations(Place::kMemstore, OfScannedRow)});
  Check({.cost = "allocations of a scan of n rows in a file, for each row",
         .n = kRows,
         .bound = AtMost(0.5),
         .measure = Allocations(Place::kFile, OfScannedRow)});
}

BOOST_AUTO_TEST_CASE(ValuesOfExpressionsAreMadeInTheSameMemory) {
  Check({.cost = "allocations of a query for three expressions of n rows, for each row",
         .n = kRows,
         .bound = AtMost(4),
         .measure = Allocations(Place::kFile, OfComputedRow)});
}

BOOST_AUTO_TEST_CASE(AnAttachAllocatesTheSameForEachRow) {
  Check({.cost = "allocations of attaching n rows, for each row",
         .n = 4 * kRows,
         .bound = AtMost(2),
         .measure = Allocations(Place::kFile, OfAttachedRow)});
}

BOOST_AUTO_TEST_CASE(AnObservedOperationAllocatesTheSameInAnyBatch) {
  Check({.cost = "allocations of an observed write of n operations, for each",
         .n = kRows,
         .bound = AtMost(60),
         .measure = OfObservedOperation});
}

BOOST_AUTO_TEST_CASE(AnUpdateAllocatesTheSameInAnyTransaction) {
  Check({.cost = "allocations of a transaction that updates n rows, for each row",
         .n = kRows,
         .bound = AtMost(90),
         .measure = Allocations(Place::kFile, OfUpdatedRow)});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
