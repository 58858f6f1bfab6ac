// Histories of increments, appends and checks by threads, on few rows and beside flushes, merges
// and splits, are linearizable. Each kind of call answers enough for an exact and simple check:
//   increments  The sums of a column are 1, 2, 3, ...; a call that ended before another began has
//               the smaller one.
//   appends     Each value returned is a beginning of the next longer one, in the same order.
//   checks      Each call replaces a value by one that is never used again. So those that were
//               applied form one chain, and one that was not had its value replaced, or not yet
//               written, at some time during the call.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "engine/runtime/background.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "tools/generator/dice.h"

namespace tandem::test {
namespace {

constexpr uint64_t kThreads = 8;
constexpr uint64_t kRows = 3;
constexpr const char* kFirst = "first";

struct CallTimes {
  uint64_t begin = 0, end = 0;
};
struct Increment {
  CallTimes times{};
  int64_t sum = 0;
};
struct Append {
  CallTimes times{};
  std::string token{}, value{};
};
struct Check {
  CallTimes times{};
  std::string expected{}, put{};
  bool applied = false;
};

struct RowHistory {
  std::vector<Increment> increments;
  std::vector<Append> appends;
  std::vector<Check> checks;
};

struct HistoryFixture {
  HistoryFixture() {
    environment.file_system = &disk;
    environment.clock = clock.get();
    environment.random = random.get();
    environment.executor = pool.get();
    options.create_if_missing = true;
    auto opened = engine::Engine::Open("db", options, SmallTuning(), environment);
    BOOST_REQUIRE_EQUAL(opened.status().ToString(), "OK");
    database = std::move(*opened);
    BOOST_REQUIRE(database->CreateTable(SimpleTable(2)).ok());
  }

  /// Calls of one thread; `histories` are its own.
  void Work(uint64_t thread, std::vector<RowHistory>* histories);
  void DoIncrement(const std::string& row, Durability durability, RowHistory* history);
  void DoAppend(const std::string& row, const std::string& token, RowHistory* history);
  void DoCheck(const std::string& row, const std::string& put, RowHistory* history);
  /// What other calls do to the files.
  void Care(Dice* dice);
  void Failed(const Status& status) {
    if (!status.ok() && failures++ == 0) failure = status.ToString();
  }
  std::string Value(const std::string& row, const std::string& qualifier);

