// Each call of the public API while one allocation after the other fails on the caller's thread: no
// exception leaves the call, it returns kOutOfMemory or succeeds, and the database is sound
// afterwards.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/tandem.h"
#include "test/allocations/allocations.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

static_assert(std::ranges::input_range<Cursor>);
static_assert(!std::is_copy_constructible_v<Cursor> && !std::is_copy_constructible_v<Snapshot>);
static_assert(!std::is_copy_constructible_v<Row> && !std::is_copy_constructible_v<Database>);
static_assert(std::is_nothrow_move_constructible_v<Cursor>);

struct Outcome {
  Status status;
  bool failed = false;  ///< An allocation did.
};

/// Calls `call` with that many allocations that succeed. What it returns must need none.
Outcome WithAllocations(int64_t count, const std::function<Status()>& call) {
  Allocations& allocations = ThisThreadsAllocations();
  allocations.has_failed = false;
  allocations.left = count;
  Outcome outcome;
  try {
    outcome.status = call();
    allocations.left = -1;
  } catch (...) {
    allocations.left = -1;
    BOOST_ERROR("an exception left the call after " << count << " allocations");
  }
  outcome.failed = allocations.has_failed;
  return outcome;
}

struct ApiFixture {
  ApiFixture() { Open(); }
  ~ApiFixture() { ThisThreadsAllocations().left = -1; }

  void Open() {
    Options options;
    options.create_if_missing = true;
    options.memory_bytes = 8 << 20;
    options.io = IoBackend::kPosix;
    options.observers = observers;
    auto opened = Database::Open(directory.Path("db"), options);
    BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
    database = std::move(*opened);
  }
  void CreateAndFill() {
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d"}, {.name = "e"}};
    table.indexes = {{.name = "i", .columns = {{.family = "d", .qualifier = "c"}}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 30; ++i) PutRow("row" + std::to_string(i));
      if (round == 0) BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
    }
  }
  void PutRow(const std::string& key) {
    WriteBatch batch;
    batch.Put("t", key, "d", "c", "value");
    batch.Put("t", key, "e", "x", std::string(300, 'x'));
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }

  /// Fails each allocation of `call`, in larger steps as they become many, until none is left to
  /// fail.
  void FailEach(const char* what, const std::function<Status()>& call) {
    int failures = 0;
    for (int64_t count = 0;; count += 1 + count / 16) {
      BOOST_REQUIRE_LT(count, 1'000'000);
      const Outcome outcome = WithAllocations(count, call);
      const bool answered =
          outcome.status.ok() || outcome.status.code() == StatusCode::kOutOfMemory;
      BOOST_REQUIRE_MESSAGE(answered, what << ", " << count << ": " << outcome.status.ToString());
      BOOST_REQUIRE_MESSAGE(outcome.failed || outcome.status.ok(), what << " after the end");
      if (!outcome.failed) break;
      failures += outcome.status.ok() ? 0 : 1;
      // What is durable and could not be shown for want of memory is there when it is opened again.
      if (database == nullptr || !database->Info()->read_only) continue;
      database.reset();
      Open();
    }
    BOOST_CHECK_MESSAGE(failures > 0, what << " allocates nothing: this proves nothing");
  }

  void CheckSound(uint64_t rows) {
    const auto count = database->Count({}, "t", Predicate::Equal("c", "value"));
    BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
    BOOST_CHECK_EQUAL(*count, rows);
    const auto report = database->Verify(true);
    BOOST_REQUIRE(report.has_value());
    for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  }

  // In memory, where syncing costs nothing.
  TemporaryDirectory directory{"/dev/shm"};
  std::map<std::string, std::shared_ptr<Observer>, std::less<>> observers;
  std::unique_ptr<Database> database;
};

Status Drain(Result<Cursor> cursor) {
  if (!cursor.has_value()) return cursor.error();
  for (const RowView& row : *cursor) (void)row;
  return cursor->status();
}

BOOST_FIXTURE_TEST_SUITE(failed_allocations, ApiFixture)

