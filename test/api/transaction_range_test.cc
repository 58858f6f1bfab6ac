// Transactions whose ranges are checked: what conflicts with what Scan, Query and Count have read,
// and what does not, wherever the rows are by the time of the commit.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/bulk_load.h"
#include "tandem/tandem.h"
#include "test/api/transaction_fixture.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct RangesFixture : TransactionFixture {
  using Read = std::function<void(Transaction*)>;
  using Change = std::function<void()>;

  Transaction BeginChecked() { return Begin({.validate_ranges = true}); }
  /// The commit of a transaction that reads, and writes another row, after `change`.
  Status CommitBeside(const Read& read, const Change& change) {
    Transaction transaction = BeginChecked();
    read(&transaction);
    BOOST_REQUIRE(transaction.Put("t", "~own", "e", "x", "1").ok());
    change();
    return transaction.Commit();
  }
  static Read ScanOf(const ScanOptions& scan) {
    return [scan](Transaction* transaction) {
      BOOST_REQUIRE(transaction->Scan({}, "t", scan).has_value());
    };
  }
  static Read QueryOf(const std::string& text) {
    return [text](Transaction* transaction) { (void)Query(transaction, text); };
  }
  Change PutOf(const std::string& row) {
    return [this, row] { Put(row, "new"); };
  }
  /// What rows conflict with a read, of those named; each is put by a transaction of its own.
  std::string Conflicting(const Read& read, const std::vector<std::string>& rows) {
    std::string text;
    for (const std::string& row : rows) {
      const Status status = CommitBeside(read, PutOf(row));
      if (status.code() == StatusCode::kConflict) text += (text.empty() ? "" : " ") + row;
      if (!status.ok()) BOOST_REQUIRE_EQUAL(status.code(), StatusCode::kConflict);
    }
    return text;
  }
  void PutMany(const std::string& prefix, int count) {
    for (int first = 0; first < count; first += 1000) {
      WriteBatch batch;
      for (int i = first; i < std::min(count, first + 1000); ++i) {
        batch.Put("t", prefix + std::to_string(100'000 + i), "d", "c", "1");
      }
      BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    }
  }
  Statistics Counters() { return database->GetStatistics(); }
};

const std::vector<std::string> kLetters = {"a", "b", "c", "cc", "d", "e"};

BOOST_FIXTURE_TEST_SUITE(transaction_ranges, RangesFixture)

// Two transactions each count what a predicate finds, and insert a row that it finds. Without the
// check both commit (G2AntiDependencyCyclesOverQueriesCanOccur).
BOOST_AUTO_TEST_CASE(G2AntiDependencyCyclesOverPredicatesCannotOccur) {
  const Predicate hits = Predicate::Equal("c", "30");
  const std::vector<Read> reads = {
      ScanOf({}), [&](Transaction* t) { (void)t->Query({}, "t", hits, {.use_index = "by_c"}); },
      [&](Transaction* t) { (void)t->Query({}, "t", hits, {.no_index = true}); },
      [&](Transaction* t) { BOOST_CHECK_EQUAL(*t->Count({}, "t", hits), 0u); },
      [&](Transaction* t) { (void)t->Query({}, "t", hits, {.order_by = "by_c", .limit = 1}); }};
  for (const Read& read : reads) {
    Transaction first = BeginChecked(), second = BeginChecked();
    for (Transaction* transaction : {&first, &second}) read(transaction);
    PutIn(&first, "v", "30");
    PutIn(&second, "w", "30");
    CommitOk(&first);
    BOOST_CHECK_EQUAL(second.Commit().ToString(),
                      "Conflict: row 'v' of table 't', in a range that was read, was changed by "
                      "another write");
    BOOST_CHECK_EQUAL(Scan(), "v=30");
    Delete("v");
  }
  BOOST_CHECK_EQUAL(Counters().transaction_conflicts, reads.size());
}

BOOST_AUTO_TEST_CASE(OnlyRowsOfTheRangeConflict) {
  for (const std::string& row : kLetters) Put(row, "1");
  const auto conflicting = [this](const Read& read) { return Conflicting(read, kLetters); };
  BOOST_CHECK_EQUAL(conflicting(ScanOf({.start = "b", .end = "d"})), "b c cc");
  BOOST_CHECK_EQUAL(conflicting(ScanOf({.start = "d"})), "d e");
  BOOST_CHECK_EQUAL(conflicting(ScanOf({.prefix = "c"})), "c cc");
  BOOST_CHECK_EQUAL(conflicting(ScanOf({.ranges = {{"a", "b"}, {"d", ""}}})), "a d e");
  BOOST_CHECK_EQUAL(conflicting(ScanOf({.start = "c", .end = "c"})), "");
  // A limit and a cursor that is not read leave the range as it is.
  BOOST_CHECK_EQUAL(conflicting(ScanOf({.start = "b", .reverse = true, .limit = 1})), "b c cc d e");
  BOOST_CHECK_EQUAL(conflicting(QueryOf("_row >= 'cc' AND c = 1")), "cc d e");
  BOOST_CHECK_EQUAL(conflicting(QueryOf("_row IN ('a', 'd') AND c = 1")), "a d");
  BOOST_CHECK_EQUAL(conflicting(QueryOf("c = 1")), "a b c cc d e");
  // Several reads of one transaction.
  BOOST_CHECK_EQUAL(conflicting([](Transaction* transaction) {
                      ScanOf({.start = "a", .end = "b"})(transaction);
                      ScanOf({.start = "cc", .end = "e"})(transaction);
                      ScanOf({.start = "aa", .end = "c"})(transaction);
                    }),
                    "a b cc d");
  // Rows that are there no longer.
  BOOST_CHECK_EQUAL(CommitBeside(ScanOf({.prefix = "c"}), [this] { Delete("cc"); }).code(),
                    StatusCode::kConflict);
  BOOST_CHECK_EQUAL(CommitBeside(ScanOf({.prefix = "c"}), [this] { Delete("d"); }).code(),
                    StatusCode::kOk);
}

BOOST_AUTO_TEST_CASE(WhatATransactionWritesItselfIsNoConflict) {
  Put("b", "1");
  for (int round = 0; round < 2; ++round) {
    Transaction transaction = BeginChecked();
    PutIn(&transaction, "a", "1");
    BOOST_CHECK_EQUAL(Scan(&transaction), "a=1 b=1");
    PutIn(&transaction, "c", "1");
    BOOST_CHECK_EQUAL(Query(&transaction, "c = 1"), "a=1 b=1 c=1");
    BOOST_CHECK(transaction.DeleteRow("t", "c").ok());
    if (round == 1) Flush();
    CommitOk(&transaction);
  }
}

// A read of one state is what it is, whatever comes after.
BOOST_AUTO_TEST_CASE(ATransactionThatWritesNothingCommits) {
  Transaction transaction = BeginChecked();
  BOOST_CHECK_EQUAL(Scan(&transaction), "");
  Put("a", "1");
  CommitOk(&transaction);
  // Unless a row is read for update: then the ranges count as well.
  Transaction updater = BeginChecked();
  BOOST_CHECK_EQUAL(ValueOf(updater.GetForUpdate({}, "t", "z")), "-");
  BOOST_CHECK_EQUAL(Scan(&updater), "a=1");
  Put("b", "1");
  CommitConflicts(&updater);
}

BOOST_AUTO_TEST_CASE(WithoutTheOptionRangesAreNotChecked) {
  Transaction transaction = Begin();
  BOOST_CHECK_EQUAL(Scan(&transaction), "");
  BOOST_CHECK_EQUAL(Query(&transaction, "c = 1"), "");
  PutIn(&transaction, "b", "1");
  Put("a", "1");
  CommitOk(&transaction);
  BOOST_CHECK_EQUAL(Counters().range_rows_examined, 0u);
}

// A flush takes newer rows out of the memstores: the range is read again.
BOOST_AUTO_TEST_CASE(AFlushIsNoConflictAndHidesNone) {
  for (const std::string& row : kLetters) Put(row, "1");
  const Read read = ScanOf({.start = "b", .end = "d"});
  const auto flushed = [this](Change change) {
    return [this, change = std::move(change)] {
      change();
      Flush();
    };
  };
  BOOST_CHECK_EQUAL(CommitBeside(read, flushed(PutOf("a"))).ToString(), "OK");
  BOOST_CHECK_GT(Counters().range_rows_reread, 0u);
  BOOST_CHECK_EQUAL(CommitBeside(read, flushed(PutOf("d"))).ToString(), "OK");
  BOOST_CHECK_EQUAL(CommitBeside(read, flushed(PutOf("cc"))).code(), StatusCode::kConflict);
  BOOST_CHECK_EQUAL(CommitBeside(read, flushed(PutOf("bb"))).code(), StatusCode::kConflict);
  BOOST_CHECK_EQUAL(CommitBeside(read, flushed([this] { Delete("b"); })).code(),
                    StatusCode::kConflict);
  // That a row which was not there was deleted is no change once it is flushed.
  BOOST_CHECK_EQUAL(CommitBeside(read, flushed([this] { Delete("ca"); })).ToString(), "OK");
  // What came before the begin is none, flushed meanwhile or not.
  Put("c", "2");
  BOOST_CHECK_EQUAL(CommitBeside(read, [this] { Flush(); }).ToString(), "OK");
  BOOST_CHECK_EQUAL(CommitBeside(read, [this] { Compact(); }).ToString(), "OK");
  // What comes after the flush.
  BOOST_CHECK_EQUAL(CommitBeside(read,
                                 [&] {
                                   flushed(PutOf("a"))();
                                   Put("c", "3");
                                 })
                        .code(),
                    StatusCode::kConflict);
  BOOST_CHECK_EQUAL(Counters().conflicts.in_range, Counters().transaction_conflicts);
}

BOOST_AUTO_TEST_CASE(ManyRowsInMemstoresAreNotAllLookedAt) {
  options.memory_bytes = 256 << 20;  // They stay in one memstore.
  Open();
  PutMany("few", 5000);
  PutMany("many", 11'000);
  Put("a", "1");
  const Read few = ScanOf({.prefix = "few"}), many = ScanOf({.prefix = "many"});
  BOOST_CHECK_EQUAL(CommitBeside(many, [] {}).ToString(), "OK");  // No memstore is newer.
  BOOST_CHECK_EQUAL(CommitBeside(few, PutOf("a")).ToString(), "OK");
  BOOST_CHECK_EQUAL(CommitBeside(few, PutOf("few5")).code(), StatusCode::kConflict);
  BOOST_CHECK_EQUAL(CommitBeside(many, PutOf("a")).ToString(),
                    "Conflict: table 't' was changed since a range of it was read, and the check "
                    "takes more than 10000 rows: read smaller ranges, or without validate_ranges");
  // Of both ranges together, and of files.
  const auto both = [&](Transaction* transaction) {
    few(transaction);
    ScanOf({.start = "many100000", .end = "many106000"})(transaction);
  };
  BOOST_CHECK_EQUAL(CommitBeside(both, PutOf("a")).code(), StatusCode::kConflict);
  const auto put_and_flush = [this] {
    Put("a", "1");
    Flush();
  };
  BOOST_CHECK_EQUAL(CommitBeside(few, put_and_flush).ToString(), "OK");
  BOOST_CHECK_EQUAL(CommitBeside(many, put_and_flush).code(), StatusCode::kConflict);
  BOOST_CHECK_EQUAL(CommitBeside(both, put_and_flush).code(), StatusCode::kConflict);
  BOOST_CHECK_EQUAL(CommitBeside(many, PutOf("a")).ToString(), "OK");  // They are in files.
}

BOOST_AUTO_TEST_CASE(ARangeMayCrossRegions) {
  for (const std::string& row : kLetters) Put(row, "1");
  for (const char* key : {"b", "c", "d"}) {
    BOOST_REQUIRE(database->Split("t", {.key = key}).has_value());
  }
  const Read all = ScanOf({}), middle = ScanOf({.start = "aa", .end = "d"});
  for (const bool is_flushed : {false, true}) {
    const auto conflicting = [&](const Read& read) {
      std::string text;
      for (const std::string& row : kLetters) {
        const Status status = CommitBeside(read, [&] {
          Put(row, "new");
          if (is_flushed) Flush();
        });
        if (status.code() == StatusCode::kConflict) text += (text.empty() ? "" : " ") + row;
      }
      return text;
    };
    BOOST_CHECK_EQUAL(conflicting(all), "a b c cc d e");
    BOOST_CHECK_EQUAL(conflicting(middle), "b c cc");
  }
}

// Rows go to other regions between the read and the commit.
BOOST_AUTO_TEST_CASE(SplitsAndMergesOfRegionsAreNoConflictAndHideNone) {
  const auto split = [this] { BOOST_REQUIRE(database->Split("t", {.key = "c"}).has_value()); };
  const auto merge = [this] {
    BOOST_REQUIRE(database->MergeRegions("t", {.key = "b"}).has_value());
  };
  const Read read = ScanOf({.start = "b", .end = "d"});
  for (const std::string& row : kLetters) Put(row, "1");
  for (const std::string& row : kLetters) {
    const bool is_in_range = row >= "b" && row < "d";
    const StatusCode expected = is_in_range ? StatusCode::kConflict : StatusCode::kOk;
    const auto put = PutOf(row);
    const auto put_then = [&](const Change& change) {
      return [&put, change] {
        put();
        change();
      };
    };
    const auto then_put = [&](const Change& change) {
      return [&put, change] {
        change();
        put();
      };
    };
    BOOST_CHECK_EQUAL(CommitBeside(read, put_then(split)).code(), expected);
    BOOST_CHECK_EQUAL(CommitBeside(read, put_then(merge)).code(), expected);
    BOOST_CHECK_EQUAL(CommitBeside(read, then_put(split)).code(), expected);
    BOOST_CHECK_EQUAL(CommitBeside(read, then_put(merge)).code(), expected);
  }
  BOOST_CHECK_EQUAL(CommitBeside(read, split).ToString(), "OK");
  BOOST_CHECK_EQUAL(CommitBeside(read, merge).ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(ABulkLoadConflictsWhereItsRowsAre) {
  for (const std::string& row : kLetters) Put(row, "1");
  const auto load = [this](const std::string& row) {
    return [this, row] {
      auto begun = database->BeginBulkLoad("t");
      BOOST_REQUIRE(begun.has_value());
      WriteBatch batch;
      batch.Put("t", row, "d", "c", "loaded");
      BOOST_REQUIRE_EQUAL(begun->Add(batch).ToString(), "OK");
      BOOST_REQUIRE_EQUAL(begun->Commit().ToString(), "OK");
    };
  };
  const Read read = ScanOf({.start = "b", .end = "d"});
  BOOST_CHECK_EQUAL(CommitBeside(read, load("a")).ToString(), "OK");
  BOOST_CHECK_EQUAL(CommitBeside(read, load("bb")).code(), StatusCode::kConflict);
}

BOOST_AUTO_TEST_CASE(AnotherTableIsNoConflictAndAGoneOneIs) {
  BOOST_REQUIRE(database->CreateTable({.name = "u", .families = {{.name = "d"}}}).ok());
  const auto put_in_u = [this] {
    WriteBatch batch;
    batch.Put("u", "a", "d", "c", "1");
    BOOST_REQUIRE(database->Write({}, batch).ok());
  };
  BOOST_CHECK_EQUAL(CommitBeside(ScanOf({}), put_in_u).ToString(), "OK");
  const auto read_u = [](Transaction* transaction) {
    BOOST_REQUIRE(transaction->Count({}, "u", Predicate::Equal("c", "1")).has_value());
  };
  BOOST_CHECK_EQUAL(CommitBeside(read_u, put_in_u).code(), StatusCode::kConflict);
  const auto truncate = [this] { BOOST_REQUIRE(database->TruncateTable("u").ok()); };
  BOOST_CHECK_EQUAL(CommitBeside(read_u, truncate).code(), StatusCode::kConflict);
  const auto drop = [this] { BOOST_REQUIRE(database->DropTable("u").ok()); };
  BOOST_CHECK_EQUAL(CommitBeside(read_u, drop).code(), StatusCode::kConflict);
  BOOST_CHECK_EQUAL(Counters().conflicts.of_schema, 2u);
  // A read that failed is none.
  BOOST_CHECK_EQUAL(
      CommitBeside(
          [](Transaction* transaction) {
            BOOST_CHECK(!transaction->Scan({}, "u", {}).has_value());
            BOOST_CHECK(!transaction->Count({}, "u", {}).has_value());
            BOOST_CHECK(!transaction->Query({}, "t", Predicate::Equal("no:c", "1")).has_value());
          },
          [] {})
          .ToString(),
      "OK");
}

BOOST_AUTO_TEST_CASE(ASavepointTakesNoRangeBack) {
  Transaction transaction = BeginChecked();
  BOOST_REQUIRE(transaction.SetSavepoint().ok());
  BOOST_CHECK_EQUAL(Scan(&transaction), "");
  BOOST_REQUIRE(transaction.RollbackToSavepoint().ok());
  PutIn(&transaction, "b", "1");
  Put("a", "1");
  CommitConflicts(&transaction);
}

BOOST_AUTO_TEST_CASE(RangesAreBounded) {
  ScanOptions scan;
  for (size_t i = 0; i <= kTransactionRowsMax; ++i) {
    const std::string key = std::to_string(1'000'000 + i);
    scan.ranges.push_back({key, key + "x"});
  }
  Transaction transaction = BeginChecked();
  BOOST_CHECK_EQUAL(transaction.Scan({}, "t", scan).status().code(), StatusCode::kOverBudget);
  // Ranges that overlap are one.
  for (int i = 0; i < 1000; ++i) {
    const std::string key = std::to_string(1000 + i);
    BOOST_REQUIRE(transaction.Scan({}, "t", {.start = key, .end = "2"}).has_value());
  }
  scan.ranges.resize(kTransactionRowsMax - 1);
  for (int round = 0; round < 2; ++round) {
    BOOST_CHECK_EQUAL(transaction.Scan({}, "t", scan).status().ToString(), "OK");
  }
}

BOOST_AUTO_TEST_CASE(TransactRunsAgainUntilNobodyChangesTheRange) {
  int attempts = 0;
  const auto count_and_put = [&](Transaction& transaction) -> Status {
    const auto count = transaction.Count({}, "t", Predicate::Equal("c", "1"));
    if (!count.has_value()) return count.error();
    if (++attempts < 3) Put("other" + std::to_string(attempts), "1");
    return transaction.Put("t", "count", "e", "x", std::to_string(*count));
  };
  const TransactOptions options{.transaction = {.validate_ranges = true}};
  BOOST_CHECK_EQUAL(database->Transact(count_and_put, options).ToString(), "OK");
  BOOST_CHECK_EQUAL(attempts, 3);
  BOOST_CHECK((*database->Get({}, "t", "count"))->Find("e", "x") == "2");
  attempts = 0;
  BOOST_CHECK_EQUAL(database->Transact(count_and_put).ToString(), "OK");
  BOOST_CHECK_EQUAL(attempts, 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
