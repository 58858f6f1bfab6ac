// Transactions that increment, append, delete single cells and read many rows: each beside what
// Database does.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/encoding.h"
#include "test/api/transaction_fixture.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

std::string TextOf(const Result<int64_t>& sum) {
  return sum.has_value() ? std::to_string(*sum) : sum.status().ToString();
}
std::string TextOf(const Result<std::vector<int64_t>>& sums) {
  if (!sums.has_value()) return sums.status().ToString();
  std::string text;
  for (const int64_t sum : *sums) text += std::to_string(sum) + " ";
  return text;
}
std::string TextOf(const Result<std::string>& value) {
  return value.has_value() ? *value : value.status().ToString();
}

class Updates : public TransactionFixture {
 protected:
  /// A table with a type of each kind that integers are kept by, and an index that takes no
  /// negative number.
  void CreateTyped() {
    TableOptions table{.name = "typed", .families = {{.name = "d"}, {.name = "e"}}};
    table.indexes = {{.name = "u", .columns = {{.qualifier = "u", .type = ColumnType::kUint64}}}};
    table.columns = {{.qualifier = "be", .type = ColumnType::kInt64Be}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }
  void PutTyped(std::string_view qualifier, std::string_view value) {
    WriteBatch batch;
    batch.Put("typed", "r", "d", qualifier, value);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  /// Every version of d:c with its timestamp, "new" where the engine has given it.
  static std::string VersionsOf(const Result<std::optional<Row>>& row) {
    constexpr int64_t kGivenMax = 1000, kFuture = int64_t{1} << 60;
    if (!row.has_value()) return row.status().ToString();
    if (!row->has_value()) return "-";
    std::string text;
    for (const Cell& cell : (*row)->cells()) {
      const bool is_given = cell.timestamp <= kGivenMax || cell.timestamp >= kFuture;
      text += std::string(cell.value) + "@" +
              (is_given ? std::to_string(cell.timestamp) : std::string("new")) + " ";
    }
    return text;
  }
  static std::string Versions(Transaction* transaction, const std::string& row) {
    return VersionsOf(transaction->Get({.versions = 9}, "t", row));
  }
  std::string Versions(const std::string& row) {
    return VersionsOf(database->Get({.versions = 9}, "t", row));
  }
};

BOOST_FIXTURE_TEST_SUITE(transaction_updates, Updates)

BOOST_AUTO_TEST_CASE(AnIncrementReturnsWhatTheCommitWrites) {
  Put("a", "5");
  Flush();
  Transaction transaction = Begin();
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("t", "a", "d", "c", 3)), "8");
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("t", "a", "", "c")), "9");
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("t", "b", "d", "c", -2)), "-2");
  PutIn(&transaction, "p", "70");
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("t", "p", "d", "c", 7)), "77");
  BOOST_CHECK(transaction.DeleteRow("t", "p").ok());
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("t", "p", "d", "c", 1)), "1");
  BOOST_CHECK_EQUAL(Query(&transaction, "c = 9"), "a=9");
  BOOST_CHECK_EQUAL(Query(&transaction, "c = 5"), "");
  BOOST_CHECK_EQUAL(Scan(&transaction), "a=9 b=-2 p=1");
  BOOST_CHECK_EQUAL(Scan(), "a=5");
  CommitOk(&transaction);
  BOOST_CHECK_EQUAL(Scan(), "a=9 b=-2 p=1");
  Open();
  BOOST_CHECK_EQUAL(Scan(), "a=9 b=-2 p=1");
}

BOOST_AUTO_TEST_CASE(SeveralColumnsAreUpdatedInTheirOrder) {
  const std::vector<ColumnDelta> deltas = {{"z", 2}, {"a", 1}, {"c", 3}};
  const std::vector<ColumnValue> parts = {{"z", "0"}, {"b", "x"}};
  Transaction transaction = Begin();
  BOOST_CHECK(transaction.Put("t", "r", "d", "a", "40", int64_t{1} << 60).ok());
  BOOST_CHECK_EQUAL(TextOf(transaction.IncrementColumns("t", "r", "d", deltas)), "2 41 3 ");
  BOOST_CHECK_EQUAL(TextOf(transaction.IncrementColumns("t", "r", "d", deltas)), "4 42 6 ");
  const auto appended = transaction.AppendColumns("t", "r", "d", parts);
  BOOST_REQUIRE(appended.has_value());
  BOOST_CHECK_EQUAL((*appended)[0] + " " + (*appended)[1], "40 x");
  const auto check = [](const Result<std::optional<Row>>& row) {
    BOOST_CHECK_EQUAL(*(*row)->Find("d", "a"), "42");
    BOOST_CHECK_EQUAL(*(*row)->Find("d", "b"), "x");
    BOOST_CHECK_EQUAL(*(*row)->Find("d", "c"), "6");
    BOOST_CHECK_EQUAL(*(*row)->Find("d", "z"), "40");
  };
  check(transaction.Get({}, "t", "r"));
  CommitOk(&transaction);
  check(database->Get({}, "t", "r"));
}

