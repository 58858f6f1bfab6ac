// Statistics say why transactions conflict, and what became of writes that depend on others. Each
// cause is brought about; those that take two threads at one moment are tried until they come.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tandem/observer.h"
#include "tandem/tandem.h"
#include "test/api/transaction_fixture.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kBatchesMax = 1'000'000;

// Reads a row, so that the batch conflicts with who changes it.
class Reader final : public Observer {
 public:
  Status BeforeWrite(PendingWrite* write) override {
    const auto row = write->Get({}, "t", "read");
    if (row.has_value() && between) between();
    return row.status();
  }
  std::function<void()> between;
};

struct CountsFixture : TransactionFixture {
  CountsFixture() {
    options.observers["reader"] = reader;
    Open();
  }
  Statistics Counters() { return database->GetStatistics(); }
  /// Does the works side by side, again and again, until the count is not 0. Each returns whether
  /// it was done.
  using Work = std::function<bool()>;
  template <typename Count>
  void Until(const Count& count, const std::vector<Work>& works) {
    std::atomic<bool> stop{false}, failed{false};
    std::vector<std::thread> threads;
    for (const Work& work : works) {
      threads.emplace_back([&] {
        while (!stop) {
          if (!work()) stop = failed = true;
        }
      });
    }
    bool has_come = false;
    while (!stop) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      has_come = count(Counters()) > 0;
      if (has_come || Counters().batches > kBatchesMax) stop = true;
    }
    for (std::thread& thread : threads) thread.join();
    BOOST_CHECK(has_come && !failed);
  }
  /// A transaction that reads "a" and writes "b", with `between` before its commit.
  Status Commit(const std::function<void()>& between) {
    Transaction transaction = Begin();
    Get(&transaction, "a");
    PutIn(&transaction, "b", "1");
    between();
    return transaction.Commit();
  }

  const std::shared_ptr<Reader> reader = std::make_shared<Reader>();
};

int64_t NowMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

BOOST_FIXTURE_TEST_SUITE(conflict_counts, CountsFixture)

BOOST_AUTO_TEST_CASE(EveryCauseOfAConflictIsCounted) {
  const auto conflicts = [this](const std::function<void()>& between) {
    BOOST_CHECK_EQUAL(Commit(between).code(), StatusCode::kConflict);
  };
  conflicts([this] { Put("a", "1"); });
  BOOST_CHECK_EQUAL(Counters().conflicts.in_memstore, 1u);
  conflicts([this] {
    Put("a", "2");
    Flush();
  });
  BOOST_CHECK_EQUAL(Counters().conflicts.in_files, 1u);
  conflicts([this] { BOOST_REQUIRE(database->TruncateTable("t").ok()); });
  BOOST_CHECK_EQUAL(Counters().conflicts.of_schema, 1u);
  {
    Transaction transaction = Begin({.validate_ranges = true});
    BOOST_CHECK_EQUAL(Scan(&transaction), "");
    PutIn(&transaction, "b", "1");
    Put("a", "1");
    CommitConflicts(&transaction);
  }
  BOOST_CHECK_EQUAL(Counters().conflicts.in_range, 1u);
  {
    constexpr int64_t kNearMicros = 50'000;
    const int64_t near = NowMicros() + kNearMicros;
    WriteBatch batch;
    batch.Put("t", "n", "d", "c", "1", near);
    BOOST_REQUIRE(database->Write({}, batch).ok());
    Transaction transaction = Begin();
    BOOST_REQUIRE(transaction.Increment("t", "n", "d", "c").has_value());
    while (NowMicros() <= near) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    CommitConflicts(&transaction);
  }
  BOOST_CHECK_EQUAL(Counters().conflicts.of_time, 1u);
  BOOST_CHECK_EQUAL(Counters().transaction_conflicts, 5u);
  BOOST_CHECK_EQUAL(Counters().conflicts.total(), 5u);
}

// Of a batch whose observer reads what others change meanwhile.
BOOST_AUTO_TEST_CASE(ConflictsOfObservedWritesAreCounted) {
  const std::vector<std::string> names = {"reader"};
  BOOST_REQUIRE(database->CreateTable({.name = "seen", .families = {{.name = "d"}}}).ok());
  BOOST_REQUIRE(database->SetObservers("seen", names).ok());
  WriteBatch other, batch;
  other.Put("t", "read", "d", "c", "1");
  batch.Put("seen", "x", "d", "c", "1");
  // A hook only reads the database: another thread writes.
  reader->between = [&] {
    std::thread([&] { BOOST_CHECK(database->Write({}, other).ok()); }).join();
  };
  BOOST_CHECK_EQUAL(database->Write({}, batch).code(), StatusCode::kConflict);
  BOOST_CHECK_EQUAL(Counters().conflicts.in_memstore, 1u);
  BOOST_CHECK_EQUAL(Counters().transaction_conflicts, 0u);
}

BOOST_AUTO_TEST_CASE(AConflictWithinAGroupIsCounted) {
  const WriteOptions synced{.durability = Durability::kSynced};
  const auto put = [&] {
    WriteBatch batch;
    batch.Put("t", "a", "d", "c", "1");
    return database->Write(synced, batch).ok();
  };
  const auto commit = [&] {
    auto transaction = database->Begin();
    if (!transaction.has_value() || !transaction->Get({}, "t", "a").has_value()) return false;
    if (!transaction->Put("t", "b", "d", "c", "1").ok()) return false;
    const Status status = transaction->Commit(synced);
    return status.ok() || status.code() == StatusCode::kConflict;
  };
  Until([](const Statistics& counters) { return counters.conflicts.in_group; },
        {put, put, put, commit, commit});
}

BOOST_AUTO_TEST_CASE(WritesThatDependOnOthersAreCountedByCause) {
  const auto increment = [this](Durability durability) {
    return [this, durability] {
      return database->Increment({.durability = durability}, "t", "a", "d", "n").has_value();
    };
  };
  const auto synced = increment(Durability::kSynced);
  Until([](const Statistics& counters) { return counters.caught_up_in_group; },
        {synced, synced, synced, synced});
  BOOST_CHECK_GE(Counters().caught_up_writes, Counters().caught_up_in_group);
  const auto flush = [this] { return database->Flush("t").ok(); };
  const auto written = increment(Durability::kWritten);
  Until([](const Statistics& counters) { return counters.reread_writes; },
        {written, written, flush});
  WriteBatch unlogged;
  unlogged.Put("t", "a", "d", "n", "1");
  BOOST_REQUIRE(database->Write({.durability = Durability::kMemory}, unlogged).ok());
  BOOST_CHECK(written());
  BOOST_CHECK_GT(Counters().writes_that_flushed, 0u);
  const auto change = [this] {
    return database->CreateTable({.name = "u", .families = {{.name = "d"}}}).ok() &&
           database->DropTable("u").ok();
  };
  Until([](const Statistics& counters) { return counters.replanned_writes; },
        {written, written, written, change});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
