// Threads that want the same values of a unique index, beside flushes, merges and splits. A value
// is a lock: whoever gets it has it until the row gives it up.
//   - Between the end of a call that got a value and the beginning of the one that gives it up, no
//     other call gets it.
//   - A call that was refused overlaps the time in which another one may have had the value.
#define BOOST_TEST_DYN_LINK
#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "engine/runtime/background.h"
#include "tandem/transaction.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "tools/generator/dice.h"

namespace tandem::test {
namespace {

constexpr uint64_t kThreads = 8;
constexpr uint64_t kValues = 3;

struct CallTimes {
  uint64_t begin = 0, end = 0;
};
/// A value that a thread has had.
struct Tenure {
  uint64_t value = 0;
  CallTimes got{}, gave{};
};
struct Refusal {
  uint64_t value = 0;
  CallTimes times{};
};
struct ThreadHistory {
  std::vector<Tenure> tenures;
  std::vector<Refusal> refusals;
};

struct LockFixture {
  LockFixture() {
    environment.file_system = &disk;
    environment.clock = clock.get();
    environment.random = random.get();
    environment.executor = pool.get();
    options.create_if_missing = true;
    auto opened = engine::Engine::Open("db", options, SmallTuning(), environment);
    BOOST_REQUIRE_EQUAL(opened.status().ToString(), "OK");
    database = std::move(*opened);
    TableOptions table = SimpleTable(2);
    table.split_keys = {"row4"};
    table.indexes[0].unique = true;
    BOOST_REQUIRE(database->CreateTable(table).ok());
  }

  void Work(uint64_t thread, ThreadHistory* history);
  Status Take(const std::string& row, const std::string& value, Dice* dice);
  Status Reveal(const std::string& row, const std::string& value);
  Status TakeIfFree(const std::string& row, const std::string& value);
  Status Give(const std::string& row, const std::string& own, Dice* dice);
  Status Put(const std::string& row, const std::string& value) {
    WriteBatch batch;
    batch.Put("t", row, "d", "c", value);
    return database->Write({}, batch);
  }
  /// What other calls do to the files.
  void Care(Dice* dice);
  void Failed(const Status& status) {
    if (!status.ok() && failures++ == 0) failure = status.ToString();
  }

