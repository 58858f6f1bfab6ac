// Reads that another thread ends: what a cursor has given stays right, and kCancelled, never a
// normal end, comes after it.
#define BOOST_TEST_DYN_LINK
#include <pthread.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr int kRows = 300;
constexpr int kMatches = kRows / 2;

// Where the rows lie: in one file, or in the memstore, or in both and several files.
enum class Layout : uint8_t { kFile, kMemstore, kMany };
constexpr Layout kLayouts[] = {Layout::kFile, Layout::kMemstore, Layout::kMany};

struct World : TestEngine {
  explicit World(Layout layout) {
    tuning.compaction_runs = 100;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable()).ToString(), "OK");
    for (int pass = 0; pass < 3; ++pass) {
      for (int row = 0; row < kRows; ++row) {
        if (layout == Layout::kMany && row % 3 != pass) continue;
        const char* value = row % 2 == 0 ? "even" : "odd";
        BOOST_REQUIRE(Put("row" + std::to_string(1000 + row), "c", value).ok());
      }
      const bool is_flushed = layout == Layout::kFile || (layout == Layout::kMany && pass < 2);
      if (is_flushed) BOOST_REQUIRE((**this).Flush("t").ok());
    }
    if (layout == Layout::kFile) BOOST_REQUIRE((**this).Compact("t").ok());
  }
};

struct Read {
  std::string name;
  bool scans = false, reverse = false;  // Without a predicate.
  QueryOptions query = {};
};

std::vector<Read> Reads() {
  return {{.name = "scan", .scans = true},
          {.name = "reverse scan", .scans = true, .reverse = true},
          {.name = "filter", .query = {.no_index = true}},
          {.name = "by index", .query = {.use_index = "by_c"}},
          {.name = "with a limit", .query = {.limit = kMatches, .use_index = "by_c"}},
          {.name = "in order", .query = {.order_by = "by_c", .use_index = "by_c"}},
          {.name = "sorted", .query = {.order_by = "by_c", .no_index = true}}};
}

const Predicate& IsEven() {
  static const Predicate predicate = Predicate::Equal("c", "even");
  return predicate;
}

Result<Cursor> Open(World* world, const Read& read, const ReadOptions& options) {
  if (read.scans) return (**world).Scan(options, "t", {.reverse = read.reverse});
  return (**world).Query(options, "t", IsEven(), read.query);
}

