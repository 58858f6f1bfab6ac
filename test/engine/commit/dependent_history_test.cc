// Histories of increments, appends, checks and transfers by threads, on few rows and beside
// flushes, merges and splits, are linearizable. Each kind of call answers enough for an exact and
// simple check:
//   increments  The sums of a column are 1, 2, 3, ...; a call that ended before another began has
//               the smaller one.
//   appends     Each value returned is a beginning of the next longer one, in the same order.
//   checks      Each call replaces a value by one that is never used again. So those that were
//               applied form one chain, and one that was not had its value replaced, or not yet
//               written, at some time during the call.
//   transfers   Transactions that read two rows and write both, counted in each: so of two over the
//               same row one is the earlier, and there is an order of all, in which what ended
//               before another began comes before it, and each has read what it left before.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/status_macros.h"
#include "engine/runtime/background.h"
#include "engine/transaction_state.h"
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

struct Account {
  int64_t balance = 0;
  uint64_t moves = 0;
  bool operator==(const Account&) const = default;
};
struct Transfer {
  CallTimes times{};
  uint64_t from = 0, to = 0;  // Rows.
  int64_t amount = 0;
  Account seen_from{}, seen_to{};
};

struct RowHistory {
  std::vector<Increment> increments;
  std::vector<Append> appends;
  std::vector<Check> checks;
  std::vector<Transfer> transfers;  // From the row.
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
  void DoTransfer(Transfer transfer, RowHistory* history);
  Status Move(Transfer* transfer);
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

std::string RowName(uint64_t row) { return "row" + std::to_string(row); }

Account AccountOf(const std::optional<Row>& row) {
  const auto number = [&row](const char* qualifier) {
    if (!row.has_value()) return 0LL;
    return std::stoll(std::string(row->Find("d", qualifier).value_or("0")));
  };
  return {.balance = number("balance"), .moves = static_cast<uint64_t>(number("moves"))};
}

// An attempt. Other columns of the rows change all the time, which conflicts as well.
Status HistoryFixture::Move(Transfer* transfer) {
  ASSIGN_OR_RETURN(Transaction transaction, engine::TransactionState::Begin(database.get()));
  const auto change = [&](uint64_t row, int64_t amount, Account* seen) -> Status {
    ASSIGN_OR_RETURN(const std::optional<Row> found, transaction.Get({}, "t", RowName(row)));
    *seen = AccountOf(found);
    const std::string balance = std::to_string(seen->balance + amount);
    const std::string moves = std::to_string(seen->moves + 1);
    const std::vector<ColumnValue> columns = {{"balance", balance}, {"moves", moves}};
    return transaction.PutColumns("t", RowName(row), "d", columns);
  };
  RETURN_IF_ERROR(change(transfer->from, -transfer->amount, &transfer->seen_from));
  RETURN_IF_ERROR(change(transfer->to, transfer->amount, &transfer->seen_to));
  return transaction.Commit();
}

void HistoryFixture::DoTransfer(Transfer transfer, RowHistory* history) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    transfer.times.begin = now++;
    const Status status = Move(&transfer);
    transfer.times.end = now++;
    if (status.code() == StatusCode::kConflict) continue;
    if (!status.ok()) return Failed(status);
    return history->transfers.push_back(transfer);
  }
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
    } else if (choice < 87) {
      DoCheck(row, token, history);
    } else if (choice < 97) {
      DoTransfer({.from = at,
                  .to = (at + 1 + dice.Below(kRows - 1)) % kRows,
                  .amount = static_cast<int64_t>(dice.Below(100))},
                 history);
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

// Replays the transfers: next is one that both rows count as their next, and before which none of
// the others has ended.
void CheckTransfers(std::vector<Transfer> left, const std::vector<Account>& last) {
  std::vector<Account> accounts(kRows);
  while (!left.empty()) {
    uint64_t first_end = std::numeric_limits<uint64_t>::max();
    for (const Transfer& transfer : left) first_end = std::min(first_end, transfer.times.end);
    const auto next = std::find_if(left.begin(), left.end(), [&](const Transfer& transfer) {
      return transfer.seen_from.moves == accounts[transfer.from].moves &&
             transfer.seen_to.moves == accounts[transfer.to].moves &&
             transfer.times.begin < first_end;
    });
    BOOST_REQUIRE_MESSAGE(next != left.end(), left.size() << " transfers have no order");
    BOOST_REQUIRE_EQUAL(next->seen_from.balance, accounts[next->from].balance);
    BOOST_REQUIRE_EQUAL(next->seen_to.balance, accounts[next->to].balance);
    accounts[next->from].balance -= next->amount;
    accounts[next->to].balance += next->amount;
    ++accounts[next->from].moves;
    ++accounts[next->to].moves;
    left.erase(next);
  }
  BOOST_CHECK(accounts == last);
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
  std::vector<Transfer> transfers;
  std::vector<Account> accounts;
  for (uint64_t row = 0; row < kRows; ++row) {
    RowHistory all;
    for (const auto& of_thread : histories) {
      const RowHistory& own = of_thread[row];
      all.increments.insert(all.increments.end(), own.increments.begin(), own.increments.end());
      all.appends.insert(all.appends.end(), own.appends.begin(), own.appends.end());
      all.checks.insert(all.checks.end(), own.checks.begin(), own.checks.end());
      transfers.insert(transfers.end(), own.transfers.begin(), own.transfers.end());
    }
    const std::string key = RowName(row);
    accounts.push_back(AccountOf(*database->Get({}, "t", key)));
    CheckIncrements(all.increments);
    CheckAppends(all.appends);
    CheckChecks(all.checks, Value(key, "c"));
    BOOST_CHECK_EQUAL(Value(key, "n"), std::to_string(all.increments.size()));
  }
  CheckTransfers(transfers, accounts);
  BOOST_CHECK_GT(transfers.size(), 0u);
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
