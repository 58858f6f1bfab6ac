// Transactions: what they see, what they conflict with, and what ends them. The anomalies are those
// of Adya, "Weak Consistency" (1999), each by name.
#define BOOST_TEST_DYN_LINK
#include "tandem/transaction.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/transaction_fixture.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

BOOST_FIXTURE_TEST_SUITE(transactions, TransactionFixture)

BOOST_AUTO_TEST_CASE(ATransactionReadsItsOwnWrites) {
  for (const char* row : {"a", "b", "c"}) Put(row, "1");
  Flush();
  Put("d", "1");
  Transaction transaction = Begin();
  PutIn(&transaction, "b", "2");
  PutIn(&transaction, "x", "1");
  BOOST_CHECK_EQUAL(transaction.DeleteRow("t", "c").ToString(), "OK");
  BOOST_CHECK_EQUAL(Scan(&transaction), "a=1 b=2 d=1 x=1");
  BOOST_CHECK_EQUAL(Query(&transaction, "c = 1"), "a=1 d=1 x=1");
  BOOST_CHECK_EQUAL(Query(&transaction, "c = 2"), "b=2");
  BOOST_CHECK_EQUAL(Get(&transaction, "b"), "2");
  BOOST_CHECK_EQUAL(Get(&transaction, "c"), "-");
  PutIn(&transaction, "b", "3");
  BOOST_CHECK_EQUAL(Query(&transaction, "c = 2"), "");
  BOOST_CHECK_EQUAL(transaction.DeleteColumn("t", "b", "d", "c").ToString(), "OK");
  BOOST_CHECK_EQUAL(Get(&transaction, "b"), "-");
  PutIn(&transaction, "b", "4");

  BOOST_CHECK_EQUAL(Scan(), "a=1 b=1 c=1 d=1");  // Nobody else sees it.
  CommitOk(&transaction);
  BOOST_CHECK_EQUAL(Scan(), "a=1 b=4 d=1 x=1");
  Open();
  BOOST_CHECK_EQUAL(Scan(), "a=1 b=4 d=1 x=1");
}

// A query of a few rows that are cached, of a table of one family, needs no plan.
BOOST_AUTO_TEST_CASE(QueriesOfFewRowsSeeOwnWrites) {
  TableOptions table{.name = "u", .families = {{.name = "d"}}};
  table.indexes = {{.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}}};
  BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  WriteBatch batch;
  for (int i = 10; i < 40; ++i)
    batch.Put("u", "row" + std::to_string(i), "d", "c", std::to_string(i));
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  Compact();
  Transaction transaction = Begin();
  const auto query = [&transaction](const std::string& value) {
    return RowsOf(transaction.Query({}, "u", Predicate::Equal("c", value)));
  };
  BOOST_CHECK_EQUAL(query("20"), "row20=20");
  BOOST_REQUIRE(transaction.Put("u", "own", "d", "c", "20").ok());
  BOOST_REQUIRE(transaction.Put("u", "row21", "d", "c", "99").ok());
  BOOST_REQUIRE(transaction.DeleteRow("u", "row22").ok());
  BOOST_CHECK_EQUAL(query("20"), "own=20 row20=20");
  BOOST_CHECK_EQUAL(query("21"), "");
  BOOST_CHECK_EQUAL(query("22"), "");
  BOOST_CHECK_EQUAL(query("23"), "row23=23");
  BOOST_CHECK_EQUAL(query("99"), "row21=99");
}

