// Which reads other threads are asked to help with: those that have work besides passing rows on.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 4'000;

struct CachedBlocksFixture : TestEngine {
  CachedBlocksFixture() {
    tuning.memstore_bytes = 1 << 20;  // A part has some hundred rows.
    tuning.block_cache_bytes = 16 << 20;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable();
    table.indexes = {{.name = "by_few", .columns = {{"d", "few"}}},
                     {.name = "by_n", .columns = {{"d", "n", ColumnType::kInt64}}}};
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
    WriteBatch batch;
    for (uint64_t row = 0; row < kRows; ++row) {
      const std::string key = "row" + std::to_string(100'000 + row);
      batch.Put("t", key, "d", "few", row % 2 == 0 ? "even" : "odd");
      batch.Put("t", key, "d", "n", std::to_string(row * 7'919 % kRows));
      batch.Put("t", key, "d", "text", std::string(100, 't'));
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  }

  /// Jobs that a read of that many rows leaves to other threads.
  size_t JobsOf(Result<Cursor> cursor, uint64_t rows) {
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    for (uint64_t row = 0; row < rows; ++row) BOOST_REQUIRE(cursor->Next());
    const size_t jobs = executor.due_count();
    executor.Drain();
    while (cursor->Next()) {
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    executor.Drain();
    return jobs;
  }
  size_t JobsOfScan() { return JobsOf((**this).Scan(OnFour(), "t", {}), kRows / 2); }
  size_t JobsOfQuery(std::string_view text, const QueryOptions& query = {}) {
    const Predicate predicate = text.empty() ? Predicate() : *Predicate::Parse(text);
    // A walk begins with small steps.
    const uint64_t rows = query.order_by.empty() ? kRows / 4 : kRows / 2;
    return JobsOf((**this).Query(OnFour(), "t", predicate, query), rows);
  }
  size_t JobsOfGroups() {
    AggregateOptions groups;
    groups.group_by = {"text"};
    groups.values = {{AggregateKind::kRows, ""}};
    return JobsOf((**this).Aggregate(OnFour(), "t", {}, groups), 1);
  }
  static ReadOptions OnFour() {
    ReadOptions read;
    read.threads = 4;
    return read;
  }
  void Reopen() {
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    executor.Drain();
  }
};

BOOST_FIXTURE_TEST_SUITE(CachedBlocksTest, CachedBlocksFixture)

// Of a read that only passes rows on, while its blocks have to be read and unpacked.
BOOST_AUTO_TEST_CASE(RowsThatAreNotCachedAreReadByOthers) {
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  const std::function<size_t()> reads[] = {
      [&] { return JobsOfScan(); },
      [&] { return JobsOfQuery(""); },
      [&] { return JobsOfQuery("few = 'odd'", {.use_index = "by_few"}); },
      [&] { return JobsOfQuery("", {.order_by = "by_n"}); },
      [&] { return JobsOfQuery("n >= 0", {.order_by = "by_n"}); },
  };
  for (const auto& read : reads) {
    Reopen();
    BOOST_CHECK_GT(read(), 0u);
    BOOST_CHECK_EQUAL(read(), 0u);
  }
}

BOOST_AUTO_TEST_CASE(WhatIsDoneWithRowsIsShared) {
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  for (int round = 0; round < 2; ++round) {
    BOOST_CHECK_GT(JobsOfQuery("text != 'x'"), 0u);
    BOOST_CHECK_GT(JobsOfQuery("few = 'odd' AND text != 'x'", {.use_index = "by_few"}), 0u);
    BOOST_CHECK_GT(JobsOfQuery("text != 'x'", {.order_by = "by_n"}), 0u);
    BOOST_CHECK_EQUAL(
        *(**this).Count(OnFour(), "t", *Predicate::Parse("text != 'x'"), {.no_index = true}),
        kRows);
    BOOST_CHECK_GT(executor.due_count(), 0u);
    executor.Drain();
    BOOST_CHECK_GT(JobsOfGroups(), 0u);
  }
}

// To merge rows is work, whatever is cached.
BOOST_AUTO_TEST_CASE(RowsThatAreMergedAreReadByOthers) {
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  JobsOfScan();
  BOOST_CHECK_EQUAL(JobsOfScan(), 0u);
  BOOST_REQUIRE_EQUAL(Put("row101000", "n", "7").ToString(), "OK");
  BOOST_CHECK_GT(JobsOfScan(), 0u);
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  JobsOfScan();
  BOOST_CHECK_EQUAL(JobsOfScan(), 0u);
}

// Half of the table is in the cache: the other half is worth a thread.
BOOST_AUTO_TEST_CASE(HalfOfTheBlocks) {
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  Reopen();
  const std::string middle = "row" + std::to_string(100'000 + kRows / 2);
  JobsOf((**this).Scan(OnFour(), "t", {.end = middle}), 0);
  BOOST_CHECK_EQUAL(JobsOf((**this).Scan(OnFour(), "t", {.end = middle}), kRows / 4), 0u);
  BOOST_CHECK_GT(JobsOfScan(), 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
