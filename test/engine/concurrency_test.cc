// The engine with real threads: writers, readers, flushes and compactions at once. What a reader
// sees is always whole batches of one point in time.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <set>
#include <thread>

#include "base/clock.h"
#include "engine/runtime/background.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

struct ThreadsFixture {
  ThreadsFixture() {
    environment.file_system = &disk;
    environment.clock = clock.get();
    environment.random = random.get();
    environment.executor = pool.get();
    options.create_if_missing = true;
    Open();
    TableOptions second = SimpleTable();
    second.name = "u";
    BOOST_REQUIRE(database->CreateTable(SimpleTable()).ok());
    BOOST_REQUIRE(database->CreateTable(second).ok());
  }
  void Open() {
    auto opened = engine::Engine::Open("db", options, SmallTuning(), environment);
    BOOST_REQUIRE_EQUAL(opened.status().ToString(), "OK");
    database = std::move(*opened);
  }

  SimulatedDisk disk;
  std::unique_ptr<base::Clock> clock = base::NewSystemClock();
  std::unique_ptr<base::RandomSource> random = base::NewSeededRandom(5);
  std::unique_ptr<base::Executor> pool = *engine::NewThreadPool(2, clock.get());
  Options options;
  engine::Environment environment;
  std::unique_ptr<engine::Engine> database;
};

constexpr int kRows = 20;

// Every row of both tables holds the same number after each batch.
Status WriteEverywhere(engine::Engine& database, int value, Durability durability) {
  WriteBatch batch;
  const std::string text = std::to_string(value) + std::string(300, '.');
  for (int row = 0; row < kRows; ++row) {
    for (const char* table : {"t", "u"}) {
      batch.Put(table, "row" + std::to_string(row), "d", "c", text);
    }
  }
  return database.Write({.durability = durability}, batch);
}

// The number that all rows hold; -1 when they differ.
int ReadEverywhere(engine::Engine& database) {
  Result<Snapshot> snapshot = database.TakeSnapshot();
  if (!snapshot.has_value()) return -1;
  ReadOptions read;
  read.snapshot = &*snapshot;
  int value = -2;
  for (const char* table : {"t", "u"}) {
    Result<Cursor> cursor = database.Scan(read, table, {});
    if (!cursor.has_value()) return -1;
    while (cursor->Next()) {
      const int found = std::atoi(std::string(*cursor->row().Find("d", "c")).c_str());
      if (value == -2) value = found;
      if (value != found) return -1;
    }
    if (!cursor->status().ok()) return -1;
  }
  return value;
}

BOOST_FIXTURE_TEST_SUITE(Concurrency, ThreadsFixture)

BOOST_AUTO_TEST_CASE(ReadersSeeWholeBatchesThroughFlushesAndCompactions) {
  const int writes = std::getenv("TANDEM_QUICK") != nullptr ? 100 : 400;
  std::atomic<int> last{0};
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  BOOST_REQUIRE(WriteEverywhere(*database, 0, Durability::kWritten).ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const int before = last;
        const int value = ReadEverywhere(*database);
        if (value < before) ++failures;
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      if (!database->Flush("t").ok() || !database->Compact("u").ok()) ++failures;
      const Result<uint64_t> count = database->Count({}, "t", Predicate::Equal("c", "none"), {});
      if (!count.has_value() || *count != 0) ++failures;
      (void)database->Info();
    }
  });
  constexpr Durability kLevels[] = {Durability::kMemory, Durability::kBuffered,
                                    Durability::kWritten, Durability::kSynced};
  for (int i = 1; i <= writes; ++i) {
    if (!WriteEverywhere(*database, i, kLevels[i % 4]).ok()) ++failures;
    last = i;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK_EQUAL(failures, 0);
  BOOST_CHECK_EQUAL(ReadEverywhere(*database), writes);
  const Result<VerifyReport> report = database->Verify(true);
  BOOST_REQUIRE(report.has_value());
  for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
  Open();
  BOOST_CHECK_EQUAL(ReadEverywhere(*database), writes);
}

