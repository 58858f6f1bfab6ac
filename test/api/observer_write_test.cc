// Observers of writes: each call that writes asks them once, before it reads, and tells them once,
// after it is visible. They may refuse, change and add; what they have read is checked.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/api/observer_fixture.h"

namespace tandem::test {
namespace {

std::string KindText(Mutation::Kind kind) {
  const char* const names[] = {"put",        "delete-cell", "delete-column", "delete-family",
                               "delete-row", "increment",   "append"};
  return names[static_cast<int>(kind)];
}

std::string MutationsText(std::span<const Mutation> mutations) {
  std::string text;
  for (const Mutation& mutation : mutations) {
    text += (text.empty() ? "" : ", ") + KindText(mutation.kind) + " " + std::string(mutation.row);
    if (!mutation.family.empty()) text += " " + std::string(mutation.family);
    for (const ColumnValue& column : mutation.columns) {
      text += " " + std::string(column.qualifier);
      const bool is_number = mutation.kind == Mutation::Kind::kIncrement;
      if (!column.value.empty()) {
        text += "=" + (is_number ? std::to_string(*DecodeInt64Be(column.value))
                                 : std::string(column.value));
      }
    }
    if (mutation.timestamp.has_value()) text += " @" + std::to_string(*mutation.timestamp);
  }
  return text;
}

/// Notes what "a" is asked and told.
struct NotingFixture : ObserverFixture {
  NotingFixture() {
    a->before_write = [this](PendingWrite* write) {
      asked.push_back(std::string(write->table()) + ": " + MutationsText(write->mutations()));
      return Status();
    };
    a->after_write = [this](const CommittedWrite& write) {
      const std::lock_guard lock(told_mutex);  // Writers may be several threads.
      told.push_back(std::string(write.table) + ": " + MutationsText(write.mutations));
      sequence = write.sequence;
    };
  }
  std::string Asked() { return Take(&asked); }
  std::string Told() { return Take(&told); }
  static std::string Take(std::vector<std::string>* notes) {
    std::string text;
    for (const std::string& note : *notes) text += (text.empty() ? "" : "; ") + note;
    notes->clear();
    return text;
  }