BOOST_AUTO_TEST_CASE(OfReadsAreAnswered) {
  CreateAndFill();
  const Predicate predicate = *Predicate::Parse("c = 'value' OR e:x IS NULL");
  FailEach("Get", [&] { return database->Get({}, "t", "row7").status(); });
  const std::vector<std::string_view> rows = {"row7", "row3", "no row", "row7"};
  FailEach("MultiGet", [&] { return database->MultiGet({}, "t", rows).status(); });
  FailEach("GetPinned", [&] {
    PinnedRow pinned;
    return database->GetPinned({}, "t", "row7", &pinned).status();
  });
  FailEach("Scan", [&] { return Drain(database->Scan({}, "t", {})); });
  FailEach("Query", [&] { return Drain(database->Query({}, "t", predicate)); });
  FailEach("Count", [&] { return database->Count({}, "t", predicate).status(); });
  FailEach("Explain", [&] { return database->Explain({}, "t", predicate).status(); });
  const Predicate parameters = *Predicate::Parse("c = ? OR e:x IS NULL");
  FailEach("Prepare", [&] { return database->Prepare("t", parameters).status(); });
  PreparedQuery prepared = *database->Prepare("t", parameters);
  const std::string value(100, 'v');
  FailEach("Bind", [&] {
    prepared.ClearBindings();
    return prepared.Bind(1, value);
  });
  FailEach("Query, prepared", [&] { return Drain(database->Query({}, &prepared)); });
  FailEach("Count, prepared", [&] { return database->Count({}, &prepared).status(); });
  FailEach("Explain, prepared", [&] { return database->Explain({}, &prepared).status(); });
  FailEach("TakeSnapshot", [&] { return database->TakeSnapshot().status(); });
  FailEach("CreateSnapshot", [&] {
    const Status created = database->CreateSnapshot("named");
    return created.code() == StatusCode::kAlreadyExists ? Status() : created;
  });
  FailEach("ListSnapshots", [&] { return database->ListSnapshots().status(); });
  FailEach("OpenSnapshot, and a read of it", [&]() -> Status {
    const Result<Snapshot> named = database->OpenSnapshot("named");
    if (!named.has_value()) return named.error();
    return Drain(database->Scan({.snapshot = &*named}, "t", {}));
  });
  FailEach("DropSnapshot", [&] {
    const Status dropped = database->DropSnapshot("named");
    return dropped.code() == StatusCode::kNotFound ? Status() : dropped;
  });
  FailEach("BeginBulkLoad", [&] { return database->BeginBulkLoad("t").status(); });
  FailEach("Verify", [&] { return database->Verify(true).status(); });
  FailEach("VerifyIndex", [&] { return database->VerifyIndex("t", "i").status(); });
  FailEach("GetIndexStatistics", [&] { return database->GetIndexStatistics("t", "i").status(); });
  std::vector<AdvisedQuery> queries(1);
  queries[0].predicate = *Predicate::Parse("x = '1' AND c > 'b'");
  FailEach("AdviseIndexes", [&] { return database->AdviseIndexes("t", queries, {}).status(); });
  FailEach("Info", [&] { return database->Info().status(); });
  FailEach("GetSpaceUsage", [&] { return database->GetSpaceUsage().status(); });
  FailEach("GetSpaceUsage, exact",
           [&] { return database->GetSpaceUsage({.exact = true}).status(); });
  FailEach("PlanCompaction", [&] { return database->PlanCompaction().status(); });
  FailEach("Parse", [&] { return Predicate::Parse("a = 'b' AND NOT (c IN (1, 2))").status(); });
  const Outcome statistics = WithAllocations(
      0, [&] { return database->GetStatistics().batches > 0 ? Status() : Status::OutOfMemory(); });
  BOOST_CHECK(statistics.status.ok() && !statistics.failed);
  CheckSound(30);
}