// Each batch puts the same version into two rows. Deletions reveal versions of one of them, which
// must not come back without the other.
BOOST_AUTO_TEST_CASE(DeletionsTearNoUnloggedBatch) {
  TableOptions table = SimpleTable(1000);
  table.name = "v";
  BOOST_REQUIRE(database->CreateTable(table).ok());
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 1; i <= 400; ++i) {
        WriteBatch batch;
        for (const char* row : {"p", "q"}) batch.Put("v", row, "d", "c", "1", 2 * i + thread);
        if (!database->Write({.durability = Durability::kMemory}, batch).ok()) ++failures;
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 100; ++i) {
      WriteBatch batch;
      batch.DeleteCell("v", "p", "d", "c");
      if (!database->Write({.durability = Durability::kWritten}, batch).ok()) ++failures;
    }
  });
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK_EQUAL(failures, 0);
  disk.KillProcess();
  database.reset();
  Open();
  ReadOptions all;
  all.versions = 1000;
  std::set<int64_t> versions[2];
  for (const int row : {0, 1}) {
    const auto found = database->Get(all, "v", row == 0 ? "p" : "q");
    BOOST_REQUIRE_EQUAL(found.status().ToString(), "OK");
    if (!found->has_value()) continue;
    for (const Cell& cell : (*found)->cells()) versions[row].insert(cell.timestamp);
  }
  for (const int64_t timestamp : versions[0]) {
    BOOST_CHECK_MESSAGE(versions[1].contains(timestamp), "half of the batch @" << timestamp);
  }
}

BOOST_AUTO_TEST_CASE(WritersOfManyThreadsLoseNothing) {
  constexpr int kThreads = 6;
  constexpr int kWrites = 300;
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kWrites; ++i) {
        WriteBatch batch;
        const std::string row = std::to_string(thread) + "-" + std::to_string(i);
        batch.Put("t", row, "d", "c", row);
        if (i % 10 == 9)
          batch.DeleteCell("t", std::to_string(thread) + "-" + std::to_string(i - 1), "d", "c");
        const auto level = static_cast<Durability>((thread + i) % 4);
        if (!database->Write({.durability = level}, batch).ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK_EQUAL(failures, 0);
  BOOST_CHECK_EQUAL(*database->Count({}, "t", Predicate(), {}), kThreads * kWrites * 9u / 10);
  BOOST_CHECK_EQUAL(database->Info().last_sequence, kThreads * kWrites * 11u / 10);
}

// The scrub walks the files of every region while flushes and merges replace them.
BOOST_AUTO_TEST_CASE(TheScrubReadsBesideFlushesAndMerges) {
  constexpr int kRegions = 20;
  TableOptions table = SimpleTable();
  table.name = "r";
  for (int i = 1; i < kRegions; ++i) table.split_keys.push_back(std::to_string(1000 + i));
  // Nobody lints the trace: it would be read at each of some hundred flushes.
  SimulatedDisk unwatched(1, nullptr);
  environment.file_system = &unwatched;
  Open();
  BOOST_REQUIRE(database->CreateTable(table).ok());
  const auto grow = [&](const std::string& value) {
    WriteBatch batch;
    for (int i = 0; i < kRegions; ++i) batch.Put("r", std::to_string(1000 + i), "d", "c", value);
    BOOST_REQUIRE(database->Write({.durability = Durability::kMemory}, batch).ok());
    BOOST_REQUIRE(database->Flush("r").ok());
  };
  grow("first");
  BOOST_REQUIRE(database->Close().ok());
  options.scrub_bytes_per_second = uint64_t{1} << 30;
  Open();
  for (int i = 0; i < 20; ++i) grow(std::to_string(i));
  BOOST_REQUIRE(database->Compact("r").ok());
  const Statistics statistics = database->GetStatistics();
  BOOST_CHECK(statistics.scrubbed_bytes > 0);
  BOOST_CHECK_EQUAL(statistics.scrub_findings, 0u);
  database.reset();
}

// A get registers no sequence (docs/decisions/0014): while merges drop old versions of a row, it
// sees what was written before it began, whole, and never an older row than the get before. Because
// of the snapshot the merges keep sequences.
BOOST_AUTO_TEST_CASE(AGetNeverGoesBackBesideFlushesAndMerges) {
  constexpr int kWrites = 3000;
  std::atomic<int> written{0};
  std::atomic<bool> done{false};
  const auto write = [&](int value) {
    WriteBatch batch;
    const std::string text = std::to_string(value);
    for (const char* column : {"c", "d", "e"}) batch.Put("t", "row", "d", column, text);
    return database->Write({.durability = Durability::kMemory}, batch).ok();
  };
  const auto before_all = database->TakeSnapshot();
  BOOST_REQUIRE(before_all.has_value());
  BOOST_REQUIRE(write(0));
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    int last = 0;
    while (!done) {
      const int before = written;
      const auto row = database->Get({}, "t", "row");
      if (!row.has_value() || !row->has_value() || (*row)->cells().size() != 3) {
        ++wrong;
        continue;
      }
      const int value = std::atoi(std::string((*row)->cells()[0].value).c_str());
      for (const Cell& cell : (*row)->cells()) wrong += cell.value != (*row)->cells()[0].value;
      wrong += value < before || value < last;
      last = value;
    }
  });
  std::thread merger([&] {
    while (!done) {
      if (!database->Flush("t").ok() || !database->Compact("t").ok()) ++wrong;
    }
  });
  for (int value = 1; value <= kWrites; ++value) {
    if (!write(value)) ++wrong;
    written = value;
  }
  done = true;
  reader.join();
  merger.join();
  BOOST_TEST(wrong == 0);
}