// Rows until the cursor ends; the flag is set after `rows` of them.
int RowsUntilEnd(Cursor* cursor, int rows, std::atomic<bool>* cancelled) {
  int given = 0;
  while (true) {
    if (given == rows) *cancelled = true;
    if (!cursor->Next()) return given;
    ++given;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(Cancellation)

BOOST_AUTO_TEST_CASE(ACursorEndsAtTheNextRow) {
  for (const Layout layout : kLayouts) {
    World world(layout);
    for (const Read& read : Reads()) {
      BOOST_TEST_CONTEXT(read.name << ", layout " << static_cast<int>(layout)) {
        const int all = read.scans ? kRows : kMatches;
        for (const int rows : {1, 70, all - 1}) {
          std::atomic<bool> cancelled{false};
          Result<Cursor> cursor = Open(&world, read, {.cancelled = &cancelled});
          BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
          BOOST_CHECK_EQUAL(RowsUntilEnd(&*cursor, rows, &cancelled), rows);
          BOOST_CHECK(cursor->status().code() == StatusCode::kCancelled);
          cancelled = false;
          BOOST_CHECK(!cursor->Next());  // It has ended.
        }
        std::atomic<bool> cancelled{false};
        Result<Cursor> cursor = Open(&world, read, {.cancelled = &cancelled});
        BOOST_CHECK_EQUAL(RowsUntilEnd(&*cursor, -1, &cancelled), all);
        BOOST_CHECK_EQUAL(cursor->status().ToString(), "OK");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(WhatIsCancelledBeforeItBeginsGivesNothing) {
  const std::atomic<bool> cancelled{true};
  const ReadOptions options{.cancelled = &cancelled};
  for (const Layout layout : kLayouts) {
    World world(layout);
    for (const Read& read : Reads()) {
      BOOST_TEST_CONTEXT(read.name << ", layout " << static_cast<int>(layout)) {
        Result<Cursor> cursor = Open(&world, read, options);
        if (cursor.has_value()) BOOST_CHECK(!cursor->Next());
        const Status status = cursor.has_value() ? cursor->status() : cursor.error();
        BOOST_CHECK_EQUAL(status.ToString(), "Cancelled: the caller cancelled the read");
        if (read.scans) continue;
        BOOST_CHECK((*world).Count(options, "t", IsEven(), read.query).status().code() ==
                    StatusCode::kCancelled);
        BOOST_CHECK((*world).Count({}, "t", IsEven(), read.query).has_value());
        BOOST_CHECK((*world).Explain(options, "t", IsEven(), read.query).status().code() ==
                    StatusCode::kCancelled);
      }
    }
    BOOST_CHECK((*world).Count(options, "t", Predicate(), {}).status().code() ==
                StatusCode::kCancelled);
    BOOST_CHECK((*world).Get(options, "t", "row1000").has_value());
  }
}

// Planning ends early, too: a condition that is not bound is not refused.
BOOST_AUTO_TEST_CASE(BindingEndsAtTheNextCondition) {
  World world(Layout::kFile);
  const Predicate predicate =
      Predicate::And({Predicate::Equal("c", "even"), Predicate::Equal("none:c", "even")});
  std::atomic<bool> cancelled{false};
  const ReadOptions options{.cancelled = &cancelled};
  BOOST_CHECK((*world).Query(options, "t", predicate, {}).status().code() == StatusCode::kNotFound);
  cancelled = true;
  BOOST_CHECK((*world).Query(options, "t", predicate, {}).status().code() ==
              StatusCode::kCancelled);
}

// A count is right, or it is cancelled.
BOOST_AUTO_TEST_CASE(AnotherThreadEndsACount) {
  for (const Layout layout : kLayouts) {
    World world(layout);
    for (const Read& read : Reads()) {
      std::atomic<bool> cancelled{false};
      std::atomic<int> counts{0};
      std::thread other([&] {
        while (counts < 3) std::this_thread::yield();
        cancelled = true;
      });
      Result<uint64_t> count = uint64_t{kMatches};
      while (count.has_value()) {
        BOOST_CHECK_EQUAL(*count, static_cast<uint64_t>(kMatches));
        count = (*world).Count({.cancelled = &cancelled}, "t", IsEven(), read.query);
        ++counts;
      }
      other.join();
      BOOST_CHECK(count.error().code() == StatusCode::kCancelled);
    }
  }
}

// Of the processor, so that a busy machine does not matter.
int64_t CpuMicros(pthread_t thread) {
  clockid_t clock{};
  timespec time{};
  BOOST_REQUIRE_EQUAL(pthread_getcpuclockid(thread, &clock), 0);
  BOOST_REQUIRE_EQUAL(clock_gettime(clock, &time), 0);
  return time.tv_sec * int64_t{1'000'000} + time.tv_nsec / 1'000;
}

// Every kind of plan over many rows, some of them in a file and some in a memstore over it, until
// another thread ends it.
BOOST_AUTO_TEST_CASE(APlanEndsWithin50Milliseconds) {
  constexpr int kMany = 60'000;
  constexpr int64_t kMicrosMax = 50'000;
  TestEngine engine;
  engine.tuning.memstore_bytes = 64 << 20;
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  TableOptions table = SimpleTable();
  table.indexes = {{.name = "by_a", .columns = {{.family = "d", .qualifier = "a"}}},
                   {.name = "by_b", .columns = {{.family = "d", .qualifier = "b"}}}};
  BOOST_REQUIRE_EQUAL(engine->CreateTable(table).ToString(), "OK");
  for (const int step : {1, 3}) {
    WriteBatch batch;
    for (int row = 0; row < kMany; row += step) {
      const std::string key = "row" + std::to_string(100'000 + row);
      batch.Put("t", key, "d", "a", std::to_string(row % 2));
      batch.Put("t", key, "d", "b", std::to_string(row % 3));
    }
    BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
    if (step == 1) BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
  }
  struct Plan {
    const char* text;
    QueryOptions query;
    bool counts = false;
  };
  const std::vector<Plan> plans = {
      {"c = 'none'", {.no_index = true}},
      {"a = '1'", {.use_index = "by_a"}},
      {"a = '1'", {.limit = 1u << 31, .use_index = "by_a"}},
      {"a = '1'", {.order_by = "by_b", .no_index = true}},
      {"c = 'none'", {.order_by = "by_b", .use_index = "by_b"}},
      {"c = 'none'", {.order_by = "by_b", .descending = true, .limit = 1, .use_index = "by_b"}},
      {"a = '1' AND b = '1'", {.use_indexes = {"by_a", "by_b"}}},
      {"a = '1'", {.use_index = "by_a"}, true},
      {"a = '1' AND b = '1'", {.use_indexes = {"by_a", "by_b"}}, true},
      {"c = 'none'", {.no_index = true}, true},
  };
  for (const Plan& plan : plans) {
    BOOST_TEST_CONTEXT(plan.text << " by " << plan.query.order_by << " counts " << plan.counts) {
      const Predicate predicate = *Predicate::Parse(plan.text);
      std::atomic<bool> cancelled{false};
      std::atomic<int64_t> begun{0};
      const pthread_t reader = pthread_self();
      std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
        begun = CpuMicros(reader);
        cancelled = true;
      });
      const ReadOptions read{.cancelled = &cancelled};
      Status status;
      while (status.ok()) {
        if (plan.counts) {
          status = engine->Count(read, "t", predicate, plan.query).status();
          continue;
        }
        Result<Cursor> cursor = engine->Query(read, "t", predicate, plan.query);
        status = cursor.status();
        if (!status.ok()) break;
        while (cursor->Next()) {
        }
        status = cursor->status();
      }
      const int64_t ended = CpuMicros(reader);
      other.join();
      BOOST_CHECK(status.code() == StatusCode::kCancelled);
      BOOST_CHECK_LE(ended - begun, kMicrosMax);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