BOOST_AUTO_TEST_CASE(OfTransactionsAreAnswered) {
  CreateAndFill();
  const std::vector<std::string_view> rows = {"row7", "row3", "no row", "row7"};
  FailEach("Begin", [&] { return database->Begin().status(); });
  std::optional<Transaction> transaction(*database->Begin());
  FailEach("Get in a transaction", [&] { return transaction->Get({}, "t", "row7").status(); });
  FailEach("Put in a transaction", [&] { return transaction->Put("t", "own", "d", "c", "value"); });
  const Predicate own = Predicate::Equal("c", "value");
  FailEach("MultiGet in a transaction",
           [&] { return transaction->MultiGet({}, "t", rows).status(); });
  FailEach("DeleteCell in a transaction",
           [&] { return transaction->DeleteCell("t", "row8", "d", "c"); });
  FailEach("Append in a transaction",
           [&] { return transaction->Append("t", "own", "d", "b", "longer than short").status(); });
  // A call that fails adds nothing.
  int64_t increments = 0;
  FailEach("Increment in a transaction", [&] {
    const auto sum = transaction->Increment("t", "own", "d", "n");
    increments += sum.has_value() ? 1 : 0;
    if (sum.has_value() && *sum != increments) return Status::NotFound("an increment too many");
    return sum.status();
  });
  FailEach("Count in a transaction", [&] { return transaction->Count({}, "t", own).status(); });
  BOOST_CHECK_EQUAL(*transaction->Count({}, "t", own), 30u);  // Without row8.
  transaction.reset();
  CheckSound(30);
}

// It pins a few at a time.
BOOST_AUTO_TEST_CASE(OfAScanOfManyRegionsAreAnswered) {
  CreateAndFill();
  for (int i = 10; i < 30; i += 2) {
    BOOST_REQUIRE(database->Split("t", {.key = "row" + std::to_string(i)}).has_value());
  }
  BOOST_REQUIRE_EQUAL(database->Info()->tables[0].regions.size(), 11u);
  for (const bool reverse : {false, true}) {
    FailEach("Scan", [&] { return Drain(database->Scan({}, "t", {.reverse = reverse})); });
  }
  CheckSound(30);
}

BOOST_AUTO_TEST_CASE(OfFlushesAndCompactionsLoseNothing) {
  CreateAndFill();
  FailEach("Flush", [&] { return database->Flush("t"); });
  CheckSound(30);
  PutRow("more");
  FailEach("Compact", [&] { return database->Compact("t"); });
  CheckSound(31);
}

// What is attached are the table's own rows: they change nothing, as often as it happens.
BOOST_AUTO_TEST_CASE(OfTableCopiesLeaveAllOrNothing) {
  CreateAndFill();
  std::vector<std::string> paths;
  for (int i = 0; i < 1000; ++i) paths.push_back(directory.Path("export" + std::to_string(i)));
  size_t tried = 0;
  FailEach("ExportFiles", [&] { return database->ExportFiles("t", paths.at(tried++)).status(); });
  // Removing one that failed allocates too, and fails after a call of which an allocation failed.
  const std::string& path = paths[tried - 1];
  FailEach("Attach", [&] { return database->Attach("t", path).status(); });
  CheckSound(30);
  // It may succeed though an allocation fails: after the link, when the source is closed.
  bool is_there = false;
  FailEach("RestoreTable", [&] {
    if (is_there) return Status();
    const Status status = database->RestoreTable(path, "t", {.as = "w"}).status();
    is_there = status.ok();
    return status;
  });
  BOOST_CHECK_EQUAL(*database->Count({}, "w", Predicate::Equal("c", "value")), 30u);
  CheckSound(30);
}