// Each writer knows one of the two columns of an index, and no write reads the other one. Whatever
// lies in whichever memstore and file, the index finds what a scan finds. For a minute or more:
// TANDEM_TRIALS.
BOOST_AUTO_TEST_CASE(TwoWritersOfOneIndexLoseNoEntry) {
  constexpr uint64_t kRowsOfBoth = 50, kValues = 6;
  TableOptions table{.name = "w", .families = {{.name = "d"}, {.name = "e"}}};
  table.indexes = {{.name = "both", .columns = {{"d", "a"}, {"e", "b"}}},
                   {.name = "turned", .columns = {{"e", "b"}, {"d", "a"}}}};
  BOOST_REQUIRE(database->CreateTable(table).ok());
  const size_t writes = Trials(3000);
  std::atomic<int> failures{0}, writing{2};
  const auto write = [&](const char* family, const char* column, uint64_t seed) {
    const auto dice = base::NewSeededRandom(seed);
    for (size_t i = 0; i < writes; ++i) {
      WriteBatch batch;
      const std::string row = "row" + std::to_string(dice->Next64() % kRowsOfBoth);
      if (dice->Next64() % 8 == 0) {
        batch.DeleteColumn("w", row, family, column);
      } else {
        batch.Put("w", row, family, column, std::to_string(dice->Next64() % kValues));
      }
      if (!database->Write({.durability = Durability::kBuffered}, batch).ok()) ++failures;
    }
    --writing;
  };
  std::jthread of_a([&] { write("d", "a", 1); }), of_b([&] { write("e", "b", 2); });

  const auto keys_of = [&](const Snapshot& snapshot, const Predicate& predicate,
                           const QueryOptions& query) {
    std::string keys;
    auto rows = database->Query({.snapshot = &snapshot}, "w", predicate, query);
    BOOST_REQUIRE_MESSAGE(rows.has_value(), rows.status().ToString());
    while (rows->Next()) keys += std::string(rows->row().key()) + " ";
    BOOST_REQUIRE_MESSAGE(rows->status().ok(), rows->status().ToString());
    return keys;
  };
  const auto check = [&] {
    const auto snapshot = database->TakeSnapshot();
    BOOST_REQUIRE(snapshot.has_value());
    for (uint64_t value = 0; value < kValues; ++value) {
      const Predicate a = Predicate::Equal("d:a", std::to_string(value));
      const Predicate b = Predicate::Equal("e:b", std::to_string((value + 1) % kValues));
      for (const Predicate& predicate : {a, b, Predicate::And({a, b})}) {
        const char* index = predicate.qualifier() == "b" ? "turned" : "both";
        const std::string found = keys_of(*snapshot, predicate, {.use_index = index});
        const std::string scanned = keys_of(*snapshot, predicate, {.no_index = true});
        BOOST_REQUIRE_MESSAGE(found == scanned, predicate.ToString() << " by " << index << ": "
                                                                     << found << "not " << scanned);
      }
    }
  };
  for (uint64_t round = 0; writing > 0; ++round) {
    check();
    if (round % 8 == 3) BOOST_CHECK(database->Flush("w").ok());
    if (round % 32 == 31) BOOST_CHECK(database->Compact("w").ok());
  }
  of_a.join();
  of_b.join();
  BOOST_CHECK_EQUAL(failures, 0);
  check();
  const auto report = database->Verify(/*deep=*/true);
  BOOST_REQUIRE(report.has_value());
  BOOST_CHECK(report->findings.empty());
}

BOOST_AUTO_TEST_CASE(ClosingWaitsForCallsAndRefusesLaterOnes) {
  std::atomic<bool> stop{false};
  std::atomic<int> others{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      while (!stop) {
        WriteBatch batch;
        batch.Put("t", std::to_string(i), "d", "c", "v");
        const Status status = database->Write({}, batch);
        if (!status.ok() && status.code() != StatusCode::kClosed) ++others;
        const auto got = database->Get({}, "t", "0");
        if (!got.has_value() && got.error().code() != StatusCode::kClosed) ++others;
      }
    });
  }
  clock->SleepMicros(20'000);
  BOOST_CHECK_EQUAL(database->Close().ToString(), "OK");
  stop = true;
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK_EQUAL(others, 0);
  Open();
  BOOST_CHECK_EQUAL(*database->Count({}, "t", Predicate(), {}), 3u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