// Whatever is stored: the transaction's value or error is that of Database.
BOOST_AUTO_TEST_CASE(IncrementsAreThoseOfDatabase) {
  CreateTyped();
  struct Case {
    std::string qualifier;
    std::optional<std::string> stored;
    int64_t delta;
  };
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const std::vector<Case> cases = {
      {"n", std::nullopt, 4},
      {"n", "", 1},
      {"n", "abc", 1},
      {"n", "007", 1},
      {"n", " 5", 1},
      {"n", "-3", 3},
      {"n", std::to_string(kMost), 1},
      {"n", std::to_string(kMost), -1},
      {"n", std::to_string(kLeast), -1},
      {"n", std::to_string(kMost) + "0", 0},
      {"n", std::string(100'000, '1'), 1},
      {"be", std::nullopt, 6},
      {"be", EncodeInt64Be(-9), 10},
      {"be", EncodeInt64Be(kMost), 1},
      {"be", "12", 1},
      {"u", "3", 4},
      {"u", "3", -4},
      {"u", std::nullopt, -1},
      {std::string(kQualifierBytesMax + 1, 'q'), std::nullopt, 1},
  };
  int errors = 0;
  for (const Case& one : cases) {
    if (one.stored.has_value()) PutTyped(one.qualifier, *one.stored);
    Transaction transaction = Begin();
    const auto sum = transaction.Increment("typed", "r", "d", one.qualifier, one.delta);
    const auto own = transaction.Get({}, "typed", "r");
    transaction.Rollback();
    Transaction committing = Begin();
    const auto again = committing.Increment("typed", "r", "d", one.qualifier, one.delta);
    BOOST_CHECK_EQUAL(TextOf(again), TextOf(sum));
    const auto expected = database->Increment({}, "typed", "r", "d", one.qualifier, one.delta);
    BOOST_CHECK_EQUAL(TextOf(sum), TextOf(expected));
    errors += expected.has_value() ? 0 : 1;
    // After an error the transaction has nothing to write.
    BOOST_CHECK_EQUAL(committing.Commit().code(),
                      expected.has_value() ? StatusCode::kConflict : StatusCode::kOk);
    if (expected.has_value()) {
      const auto stored = database->Get({}, "typed", "r");
      BOOST_CHECK(*(*own)->Find("d", one.qualifier) == *(*stored)->Find("d", one.qualifier));
    }
    WriteBatch clear;
    clear.DeleteRow("typed", "r");
    BOOST_REQUIRE(database->Write({}, clear).ok());
  }
  BOOST_CHECK_EQUAL(errors, 12);
}

BOOST_AUTO_TEST_CASE(AppendsAreThoseOfDatabase) {
  CreateTyped();
  const std::string half(kValueBytesMax / 2, 'h');
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "x"}, {"ab", "cd"}, {"ab", ""}, {half, half}, {half, half + "1"}, {"7", "x"}};
  for (const auto& [stored, added] : cases) {
    const std::string qualifier = stored == "7" ? "u" : "n";
    if (!stored.empty()) PutTyped(qualifier, stored);
    Transaction transaction = Begin();
    const auto value = transaction.Append("typed", "r", "d", qualifier, added);
    const auto expected = database->Append({}, "typed", "r", "d", qualifier, added);
    BOOST_CHECK(TextOf(value) == TextOf(expected));
    if (!value.has_value()) {
      CommitOk(&transaction);
    } else {
      const auto own = transaction.Get({}, "typed", "r");
      BOOST_CHECK(*(*own)->Find("d", qualifier) == *value);
      CommitConflicts(&transaction);
    }
    WriteBatch clear;
    clear.DeleteRow("typed", "r");
    BOOST_REQUIRE(database->Write({}, clear).ok());
  }
}