// Enough rows and questions that readers derive what they know of a memstore and a file.
BOOST_AUTO_TEST_CASE(QueriesOverManyOwnWritesAgreeWithScans) {
  constexpr int kRows = 4000;
  const auto key = [](uint64_t i) { return "row" + std::to_string(10'000 + i); };
  const auto value = [](uint64_t i) { return std::to_string(1000 + i); };
  TestRandom random("own writes");
  for (int i = 0; i < kRows; ++i) Put(key(i), value(random.Below(1000)));
  Compact();
  for (int i = 0; i < kRows / 10; ++i) Put(key(random.Below(kRows)), value(random.Below(1000)));
  Transaction transaction = Begin();
  for (size_t round = 0; round < Trials(24); ++round) {
    for (int i = 0; i < 60; ++i) {
      const std::string row = key(random.Below(kRows * 2));
      if (random.OneIn(4)) {
        BOOST_REQUIRE(transaction.DeleteRow("t", row).ok());
      } else {
        PutIn(&transaction, row, value(random.Below(1000)));
      }
      Put(key(random.Below(kRows)), value(random.Below(1000)));  // Which it does not see.
    }
    if (round % 8 == 7) Flush();
    for (const uint64_t width : {10, 100, 800}) {
      const uint64_t low = random.Below(1000 - width);
      (void)Query(&transaction, "c >= " + value(low) + " AND c < " + value(low + width));
    }
  }
}

// All puts of one transaction have one timestamp, before and after its commit.
BOOST_AUTO_TEST_CASE(VersionsAreThoseOfOneBatch) {
  Put("a", "1");
  Transaction transaction = Begin();
  PutIn(&transaction, "a", "2");
  PutIn(&transaction, "a", "3");
  const auto versions = [](const Result<std::optional<Row>>& row) {
    std::string text;
    for (const Cell& cell : (*row)->cells()) text += std::string(cell.value) + " ";
    return text;
  };
  BOOST_CHECK_EQUAL(versions(transaction.Get({.versions = 9}, "t", "a")), "3 1 ");
  CommitOk(&transaction);
  BOOST_CHECK_EQUAL(versions(database->Get({.versions = 9}, "t", "a")), "3 1 ");
}

BOOST_AUTO_TEST_CASE(ATransactionSeesTheStateWhenItBegan) {
  Put("a", "1");
  Transaction transaction = Begin();
  Put("a", "2");
  Put("b", "2");
  for (int round = 0; round < 3; ++round) {
    BOOST_CHECK_EQUAL(Scan(&transaction), "a=1");
    BOOST_CHECK_EQUAL(Query(&transaction, "c = 1 OR c = 2"), "a=1");
    round == 0 ? Flush() : Compact();
  }
  BOOST_CHECK_EQUAL(Get(&transaction, "a"), "1");
  PutIn(&transaction, "c", "3");
  BOOST_CHECK_EQUAL(Scan(&transaction), "a=1 c=3");
  CommitConflicts(&transaction);  // It read a.
  BOOST_CHECK_EQUAL(Scan(), "a=2 b=2");
}

BOOST_AUTO_TEST_CASE(RowsThatOthersChangedConflict) {
  const auto read = [](Transaction* transaction) { Get(transaction, "a"); };
  const auto write = [](Transaction* transaction) { PutIn(transaction, "a", "mine"); };
  const auto neither = [](Transaction* transaction) { Scan(transaction); };
  for (const bool exists : {true, false}) {
    for (const bool is_flushed : {false, true}) {
      for (const bool is_deleted : {false, true}) {
        const auto outcome = [&](const auto& act) {
          exists ? Put("a", "old") : Delete("a");
          Transaction transaction = Begin();
          act(&transaction);
          PutIn(&transaction, "b", "mine");
          is_deleted ? Delete("a") : Put("a", "theirs");
          if (is_flushed) Flush();
          return transaction.Commit().code();
        };
        // That a row which did not exist was deleted shows where its operation does.
        const bool is_known = exists || !is_deleted || !is_flushed;
        const StatusCode expected = is_known ? StatusCode::kConflict : StatusCode::kOk;
        BOOST_CHECK_EQUAL(outcome(read), expected);
        BOOST_CHECK_EQUAL(outcome(write), expected);
        BOOST_CHECK_EQUAL(outcome(neither), StatusCode::kOk);
      }
    }
  }
  Put("a", "1");
  Transaction transaction = Begin();
  PutIn(&transaction, "a", "2");
  Put("a", "3");
  BOOST_CHECK_EQUAL(transaction.Commit().ToString(),
                    "Conflict: row 'a' of table 't' was changed by another write");
}

// Flushes, merges and splits move rows and change none.
BOOST_AUTO_TEST_CASE(WhatMovesRowsIsNoConflict) {
  for (int i = 10; i < 60; ++i) Put("row" + std::to_string(i), "1");
  Transaction transaction = Begin();
  for (int i = 10; i < 60; ++i)
    BOOST_REQUIRE_EQUAL(Get(&transaction, "row" + std::to_string(i)), "1");
  BOOST_CHECK_EQUAL(Get(&transaction, "none"), "-");
  Put("other", "1");
  Flush();
  Put("other", "2");
  BOOST_REQUIRE(database->Split("t", {.key = "row30"}).has_value());
  Flush();
  Compact();
  PutIn(&transaction, "row10", "2");
  PutIn(&transaction, "row50", "2");
  CommitOk(&transaction);
  BOOST_CHECK_EQUAL(Get("row10") + Get("row50"), "22");
  BOOST_CHECK_EQUAL(database->GetStatistics().transaction_conflicts, 0u);
  BOOST_CHECK_EQUAL(database->GetStatistics().transactions, 1u);
}

// Two transactions on x and y, which are 10 and 20 before.
struct Anomalies : TransactionFixture {
  Anomalies() {
    Put("x", "10");
    Put("y", "20");
    first.emplace(Begin());
    second.emplace(Begin());
  }
  std::optional<Transaction> first, second;
};

BOOST_FIXTURE_TEST_CASE(G0WriteCyclesCannotOccur, Anomalies) {
  PutIn(&*first, "x", "11");
  PutIn(&*second, "x", "12");
  PutIn(&*first, "y", "21");
  CommitOk(&*first);
  PutIn(&*second, "y", "22");
  CommitConflicts(&*second);
  BOOST_CHECK_EQUAL(Scan(), "x=11 y=21");
}

BOOST_FIXTURE_TEST_CASE(G1aAbortedReadsCannotOccur, Anomalies) {
  PutIn(&*first, "x", "101");
  BOOST_CHECK_EQUAL(Get(&*second, "x"), "10");
  first->Rollback();
  BOOST_CHECK_EQUAL(Get(&*second, "x"), "10");
  PutIn(&*second, "z", "1");
  CommitOk(&*second);
}

BOOST_FIXTURE_TEST_CASE(G1bIntermediateReadsCannotOccur, Anomalies) {
  PutIn(&*first, "x", "101");
  BOOST_CHECK_EQUAL(Get(&*second, "x"), "10");
  PutIn(&*first, "x", "11");
  CommitOk(&*first);
  BOOST_CHECK_EQUAL(Get(&*second, "x"), "10");
  BOOST_CHECK_EQUAL(Scan(&*second), "x=10 y=20");
}

BOOST_FIXTURE_TEST_CASE(G1cCircularInformationFlowCannotOccur, Anomalies) {
  PutIn(&*first, "x", "11");
  PutIn(&*second, "y", "22");
  BOOST_CHECK_EQUAL(Get(&*first, "y"), "20");
  BOOST_CHECK_EQUAL(Get(&*second, "x"), "10");
  CommitOk(&*first);
  CommitConflicts(&*second);
}

// OTV: of what a transaction wrote, another sees all or nothing.
BOOST_FIXTURE_TEST_CASE(ObservedTransactionsDoNotVanish, Anomalies) {
  PutIn(&*first, "x", "11");
  PutIn(&*first, "y", "19");
  CommitOk(&*first);
  Transaction third = Begin();
  BOOST_CHECK_EQUAL(Get(&third, "x"), "11");
  Put("y", "18");
  BOOST_CHECK_EQUAL(Get(&third, "y"), "19");
  BOOST_CHECK_EQUAL(Scan(&*second), "x=10 y=20");
}

BOOST_FIXTURE_TEST_CASE(GSingleReadSkewCannotOccur, Anomalies) {
  BOOST_CHECK_EQUAL(Get(&*first, "x"), "10");
  PutIn(&*second, "x", "12");
  PutIn(&*second, "y", "18");
  CommitOk(&*second);
  BOOST_CHECK_EQUAL(Get(&*first, "y"), "20");
  CommitOk(&*first);  // It wrote nothing: it comes before the second.
}

BOOST_FIXTURE_TEST_CASE(PredicateManyPrecedersCannotOccur, Anomalies) {
  BOOST_CHECK_EQUAL(Query(&*first, "c = 30"), "");
  PutIn(&*second, "z", "30");
  CommitOk(&*second);
  BOOST_CHECK_EQUAL(Query(&*first, "c = 30"), "");
}

BOOST_FIXTURE_TEST_CASE(P4LostUpdatesCannotOccur, Anomalies) {
  BOOST_CHECK_EQUAL(Get(&*first, "x"), "10");
  BOOST_CHECK_EQUAL(Get(&*second, "x"), "10");
  PutIn(&*first, "x", "11");
  PutIn(&*second, "x", "11");
  CommitOk(&*first);
  CommitConflicts(&*second);
}

BOOST_FIXTURE_TEST_CASE(G2ItemWriteSkewCannotOccurOverGets, Anomalies) {
  BOOST_CHECK_EQUAL(Get(&*first, "x") + Get(&*first, "y"), "1020");
  BOOST_CHECK_EQUAL(Get(&*second, "x") + Get(&*second, "y"), "1020");
  PutIn(&*first, "x", "11");
  PutIn(&*second, "y", "21");
  CommitOk(&*first);
  CommitConflicts(&*second);
}

// The one that can: queries are not checked, unless asked (transaction_range_test.cc).
BOOST_FIXTURE_TEST_CASE(G2AntiDependencyCyclesOverQueriesCanOccur, Anomalies) {
  BOOST_CHECK_EQUAL(Query(&*first, "c = 30"), "");
  BOOST_CHECK_EQUAL(Query(&*second, "c = 30"), "");
  PutIn(&*first, "v", "30");
  PutIn(&*second, "w", "30");
  CommitOk(&*first);
  CommitOk(&*second);
  BOOST_CHECK_EQUAL(Scan(), "v=30 w=30 x=10 y=20");
}

// As transaction.h says: a row that stands for the set excludes it.
BOOST_FIXTURE_TEST_CASE(ARowThatStandsForTheSetExcludesPhantoms, Anomalies) {
  for (auto* transaction : {&*first, &*second}) {
    BOOST_CHECK_EQUAL(Get(transaction, "set"), "-");
    BOOST_CHECK_EQUAL(Query(transaction, "c = 30"), "");
    PutIn(transaction, "set", "changed");
  }
  PutIn(&*first, "v", "30");
  PutIn(&*second, "w", "30");
  CommitOk(&*first);
  CommitConflicts(&*second);
}

BOOST_AUTO_TEST_CASE(GetForUpdateConflictsAtOnce) {
  Put("a", "1");
  Transaction transaction = Begin();
  BOOST_CHECK_EQUAL(ValueOf(transaction.GetForUpdate({}, "t", "a")), "1");
  Put("b", "1");
  BOOST_CHECK_EQUAL(transaction.GetForUpdate({}, "t", "b").status().code(), StatusCode::kConflict);
  Transaction reader = Begin();
  BOOST_CHECK_EQUAL(ValueOf(reader.GetForUpdate({}, "t", "a")), "1");
  Put("a", "2");
  CommitConflicts(&reader);  // Though it writes nothing.
}

BOOST_AUTO_TEST_CASE(SavepointsTakeBackWhatWasWrittenSince) {
  Put("a", "0");
  Transaction transaction = Begin();
  BOOST_CHECK_EQUAL(transaction.RollbackToSavepoint().ToString(),
                    "InvalidArgument: the transaction has no savepoint");
  PutIn(&transaction, "a", "1");
  BOOST_CHECK(transaction.SetSavepoint().ok());
  PutIn(&transaction, "a", "2");
  PutIn(&transaction, "b", "2");
  BOOST_CHECK(transaction.SetSavepoint().ok());
  BOOST_CHECK(transaction.DeleteRow("t", "a").ok());
  BOOST_CHECK_EQUAL(Scan(&transaction), "b=2");
  BOOST_CHECK(transaction.RollbackToSavepoint().ok());
  BOOST_CHECK_EQUAL(Scan(&transaction), "a=2 b=2");
  BOOST_CHECK(transaction.RollbackToSavepoint().ok());
  BOOST_CHECK_EQUAL(Query(&transaction, "c = 1"), "a=1");
  BOOST_CHECK_EQUAL(Get(&transaction, "b"), "-");
  Put("c", "theirs");
  PutIn(&transaction, "d", "3");
  CommitOk(&transaction);
  BOOST_CHECK_EQUAL(Scan(), "a=1 c=theirs d=3");
}

BOOST_AUTO_TEST_CASE(ACursorSeesTheWritesUpToItsBegin) {
  for (const char* row : {"a", "b", "c"}) Put(row, "1");
  Transaction transaction = Begin();
  PutIn(&transaction, "b", "2");
  std::vector<Cursor> cursors;
  for (int i = 0; i < 30; ++i) {  // More than there are memstores of one transaction.
    cursors.push_back(*transaction.Scan({}, "t", {}));
    BOOST_REQUIRE(cursors.back().Next());
    PutIn(&transaction, "c", std::to_string(i));
    if (i % 10 == 9) cursors.pop_back();
  }
  std::string values;
  for (Cursor& cursor : cursors) {
    BOOST_REQUIRE(cursor.Next() && cursor.Next());
    values += std::string(*cursor.row().Find("d", "c")) + " ";
    BOOST_CHECK(!cursor.Next());
  }
  BOOST_CHECK_EQUAL(values,
                    "1 0 1 2 3 4 5 6 7 9 10 11 12 13 14 15 16 17 19 20 21 22 23 24 25 26 27 ");
  BOOST_CHECK_EQUAL(Scan(&transaction), "a=1 b=2 c=29");
  CommitOk(&transaction);
  BOOST_CHECK_EQUAL(Scan(), "a=1 b=2 c=29");
}

// Regions are pinned a few at a time, while the transaction goes on.
BOOST_AUTO_TEST_CASE(ACursorOverManyRegionsSeesTheWritesUpToItsBegin) {
  const std::string keys = "abcdefghijkl";
  for (const char key : keys) {
    Put({key}, "1");
    BOOST_REQUIRE(database->Split("t", {.key = std::string(1, key) + "m"}).has_value());
  }
  std::string all;
  for (const char key : keys) all += std::string(key == 'a' ? "" : " ") + key + "=1";
  for (const bool reverse : {false, true}) {
    Transaction transaction = Begin();
    PutIn(&transaction, "k", "1");
    BOOST_CHECK(transaction.SetSavepoint().ok());
    auto cursor = transaction.Scan({}, "t", {.reverse = reverse});
    BOOST_REQUIRE(cursor.has_value() && cursor->Next());
    for (const char key : keys) PutIn(&transaction, {key}, "2");
    BOOST_CHECK(transaction.DeleteRow("t", reverse ? "b" : "l").ok());
    if (reverse) BOOST_CHECK(transaction.RollbackToSavepoint().ok());
    std::vector<std::string> rows;
    do {
      rows.push_back(std::string(cursor->row().key()) + "=" +
                     std::string(*cursor->row().Find("d", "c")));
    } while (cursor->Next());
    BOOST_CHECK(cursor->status().ok());
    if (reverse) std::reverse(rows.begin(), rows.end());
    std::string text;
    for (const std::string& row : rows) text += (text.empty() ? "" : " ") + row;
    BOOST_CHECK_EQUAL(text, all);
  }
}

BOOST_AUTO_TEST_CASE(TablesThatChangeMeanwhileConflict) {
  const auto outcome = [this](const auto& change, bool writes) {
    (void)database->DropTable("u");
    (void)database->DropTable("v");
    BOOST_REQUIRE(
        database->CreateTable({.name = "u", .families = {{.name = "d"}, {.name = "e"}}}).ok());
    Transaction transaction = Begin();
    BOOST_REQUIRE(transaction.Get({}, "u", "a").has_value());
    if (writes) BOOST_REQUIRE(transaction.Put("u", "a", "d", "c", "1").ok());
    PutIn(&transaction, "a", "1");
    BOOST_REQUIRE_EQUAL(change().ToString(), "OK");
    return transaction.Commit().code();
  };
  for (const bool writes : {false, true}) {
    const StatusCode conflict = StatusCode::kConflict;
    BOOST_CHECK_EQUAL(outcome([&] { return database->DropTable("u"); }, writes), conflict);
    BOOST_CHECK_EQUAL(outcome([&] { return database->TruncateTable("u"); }, writes), conflict);
    BOOST_CHECK_EQUAL(outcome([&] { return database->RenameTable("u", "v"); }, writes), conflict);
    BOOST_CHECK_EQUAL(outcome([&] { return database->DropFamily("u", "e"); }, writes), conflict);
    BOOST_CHECK_EQUAL(outcome([&] { return database->AddFamily("u", {.name = "f"}); }, writes),
                      StatusCode::kOk);
    const IndexOptions index{.name = "i", .columns = {{.family = "d", .qualifier = "c"}}};
    BOOST_CHECK_EQUAL(outcome([&] { return database->CreateIndex("u", index); }, writes),
                      StatusCode::kOk);
  }
  Transaction transaction = Begin();
  BOOST_REQUIRE(database->TruncateTable("t").ok());
  BOOST_CHECK_EQUAL(transaction.Put("t", "a", "d", "c", "1").code(), StatusCode::kConflict);
}

BOOST_AUTO_TEST_CASE(BadCallsChangeNothing) {
  Transaction transaction = Begin();
  PutIn(&transaction, "a", "1");
  BOOST_CHECK_EQUAL(transaction.Put("t", "b", "x", "c", "1").ToString(),
                    "NotFound: table 't' has no family 'x'");
  BOOST_CHECK_EQUAL(transaction.Put("none", "b", "d", "c", "1").code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(transaction.Put("t", "", "d", "c", "1").code(), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(transaction.PutColumns("t", "b", "d", {}).code(), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(transaction.Get({}, "none", "a").status().code(), StatusCode::kNotFound);
  const Snapshot snapshot = *database->TakeSnapshot();
  BOOST_CHECK_EQUAL(transaction.Get({.snapshot = &snapshot}, "t", "a").status().ToString(),
                    "InvalidArgument: a transaction reads its own snapshot and no other");
  BOOST_CHECK_EQUAL(Scan(&transaction), "a=1");
  Transaction other = Begin();
  PutIn(&other, "b", "1");
  CommitOk(&other);
  for (const Status& status :
       {other.Commit(), other.Put("t", "a", "d", "c", "1"), other.Get({}, "t", "a").status(),
        other.Scan({}, "t", {}).status(), other.SetSavepoint(), other.RollbackToSavepoint()}) {
    BOOST_CHECK_EQUAL(status.ToString(), "InvalidArgument: the transaction has ended");
  }
  other.Rollback();
  const Status lacking = transaction.Get({}, "none", "a").status();
  BOOST_CHECK_EQUAL(lacking.code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(transaction.GetForUpdate({}, "none", "a").status().code(),
                    StatusCode::kNotFound);
  CommitOk(&transaction);  // It depends on none of these.
  BOOST_CHECK_EQUAL(Scan(), "a=1 b=1");
}

BOOST_AUTO_TEST_CASE(ATransactionIsBounded) {
  Transaction transaction = Begin();
  const std::string value(1 << 20, 'v');
  Status status;
  int puts = 0;
  while ((status = transaction.Put("t", "a", "d", std::to_string(puts), value)).ok()) ++puts;
  BOOST_CHECK_EQUAL(puts, 63);
  BOOST_CHECK_EQUAL(status.code(), StatusCode::kInvalidArgument);
  Transaction reader = Begin();
  for (size_t i = 0; i < kTransactionRowsMax; ++i) {
    BOOST_REQUIRE(reader.Get({}, "t", std::to_string(i)).has_value());
  }
  BOOST_CHECK_EQUAL(reader.Get({}, "t", "7").status().code(), StatusCode::kOk);
  BOOST_CHECK_EQUAL(reader.Get({}, "t", "one more").status().code(), StatusCode::kOverBudget);
  BOOST_CHECK_EQUAL(reader.Put("t", "a", "d", "c", "1").code(), StatusCode::kOverBudget);
  CommitOk(&reader);
  CommitOk(&transaction);
}

BOOST_AUTO_TEST_CASE(AnOpenTransactionIsSeenAndKeepsTheDatabaseOpen) {
  Put("a", "1");
  std::optional<Transaction> transaction = Begin();
  const auto info = database->Info();
  BOOST_REQUIRE_EQUAL(info->transactions.size(), 1u);
  BOOST_CHECK_EQUAL(info->transactions[0].sequence, info->last_sequence);
  BOOST_CHECK_EQUAL(database->GetSpaceUsage()->snapshots.size(), 1u);
  BOOST_CHECK_EQUAL(database->Close().ToString(), "Busy: 1 transaction (of sequence 1) is open");
  PutIn(&*transaction, "b", "1");
  std::optional<Cursor> cursor = *transaction->Scan({}, "t", {});
  database.reset();
  BOOST_CHECK_EQUAL(transaction->Commit().code(), StatusCode::kClosed);
  BOOST_CHECK(!cursor->Next());
  BOOST_CHECK_EQUAL(cursor->status().code(), StatusCode::kClosed);
  transaction.reset();
  cursor.reset();
  Open();
  BOOST_CHECK_EQUAL(Scan(), "a=1");
  {
    Transaction other = Begin();
    Transaction moved = std::move(other);
    PutIn(&moved, "b", "2");
    other = std::move(moved);
    CommitOk(&other);
  }
  BOOST_CHECK_EQUAL(database->Info()->transactions.size(), 0u);
  BOOST_CHECK_EQUAL(database->Close().ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(ATransactionThatIsOpenForTooLongIsCutOff) {
  options.transaction_age_max_micros = 200'000;
  Open();
  Transaction idle = Begin();
  PutIn(&idle, "a", "1");
  std::optional<Cursor> cursor = *idle.Scan({}, "t", {});
  for (int waits = 0; !database->Info()->transactions.empty(); ++waits) {
    BOOST_REQUIRE_LT(waits, 1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  BOOST_CHECK_EQUAL(database->GetSpaceUsage()->snapshots.size(), 0u);
  BOOST_CHECK_EQUAL(idle.Get({}, "t", "a").status().code(), StatusCode::kCancelled);
  BOOST_CHECK_EQUAL(
      idle.Commit().ToString(),
      "Cancelled: the transaction was open for too long (transaction_age_max_micros)");
  BOOST_CHECK(cursor->Next());  // It has a pin of its own.
  cursor.reset();
  Transaction next = Begin();
  PutIn(&next, "b", "1");
  CommitOk(&next);
  BOOST_CHECK_EQUAL(database->Close().ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(AReadOnlyDatabaseHasTransactionsThatRead) {
  Put("a", "1");
  BOOST_REQUIRE(database->Close().ok());
  options.read_only = true;
  Open();
  Transaction transaction = Begin();
  BOOST_CHECK_EQUAL(Get(&transaction, "a"), "1");
  CommitOk(&transaction);
  Transaction writer = Begin();
  PutIn(&writer, "b", "1");
  BOOST_CHECK_EQUAL(writer.Commit().code(), StatusCode::kReadOnly);
}

BOOST_AUTO_TEST_CASE(TransactRunsAgainAfterConflicts) {
  Put("a", "0");
  int runs = 0;
  const auto add = [&](Transaction& transaction) {
    const auto row = transaction.Get({}, "t", "a");
    if (!row.has_value()) return row.error();
    if (++runs <= 3) Put("a", std::to_string(runs * 10));
    return transaction.Put("t", "a", "d", "c", ValueOf(row) + "!");
  };
  BOOST_CHECK_EQUAL(database->Transact(add).ToString(), "OK");
  BOOST_CHECK_EQUAL(Get("a"), "30!");
  runs = -100;
  BOOST_CHECK_EQUAL(database->Transact(add, {.attempts_max = 5}).code(), StatusCode::kConflict);
  BOOST_CHECK_EQUAL(runs, -95);
  BOOST_CHECK_EQUAL(database->Transact(add, {.attempts_max = 0}).code(),
                    StatusCode::kInvalidArgument);
  const auto fail = [](Transaction& transaction) {
    PutIn(&transaction, "b", "1");
    return Status::NotFound("mine");
  };
  BOOST_CHECK_EQUAL(database->Transact(fail).ToString(), "NotFound: mine");
  BOOST_CHECK_EQUAL(Get("b"), "-");
}

// Money moves between accounts by many threads, while flushes come in between; every transaction
// sees the whole sum.
BOOST_AUTO_TEST_CASE(TransfersKeepTheSum) {
  constexpr int kAccounts = 6, kThreads = 4, kTransfers = 150;
  for (int i = 0; i < kAccounts; ++i) Put("account" + std::to_string(i), "100");
  std::atomic<int> failures{0}, wrong_sums{0};
  const auto sum = [](Transaction& transaction) {
    int all = 0;
    Result<Cursor> cursor = transaction.Scan({}, "t", {});
    while (cursor->Next()) all += std::stoi(std::string(*cursor->row().Find("d", "c")));
    return all;
  };
  const auto work = [&](const char* name) {
    TestRandom random(name);
    for (int i = 0; i < kTransfers; ++i) {
      const std::string from = "account" + std::to_string(random.Below(kAccounts));
      const std::string to = "account" + std::to_string(random.Below(kAccounts));
      const Status status = database->Transact(
          [&](Transaction& transaction) -> Status {
            wrong_sums += sum(transaction) != kAccounts * 100;
            for (const auto& [account, delta] : {std::pair(&from, -1), std::pair(&to, 1)}) {
              const auto row = transaction.Get({}, "t", *account);
              if (!row.has_value()) return row.error();
              const int balance = std::stoi(std::string(*(*row)->Find("d", "c"))) + delta;
              const Status put = transaction.Put("t", *account, "d", "c", std::to_string(balance));
              if (!put.ok()) return put;
            }
            wrong_sums += sum(transaction) != kAccounts * 100;
            return {};
          },
          {.write = {.durability = Durability::kBuffered}, .attempts_max = 10'000});
      if (!status.ok()) ++failures;
    }
  };
  std::vector<std::thread> threads;
  for (const char* name : {"a", "b", "c", "d"}) threads.emplace_back(work, name);
  for (int i = 0; i < 20; ++i) {
    Flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK_EQUAL(failures, 0);
  BOOST_CHECK_EQUAL(wrong_sums, 0);
  Transaction transaction = Begin();
  BOOST_CHECK_EQUAL(sum(transaction), kAccounts * 100);
  BOOST_CHECK_EQUAL(database->GetStatistics().transactions, uint64_t{kThreads} * kTransfers);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
