// Unique indexes: what is refused, by every kind of write, and what is not.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <utility>

#include "engine/transaction_state.h"
#include "tandem/transaction.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr std::string_view kHeld = "AlreadyExists: table 't', unique index 'u': row ";

// Table "t": families d (versions and TTL as asked for) and e; unique index "u".
struct UniqueFixture : TestEngine {
  void Create(const std::string& columns, uint32_t max_versions = 1, int64_t ttl_micros = 0,
              const std::vector<std::string>& split_keys = {}) {
    if (!is_open()) BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable(max_versions, ttl_micros);
    table.split_keys = split_keys;
    table.families.push_back({.name = "e"});
    table.indexes.push_back(Unique(columns));
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
  }
  static IndexOptions Unique(const std::string& columns) {
    IndexOptions index{.name = "u", .columns = IndexColumn::ParseList(columns).value()};
    index.unique = true;
    return index;
  }
  /// "OK", or "ROW holds VALUE", or the error.
  std::string Apply(const WriteBatch& batch, Durability durability = Durability::kWritten) {
    return Outcome(Write(batch, durability));
  }
  static std::string Outcome(const Status& status) {
    const std::string text = status.ToString();
    if (!text.starts_with(kHeld)) return text;
    const size_t value = text.find("value '") + 7, row = text.find("which row '") + 11;
    return text.substr(row, text.find('\'', row) - row) + " holds " +
           text.substr(value, text.find('\'', value) - value);
  }
  std::string PutIn(std::string_view row, std::string_view value,
                    std::optional<int64_t> timestamp = std::nullopt) {
    return Outcome(Put(row, "a", value, Durability::kWritten, timestamp));
  }
  void Flush() { BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK"); }
  void Reopen() {
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  }
  void Verify() {
    const Result<VerifyReport> report = (**this).Verify(true);
    BOOST_REQUIRE(report.has_value());
    BOOST_CHECK(report->findings.empty());
  }
};

BOOST_FIXTURE_TEST_SUITE(UniqueIndexes, UniqueFixture)

BOOST_AUTO_TEST_CASE(TheErrorNamesIndexValueAndBothRows) {
  Create("d:a");
  BOOST_REQUIRE_EQUAL(PutIn("p", "x"), "OK");
  BOOST_CHECK_EQUAL(Put("q", "a", "x").ToString(),
                    "AlreadyExists: table 't', unique index 'u': row 'q' would have the value 'x', "
                    "which row 'p' has");
  BOOST_CHECK_EQUAL(Value("q", "a"), "-");
  BOOST_CHECK_EQUAL(PutIn("p", "x"), "OK");
  BOOST_CHECK_EQUAL(PutIn("q", "y"), "OK");
  BOOST_CHECK_EQUAL(PutIn("p", "y"), "q holds y");
  Verify();
}

BOOST_AUTO_TEST_CASE(HoldersAreFoundInFilesAfterMergesAndReopens) {
  Create("d:a");
  BOOST_REQUIRE_EQUAL(PutIn("p", "x"), "OK");
  Flush();
  BOOST_CHECK_EQUAL(PutIn("q", "x"), "p holds x");
  BOOST_REQUIRE_EQUAL(PutIn("p", "y"), "OK");  // The file's posting of x is dead.
  BOOST_CHECK_EQUAL(PutIn("q", "x"), "OK");
  Flush();
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(PutIn("r", "x"), "q holds x");
  Reopen();
  BOOST_CHECK_EQUAL(PutIn("r", "y"), "p holds y");
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(PutIn("r", "x"), "q holds x");
  Verify();
}

BOOST_AUTO_TEST_CASE(AFailedBatchChangesNothing) {
  Create("d:a");
  BOOST_REQUIRE_EQUAL(PutIn("p", "x"), "OK");
  WriteBatch batch;
  batch.Put("t", "q", "d", "b", "1");
  batch.Put("t", "r", "d", "a", "x");
  BOOST_CHECK_EQUAL(Apply(batch), "p holds x");
  BOOST_CHECK_EQUAL(Rows(), "p{a=x}");
}

BOOST_AUTO_TEST_CASE(ABatchMovesAndSwapsValues) {
  Create("d:a");
  BOOST_REQUIRE_EQUAL(PutIn("p", "x"), "OK");
  BOOST_REQUIRE_EQUAL(PutIn("q", "y"), "OK");
  WriteBatch swap;
  swap.Put("t", "p", "d", "a", "y");
  swap.Put("t", "q", "d", "a", "x");
  BOOST_CHECK_EQUAL(Apply(swap), "OK");
  BOOST_CHECK_EQUAL(Rows(), "p{a=y} q{a=x}");
  WriteBatch move;  // In an order in which the value is taken before it is free.
  move.Put("t", "r", "d", "a", "y");
  move.DeleteRow("t", "p");
  BOOST_CHECK_EQUAL(Apply(move), "OK");
  BOOST_CHECK_EQUAL(Rows(), "q{a=x} r{a=y}");
  WriteBatch again;  // A row that gives a value up and gets it back.
  again.DeleteColumn("t", "r", "d", "a");
  again.Put("t", "r", "d", "a", "y");
  BOOST_CHECK_EQUAL(Apply(again), "OK");
  Verify();
}

BOOST_AUTO_TEST_CASE(RowsOfOneBatchDiffer) {
  Create("d:a");
  WriteBatch batch;
  batch.Put("t", "p", "d", "a", "x");
  batch.Put("t", "q", "d", "a", "x");
  BOOST_CHECK_EQUAL(Apply(batch), "q holds x");
  BOOST_CHECK_EQUAL(Rows(), "");
  batch.Put("t", "q", "d", "a", "y");  // Only what is there after the batch counts.
  BOOST_CHECK_EQUAL(Apply(batch), "OK");
  WriteBatch onto;  // Onto the value of a row of the batch that keeps it.
  onto.Put("t", "p", "d", "a", "x");
  onto.Put("t", "r", "d", "a", "x");
  BOOST_CHECK_EQUAL(Apply(onto), "p holds x");
}

BOOST_AUTO_TEST_CASE(AbsentValuesAreExempt) {
  Create("d:a, e:b");
  WriteBatch batch;
  for (const char* row : {"p", "q", "r"}) {
    batch.Put("t", row, "d", "a", "1");
    batch.Put("t", row, "d", "z", "1");
  }
  BOOST_CHECK_EQUAL(Apply(batch), "OK");
  WriteBatch first, second;
  first.Put("t", "p", "e", "b", "2");
  second.Put("t", "q", "e", "b", "2");
  BOOST_CHECK_EQUAL(Apply(first), "OK");
  BOOST_CHECK_EQUAL(Apply(second), "p holds 1, 2");
  Flush();
  BOOST_CHECK_EQUAL(Apply(second), "p holds 1, 2");  // Each column in another file or memstore.
  BOOST_REQUIRE_EQUAL(PutIn("p", "3"), "OK");
  BOOST_CHECK_EQUAL(Apply(second), "OK");
  BOOST_CHECK_EQUAL(PutIn("p", "1"), "q holds 1, 2");
  Verify();
}

BOOST_AUTO_TEST_CASE(FunctionsSayWhatIsEqual) {
  Create("lower(d:a)");
  BOOST_REQUIRE_EQUAL(PutIn("p", "Ann"), "OK");
  BOOST_CHECK_EQUAL(PutIn("q", "ANN"), "p holds ann");
  BOOST_CHECK_EQUAL(PutIn("p", "aNN"), "OK");
  BOOST_CHECK_EQUAL(PutIn("q", "Anna"), "OK");
  Verify();
}

BOOST_AUTO_TEST_CASE(NumbersAreEqualAsNumbers) {
  Create("d:a::int64 DESC");
  BOOST_REQUIRE_EQUAL(PutIn("p", "7"), "OK");
  BOOST_CHECK_EQUAL(PutIn("q", "007"), "p holds 7");
  const ColumnDelta delta{.qualifier = "a", .delta = 7};
  const auto added = (**this).IncrementColumns({}, "t", "q", "", {&delta, 1});
  BOOST_CHECK_EQUAL(Outcome(added.status()), "p holds 7");
  BOOST_CHECK_EQUAL(PutIn("q", "8"), "OK");
  const ColumnDelta less{.qualifier = "a", .delta = -1};
  BOOST_CHECK_EQUAL(Outcome((**this).IncrementColumns({}, "t", "q", "", {&less, 1}).status()),
                    "p holds 7");
  Verify();
}

BOOST_AUTO_TEST_CASE(AppendsMakeValues) {
  Create("d:a");
  BOOST_REQUIRE_EQUAL(PutIn("p", "xy"), "OK");
  BOOST_REQUIRE_EQUAL(PutIn("q", "x"), "OK");
  const ColumnValue suffix{.qualifier = "a", .value = "y"};
  BOOST_CHECK_EQUAL(Outcome((**this).AppendColumns({}, "t", "q", "d", {&suffix, 1}).status()),
                    "p holds xy");
  BOOST_CHECK_EQUAL(Value("q", "a"), "x");
}

// The counterexample of rule 27.
BOOST_AUTO_TEST_CASE(ADeleteThatRevealsAHeldValueIsRefused) {
  Create("d:a", 2);
  BOOST_REQUIRE_EQUAL(PutIn("p", "1", 5), "OK");
  BOOST_REQUIRE_EQUAL(PutIn("p", "2", 2), "OK");  // Not current.
  BOOST_CHECK_EQUAL(PutIn("q", "2", 1), "OK");
  WriteBatch reveal;
  reveal.DeleteCell("t", "p", "d", "a", 5);
  BOOST_CHECK_EQUAL(Apply(reveal), "q holds 2");
  BOOST_CHECK_EQUAL(Versions("p", "a"), "1@5 2@2");
  Flush();
  BOOST_CHECK_EQUAL(Apply(reveal), "q holds 2");
  reveal.DeleteRow("t", "q");
  BOOST_CHECK_EQUAL(Apply(reveal), "OK");
  BOOST_CHECK_EQUAL(Versions("p", "a"), "2@2");
  Verify();
}

BOOST_AUTO_TEST_CASE(APutThatDoesNotBecomeCurrentIsNotRefused) {
  Create("d:a", 3);
  BOOST_REQUIRE_EQUAL(PutIn("p", "x", 5), "OK");
  BOOST_REQUIRE_EQUAL(PutIn("q", "y", 5), "OK");
  BOOST_CHECK_EQUAL(PutIn("q", "x", 4), "OK");
  BOOST_CHECK_EQUAL(PutIn("q", "x", 5), "p holds x");
  BOOST_CHECK_EQUAL(PutIn("q", "x", 6), "p holds x");
  Verify();
}

BOOST_AUTO_TEST_CASE(DeletesFreeValues) {
  Create("d:a");
  const auto freed_by = [&](const std::function<void(WriteBatch*)>& take) {
    BOOST_REQUIRE_EQUAL(PutIn("p", "x"), "OK");
    BOOST_REQUIRE_EQUAL(PutIn("q", "x"), "p holds x");
    WriteBatch batch;
    take(&batch);
    BOOST_REQUIRE_EQUAL(Apply(batch, Durability::kMemory), "OK");
    // What freed the value is in the log before what takes it.
    BOOST_CHECK_EQUAL(Outcome(Put("q", "a", "x", Durability::kSynced)), "OK");
    Crash({.kept = CrashPolicy::Kept::kNone});
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_CHECK_EQUAL(Value("q", "a"), "x");
    BOOST_CHECK_NE(Value("p", "a"), "x");
    WriteBatch rest;
    rest.DeleteRow("t", "p");
    rest.DeleteRow("t", "q");
    BOOST_REQUIRE_EQUAL(Apply(rest), "OK");
  };
  freed_by([](WriteBatch* batch) { batch->DeleteCell("t", "p", "d", "a"); });
  freed_by([](WriteBatch* batch) { batch->DeleteColumn("t", "p", "d", "a"); });
  freed_by([](WriteBatch* batch) { batch->DeleteFamily("t", "p", "d"); });
  freed_by([](WriteBatch* batch) { batch->DeleteRow("t", "p"); });
  freed_by([](WriteBatch* batch) { batch->Put("t", "p", "d", "a", "z"); });
  BOOST_REQUIRE_EQUAL((**this).TruncateTable("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(PutIn("r", "x"), "OK");
  BOOST_CHECK_EQUAL(PutIn("s", "x"), "r holds x");
}

BOOST_AUTO_TEST_CASE(AnExpiredValueIsFree) {
  Create("d:a", 1, 1'000'000);
  BOOST_REQUIRE_EQUAL(PutIn("p", "x"), "OK");
  BOOST_CHECK_EQUAL(PutIn("q", "x"), "p holds x");
  clock.Advance(2'000'000);
  BOOST_CHECK_EQUAL(PutIn("q", "x"), "OK");
  BOOST_CHECK_EQUAL(PutIn("p", "x"), "q holds x");
  Verify();
}

BOOST_AUTO_TEST_CASE(HoldersAreFoundInOtherRegions) {
  Create("d:a", 1, 0, {"m"});
  BOOST_REQUIRE_EQUAL(PutIn("a", "x"), "OK");
  BOOST_CHECK_EQUAL(PutIn("z", "x"), "a holds x");
  BOOST_REQUIRE_EQUAL(PutIn("z", "y"), "OK");
  WriteBatch swap;
  swap.Put("t", "a", "d", "a", "y");
  swap.Put("t", "z", "d", "a", "x");
  BOOST_CHECK_EQUAL(Apply(swap), "OK");
  Flush();
  for (const char* key : {"c", "p"}) {
    BOOST_REQUIRE((**this).Split("t", {.key = key}).has_value());
  }
  BOOST_CHECK_EQUAL(PutIn("d", "y"), "a holds y");
  BOOST_CHECK_EQUAL(PutIn("d", "x"), "z holds x");
  Verify();
}

BOOST_AUTO_TEST_CASE(AConditionThatDoesNotHoldRefusesNothing) {
  Create("d:a");
  BOOST_REQUIRE_EQUAL(PutIn("p", "x"), "OK");
  WriteBatch batch;
  batch.Put("t", "q", "d", "a", "x");
  const Predicate holds = Predicate::Parse("d:a IS NULL").value();
  const Predicate does_not = Predicate::Parse("d:a = 'y'").value();
  const auto applied = (**this).CheckAndMutate({}, "t", "q", does_not, batch);
  BOOST_REQUIRE(applied.has_value());
  BOOST_CHECK(!*applied);
  BOOST_CHECK_EQUAL(Outcome((**this).CheckAndMutate({}, "t", "q", holds, batch).status()),
                    "p holds x");
}

BOOST_AUTO_TEST_CASE(TransactionsAreRefusedAtTheirCommit) {
  Create("d:a");
  BOOST_REQUIRE_EQUAL(PutIn("p", "x"), "OK");
  auto transaction = engine::TransactionState::Begin(&**this);
  BOOST_REQUIRE(transaction.has_value());
  BOOST_REQUIRE_EQUAL(transaction->Put("t", "q", "d", "a", "x").ToString(), "OK");
  BOOST_CHECK_EQUAL(Outcome(transaction->Commit()), "p holds x");
  auto moving = engine::TransactionState::Begin(&**this);
  BOOST_REQUIRE(moving.has_value());
  BOOST_REQUIRE_EQUAL(moving->Put("t", "q", "d", "a", "x").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(moving->DeleteRow("t", "p").ToString(), "OK");
  BOOST_CHECK_EQUAL(Outcome(moving->Commit()), "OK");
  BOOST_CHECK_EQUAL(Rows(), "q{a=x}");
}

// It may be refused because of what it has read, which is not so any more.
BOOST_AUTO_TEST_CASE(AConflictComesBeforeARefusal) {
  Create("d:a");
  BOOST_REQUIRE_EQUAL(PutIn("q", "0"), "OK");
  auto transaction = engine::TransactionState::Begin(&**this);
  BOOST_REQUIRE(transaction.has_value());
  BOOST_REQUIRE(transaction->Get({}, "t", "q").has_value());
  BOOST_REQUIRE_EQUAL(transaction->Put("t", "r", "d", "a", "x").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(PutIn("q", "1"), "OK");
  BOOST_REQUIRE_EQUAL(PutIn("p", "x"), "OK");
  BOOST_CHECK(transaction->Commit().code() == StatusCode::kConflict);
}

// A batch that names many rows of the table, one of which has the value already.
BOOST_AUTO_TEST_CASE(ALargeBatchIsCheckedAsAWhole) {
  Create("d:a");
  WriteBatch batch;
  for (int i = 0; i < 500; ++i) {
    batch.Put("t", "row" + std::to_string(i), "d", "a", "value" + std::to_string(i * 7 % 500));
  }
  BOOST_CHECK_EQUAL(Apply(batch), "OK");
  BOOST_CHECK_EQUAL(PutIn("z", "value7"), "row1 holds value7");
  batch.Put("t", "z", "d", "a", "value7");
  BOOST_CHECK_EQUAL(Apply(batch), "row1 holds value7");
  Verify();
}

// Another writer comes between the look for holders and the commit.
BOOST_AUTO_TEST_CASE(AnEntryThatIsMadeMeanwhileIsSeen) {
  Create("d:a");
  for (const char* row : {"a", "b", "c"}) BOOST_REQUIRE_EQUAL(PutIn(row, row), "OK");
  Flush();
  Reopen();
  bool is_inside = false, is_done = false;
  disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kRead || is_inside || is_done) return;
    is_inside = is_done = true;
    BOOST_CHECK_EQUAL(PutIn("p", "x"), "OK");
    is_inside = false;
  });
  BOOST_CHECK_EQUAL(PutIn("b", "x"), "p holds x");
  disk.control().SetHook(nullptr);
  BOOST_CHECK(is_done);
  Verify();
}

BOOST_AUTO_TEST_CASE(LoadsOfFilesAreRefused) {
  Create("d:a");
  const auto load = (**this).BeginBulkLoad("t", {});
  BOOST_REQUIRE(!load.has_value());
  BOOST_CHECK(load.error().code() == StatusCode::kInvalidArgument);
}

BOOST_AUTO_TEST_CASE(AFamilyWithAUniqueColumnIsNotDropped) {
  Create("d:a, e:b");
  BOOST_CHECK(!(**this).DropFamily("t", "e").ok());
}

// What was added to a table refuses nothing until it was checked.
BOOST_AUTO_TEST_CASE(AnIndexOverRowsIsCheckedFirst) {
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable()).ToString(), "OK");
  for (const char* row : {"p", "q", "r"}) BOOST_REQUIRE_EQUAL(PutIn(row, "x"), "OK");
  BOOST_REQUIRE_EQUAL(PutIn("s", "y"), "OK");
  Flush();
  BOOST_REQUIRE_EQUAL((**this).CreateIndex("t", Unique("d:a")).ToString(), "OK");
  BOOST_CHECK_EQUAL(PutIn("o", "y"), "OK");
  BOOST_CHECK((**this).Info().tables[0].indexes[1].unique == UniqueState::kBuilding);
  const auto too_early = (**this).EnforceUnique("t", "u", nullptr);
  BOOST_CHECK(!too_early.has_value() && too_early.error().code() == StatusCode::kBusy);
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");

