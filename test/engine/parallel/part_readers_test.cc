// Reads on several threads, with real ones, beside writers, flushes and merges.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "engine/runtime/background.h"
#include "engine/runtime/read_threads.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 1'000;

struct PartReadersFixture {
  PartReadersFixture() {
    engine::Environment environment;
    environment.file_system = &disk;
    environment.clock = clock.get();
    environment.random = random.get();
    environment.executor = pool.get();
    Options options;
    options.create_if_missing = true;
    engine::Tuning tuning = SmallTuning();
    auto opened = engine::Engine::Open("db", options, tuning, environment);
    BOOST_REQUIRE_EQUAL(opened.status().ToString(), "OK");
    database = std::move(*opened);
    TableOptions table = SimpleTable();
    table.split_keys = {RowKey(300)};
    table.indexes = {{.name = "by_n", .columns = {{"d", "n", ColumnType::kInt64}}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    Write(0, kRows, 1, 0);
  }

  static std::string RowKey(uint64_t row) { return "row" + std::to_string(10'000 + row); }
  void Write(uint64_t first, uint64_t end, uint64_t step, uint64_t salt) {
    WriteBatch batch;
    for (uint64_t row = first; row < end; row += step) {
      batch.Put("t", RowKey(row), "d", "n", std::to_string((row * 37 + salt) % 101));
      batch.Put("t", RowKey(row), "d", "text", std::string(60, 'a' + static_cast<char>(salt % 26)));
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  // Rows as text, and how the read ended.
  static std::vector<std::string> All(Result<Cursor> cursor) {
    std::vector<std::string> all;
    while (cursor.has_value() && cursor->Next()) {
      const RowView& row = cursor->row();
      all.push_back(std::string(row.key()) + "=" + std::string(row.Find("d", "n").value_or("")));
    }
    all.push_back(cursor.has_value() ? cursor->status().ToString() : cursor.status().ToString());
    return all;
  }
  // Whether reads of the snapshot are the same on one thread and on several.
  bool AreSame(const Snapshot& snapshot) {
    ReadOptions one, several;
    one.snapshot = several.snapshot = &snapshot;
    several.threads = 4;
    const Predicate few = *Predicate::Parse("n < 20");
    const QueryOptions filters{.no_index = true};
    const auto count = database->Count(several, "t", few, filters);
    const auto counted = database->Count(one, "t", few, filters);
    return All(database->Scan(one, "t", {})) == All(database->Scan(several, "t", {})) &&
           All(database->Scan(one, "t", {.reverse = true})) ==
               All(database->Scan(several, "t", {.reverse = true})) &&
           All(database->Query(one, "t", few, filters)) ==
               All(database->Query(several, "t", few, filters)) &&
           All(database->Query(one, "t", {}, {.order_by = "by_n"})) ==
               All(database->Query(several, "t", {}, {.order_by = "by_n"})) &&
           count.has_value() && counted.has_value() && *count == *counted;
  }

  SimulatedDisk disk;
  std::unique_ptr<base::Clock> clock = base::NewSystemClock();
  std::unique_ptr<base::RandomSource> random = base::NewSeededRandom(5);
  std::unique_ptr<base::Executor> pool = *engine::NewThreadPool(4, clock.get());
  std::unique_ptr<engine::Engine> database;
};

BOOST_FIXTURE_TEST_SUITE(PartReadersTest, PartReadersFixture)

BOOST_AUTO_TEST_CASE(ReadsAreTheSameBesideWritersAndMerges) {
  std::atomic<bool> stops{false};
  std::thread writer([&] {
    for (uint64_t round = 1; !stops; ++round) {
      Write(round % 7, kRows, 7, round);
      if (round % 5 == 0) BOOST_CHECK(database->Flush("t").ok());
      if (round % 11 == 0) BOOST_CHECK(database->Compact("t").ok());
    }
  });
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      for (int round = 0; round < 6; ++round) {
        const Result<Snapshot> snapshot = database->TakeSnapshot();
        if (!snapshot.has_value() || !AreSame(*snapshot)) ++wrong;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  stops = true;
  writer.join();
  BOOST_CHECK_EQUAL(wrong.load(), 0);
  BOOST_CHECK_EQUAL(database->Close().ToString(), "OK");
}

// Rows that are looked at are counted exactly, whatever the number of threads.
BOOST_AUTO_TEST_CASE(ABudgetIsOfTheCall) {
  const Predicate few = *Predicate::Parse("n < 20");
  for (const uint64_t rows : {1u, 10u, 500u}) {
    ReadOptions read;
    read.budget.rows = rows;
    const auto all = [&] {
      return All(database->Query(read, "t", few, {.limit = kRows, .no_index = true}));
    };
    const std::vector<std::string> one = all();
    read.threads = 4;
    const std::vector<std::string> several = all();
    BOOST_CHECK_EQUAL_COLLECTIONS(several.begin(), several.end(), one.begin(), one.end());
    BOOST_CHECK(several.back().starts_with("OverBudget"));
  }
}

// Cursors that end while other threads read for them.
BOOST_AUTO_TEST_CASE(ACursorEndsWhileOthersReadForIt) {
  ReadOptions read;
  read.threads = 4;
  for (uint64_t rows = 0; rows < kRows; rows += 97) {
    auto cursor = database->Scan(read, "t", {});
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    for (uint64_t row = 0; row < rows; ++row) BOOST_REQUIRE(cursor->Next());
  }
  auto cursor = database->Scan(read, "t", {});
  for (uint64_t row = 0; row < 100; ++row) BOOST_REQUIRE(cursor->Next());
  database.reset();
  BOOST_CHECK(!cursor->Next());
  BOOST_CHECK_EQUAL(cursor->status().code(), StatusCode::kClosed);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(ReadThreadsTest)

// Jobs wait for each other, so each has a thread of its own; the third one waits for one of these.
BOOST_AUTO_TEST_CASE(ThereAreNoMoreThreadsThanAskedFor) {
  const std::unique_ptr<base::Clock> clock = base::NewSystemClock();
  base::Mutex mutex;
  base::CondVar changed;
  int running = 0, most = 0, done = 0;
  const auto threads = engine::NewReadThreads(2, clock.get());
  std::vector<std::shared_ptr<base::Job>> jobs;
  for (int i = 0; i < 3; ++i) {
    jobs.push_back(base::NewJob(base::Priority::kHigh, [&] {
      base::MutexLock lock(mutex);
      most = std::max(most, ++running);
      changed.NotifyAll();
      while (most < 2) changed.Wait(mutex);
      --running;
      ++done;
      changed.NotifyAll();
    }));
  }
  for (const auto& job : jobs) threads->Schedule(job);
  threads->Drain();
  base::MutexLock lock(mutex);
  BOOST_CHECK_EQUAL(done, 3);
  BOOST_CHECK_EQUAL(most, 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