BOOST_AUTO_TEST_CASE(BadNamesAreRefusedAsByDatabase) {
  const std::vector<ColumnDelta> twice = {{"c", 1}, {"c", 2}};
  Transaction transaction = Begin();
  const auto check = [&](std::string_view table, std::string_view row, std::string_view family,
                         std::span<const ColumnDelta> columns) {
    const auto expected = database->IncrementColumns({}, table, row, family, columns);
    BOOST_CHECK(!expected.has_value());
    BOOST_CHECK_EQUAL(TextOf(transaction.IncrementColumns(table, row, family, columns)),
                      expected.status().ToString());
  };
  const std::vector<ColumnDelta> one = {{"c", 1}};
  check("none", "r", "d", one);
  check("t", "", "d", one);
  check("t", std::string(kRowKeyBytesMax + 1, 'k'), "d", one);
  check("t", "r", "x", one);
  check("t", "r", "d", twice);
  check("t", "r", "d", {});
  BOOST_CHECK_EQUAL(transaction.DeleteCell("none", "r", "d", "c").code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(transaction.DeleteCell("t", "r", "x", "c").code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(transaction.DeleteCell("t", "", "d", "c").code(), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(transaction.MultiGet({}, "none", {}).status().code(), StatusCode::kNotFound);
  const Snapshot snapshot = *database->TakeSnapshot();
  BOOST_CHECK_EQUAL(transaction.MultiGet({.snapshot = &snapshot}, "t", {}).status().code(),
                    StatusCode::kInvalidArgument);
  PutIn(&transaction, "a", "1");
  CommitOk(&transaction);  // It depends on none of these.
  BOOST_CHECK_EQUAL(Scan(), "a=1");
  const std::string ended = "InvalidArgument: the transaction has ended";
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("t", "a", "d", "c")), ended);
  BOOST_CHECK_EQUAL(TextOf(transaction.Append("t", "a", "d", "c", "x")), ended);
  BOOST_CHECK_EQUAL(transaction.DeleteCell("t", "a", "d", "c").ToString(), ended);
  BOOST_CHECK_EQUAL(transaction.MultiGet({}, "t", {}).status().ToString(), ended);
}

// What the call has returned counts, though the value that it was made of expires.
BOOST_AUTO_TEST_CASE(ACommitWritesTheSumThoughTheValueExpires) {
  BOOST_REQUIRE(
      database->CreateTable({.name = "u", .families = {{.name = "d", .ttl_micros = 2'000'000}}})
          .ok());
  WriteBatch batch;
  batch.Put("u", "a", "d", "c", "5");
  BOOST_REQUIRE(database->Write({}, batch).ok());
  Transaction transaction = Begin();
  const std::string sum = TextOf(transaction.Increment("u", "a", "d", "c"));
  for (int waits = 0; database->Get({}, "u", "a")->has_value(); ++waits) {
    BOOST_REQUIRE_LT(waits, 1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  BOOST_CHECK_EQUAL(ValueOf(transaction.Get({}, "u", "a")), sum);
  CommitOk(&transaction);
  BOOST_CHECK_EQUAL(ValueOf(database->Get({}, "u", "a")), sum);
}

// An own put comes before a version of the near future while the transaction is open, and after it
// when it commits late.
BOOST_AUTO_TEST_CASE(AVersionThatIsNoLongerInTheFutureConflicts) {
  constexpr int64_t kNearMicros = 300'000;
  using Update = std::function<Status(Transaction&)>;
  const std::vector<Update> updates = {
      [](Transaction& one) { return one.Increment("t", "a", "d", "c").status(); },
      [](Transaction& one) { return one.DeleteCell("t", "a", "d", "c"); }};
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::microseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  for (size_t i = 0; i < updates.size(); ++i) {
    const int64_t near = now() + kNearMicros;
    WriteBatch batch;
    batch.Put("t", "a", "d", "c", "100", near);
    BOOST_REQUIRE(database->Write({}, batch).ok());
    Transaction late = Begin();
    PutIn(&late, "a", "5");
    BOOST_REQUIRE_EQUAL(updates[i](late).ToString(), "OK");
    BOOST_CHECK_EQUAL(Get(&late, "a"), i == 0 ? "101" : "5");
    while (now() <= near) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CommitConflicts(&late);
    BOOST_CHECK_EQUAL(Get("a"), "100");
    Transaction again = Begin();
    PutIn(&again, "a", "5");
    BOOST_REQUIRE_EQUAL(updates[i](again).ToString(), "OK");
    const std::string expected = i == 0 ? "6" : "100";
    BOOST_CHECK_EQUAL(Get(&again, "a"), expected);
    CommitOk(&again);
    BOOST_CHECK_EQUAL(Get("a"), expected);
  }
}

BOOST_AUTO_TEST_CASE(ADeletedCellRevealsTheVersionBelow) {
  for (const char* value : {"1", "2", "3"}) Put("a", value);
  Put("b", "1");
  Flush();
  Transaction transaction = Begin();
  BOOST_CHECK_EQUAL(transaction.DeleteCell("t", "a", "d", "c").ToString(), "OK");
  BOOST_CHECK_EQUAL(Query(&transaction, "c = 2"), "a=2");
  BOOST_CHECK_EQUAL(Query(&transaction, "c = 3"), "");
  PutIn(&transaction, "b", "4");
  BOOST_CHECK_EQUAL(Query(&transaction, "c = 4"), "b=4");
  BOOST_CHECK(transaction.DeleteCell("t", "b", "d", "c").ok());  // Its own.
  BOOST_CHECK_EQUAL(Query(&transaction, "c = 1"), "b=1");
  BOOST_CHECK(transaction.SetSavepoint().ok());
  BOOST_CHECK(transaction.DeleteCell("t", "a", "d", "c").ok());
  BOOST_CHECK(transaction.DeleteCell("t", "b", "d", "c").ok());
  BOOST_CHECK(transaction.DeleteCell("t", "b", "d", "c").ok());  // There is none.
  BOOST_CHECK_EQUAL(Scan(&transaction), "");  // The family keeps two: 1 does not come back.
  BOOST_CHECK(transaction.RollbackToSavepoint().ok());
  BOOST_CHECK_EQUAL(Scan(&transaction), "a=2 b=1");
  BOOST_CHECK_EQUAL(Scan(), "a=3 b=1");
  CommitOk(&transaction);
  BOOST_CHECK_EQUAL(Scan(), "a=2 b=1");
  BOOST_CHECK_EQUAL(Versions("a"), "2@new ");
  Open();
  BOOST_CHECK_EQUAL(Scan(), "a=2 b=1");
}

// Random operations on one row in a transaction, and the same ones on another row in a batch: the
// transaction sees, and commits, what the batch leaves.
BOOST_AUTO_TEST_CASE(OperationsAreThoseOfABatch) {
  TestRandom random("operations of a transaction and of a batch");
  constexpr int64_t kFuture = int64_t{1} << 60;
  for (size_t trial = 0; trial < Trials(400); ++trial) {
    const std::string row = "x" + std::to_string(trial), twin = "y" + std::to_string(trial);
    const auto timestamp = [&]() -> std::optional<int64_t> {
      const uint64_t choice = random.Below(12);
      if (choice < 6) return std::nullopt;
      return choice < 11 ? static_cast<int64_t>(choice) - 5 : kFuture;
    };
    const auto add = [&](WriteBatch* batch, const std::string& key, uint64_t what,
                         const std::string& value, std::optional<int64_t> at) {
      if (what < 4) batch->Put("t", key, "d", "c", value, at);
      if (what >= 4 && what < 9) batch->DeleteCell("t", key, "d", "c", at);
      if (what == 9) batch->Increment("t", key, "d", "c", 7);
      if (what == 10) batch->Append("t", key, "d", "c", value);
      if (what == 11) batch->DeleteColumn("t", key, "d", "c", at);
    };
    for (uint64_t stored = random.Below(4); stored > 0; --stored) {
      const std::string value = std::to_string(random.Below(100));
      const auto at = timestamp();
      for (const std::string& key : {row, twin}) {
        WriteBatch batch;
        add(&batch, key, 0, value, at);
        BOOST_REQUIRE(database->Write({}, batch).ok());
      }
      if (random.OneIn(20)) Flush();
    }
    Transaction transaction = Begin();
    WriteBatch batch;
    std::string seen, history;
    for (uint64_t left = 1 + random.Below(6); left > 0; --left) {
      const uint64_t what = random.Below(12);
      const std::string value = std::to_string(random.Below(100));
      const auto at = timestamp();
      add(&batch, twin, what, value, at);
      history += std::to_string(what) + "@" + (at.has_value() ? std::to_string(*at) : "") + " ";
      Status status;
      if (what < 4) status = transaction.Put("t", row, "d", "c", value, at);
      if (what >= 4 && what < 9) status = transaction.DeleteCell("t", row, "d", "c", at);
      if (what == 9) status = transaction.Increment("t", row, "d", "c", 7).status();
      if (what == 10) status = transaction.Append("t", row, "d", "c", value).status();
      if (what == 11) status = transaction.DeleteColumn("t", row, "d", "c", at);
      BOOST_REQUIRE_EQUAL(status.ToString(), "OK");
      seen = Versions(&transaction, row);
    }
    if (random.OneIn(3)) {  // It makes its own writes again.
      BOOST_REQUIRE(transaction.SetSavepoint().ok());
      BOOST_REQUIRE(transaction.DeleteRow("t", row).ok());
      BOOST_REQUIRE(transaction.RollbackToSavepoint().ok());
      BOOST_REQUIRE_EQUAL(Versions(&transaction, row), seen);
    }
    if (random.OneIn(20)) Flush();
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    const std::string expected = Versions(twin);
    BOOST_REQUIRE_MESSAGE(seen == expected,
                          history << ": seen " << seen << ", by a batch " << expected);
    BOOST_REQUIRE_EQUAL(transaction.Commit().ToString(), "OK");
    BOOST_REQUIRE_MESSAGE(Versions(row) == expected, history << ": committed " << Versions(row)
                                                             << ", by a batch " << expected);
  }
}

BOOST_AUTO_TEST_CASE(UpdatesOfOneRowConflict) {
  Put("a", "5");
  using Update = std::function<Status(Transaction&)>;
  const std::vector<Update> updates = {
      [](Transaction& one) { return one.Increment("t", "a", "d", "c").status(); },
      [](Transaction& one) { return one.Append("t", "a", "d", "c", "1").status(); },
      [](Transaction& one) { return one.DeleteCell("t", "a", "d", "c"); }};
  for (const bool flushes : {false, true}) {
    for (size_t i = 0; i < updates.size(); ++i) {
      Put("a", "5");
      Transaction first = Begin(), second = Begin(), third = Begin();
      BOOST_CHECK_EQUAL(updates[i](first).ToString(), "OK");
      BOOST_CHECK_EQUAL(updates[i](second).ToString(), "OK");
      if (flushes) Flush();
      CommitOk(&first);
      if (flushes) Flush();
      CommitConflicts(&second);
      // What is taken back was read all the same, except by a DeleteCell, which tells nothing.
      BOOST_CHECK(third.SetSavepoint().ok());
      BOOST_CHECK_EQUAL(updates[i](third).ToString(), "OK");
      BOOST_CHECK(third.RollbackToSavepoint().ok());
      PutIn(&third, "b", "1");
      if (i < 2) CommitConflicts(&third);
      if (i == 2) CommitOk(&third);
    }
  }
  Put("a", "5");
  Transaction transaction = Begin();
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("t", "a", "d", "c")), "6");
  BOOST_CHECK_EQUAL(TextOf(database->Increment({}, "t", "a", "d", "c", 10)), "15");
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("t", "a", "d", "c")), "7");
  CommitConflicts(&transaction);
  BOOST_CHECK_EQUAL(Get("a"), "15");
}