  auto found = (**this).EnforceUnique("t", "u", nullptr);
  BOOST_REQUIRE_MESSAGE(found.has_value(), found.status().ToString());
  BOOST_CHECK_EQUAL(found->rows, 5u);
  BOOST_CHECK_EQUAL(found->duplicates, 3u);
  BOOST_REQUIRE_EQUAL(found->listed.size(), 3u);
  BOOST_CHECK_EQUAL(found->listed[0].value + ":" + found->listed[0].row + found->listed[0].other,
                    "x:pq");
  BOOST_CHECK_EQUAL(found->listed[2].value + ":" + found->listed[2].row + found->listed[2].other,
                    "y:os");
  BOOST_CHECK_EQUAL(PutIn("a", "x"), "OK");  // As before.

  WriteBatch mend;
  for (const char* row : {"a", "q", "r", "o"}) mend.DeleteRow("t", row);
  BOOST_REQUIRE_EQUAL(Apply(mend, Durability::kMemory), "OK");
  found = (**this).EnforceUnique("t", "u", nullptr);
  BOOST_REQUIRE_MESSAGE(found.has_value(), found.status().ToString());
  BOOST_CHECK_EQUAL(found->duplicates, 0u);
  BOOST_CHECK((**this).Info().tables[0].indexes[1].unique == UniqueState::kReady);
  BOOST_CHECK_EQUAL(PutIn("a", "x"), "p holds x");
  Crash({.kept = CrashPolicy::Kept::kNone});
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(PutIn("q", "x"), "p holds x");
  BOOST_CHECK_EQUAL(Rows(), "p{a=x} s{a=y}");
}