  SimulatedDisk disk;
  std::unique_ptr<base::Clock> clock = base::NewSystemClock();
  std::unique_ptr<base::RandomSource> random = base::NewSeededRandom(5);
  std::unique_ptr<base::Executor> pool = *engine::NewThreadPool(2, clock.get());
  Options options;
  engine::Environment environment;
  std::unique_ptr<engine::Engine> database;
  std::atomic<uint64_t> now{1};
  std::array<std::atomic<int>, kValues> owners{};
  std::atomic<int> shared{0};  // Values that two had at a time.
  std::atomic<int> failures{0};
  std::string failure;  // The first one's.
  uint64_t calls = 300;
};

// The row's value is older than what it has, so it is not refused; the delete reveals it.
Status LockFixture::Reveal(const std::string& row, const std::string& value) {
  WriteBatch both;
  both.DeleteRow("t", row);
  both.Put("t", row, "d", "c", row, 20);
  both.Put("t", row, "d", "c", value, 10);
  Failed(database->Write({}, both));
  WriteBatch reveal;
  reveal.DeleteCell("t", row, "d", "c", 20);
  return database->Write({}, reveal);
}

Status LockFixture::TakeIfFree(const std::string& row, const std::string& value) {
  WriteBatch batch;
  batch.Put("t", row, "d", "c", value);
  return database->CheckAndMutate({}, "t", row, Predicate::Not(Predicate::Equal("c", value)), batch)
      .status();
}

Status LockFixture::Take(const std::string& row, const std::string& value, Dice* dice) {
  if (dice->Chance(20)) return Reveal(row, value);
  if (dice->Chance(20)) return TakeIfFree(row, value);
  if (dice->Chance(20)) {
    const ColumnValue suffix{.qualifier = "c", .value = value};
    WriteBatch none;
    none.DeleteRow("t", row);
    Failed(database->Write({}, none));
    return database->AppendColumns({}, "t", row, "d", {&suffix, 1}).status();
  }
  return Put(row, value);
}

Status LockFixture::Give(const std::string& row, const std::string& own, Dice* dice) {
  WriteBatch batch;
  switch (dice->Below(4)) {
    case 0:
      batch.DeleteRow("t", row);
      break;
    case 1:
      batch.DeleteColumn("t", row, "d", "c");
      break;
    case 2:
      batch.DeleteFamily("t", row, "d");
      break;
    default:
      return Put(row, own);
  }
  return database->Write(
      {.durability = dice->Chance(50) ? Durability::kMemory : Durability::kBuffered}, batch);
}

void LockFixture::Care(Dice* dice) {
  const uint64_t choice = dice->Below(8);
  if (choice < 5) return Failed(database->Flush("t"));
  if (choice < 6) return Failed(database->Compact("t"));
  const Status status =
      choice < 7 ? database->Split("t", {.key = "row" + std::to_string(dice->Below(8))}).status()
                 : database->MergeRegions("t", {}).status();
  if (status.code() != StatusCode::kInvalidArgument) Failed(status);
}

void LockFixture::Work(uint64_t thread, ThreadHistory* history) {
  Dice dice(thread + 1);
  const std::string row = "row" + std::to_string(thread);
  for (uint64_t call = 0; call < calls; ++call) {
    if (dice.Chance(3)) Care(&dice);
    const uint64_t value = dice.Below(kValues);
    Tenure tenure{.value = value, .got = {.begin = now++}};
    const Status taken = Take(row, "value" + std::to_string(value), &dice);
    tenure.got.end = now++;
    if (taken.code() == StatusCode::kAlreadyExists) {
      history->refusals.push_back({.value = value, .times = tenure.got});
      continue;
    }
    Failed(taken);
    shared += owners[value]++ > 0 ? 1 : 0;
    if (dice.Chance(30)) std::this_thread::yield();
    --owners[value];
    tenure.gave.begin = now++;
    Failed(Give(row, row + "-" + std::to_string(call), &dice));
    tenure.gave.end = now++;
    history->tenures.push_back(tenure);
  }
}

// Whether another thread may have had the value at some time of the call.
bool IsExplained(const Refusal& refusal, uint64_t thread,
                 const std::vector<ThreadHistory>& histories) {
  for (uint64_t other = 0; other < histories.size(); ++other) {
    if (other == thread) continue;
    for (const Tenure& tenure : histories[other].tenures) {
      const bool is_before = tenure.gave.end < refusal.times.begin;
      const bool is_after = tenure.got.begin > refusal.times.end;
      if (tenure.value == refusal.value && !is_before && !is_after) return true;
    }
  }
  return false;
}

BOOST_FIXTURE_TEST_SUITE(UniqueHistories, LockFixture)

BOOST_AUTO_TEST_CASE(AValueHasOneRowAtATime) {
  std::vector<ThreadHistory> histories(kThreads);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i, &histories] { Work(i, &histories[i]); });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK_EQUAL(failures.load(), 0);
  BOOST_CHECK_EQUAL(failure, "");
  BOOST_CHECK_EQUAL(shared.load(), 0);
  uint64_t refused = 0, taken = 0, unexplained = 0;
  for (uint64_t i = 0; i < kThreads; ++i) {
    refused += histories[i].refusals.size();
    taken += histories[i].tenures.size();
    for (const Refusal& refusal : histories[i].refusals) {
      unexplained += IsExplained(refusal, i, histories) ? 0 : 1;
    }
  }
  BOOST_CHECK_EQUAL(unexplained, 0u);
  BOOST_CHECK_GT(refused, 10u);
  BOOST_CHECK_GT(taken, 10u);
  BOOST_TEST_MESSAGE("taken " << taken << ", refused " << refused << ", looked again "
                              << database->GetStatistics().reread_writes);
  const auto report = database->Verify(true);
  BOOST_REQUIRE(report.has_value());
  BOOST_CHECK(report->findings.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