BOOST_AUTO_TEST_CASE(ADeletedCellConflictsThoughItHitsNothing) {
  Transaction transaction = Begin();
  BOOST_CHECK(transaction.DeleteCell("t", "a", "d", "c").ok());
  Put("a", "1");
  CommitConflicts(&transaction);
  Transaction alone = Begin();
  BOOST_CHECK(alone.DeleteCell("t", "none", "d", "c").ok());
  CommitOk(&alone);
  BOOST_CHECK_EQUAL(Scan(), "a=1");
}

BOOST_AUTO_TEST_CASE(ManyRowsAreReadAtOnce) {
  for (const char* row : {"a", "b", "c"}) Put(row, "1");
  Flush();
  Put("d", "1");
  Transaction transaction = Begin();
  Put("d", "2");
  PutIn(&transaction, "b", "own");
  PutIn(&transaction, "x", "own");
  BOOST_CHECK(transaction.DeleteRow("t", "c").ok());
  const std::vector<std::string_view> rows = {"x", "d", "none", "b", "c", "a", "b"};
  const auto read = [&](const std::vector<std::string_view>& keys) {
    const auto found = transaction.MultiGet({}, "t", keys);
    BOOST_REQUIRE_MESSAGE(found.has_value(), found.status().ToString());
    std::string text;
    for (const std::optional<Row>& row : *found) {
      text += row.has_value() ? std::string(*row->Find("d", "c")) + " " : "- ";
    }
    return text;
  };
  BOOST_CHECK_EQUAL(read(rows), "own 1 - own - 1 own ");
  BOOST_CHECK(transaction.SetSavepoint().ok());
  PutIn(&transaction, "a", "2");
  BOOST_CHECK_EQUAL(read({"a"}), "2 ");
  BOOST_CHECK(transaction.RollbackToSavepoint().ok());
  BOOST_CHECK_EQUAL(read({"a"}), "1 ");
  BOOST_CHECK_EQUAL(read({}), "");
  CommitConflicts(&transaction);  // For d.
}