// The edit that says that no two rows are equal is durable at once, the delete that made it so is
// in the log.
BOOST_AUTO_TEST_CASE(ADeleteBesideTheCheckOutlivesAPowerCut) {
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable()).ToString(), "OK");
  for (const char* row : {"p", "q"}) BOOST_REQUIRE_EQUAL(PutIn(row, "x"), "OK");
  BOOST_REQUIRE_EQUAL((**this).CreateIndex("t", Unique("d:a")).ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(PutIn("s", "y"), "OK");
  bool is_done = false;
  disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kWrite || !event.name.starts_with("store-")) return;
    if (std::exchange(is_done, true)) return;
    WriteBatch batch;  // After the flush has synced the log.
    batch.DeleteRow("t", "q");
    BOOST_CHECK_EQUAL(Apply(batch), "OK");
  });
  const auto found = (**this).EnforceUnique("t", "u", nullptr);
  disk.control().SetHook(nullptr);
  BOOST_REQUIRE_MESSAGE(found.has_value(), found.status().ToString());
  BOOST_CHECK(is_done);
  BOOST_CHECK_EQUAL(found->duplicates, 0u);
  Crash({.kept = CrashPolicy::Kept::kNone});
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK((**this).Info().tables[0].indexes[1].unique == UniqueState::kReady);
  BOOST_CHECK_EQUAL(Rows(), "p{a=x} s{a=y}");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