  std::vector<std::string> asked, told;
  uint64_t sequence = 0;
  std::mutex told_mutex;
};

BOOST_FIXTURE_TEST_SUITE(observer_writes, NotingFixture)

BOOST_AUTO_TEST_CASE(EveryOperationOfABatchIsShown) {
  WriteBatch batch;
  batch.Put("t", "r", "d", "c", "v", 7);
  batch.Put("u", "r", "d", "c", "other");
  const ColumnValue columns[] = {{"x", "1"}, {"y", "2"}};
  batch.PutColumns("t", "r", "e", columns);
  batch.DeleteCell("t", "r", "d", "c", 7);
  batch.DeleteColumn("t", "r", "d", "c");
  batch.DeleteFamily("t", "r", "e");
  batch.DeleteRow("t", "s");
  batch.Increment("t", "r", "", "count", 5);
  batch.Append("t", "r", "d", "log", "+");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  const std::string expected =
      "t: put r d c=v @7, put r e x=1 y=2, delete-cell r d c @7, delete-column r d c, "
      "delete-family r e, delete-row s, increment r count=5, append r d log=+";
  BOOST_CHECK_EQUAL(Asked(), expected);
  BOOST_CHECK_EQUAL(Told(), expected);
  BOOST_CHECK_EQUAL(sequence, database->Info()->last_sequence);
  BOOST_CHECK_EQUAL(Rows("u"), "r c=other");
}

BOOST_AUTO_TEST_CASE(EveryCallThatWritesIsObservedOnce) {
  BOOST_CHECK_EQUAL(database->Increment({}, "t", "r", "d", "i", 3).value(), 3);
  BOOST_CHECK_EQUAL(Asked(), "t: increment r d i=3");
  BOOST_CHECK_EQUAL(Told(), "t: increment r d i=3");
  BOOST_CHECK_EQUAL(database->Append({}, "t", "r", "d", "l", "x").value(), "x");
  BOOST_CHECK_EQUAL(Asked(), "t: append r d l=x");
  BOOST_CHECK_EQUAL(Told(), "t: append r d l=x");
  const auto check = [&](const char* condition) {
    return database
        ->CheckAndMutate({}, "t", "r", *Predicate::Parse(condition), PutOf("t", "r", "1"))
        .value();
  };
  BOOST_CHECK(check("i = '3'"));
  BOOST_CHECK_EQUAL(Asked(), "t: put r d n=1");
  BOOST_CHECK_EQUAL(Told(), "t: put r d n=1");
  BOOST_CHECK(!check("i = '4'"));
  BOOST_CHECK_EQUAL(Asked(), "t: put r d n=1");
  BOOST_CHECK_EQUAL(Told(), "");
  auto transaction = database->Begin();
  BOOST_REQUIRE_EQUAL(transaction->Put("t", "r", "d", "n", "2").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(transaction->DeleteColumn("t", "r", "d", "l").ToString(), "OK");
  BOOST_CHECK_EQUAL(Asked(), "");
  BOOST_REQUIRE_EQUAL(transaction->Commit().ToString(), "OK");
  BOOST_CHECK_EQUAL(Asked(), "t: put r d n=2, delete-column r d l");
  BOOST_CHECK_EQUAL(Told(), "t: put r d n=2, delete-column r d l");
  BOOST_CHECK_EQUAL(Rows(), "r i=3 n=2");
}

BOOST_AUTO_TEST_CASE(ABatchThatChangesNothingIsNotTold) {
  WriteBatch batch;
  batch.DeleteCell("t", "absent", "d", "c");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_CHECK_EQUAL(Asked(), "t: delete-cell absent d c");
  BOOST_CHECK_EQUAL(Told(), "");
}

BOOST_AUTO_TEST_CASE(ABatchOfOtherTablesIsNotObserved) {
  BOOST_REQUIRE_EQUAL(Write(PutOf("u", "r", "1")).ToString(), "OK");
  const auto applied =
      database->CheckAndMutate({}, "t", "r", Predicate::IsNull("n"), PutOf("u", "r", "2"));
  BOOST_CHECK(applied.value());
  BOOST_CHECK_EQUAL(Asked() + Told(), "");
}

BOOST_AUTO_TEST_CASE(AnInvalidBatchIsRefusedBeforeItIsAsked) {
  BOOST_CHECK_EQUAL(Put("r", "no number").code(), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(Put("", "1").code(), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(Asked(), "");
}

BOOST_AUTO_TEST_CASE(AVetoChangesNothingAnywhere) {
  a->before_write = [](PendingWrite* write) -> Status {
    BOOST_CHECK_EQUAL(write->Add(PutOf("counts", "r", "1")).ToString(), "OK");
    return Status::Conflict("not today");
  };
  WriteBatch batch = PutOf("u", "r", "1");
  batch.Add(PutOf("t", "r", "1"));
  const uint64_t before = database->Info()->last_sequence;
  const std::string expected = "Conflict: observer 'a' in BeforeWrite: not today";
  BOOST_CHECK_EQUAL(Write(batch).ToString(), expected);
  BOOST_CHECK_EQUAL(database->Increment({}, "t", "r", "d", "i").status().ToString(), expected);
  BOOST_CHECK_EQUAL(database->Append({}, "t", "r", "d", "i", "x").status().ToString(), expected);
  BOOST_CHECK_EQUAL(
      database->CheckAndMutate({}, "t", "r", Predicate::IsNull("n"), batch).status().ToString(),
      expected);
  auto transaction = database->Begin();
  BOOST_REQUIRE_EQUAL(transaction->Put("t", "r", "d", "n", "2").ToString(), "OK");
  BOOST_CHECK_EQUAL(transaction->Commit().ToString(), expected);
  BOOST_CHECK_EQUAL(Rows("t") + Rows("u") + Rows("counts"), "");
  BOOST_CHECK_EQUAL(database->Info()->last_sequence, before);
  BOOST_CHECK_EQUAL(Told(), "");
}

BOOST_AUTO_TEST_CASE(ThrownExceptionsAreErrorsThatNameTheObserver) {
  a->before_write = [](PendingWrite*) -> Status { throw std::runtime_error("broken"); };
  BOOST_CHECK_EQUAL(Put("r", "1").ToString(),
                    "Cancelled: observer 'a' threw in BeforeWrite: broken");
  a->before_write = [](PendingWrite*) -> Status { throw 7; };
  BOOST_CHECK_EQUAL(
      Put("r", "1").ToString(),
      "Cancelled: observer 'a' threw in BeforeWrite: something that is no std::exception");
  a->before_write = [](PendingWrite*) -> Status { throw std::bad_alloc(); };
  BOOST_CHECK_EQUAL(Put("r", "1").code(), StatusCode::kOutOfMemory);
  BOOST_CHECK_EQUAL(Rows(), "");
  a->before_write = nullptr;
  BOOST_CHECK_EQUAL(Put("r", "1").ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(WhatIsThrownAfterTheWriteIsCountedAndLogged) {
  std::vector<std::string> lines;
  Options options = NewOptions();
  options.log = [&lines](std::string_view line) { lines.emplace_back(line); };
  Open(options);
  a->after_write = [](const CommittedWrite&) { throw std::runtime_error("too late"); };
  BOOST_CHECK_EQUAL(Put("r", "1").ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "r n=1");
  BOOST_CHECK_EQUAL(database->GetStatistics().observer_failures, 1u);
  BOOST_REQUIRE(!lines.empty());
  BOOST_CHECK_EQUAL(lines.back(), "observer 'a' threw in AfterWrite: too late");
  database.reset();
}

BOOST_AUTO_TEST_CASE(MutationsAreDroppedReplacedAndAdded) {
  a->before_write = [](PendingWrite* write) -> Status {
    for (size_t i = 0; i < write->mutations().size(); ++i) {
      const Mutation& mutation = write->mutations()[i];
      if (mutation.row == "drop") {
        BOOST_CHECK_EQUAL(write->Drop(i).ToString(), "OK");
      } else if (mutation.row == "replace") {
        WriteBatch two = PutOf("t", "first", "1");
        two.Add(PutOf("u", "second", "2"));
        BOOST_CHECK_EQUAL(write->Replace(i, two).ToString(), "OK");
      }
    }
    BOOST_CHECK_EQUAL(write->Drop(write->mutations().size()).code(), StatusCode::kInvalidArgument);
    return write->Add(PutOf("counts", "row", "9"));
  };
  WriteBatch batch = PutOf("t", "drop", "1");
  batch.Add(PutOf("t", "replace", "1"));
  batch.Add(PutOf("u", "keep", "1"));
  batch.Add(PutOf("t", "keep", "1"));
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows("t"), "first n=1, keep n=1");
  BOOST_CHECK_EQUAL(Rows("u"), "keep n=1, second n=2");
  BOOST_CHECK_EQUAL(Rows("counts"), "row n=9");
  BOOST_CHECK_EQUAL(Told(), "t: put first d n=1, put keep d n=1");
  // All of it is dropped, which is a success.
  BOOST_REQUIRE_EQUAL(Write(PutOf("t", "drop", "2")).ToString(), "OK");
  BOOST_CHECK_EQUAL(Told(), "");
}

BOOST_AUTO_TEST_CASE(AnObserverThatWritesNonsenseFailsTheWrite) {
  a->before_write = [](PendingWrite* write) { return write->Add(PutOf("nowhere", "r", "1")); };
  BOOST_CHECK_EQUAL(Put("r", "1").ToString(), "NotFound: table 'nowhere' does not exist");
  a->before_write = [](PendingWrite* write) {
    return write->Replace(0, PutOf("t", "r", "no number"));
  };
  BOOST_CHECK_EQUAL(Put("r", "1").code(), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(Rows(), "");
}

BOOST_AUTO_TEST_CASE(ACallThatReturnsValuesKeepsItsOperation) {
  a->before_write = [](PendingWrite* write) {
    WriteBatch more;
    more.Increment("counts", "all", "d", "changes", 100);
    return write->Add(more);
  };
  BOOST_CHECK_EQUAL(database->Increment({}, "t", "r", "d", "i", 3).value(), 3);
  BOOST_CHECK_EQUAL(database->Append({}, "t", "r", "d", "l", "x").value(), "x");
  BOOST_CHECK_EQUAL(Rows("counts"), "all changes=200");
  a->before_write = [](PendingWrite* write) { return write->Drop(0); };
  BOOST_CHECK_EQUAL(database->Increment({}, "t", "r", "d", "i").status().code(),
                    StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(database->Append({}, "t", "r", "d", "l", "y").status().code(),
                    StatusCode::kInvalidArgument);
  WriteBatch batch;
  batch.Increment("t", "r", "d", "i");
  BOOST_CHECK_EQUAL(Write(batch).ToString(), "OK");  // Nobody waits for a value.
  BOOST_CHECK_EQUAL(Rows(), "r i=3 l=x");
}

BOOST_AUTO_TEST_CASE(LaterObserversSeeWhatEarlierOnesReplacedAndNotWhatTheyAdded) {
  SetObservers({"b", "a"});
  b->before_write = [](PendingWrite* write) -> Status {
    BOOST_CHECK_EQUAL(write->Replace(0, PutOf("t", "replaced", "2")).ToString(), "OK");
    return write->Add(PutOf("t", "added", "3"));
  };
  BOOST_REQUIRE_EQUAL(Put("r", "1").ToString(), "OK");
  BOOST_CHECK_EQUAL(Asked(), "t: put replaced d n=2");
  BOOST_CHECK_EQUAL(Told(), "t: put replaced d n=2, put added d n=3");
  BOOST_CHECK_EQUAL(Rows(), "added n=3, replaced n=2");
}

BOOST_AUTO_TEST_CASE(ObserversThatAddToEachOthersTablesDoNotRecur) {
  BOOST_REQUIRE_EQUAL(database->SetObservers("u", std::vector<std::string>{"b"}).ToString(), "OK");
  int calls = 0;
  b->before_write = [&calls](PendingWrite* write) {
    ++calls;
    return write->Add(PutOf("t", "from-u", "1"));
  };
  a->before_write = [&calls](PendingWrite* write) {
    ++calls;
    return write->Add(PutOf("u", "from-t", "1"));
  };
  BOOST_REQUIRE_EQUAL(Put("r", "1").ToString(), "OK");
  BOOST_CHECK_EQUAL(calls, 1);
  WriteBatch both = PutOf("t", "r", "2");
  both.Add(PutOf("u", "r", "2"));
  BOOST_REQUIRE_EQUAL(Write(both).ToString(), "OK");
  BOOST_CHECK_EQUAL(calls, 3);
  BOOST_CHECK_EQUAL(Rows("t"), "from-u n=1, r n=2");
  BOOST_CHECK_EQUAL(Rows("u"), "from-t n=1, r n=2");
}

BOOST_AUTO_TEST_CASE(WhatAnotherTablesObserverPutsThereIsTold) {
  BOOST_REQUIRE_EQUAL(database->SetObservers("u", std::vector<std::string>{"b"}).ToString(), "OK");
  b->before_write = [](PendingWrite* write) {
    return write->Replace(0, PutOf("t", "from-u", "2"));
  };
  WriteBatch both = PutOf("t", "r", "1");
  both.Add(PutOf("u", "r", "1"));
  both.Add(PutOf("t", "s", "3"));
  BOOST_REQUIRE_EQUAL(Write(both).ToString(), "OK");
  BOOST_CHECK_EQUAL(Asked(), "t: put r d n=1, put s d n=3");
  BOOST_CHECK_EQUAL(Told(), "t: put r d n=1, put from-u d n=2, put s d n=3");
  BOOST_CHECK_EQUAL(Rows("u"), "");
}

BOOST_AUTO_TEST_CASE(ReadsOfAHookSeeTheStateBeforeTheBatch) {
  BOOST_REQUIRE_EQUAL(Put("r", "1").ToString(), "OK");
  std::string seen;
  a->before_write = [&](PendingWrite* write) -> Status {
    for (const char* table : {"t", "u"}) {
      auto row = write->Get({}, table, "r");
      BOOST_REQUIRE_MESSAGE(row.has_value(), row.status().ToString());
      seen += row->has_value() ? TextOf((*row)->view()) : "none";
      seen += ";";
    }
    const auto snapshot = database->TakeSnapshot();
    BOOST_CHECK_EQUAL(write->Get({.snapshot = &*snapshot}, "t", "r").status().code(),
                      StatusCode::kInvalidArgument);
    BOOST_CHECK_EQUAL(write->Get({}, "nowhere", "r").status().code(), StatusCode::kNotFound);
    return {};
  };
  BOOST_CHECK_EQUAL(Put("r", "2").ToString(), "OK");
  BOOST_CHECK_EQUAL(seen, "r n=1;none;");
  seen.clear();
  auto transaction = database->Begin();
  BOOST_REQUIRE_EQUAL(transaction->Put("t", "s", "d", "n", "7").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(transaction->Put("t", "r", "d", "n", "8").ToString(), "OK");
  BOOST_CHECK_EQUAL(transaction->Commit().ToString(), "OK");
  BOOST_CHECK_EQUAL(seen, "r n=2;none;");
}

// The row is changed between the hook's read and the commit, in a memstore and by way of a file.
BOOST_AUTO_TEST_CASE(ARowThatAHookReadAndOthersChangedIsAConflict) {
  for (const bool flushes : {false, true}) {
    a->before_write = [&](PendingWrite* write) -> Status {
      const auto row = write->Get({}, "u", "seen");
      BOOST_REQUIRE(row.has_value());
      std::thread([&] {
        BOOST_CHECK_EQUAL(Write(PutOf("u", "seen", flushes ? "2" : "1")).ToString(), "OK");
        if (flushes) BOOST_CHECK_EQUAL(database->Flush("u").ToString(), "OK");
      }).join();
      return {};
    };
    const std::string expected = "Conflict: row 'seen' of table 'u' was changed by another write";
    BOOST_CHECK_EQUAL(Put("r", "1").ToString(), expected);
    BOOST_CHECK_EQUAL(database->Increment({}, "t", "r", "d", "i").status().ToString(), expected);
    BOOST_CHECK_EQUAL(Rows("t"), "");
  }
}

/// Makes a call when the next flush begins.
class FlushListener final : public EventListener {
 public:
  void OnFlushBegin(const FlushEvent&) override {
    const std::function<void()> call = std::exchange(next, nullptr);
    if (call) call();
  }
  std::function<void()> next;
};

// The transaction depends on a row that is not logged, so its commit flushes first. By then its
// rows are listed, and a plan has met no observer.
BOOST_AUTO_TEST_CASE(ARowThatAHookReadInALaterPlanIsChecked) {
  const auto listener = std::make_shared<FlushListener>();
  Options options = NewOptions();
  options.listener = listener;
  Open(options);
  SetObservers({});
  const WriteOptions unlogged{.durability = Durability::kMemory};
  BOOST_REQUIRE_EQUAL(database->Write(unlogged, PutOf("t", "r", "1")).ToString(), "OK");
  auto transaction = database->Begin();
  BOOST_REQUIRE((*transaction->Get({}, "t", "r")).has_value());
  BOOST_REQUIRE_EQUAL(transaction->Put("t", "s", "d", "n", "2").ToString(), "OK");
  bool is_asked = false;
  a->before_write = [&](PendingWrite* write) -> Status {
    is_asked = true;
    BOOST_CHECK(write->Get({}, "u", "seen").has_value());
    std::thread([&] { BOOST_CHECK(Write(PutOf("u", "seen", "1")).ok()); }).join();
    return {};
  };
  listener->next = [this] { SetObservers({"a"}); };
  BOOST_CHECK_EQUAL(transaction->Commit().ToString(),
                    "Conflict: row 'seen' of table 'u' was changed by another write");
  BOOST_CHECK(is_asked);
  BOOST_CHECK_EQUAL(Rows(), "r n=1");
}

BOOST_AUTO_TEST_CASE(ARowThatIsFlushedOrNotChangedIsNoConflict) {
  BOOST_REQUIRE_EQUAL(Write(PutOf("u", "seen", "1")).ToString(), "OK");
  a->before_write = [&](PendingWrite* write) -> Status {
    BOOST_REQUIRE(write->Get({}, "u", "seen").has_value());
    std::thread([&] {
      BOOST_CHECK_EQUAL(Write(PutOf("u", "other", "1")).ToString(), "OK");
      BOOST_CHECK_EQUAL(database->Flush("u").ToString(), "OK");
    }).join();
    return {};
  };
  BOOST_CHECK_EQUAL(Put("r", "1").ToString(), "OK");
  BOOST_CHECK_EQUAL(database->Increment({}, "t", "r", "d", "i").value(), 1);
}

BOOST_AUTO_TEST_CASE(AConditionThatDoesNotHoldConflictsWithNothing) {
  a->before_write = [&](PendingWrite* write) -> Status {
    BOOST_REQUIRE(write->Get({}, "u", "seen").has_value());
    std::thread([&] { BOOST_CHECK(Write(PutOf("u", "seen", "1")).ok()); }).join();
    return {};
  };
  const auto check = [&](const char* condition) {
    return database->CheckAndMutate({}, "t", "r", *Predicate::Parse(condition),
                                    PutOf("t", "r", "1"));
  };
  BOOST_CHECK_EQUAL(check("n = '5'").value(), false);
  BOOST_CHECK_EQUAL(check("n IS NULL").status().code(), StatusCode::kConflict);
}

BOOST_AUTO_TEST_CASE(ATableThatAHookReadAndOthersReplacedIsAConflict) {
  BOOST_REQUIRE_EQUAL(Write(PutOf("u", "seen", "1")).ToString(), "OK");
  a->before_write = [&](PendingWrite* write) -> Status {
    BOOST_REQUIRE(write->Get({}, "u", "seen").has_value());
    std::thread([&] { BOOST_CHECK(database->TruncateTable("u").ok()); }).join();
    return {};
  };
  BOOST_CHECK_EQUAL(Put("r", "1").code(), StatusCode::kConflict);
}

BOOST_AUTO_TEST_CASE(ObserversThatAreSetMeanwhileMakeAConflict) {
  a->before_write = [&](PendingWrite*) -> Status {
    std::thread([&] { SetObservers({"b"}); }).join();
    return {};
  };
  BOOST_CHECK_EQUAL(Put("r", "1").code(), StatusCode::kConflict);
  int calls = 0;
  b->before_write = [&calls](PendingWrite*) -> Status {
    ++calls;
    return {};
  };
  BOOST_CHECK_EQUAL(Put("r", "1").ToString(), "OK");
  BOOST_CHECK_EQUAL(calls, 1);
}

// The batch is planned again, and nobody is asked again.
BOOST_AUTO_TEST_CASE(AnotherEditOfTheTableMeanwhileAsksNobodyAgain) {
  int calls = 0;
  a->before_write = [&](PendingWrite*) -> Status {
    ++calls;
    std::thread([&] {
      BOOST_CHECK(database->AddFamily("t", {.name = "f" + std::to_string(calls)}).ok());
    }).join();
    return {};
  };
  BOOST_CHECK_EQUAL(Put("r", "1").ToString(), "OK");
  BOOST_CHECK_EQUAL(calls, 1);
}

BOOST_AUTO_TEST_CASE(AHookMayReadAndNothingElse) {
  BOOST_REQUIRE_EQUAL(Put("r", "1").ToString(), "OK");
  auto load = database->BeginBulkLoad("u");
  BOOST_REQUIRE(load.has_value());
  auto transaction = database->Begin();
  BOOST_REQUIRE_EQUAL(transaction->Put("u", "r", "d", "n", "2").ToString(), "OK");
  const auto call_all = [&] {
    const WriteBatch batch = PutOf("u", "r", "1");
    const std::vector<Status> refused = {
        Write(batch),
        Put("r", "2"),
        database->Increment({}, "u", "r", "d", "i").status(),
        database->Append({}, "u", "r", "d", "i", "x").status(),
        database->CheckAndMutate({}, "u", "r", Predicate::IsNull("n"), batch).status(),
        transaction->Commit(),
        database->Begin().status(),
        database->Transact([](Transaction&) { return Status(); }),
        database->BeginBulkLoad("u").status(),
        load->Add(batch),
        database->CreateTable({.name = "v", .families = {{.name = "d"}}}),
        database->DropTable("u"),
        database->TruncateTable("u"),
        database->RenameTable("u", "v"),
        database->CreateIndex("u", {.name = "i", .columns = {{.qualifier = "i"}}}),
        database->SetObservers("t", {}),
        database->Flush(),
        database->Compact("t"),
        database->Split("t").status(),
        database->MergeRegions("t").status(),
        database->Verify(false).status(),
        database->Checkpoint(directory.Path("copy")),
        database->Backup(directory.Path("backup")).status(),
        database->GetSpaceUsage().status(),
        database->ExportFiles("t", directory.Path("export")).status(),
        database->Attach("u", directory.Path("export")).status(),
        database->RestoreTable(directory.Path("export"), "t", {.as = "v"}).status(),
        database->Close()};
    for (size_t i = 0; i < refused.size(); ++i) {
      BOOST_CHECK_MESSAGE(refused[i].code() == StatusCode::kInvalidArgument,
                          "call " << i << ": " << refused[i].ToString());
    }
    BOOST_CHECK_EQUAL(Rows(), "r n=1");
    BOOST_CHECK(database->Get({}, "t", "r")->has_value());
    BOOST_CHECK_EQUAL(database->Count({}, "t", Predicate::IsNotNull("n")).value(), 1u);
    BOOST_CHECK(database->Info().has_value());
  };
  int reads = 0;
  a->before_scan = [&reads](const ObservedScan&) -> Status {
    ++reads;
    return {};
  };
  a->before_write = [&](PendingWrite*) -> Status {
    call_all();
    return Status::Conflict("enough");
  };
  BOOST_CHECK_EQUAL(Put("r", "2").code(), StatusCode::kConflict);
  a->before_write = nullptr;
  a->before_get = [&](const ObservedGet&) -> Status {
    call_all();
    return {};
  };
  BOOST_CHECK(database->Get({}, "t", "r")->has_value());
  BOOST_CHECK_EQUAL(reads, 0);  // Reads of hooks are not observed.
}

// Its own calls end before those that ask the hook, which go on with what they hold.
BOOST_AUTO_TEST_CASE(AHookMayReadTheTransactionThatAsksIt) {
  Options options = NewOptions();
  options.transaction_age_max_micros = 500'000;
  Open(options);
  BOOST_REQUIRE_EQUAL(Put("r", "1").ToString(), "OK");
  auto transaction = database->Begin();
  a->before_get = [&](const ObservedGet&) -> Status {
    Status status;
    while (status.ok()) status = transaction->Get({}, "t", "r").status();
    BOOST_CHECK_EQUAL(status.code(), StatusCode::kCancelled);  // It was open for too long.
    return {};
  };
  const auto row = transaction->Get({}, "t", "r");
  BOOST_REQUIRE_MESSAGE(row.has_value(), row.status().ToString());
  BOOST_CHECK_EQUAL(TextOf((*row)->view()), "r n=1");
  a->before_get = nullptr;
  BOOST_CHECK_EQUAL(transaction->Get({}, "t", "r").status().code(), StatusCode::kCancelled);
}

BOOST_AUTO_TEST_CASE(AHookAddsNothingToATransaction) {
  auto transaction = database->Begin();
  BOOST_REQUIRE_EQUAL(transaction->Put("t", "r", "d", "n", "1").ToString(), "OK");
  a->before_write = [&](PendingWrite*) -> Status {
    BOOST_CHECK_EQUAL(transaction->Put("t", "s", "d", "n", "2").code(),
                      StatusCode::kInvalidArgument);
    BOOST_CHECK((*transaction->Get({}, "t", "r")).has_value());
    return {};
  };
  BOOST_CHECK_EQUAL(transaction->Commit().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "r n=1");
}

BOOST_AUTO_TEST_CASE(AHookMayWriteToAnotherDatabase) {
  Options options = NewOptions();
  options.observers.clear();
  auto other = *Database::Open(directory.Path("other"), options);
  BOOST_REQUIRE(other->CreateTable({.name = "u", .families = {{.name = "d"}}}).ok());
  a->after_write = [&](const CommittedWrite&) {
    BOOST_CHECK_EQUAL(other->Write({}, PutOf("u", "r", "1")).ToString(), "OK");
  };
  BOOST_REQUIRE_EQUAL(Put("r", "1").ToString(), "OK");
  BOOST_CHECK(other->Get({}, "u", "r")->has_value());
}

BOOST_AUTO_TEST_CASE(ATableWhoseObserverIsMissingRefusesWrites) {
  BOOST_REQUIRE_EQUAL(Put("r", "1").ToString(), "OK");
  Options options = NewOptions();
  options.observers.erase("a");
  Open(options);
  const std::string expected =
      "Unsupported: table 't' has the observer 'a', which this program has not registered "
      "(Options::observers), so writes are refused; 'tandem observers DB t --none' takes it off";
  BOOST_CHECK_EQUAL(Put("r", "2").ToString(), expected);
  BOOST_CHECK_EQUAL(database->Increment({}, "t", "r", "d", "i").status().ToString(), expected);
  BOOST_CHECK_EQUAL(
      database->CheckAndMutate({}, "u", "r", Predicate::IsNull("n"), PutOf("t", "r", "3"))
          .status()
          .ToString(),
      expected);
  auto transaction = database->Begin();
  BOOST_REQUIRE(transaction->Get({}, "t", "r")->has_value());
  BOOST_REQUIRE(transaction->Put("u", "r", "d", "n", "1").ok());
  BOOST_CHECK_EQUAL(transaction->Commit().ToString(), "OK");  // It only reads the table.
  BOOST_CHECK_EQUAL(Rows(), "r n=1");
  BOOST_CHECK_EQUAL(database->Info()->tables[0].options.observers.at(0), "a");
  // What another table's observer adds is refused too.
  BOOST_REQUIRE(database->SetObservers("u", std::vector<std::string>{"b"}).ok());
  b->before_write = [](PendingWrite* write) { return write->Add(PutOf("t", "r", "4")); };
  BOOST_CHECK_EQUAL(Write(PutOf("u", "r", "2")).ToString(), expected);
  options.observers.clear();
  Open(options);
  BOOST_CHECK_EQUAL(Put("r", "2").ToString(), expected);
  SetObservers({});
  BOOST_CHECK_EQUAL(Put("r", "2").ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(NamesOfObserversAreCheckedAndStored) {
  const auto set = [&](const std::vector<std::string>& names) {
    return database->SetObservers("t", names).code();
  };
  BOOST_CHECK_EQUAL(set({"a", "a"}), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(set({""}), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(set(std::vector<std::string>(kObserversMax + 1, "x")),
                    StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(database->SetObservers("nowhere", {}).code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(
      database->CreateTable({.name = "v", .families = {{.name = "d"}}, .observers = {"x", "x"}})
          .code(),
      StatusCode::kInvalidArgument);
  SetObservers({"b", "a"});
  BOOST_REQUIRE_EQUAL(database->TruncateTable("t").ToString(), "OK");
  Open();
  const DatabaseInfo info = *database->Info();
  for (const TableInfo& table : info.tables) {
    if (table.options.name != "t") continue;
    BOOST_CHECK(table.options.observers == (std::vector<std::string>{"b", "a"}));
  }
  Options options = NewOptions();
  options.observers["null"] = nullptr;
  BOOST_CHECK_EQUAL(Database::Open(directory.Path("db2"), options).status().code(),
                    StatusCode::kInvalidArgument);
}

BOOST_AUTO_TEST_CASE(BulkLoadsAreRefusedOnATableWithObservers) {
  const std::string expected =
      "InvalidArgument: table 't' has the observer 'a', which a load of files would not ask; use "
      "Write, or take its observers off first";
  BOOST_CHECK_EQUAL(database->BeginBulkLoad("t").status().ToString(), expected);
  auto load = database->BeginBulkLoad("u");
  BOOST_REQUIRE(load->Add(PutOf("u", "r", "1")).ok());
  BOOST_REQUIRE(database->SetObservers("u", std::vector<std::string>{"b"}).ok());
  BOOST_CHECK_EQUAL(load->Commit().code(), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(Rows("u"), "");
}

// They have what is stored, and the names of the observers.
BOOST_AUTO_TEST_CASE(CopiesOfATableAskNobody) {
  for (const char* row : {"r", "s"}) BOOST_REQUIRE_EQUAL(Put(row, "1").ToString(), "OK");
  Asked();
  Told();
  int reads = 0;
  a->before_scan = [&reads](const ObservedScan&) -> Status {
    ++reads;
    return {};
  };
  a->filter = [](StoredRow* row) -> Status {
    row->HideRow();
    return {};
  };
  const std::string path = directory.Path("export");
  const auto exported = database->ExportFiles("t", path);
  BOOST_REQUIRE_MESSAGE(exported.has_value(), exported.status().ToString());
  BOOST_CHECK_EQUAL(exported->rows, 2u);
  BOOST_CHECK_EQUAL(database->Attach("t", path).status().ToString(),
                    "InvalidArgument: table 't' has the observer 'a', which a load of files would "
                    "not ask; use Write, or take its observers off first");
  const auto restored = database->RestoreTable(path, "t", {.as = "v"});
  BOOST_REQUIRE_MESSAGE(restored.has_value(), restored.status().ToString());
  BOOST_CHECK_EQUAL(Rows("v"), "");
  BOOST_CHECK_EQUAL(reads, 1);  // The one of Rows.
  a->filter = nullptr;
  BOOST_CHECK_EQUAL(Rows("v"), "r n=1, s n=1");
  BOOST_CHECK_EQUAL(Asked() + Told(), "");
  BOOST_REQUIRE_EQUAL(Write(PutOf("v", "x", "1")).ToString(), "OK");
  BOOST_CHECK_EQUAL(Asked(), "v: put x d n=1");
  SetObservers({});
  BOOST_REQUIRE_EQUAL(database->TruncateTable("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(database->Attach("t", path).status().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "r n=1, s n=1");
}

// What is recovered was observed when it was written.
BOOST_AUTO_TEST_CASE(AReplayAsksNobody) {
  a->before_write = [](PendingWrite* write) {
    WriteBatch more;
    more.Increment("counts", "all", "d", "changes");
    return write->Add(more);
  };
  BOOST_REQUIRE_EQUAL(Put("r", "1").ToString(), "OK");
  Open();
  BOOST_CHECK_EQUAL(Rows("counts"), "all changes=1");
}

// The close waits for the call, whose hook reads until reads are refused.
BOOST_AUTO_TEST_CASE(ACloseWaitsForAHook) {
  std::thread closer;
  Status closed = Status::Busy("it was not called");
  a->before_write = [&](PendingWrite* write) -> Status {
    BOOST_CHECK(write->Get({}, "t", "r").has_value());
    closer = std::thread([&] { closed = database->Close(); });
    while (database->Get({}, "t", "r").status().code() != StatusCode::kClosed) {
      std::this_thread::yield();
    }
    return {};
  };
  BOOST_CHECK_EQUAL(Put("r", "1").ToString(), "OK");
  closer.join();
  BOOST_CHECK_EQUAL(closed.ToString(), "OK");
  a->before_write = nullptr;
  Open();
  BOOST_CHECK_EQUAL(Rows(), "r n=1");
}

// Four threads write, delete and delete again; the observer keeps the number of rows exact by what
// it has read. Its conflicts are repeated by the writers.
BOOST_AUTO_TEST_CASE(ACounterTableEqualsARecount) {
  a->before_write = [](PendingWrite* write) -> Status {
    std::map<std::string, bool> rows;  // True: it exists after the batch.
    for (const Mutation& mutation : write->mutations()) {
      rows[std::string(mutation.row)] = mutation.kind == Mutation::Kind::kPut;
    }
    int64_t change = 0;
    for (const auto& [row, exists] : rows) {
      const auto before = write->Get({}, "t", row);
      if (!before.has_value()) return before.error();
      change += (exists ? 1 : 0) - (before->has_value() ? 1 : 0);
    }
    if (change == 0) return {};
    WriteBatch count;
    count.Increment("counts", "t", "d", "rows", change);
    return write->Add(count);
  };
  std::atomic<int> conflicts{0}, failures{0};
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 400; ++i) {
      WriteBatch batch;
      for (int j = 0; j < 3; ++j) {
        const std::string row = "row" + std::to_string(random() % 40);
        if (random() % 2 == 0) {
          batch.Put("t", row, "d", "n", std::to_string(i));
        } else {
          batch.DeleteRow("t", row);
        }
      }
      if (seed == 1 && i % 100 == 50) failures += database->Flush().ok() ? 0 : 1;
      while (true) {
        Status status;
        if (i % 3 == 0) {
          status = database->Transact([&](Transaction& transaction) {
            return transaction.Put("t", "row" + std::to_string(i % 40), "d", "n", "1");
          });
        } else {
          status = database->Write({}, batch);
        }
        if (status.ok()) break;
        ++(status.code() == StatusCode::kConflict ? conflicts : failures);
        if (failures > 0) return;
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK_EQUAL(failures, 0);
  const uint64_t rows = database->Count({}, "t", *Predicate::Parse("_row >= 'row'")).value();
  const auto counted = *database->Get({}, "counts", "t");
  BOOST_REQUIRE(counted.has_value());
  BOOST_CHECK_EQUAL(counted->Find("d", "rows").value(), std::to_string(rows));
  BOOST_TEST_MESSAGE(conflicts << " conflicts, " << rows << " rows");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