BOOST_AUTO_TEST_CASE(EachRowOfManyIsChecked) {
  for (const char* row : {"a", "b"}) Put(row, "1");
  for (const char* changed : {"a", "b", "none"}) {
    Transaction transaction = Begin();
    BOOST_REQUIRE(
        transaction.MultiGet({}, "t", std::vector<std::string_view>{"b", "none", "a"}).has_value());
    PutIn(&transaction, "own", "1");
    Put(changed, "2");
    CommitConflicts(&transaction);
    Delete("none");
  }
  Transaction transaction = Begin();
  BOOST_REQUIRE(transaction.MultiGet({}, "t", std::vector<std::string_view>{"a"}).has_value());
  PutIn(&transaction, "own", "1");
  Put("b", "3");
  CommitOk(&transaction);
}

BOOST_AUTO_TEST_CASE(WhatIsRefusedIsNotNoted) {
  std::vector<std::string> keys;
  for (size_t i = 0; i <= kTransactionRowsMax; ++i) keys.push_back("k" + std::to_string(i));
  std::vector<std::string_view> rows(keys.begin(), keys.end());
  Transaction transaction = Begin();
  BOOST_CHECK_EQUAL(transaction.MultiGet({}, "t", rows).status().code(), StatusCode::kOverBudget);
  Put("k0", "changed");
  rows.pop_back();
  rows.pop_back();
  rows.push_back("k1");  // A second time.
  rows.erase(rows.begin());
  BOOST_CHECK(transaction.MultiGet({}, "t", rows).has_value());
  // There is room for two: an increment reads a row and writes it, unless the row was read before.
  BOOST_CHECK(transaction.DeleteCell("t", "own", "d", "c").ok());
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("t", "k0", "d", "c")),
                    "OverBudget: a transaction reads and writes at most 65536 rows");
  BOOST_CHECK_EQUAL(transaction.MultiGet({}, "t", rows).status().code(), StatusCode::kOk);
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("t", "k1", "d", "c")), "1");
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("t", "k1", "d", "c")),
                    "OverBudget: a transaction reads and writes at most 65536 rows");
  BOOST_CHECK_EQUAL(Get(&transaction, "k1"), "1");
  CommitOk(&transaction);
  BOOST_CHECK_EQUAL(Scan(), "k0=changed k1=1");
}