  SimulatedDisk disk;
  std::unique_ptr<base::Clock> clock = base::NewSystemClock();
  std::unique_ptr<base::RandomSource> random = base::NewSeededRandom(5);
  std::unique_ptr<base::Executor> pool = *engine::NewThreadPool(2, clock.get());
  Options options;
  engine::Environment environment;
  std::unique_ptr<engine::Engine> database;
  std::atomic<uint64_t> now{1};
  std::atomic<int> failures{0};
  std::string failure;  // The first one's.
  uint64_t calls = 300;
};

void HistoryFixture::DoIncrement(const std::string& row, Durability durability,
                                 RowHistory* history) {
  const ColumnDelta delta{.qualifier = "n", .delta = 1};
  Increment increment{.times = {.begin = now++}};
  const auto sums =
      database->IncrementColumns({.durability = durability}, "t", row, "d", {&delta, 1});
  increment.times.end = now++;
  if (!sums.has_value()) return Failed(sums.error());
  increment.sum = sums->front();
  history->increments.push_back(increment);
}

void HistoryFixture::DoAppend(const std::string& row, const std::string& token,
                              RowHistory* history) {
  const ColumnValue column{.qualifier = "a", .value = token};
  Append append{.times = {.begin = now++}, .token = token};
  auto values = database->AppendColumns({}, "t", row, "d", {&column, 1});
  append.times.end = now++;
  if (!values.has_value()) return Failed(values.error());
  append.value = std::move(values->front());
  history->appends.push_back(std::move(append));
}

void HistoryFixture::DoCheck(const std::string& row, const std::string& put, RowHistory* history) {
  Check check{.expected = Value(row, "c"), .put = put};
  WriteBatch batch;
  batch.Put("t", row, "d", "c", put);
  const Predicate condition =
      check.expected == kFirst ? Predicate::IsNull("c") : Predicate::Equal("c", check.expected);
  check.times.begin = now++;
  const auto applied = database->CheckAndMutate({}, "t", row, condition, batch);
  check.times.end = now++;
  if (!applied.has_value()) return Failed(applied.error());
  check.applied = *applied;
  history->checks.push_back(std::move(check));
}

std::string HistoryFixture::Value(const std::string& row, const std::string& qualifier) {
  const auto found = database->Get({}, "t", row);
  if (!found.has_value() || !found->has_value()) return kFirst;
  return std::string((*found)->Find("d", qualifier).value_or(kFirst));
}

void HistoryFixture::Care(Dice* dice) {
  const uint64_t choice = dice->Below(8);
  if (choice < 5) return Failed(database->Flush("t"));
  if (choice < 6) return Failed(database->Compact("t"));
  const Status status = choice < 7
                            ? database->Split("t", {.key = "row" + std::to_string(1)}).status()
                            : database->MergeRegions("t", {}).status();
  if (status.code() != StatusCode::kInvalidArgument) Failed(status);
}

void HistoryFixture::Work(uint64_t thread, std::vector<RowHistory>* histories) {
  Dice dice(thread + 1);
  for (uint64_t call = 0; call < calls && failures == 0; ++call) {
    const uint64_t at = dice.Chance(60) ? 0 : dice.Below(kRows);
    const std::string row = "row" + std::to_string(at);
    const std::string token = std::to_string(thread) + "." + std::to_string(call) + ";";
    RowHistory* history = &(*histories)[at];
    const uint64_t choice = dice.Below(100);
    if (choice < 50) {
      const Durability level = dice.Chance(20)   ? Durability::kSynced
                               : dice.Chance(50) ? Durability::kMemory
                                                 : Durability::kWritten;
      DoIncrement(row, level, history);
    } else if (choice < 70) {
      DoAppend(row, token, history);
    } else if (choice < 97) {
      DoCheck(row, token, history);
    } else {
      Care(&dice);
    }
  }
}

void CheckIncrements(std::vector<Increment> increments) {
  std::sort(increments.begin(), increments.end(),
            [](const auto& a, const auto& b) { return a.sum < b.sum; });
  uint64_t begun = 0;  // The latest begin of those with smaller sums.
  for (size_t i = 0; i < increments.size(); ++i) {
    BOOST_REQUIRE_EQUAL(increments[i].sum, static_cast<int64_t>(i) + 1);
    BOOST_REQUIRE_GT(increments[i].times.end, begun);
    begun = std::max(begun, increments[i].times.begin);
  }
}

void CheckAppends(std::vector<Append> appends) {
  std::sort(appends.begin(), appends.end(),
            [](const auto& a, const auto& b) { return a.value.size() < b.value.size(); });
  uint64_t begun = 0;
  std::string before;
  for (const Append& append : appends) {
    BOOST_REQUIRE_EQUAL(append.value, before + append.token);
    BOOST_REQUIRE_GT(append.times.end, begun);
    begun = std::max(begun, append.times.begin);
    before = append.value;
  }
}

void CheckChecks(const std::vector<Check>& checks, const std::string& last) {
  std::map<std::string, const Check*> by_expected, by_put;
  for (const Check& check : checks) {
    if (!check.applied) continue;
    BOOST_REQUIRE_MESSAGE(by_expected.emplace(check.expected, &check).second,
                          check.expected << " was replaced twice");
    by_put.emplace(check.put, &check);
  }
  std::string value = kFirst;
  uint64_t begun = 0;
  size_t links = 0;
  for (auto next = by_expected.find(value); next != by_expected.end();
       next = by_expected.find(value), ++links) {
    BOOST_REQUIRE_GT(next->second->times.end, begun);
    begun = std::max(begun, next->second->times.begin);
    value = next->second->put;
  }
  BOOST_REQUIRE_EQUAL(links, by_expected.size());
  BOOST_REQUIRE_EQUAL(value, last);
  for (const Check& check : checks) {
    if (check.applied) continue;
    const auto writer = by_put.find(check.expected);
    const auto replacer = by_expected.find(check.expected);
    const bool was_there_before =
        writer == by_put.end() || writer->second->times.end < check.times.begin;
    const bool was_there_after =
        replacer == by_expected.end() || replacer->second->times.begin > check.times.end;
    BOOST_REQUIRE_MESSAGE(!was_there_before || !was_there_after,
                          check.expected << " was there during the whole call");
  }
}

BOOST_FIXTURE_TEST_SUITE(DependentHistories, HistoryFixture)

BOOST_AUTO_TEST_CASE(AreLinearizable) {
  std::vector<std::vector<RowHistory>> histories(kThreads, std::vector<RowHistory>(kRows));
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] { Work(thread, &histories[thread]); });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_REQUIRE_MESSAGE(failures == 0, failure);
  for (uint64_t row = 0; row < kRows; ++row) {
    RowHistory all;
    for (const auto& of_thread : histories) {
      const RowHistory& own = of_thread[row];
      all.increments.insert(all.increments.end(), own.increments.begin(), own.increments.end());
      all.appends.insert(all.appends.end(), own.appends.begin(), own.appends.end());
      all.checks.insert(all.checks.end(), own.checks.begin(), own.checks.end());
    }
    const std::string key = "row" + std::to_string(row);
    CheckIncrements(all.increments);
    CheckAppends(all.appends);
    CheckChecks(all.checks, Value(key, "c"));
    BOOST_CHECK_EQUAL(Value(key, "n"), std::to_string(all.increments.size()));
  }
  const Statistics statistics = database->GetStatistics();
  BOOST_TEST_MESSAGE(
      "caught up " << statistics.caught_up_writes << " of " << statistics.dependent_writes
                   << ", read again " << statistics.reread_writes << ", alone "
                   << statistics.writes_alone << ", flushed " << statistics.writes_that_flushed);
  BOOST_CHECK_GT(statistics.caught_up_writes, 0u);
  const auto report = database->Verify(true);
  BOOST_REQUIRE(report.has_value());
  BOOST_CHECK(report->findings.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