// A batch that is in the log and could not be applied makes the database read-only: it is opened
// anew, and the batch is there as a whole or not at all.
BOOST_AUTO_TEST_CASE(OfWritesLeaveAllOrNothing) {
  CreateAndFill();
  int acknowledged = 0, refused = 0;
  for (int64_t count = 0; acknowledged == 0; count += 1 + count / 16) {
    BOOST_REQUIRE_LT(count, 10'000);
    const std::string key = "new" + std::to_string(count);
    WriteBatch batch;
    batch.Put("t", key, "d", "c", "new");
    batch.Put("t", key, "e", "x", "new");
    const Outcome outcome = WithAllocations(count, [&] { return database->Write({}, batch); });
    BOOST_REQUIRE_MESSAGE(outcome.status.ok() || outcome.status.code() == StatusCode::kOutOfMemory,
                          outcome.status.ToString());
    (outcome.status.ok() ? acknowledged : refused) += 1;
    auto row = database->Get({}, "t", key);
    BOOST_REQUIRE(row.has_value());
    BOOST_CHECK_EQUAL(row->has_value(), outcome.status.ok());
    if (!database->Info()->read_only) continue;
    database.reset();
    Open();
    row = database->Get({}, "t", key);
    BOOST_REQUIRE(row.has_value());
    BOOST_CHECK_EQUAL(row->has_value() ? (*row)->cells().size() : 2, 2u);
  }
  BOOST_CHECK_GT(refused, 0);
  CheckSound(30);
}

BOOST_AUTO_TEST_CASE(OfOpeningAndClosingAreAnswered) {
  CreateAndFill();
  FailEach("Close", [&]() -> Status {
    const Status status = database->Close();
    // It may have closed although something that it can do without found no memory.
    return status.code() == StatusCode::kClosed ? Status() : status;
  });
  BOOST_CHECK_EQUAL(database->Close().code(), StatusCode::kClosed);
  database.reset();
  const std::string path = directory.Path("db");
  Options options;
  options.memory_bytes = 8 << 20;
  options.io = IoBackend::kPosix;
  FailEach("Open", [&] { return Database::Open(path, options).status(); });
  Open();
  CheckSound(30);
  const TableOptions table{.name = "u", .families = {{.name = "d"}}};
  FailEach("CreateTable", [&]() -> Status {
    const Status status = database->CreateTable(table);
    // It may be in place although a later step found no memory.
    return status.code() == StatusCode::kAlreadyExists ? Status() : status;
  });
}

BOOST_AUTO_TEST_CASE(OfWritesThatReadAreAnswered) {
  CreateAndFill();
  BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
  FailEach("Increment", [&] { return database->Increment({}, "t", "row7", "d", "n").status(); });
  FailEach("Append", [&] { return database->Append({}, "t", "row7", "d", "l", "x").status(); });
  WriteBatch batch;
  batch.Put("t", "row7", "d", "m", "1");
  const Predicate predicate = Predicate::IsNotNull("n");
  FailEach("CheckAndMutate",
           [&] { return database->CheckAndMutate({}, "t", "row7", predicate, batch).status(); });
  CheckSound(30);
}

// Each row is where one of the two declarations has it.
BOOST_AUTO_TEST_CASE(OfRowKeysThatChangeAreAnswered) {
  TableOptions table = {.name = "k", .families = {{.name = "d"}}};
  table.row_key = "salt(3), id:int64";
  BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  const auto row = [](int id) { return std::vector<RowKeyField>{{"id", std::to_string(id)}}; };
  WriteBatch batch;
  for (int id = 0; id < 20; ++id) {
    batch.Put("k", *database->KeyForWrite({}, "k", row(id)), "d", "c", "v");
  }
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  FailEach("ChangeRowKey", [&] { return database->ChangeRowKey("k", "salt(20), id:int64"); });
  FailEach("RowKeysOf", [&] { return database->RowKeysOf({}, "k").status(); });
  const std::vector<RowKeyField> moved = row(7);
  FailEach("KeyForWrite", [&] { return database->KeyForWrite({}, "k", moved).status(); });
  FailEach("RewriteKeys", [&] { return database->RewriteKeys("k", {}).status(); });
  const auto keys = database->RowKeysOf({}, "k");
  BOOST_REQUIRE_EQUAL(keys.status().ToString(), "OK");
  BOOST_TEST(keys->schemas().size() == 1u);
  for (int id = 0; id < 20; ++id) {
    BOOST_TEST(database->Get({}, "k", *keys->newest().Encode(row(id)))->has_value());
  }
}

// Each fails without an effect, or is done.
BOOST_AUTO_TEST_CASE(EditsOfTheSchemaFailWholly) {
  CreateAndFill();
  // It may be done although a later step found no memory.
  const auto or_done = [](const Status& status) {
    return status.code() == StatusCode::kNotFound ? Status() : status;
  };
  const IndexOptions index{.name = "added", .columns = {{.qualifier = "added"}}};
  FailEach("CreateIndex", [&]() -> Status {
    const Status status = database->CreateIndex("t", index);
    return status.code() == StatusCode::kAlreadyExists ? Status() : status;
  });
  FailEach("SetColumnType", [&] { return database->SetColumnType("t", {.qualifier = "added"}); });
  FailEach("DropIndex", [&] { return or_done(database->DropIndex("t", "added")); });
  FailEach("AddFamily", [&]() -> Status {
    const Status status = database->AddFamily("t", {.name = "added", .max_versions = 2});
    return status.code() == StatusCode::kAlreadyExists ? Status() : status;
  });
  FailEach("AlterFamily", [&] { return database->AlterFamily("t", {.name = "added"}); });
  FailEach("DropFamily", [&] { return or_done(database->DropFamily("t", "added")); });
  FailEach("RenameTable", [&] { return or_done(database->RenameTable("t", "u")); });
  BOOST_CHECK_EQUAL(database->RenameTable("t", "u").code(), StatusCode::kNotFound);
  FailEach("TruncateTable", [&] { return database->TruncateTable("u"); });
  FailEach("SetRowKey", [&] { return database->SetRowKey("u", "salt(2), x:text"); });
  BOOST_REQUIRE_EQUAL(database->RenameTable("u", "t").ToString(), "OK");
  CheckSound(0);
  FailEach("DropTable", [&] { return or_done(database->DropTable("t")); });
  BOOST_CHECK_EQUAL(database->DropTable("t").code(), StatusCode::kNotFound);
  BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
}

// Its own mutations, an addition and a filter.
class Doubling final : public Observer {
  Status BeforeWrite(PendingWrite* write) override {
    WriteBatch twice;
    for (size_t i = 0; i < write->mutations().size(); ++i) {
      const Mutation& mutation = write->mutations()[i];
      const auto row = write->Get({}, write->table(), mutation.row);
      if (!row.has_value()) return row.error();
      if (mutation.kind != Mutation::Kind::kPut) continue;
      WriteBatch same;
      same.PutColumns(write->table(), mutation.row, mutation.family, mutation.columns);
      const Status status = write->Replace(i, same);
      if (!status.ok()) return status;
      twice.PutColumns("copy", mutation.row, "d", mutation.columns);
    }
    return write->Add(twice);
  }
  bool has_filter() const override { return true; }
};

BOOST_AUTO_TEST_CASE(CallsOnAnObservedTableFailWholly) {
  CreateAndFill();
  BOOST_REQUIRE(database->CreateTable({.name = "copy", .families = {{.name = "d"}}}).ok());
  database.reset();
  observers = {{"o", std::make_shared<Doubling>()}};
  Open();
  const std::vector<std::string> names = {"o"};
  FailEach("SetObservers", [&] { return database->SetObservers("t", names); });
  WriteBatch batch;
  batch.Put("t", "row7", "d", "c", "value");
  FailEach("Write", [&] { return database->Write({}, batch); });
  FailEach("Increment", [&] { return database->Increment({}, "t", "row7", "d", "n").status(); });
  FailEach("Transact", [&] {
    return database->Transact(
        [](Transaction& transaction) { return transaction.Put("t", "row8", "d", "c", "value"); });
  });
  FailEach("Get", [&] { return database->Get({}, "t", "row7").status(); });
  FailEach("GetPinned", [&]() -> Status {
    PinnedRow row;
    return database->GetPinned({}, "t", "row7", &row).status();
  });
  const std::vector<std::string_view> keys = {"row7", "row8"};
  FailEach("MultiGet", [&] { return database->MultiGet({}, "t", keys).status(); });
  FailEach("Scan", [&] { return Drain(database->Scan({}, "t", {})); });
  const Predicate predicate = Predicate::Equal("c", "value");
  FailEach("Query", [&] { return Drain(database->Query({}, "t", predicate)); });
  FailEach("Count", [&] { return database->Count({}, "t", predicate).status(); });
  BOOST_CHECK_EQUAL(database->Count({}, "copy", predicate).value(), 2u);
  CheckSound(30);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