BOOST_AUTO_TEST_CASE(TablesThatAreDroppedConflict) {
  BOOST_REQUIRE(database->CreateTable({.name = "u", .families = {{.name = "d"}}}).ok());
  Transaction transaction = Begin();
  BOOST_CHECK_EQUAL(TextOf(transaction.Increment("u", "a", "d", "c")), "1");
  BOOST_REQUIRE(database->TruncateTable("u").ok());
  BOOST_CHECK_EQUAL(transaction.Increment("u", "a", "d", "c").status().code(),
                    StatusCode::kConflict);
  BOOST_CHECK_EQUAL(transaction.DeleteCell("u", "a", "d", "c").code(), StatusCode::kConflict);
  CommitConflicts(&transaction);
}

BOOST_AUTO_TEST_CASE(NoIncrementOfATransactionIsLost) {
  constexpr int kThreads = 4, kIncrements = 60;
  std::atomic<int> failures{0};
  const auto work = [&] {
    for (int i = 0; i < kIncrements; ++i) {
      const Status status = database->Transact(
          [](Transaction& transaction) -> Status {
            const auto sum = transaction.Increment("t", "a", "d", "c");
            if (!sum.has_value()) return sum.error();
            const auto twin = transaction.Increment("t", "b", "d", "c");
            if (!twin.has_value()) return twin.error();
            return *sum == *twin ? Status() : Status::NotFound("the two differ");
          },
          {.write = {.durability = Durability::kBuffered}, .attempts_max = 10'000});
      failures += status.ok() ? 0 : 1;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work);
  for (int i = 0; i < 10; ++i) {
    Flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK_EQUAL(failures, 0);
  const std::string all = std::to_string(kThreads * kIncrements);
  BOOST_CHECK_EQUAL(Scan(), "a=" + all + " b=" + all);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
