// Bulk loads: what they put into a table, what they refuse, and what becomes of one that does not
// end.
#define BOOST_TEST_DYN_LINK
#include "tandem/bulk_load.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
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

struct BulkLoadFixture : TransactionFixture {
  BulkLoad BeginLoad() {
    auto load = database->BeginBulkLoad("t");
    BOOST_REQUIRE_MESSAGE(load.has_value(), load.status().ToString());
    return *std::move(load);
  }
  static std::string Add(BulkLoad* load, const std::string& row, const std::string& value) {
    WriteBatch batch;
    batch.Put("t", row, "d", "c", value);
    return load->Add(batch).ToString();
  }
  static void AddOk(BulkLoad* load, const std::string& row, const std::string& value) {
    BOOST_REQUIRE_EQUAL(Add(load, row, value), "OK");
  }
  static void CommitLoad(BulkLoad* load) { BOOST_REQUIRE_EQUAL(load->Commit().ToString(), "OK"); }
  std::string ScanAt(const Snapshot* snapshot) {
    return RowsOf(database->Scan({.snapshot = snapshot}, "t", {}));
  }
  std::string QueryAt(const Snapshot* snapshot, const std::string& predicate) {
    return RowsOf(
        database->Query({.snapshot = snapshot}, "t", Predicate::Parse(predicate).value()));
  }
  void VerifyOk() {
    const Result<VerifyReport> report = database->Verify(true);
    BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
    BOOST_CHECK(report->findings.empty());
  }
};

BOOST_FIXTURE_TEST_SUITE(bulk_loads, BulkLoadFixture)

BOOST_AUTO_TEST_CASE(RowsAppearAllAtOnce) {
  for (const char* row : {"a", "b", "c"}) Put(row, "1");
  Flush();
  Put("b", "2");
  BulkLoad load = BeginLoad();
  AddOk(&load, "b", "3");
  AddOk(&load, "d", "3");
  Delete("c");
  BOOST_CHECK_EQUAL(ScanAt(nullptr), "a=1 b=2");
  const Snapshot before = *database->TakeSnapshot();
  CommitLoad(&load);
  for (int round = 0; round < 3; ++round) {
    BOOST_CHECK_EQUAL(ScanAt(nullptr), "a=1 b=3 d=3");
    BOOST_CHECK_EQUAL(QueryAt(nullptr, "c = 3"), "b=3 d=3");
    BOOST_CHECK_EQUAL(QueryAt(nullptr, "c = 2"), "");
    BOOST_CHECK_EQUAL(ScanAt(&before), "a=1 b=2");
    BOOST_CHECK_EQUAL(QueryAt(&before, "c = 2"), "b=2");
    BOOST_CHECK_EQUAL(QueryAt(&before, "c = 3"), "");
    BOOST_CHECK_EQUAL(Get("d"), "3");
    if (round == 0) Flush();
    if (round == 1) Compact();
    VerifyOk();
  }
}

// The sequence of the load decides between cells of one time, and for deletes.
BOOST_AUTO_TEST_CASE(ALoadIsAfterWhatWasWrittenBeforeIt) {
  WriteBatch batch;
  for (const char* row : {"a", "b", "c"}) batch.Put("t", row, "d", "c", "old", 10);
  batch.DeleteRow("t", "c", 20);
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  BulkLoad load = BeginLoad();
  batch.Clear();
  for (const char* row : {"a", "b", "c"}) batch.Put("t", row, "d", "c", "new", 10);
  BOOST_REQUIRE_EQUAL(load.Add(batch).ToString(), "OK");
  CommitLoad(&load);
  BOOST_CHECK_EQUAL(ScanAt(nullptr), "a=new b=new c=new");
  batch.Clear();
  batch.Put("t", "a", "d", "c", "last", 10);
  batch.DeleteRow("t", "b", 10);
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  for (int round = 0; round < 4; ++round) {
    BOOST_CHECK_EQUAL(ScanAt(nullptr), "a=last c=new");
    BOOST_CHECK_EQUAL(QueryAt(nullptr, "c = 'new'"), "c=new");
    if (round == 0) Flush();
    if (round == 1) Open();
    if (round == 2) Compact();
  }
}

BOOST_AUTO_TEST_CASE(ALoadSurvivesReopening) {
  BulkLoad load = BeginLoad();
  for (int i = 1000; i < 3000; ++i) AddOk(&load, std::to_string(i), std::to_string(i % 7));
  CommitLoad(&load);
  const uint64_t sequence = database->Info()->last_sequence;
  Open();
  BOOST_CHECK_EQUAL(*database->Count({}, "t", Predicate::Parse("c = 3").value()), 286);
  BOOST_CHECK_GE(database->Info()->last_sequence, sequence);
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(OperationsOnOneRowMayComeInSeveralBatches) {
  BulkLoad load = BeginLoad();
  WriteBatch batch;
  batch.Put("t", "a", "d", "c", "first");
  batch.Put("t", "a", "d", "x", "1");
  BOOST_REQUIRE_EQUAL(load.Add(batch).ToString(), "OK");
  batch.Clear();
  batch.Put("t", "a", "e", "y", "2");
  BOOST_REQUIRE_EQUAL(load.Add(batch).ToString(), "OK");
  batch.Clear();
  batch.Put("t", "a", "d", "c", "second");
  batch.Put("t", "b", "d", "c", "other");
  BOOST_REQUIRE_EQUAL(load.Add(batch).ToString(), "OK");
  CommitLoad(&load);
  const Row row = **database->Get({}, "t", "a");
  BOOST_CHECK_EQUAL(row.Find("d", "c").value_or("-"), "second");
  BOOST_CHECK_EQUAL(row.Find("d", "x").value_or("-"), "1");
  BOOST_CHECK_EQUAL(row.Find("e", "y").value_or("-"), "2");
  BOOST_CHECK_EQUAL(QueryAt(nullptr, "c = 'first'"), "");
  BOOST_CHECK_EQUAL(Get("b"), "other");
}

BOOST_AUTO_TEST_CASE(BadInputIsRefusedAndTheLoadGoesOn) {
  BOOST_CHECK_EQUAL(database->BeginBulkLoad("no").status().ToString(),
                    "NotFound: table 'no' does not exist");
  BulkLoad load = BeginLoad();
  AddOk(&load, "m", "1");
  BOOST_CHECK_EQUAL(Add(&load, "b", "1"),
                    "InvalidArgument: row 'b' follows row 'm': a bulk load takes rows in rising "
                    "order");
  WriteBatch batch;
  batch.Put("t", "n", "d", "c", "1");
  batch.DeleteColumn("t", "n", "d", "c");
  BOOST_CHECK_EQUAL(load.Add(batch).ToString(),
                    "InvalidArgument: row 'n': a bulk load takes puts alone");
  BOOST_CHECK_EQUAL(database->CreateTable({.name = "u", .families = {{.name = "d"}}}).ToString(),
                    "OK");
  batch.Clear();
  batch.Put("u", "n", "d", "c", "1");
  BOOST_CHECK_EQUAL(load.Add(batch).code(), StatusCode::kInvalidArgument);
  batch.Clear();
  batch.Put("t", "n", "no", "c", "1");
  BOOST_CHECK_EQUAL(load.Add(batch).code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(database->Close().ToString(), "Busy: 1 bulk load (of 't') is open");
  CommitLoad(&load);
  BOOST_CHECK_EQUAL(Add(&load, "z", "1"), "InvalidArgument: the bulk load has ended");
  BOOST_CHECK_EQUAL(load.Commit().ToString(), "InvalidArgument: the bulk load has ended");
  BOOST_CHECK_EQUAL(ScanAt(nullptr), "m=1");
}

BOOST_AUTO_TEST_CASE(AnAbandonedLoadLeavesNothing) {
  const auto files = [this] {
    size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(directory.Path("db"))) {
      count += file.is_regular_file();
    }
    return count;
  };
  const size_t before = files();
  {
    BulkLoad load = BeginLoad();
    AddOk(&load, "a", "1");
    AddOk(&load, "b", "1");
    BulkLoad moved = std::move(load);
    AddOk(&moved, "c", "1");
  }
  BOOST_CHECK_EQUAL(ScanAt(nullptr), "");
  BOOST_CHECK_EQUAL(files(), before);
  BulkLoad empty = BeginLoad();
  CommitLoad(&empty);
  BOOST_CHECK_EQUAL(files(), before);
  BulkLoad cut_off = BeginLoad();
  AddOk(&cut_off, "a", "1");
  AddOk(&cut_off, "b", "1");
  Open();
  BOOST_CHECK_EQUAL(Add(&cut_off, "z", "1"), "Closed: the bulk load's database is closed");
  BOOST_CHECK_EQUAL(ScanAt(nullptr), "");
}

BOOST_AUTO_TEST_CASE(ATableThatIsGoneTakesNoLoad) {
  BulkLoad load = BeginLoad();
  AddOk(&load, "a", "1");
  BOOST_REQUIRE_EQUAL(database->TruncateTable("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(Add(&load, "b", "1"),
                    "NotFound: table 't' was dropped or truncated since its load began");
  BOOST_CHECK_EQUAL(load.Commit().code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(ScanAt(nullptr), "");
}

// The file was written without the index and for another region than those that it comes to.
BOOST_AUTO_TEST_CASE(TheTableMayChangeDuringALoad) {
  BulkLoad load = BeginLoad();
  for (int i = 100; i < 300; ++i) AddOk(&load, std::to_string(i), std::to_string(i % 3));
  Put("150", "9");
  BOOST_REQUIRE_EQUAL(
      database
          ->CreateIndex("t", {.name = "again",
                              .columns = {{.family = "d", .qualifier = "c", .descending = true}}})
          .ToString(),
      "OK");
  for (const char* key : {"120", "200", "250"}) {
    BOOST_REQUIRE(database->Split("t", {.key = key}).has_value());
  }
  for (int i = 300; i < 400; ++i) AddOk(&load, std::to_string(i), std::to_string(i % 3));
  CommitLoad(&load);
  for (int round = 0; round < 3; ++round) {
    for (const char* index : {"by_c", "again"}) {
      BOOST_CHECK_EQUAL(
          *database->Count({}, "t", Predicate::Parse("c = 1").value(), {.use_index = index}), 100);
    }
    BOOST_CHECK_EQUAL(Get("150"), "9");
    BOOST_CHECK_EQUAL(*database->Count({}, "t", Predicate::Parse("c >= 0").value()), 300);
    if (round == 0) Compact();
    if (round == 1) Open();
    VerifyOk();
  }
}

// A conditional write and a transaction notice what a load has changed.
BOOST_AUTO_TEST_CASE(WritesThatReadNoticeALoad) {
  Put("a", "1");
  Transaction transaction = Begin();
  BOOST_CHECK_EQUAL(Get(&transaction, "a"), "1");
  PutIn(&transaction, "x", "1");
  BulkLoad load = BeginLoad();
  AddOk(&load, "a", "2");
  CommitLoad(&load);
  BOOST_CHECK_EQUAL(transaction.Commit().code(), StatusCode::kConflict);
  WriteBatch batch;
  batch.Put("t", "a", "d", "c", "3");
  BOOST_CHECK(!*database->CheckAndMutate({}, "t", "a", Predicate::Parse("c = 1").value(), batch));
  BOOST_CHECK(*database->CheckAndMutate({}, "t", "a", Predicate::Parse("c = 2").value(), batch));
  BOOST_CHECK_EQUAL(Get("a"), "3");
}

// Writers that never stop do not keep a load out, and no write of theirs is lost.
BOOST_AUTO_TEST_CASE(LoadsGoInBesideWriters) {
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      WriteBatch batch;
      batch.Put("t", "w" + std::to_string(i), "d", "c", std::to_string(i));
      const Durability level = i % 2 == 0 ? Durability::kMemory : Durability::kBuffered;
      if (!database->Write({.durability = level}, batch).ok()) break;
      written = i + 1;
    }
  });
  while (written < 10) std::this_thread::yield();
  for (int round = 0; round < 20; ++round) {
    BulkLoad load = BeginLoad();
    for (const char* row : {"a", "w5", "z"}) AddOk(&load, row, "load" + std::to_string(round));
    CommitLoad(&load);
    BOOST_CHECK_EQUAL(Get("w5"), "load" + std::to_string(round));
  }
  stop = true;
  writer.join();
  BOOST_CHECK_EQUAL(Get("z"), "load19");
  for (int i = 0; i < written; ++i) {
    if (i != 5) BOOST_REQUIRE_EQUAL(Get("w" + std::to_string(i)), std::to_string(i));
  }
  VerifyOk();
}

// Rows have other columns than the row before, or the same in another order, and batches are of all
// sizes.
BOOST_AUTO_TEST_CASE(ColumnsComeInAnyOrder) {
  TestRandom random("ColumnsComeInAnyOrder");
  std::map<std::string, std::map<std::string, std::string>> expected;
  BulkLoad load = BeginLoad();
  WriteBatch batch;
  uint64_t rows_left = 1;
  for (int i = 10000; i < 14000; ++i) {
    const std::string row = "r" + std::to_string(i);
    for (int operations = random.OneIn(10) ? 2 : 1; operations > 0; --operations) {
      std::vector<std::string> names = {"a", "b", "c", "cc", "d"};
      if (!random.OneIn(3)) names.resize(1 + random.Below(names.size()));
      if (random.OneIn(2)) std::swap(names.front(), names[random.Below(names.size())]);
      const std::string value = std::to_string(random.Below(50)) + std::string(100, 'v');
      std::vector<ColumnValue> columns;
      for (const std::string& name : names) columns.push_back({name, value});
      batch.PutColumns("t", row, "d", columns);
      for (const std::string& name : names) expected[row][name] = value;
    }
    if (--rows_left > 0) continue;
    BOOST_REQUIRE_EQUAL(load.Add(batch).ToString(), "OK");
    batch.Clear();
    rows_left = 1 + random.Below(random.OneIn(2) ? 10 : 400);
  }
  BOOST_REQUIRE_EQUAL(load.Add(batch).ToString(), "OK");
  CommitLoad(&load);
  Result<Cursor> cursor = database->Scan({}, "t", {});
  BOOST_REQUIRE(cursor.has_value());
  size_t rows = 0;
  for (const RowView& row : *cursor) {
    ++rows;
    std::map<std::string, std::string> cells;
    for (const Cell& cell : row.cells()) cells[std::string(cell.qualifier)] = cell.value;
    BOOST_REQUIRE(cells == expected[std::string(row.key())]);
  }
  BOOST_CHECK(cursor->status().ok());
  BOOST_CHECK_EQUAL(rows, expected.size());
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(TheLogIsNotWritten) {
  BulkLoad load = BeginLoad();
  const uint64_t before = database->GetStatistics().log_bytes;
  for (int i = 1000; i < 2000; ++i) AddOk(&load, std::to_string(i), std::string(1000, 'v'));
  CommitLoad(&load);
  BOOST_CHECK_EQUAL(database->GetStatistics().log_bytes, before);
  BOOST_CHECK_EQUAL(database->Count({}, "t", *Predicate::Parse("_row >= '1000'")).value(), 1000u);
}

// Wide rows, values that overflow, and versions.
BOOST_AUTO_TEST_CASE(LargeRowsAreLoaded) {
  BulkLoad load = BeginLoad();
  WriteBatch batch;
  for (int i = 10000; i < 40000; ++i) {
    batch.Put("t", "wide", "d", "q" + std::to_string(i), std::to_string(i));
  }
  batch.Put("t", "wide", "e", "big", std::string(300000, 'x'));
  for (int version = 1; version <= 5; ++version) {
    batch.Put("t", "wide2", "d", "c", std::to_string(version), version);
  }
  BOOST_REQUIRE_EQUAL(load.Add(batch).ToString(), "OK");
  CommitLoad(&load);
  for (int round = 0; round < 2; ++round) {
    const Row row = **database->Get({}, "t", "wide");
    BOOST_CHECK_EQUAL(row.cells().size(), 30001);
    BOOST_CHECK_EQUAL(row.Find("e", "big")->size(), 300000);
    BOOST_CHECK_EQUAL(row.Find("d", "q12345").value_or("-"), "12345");
    const Row versions = **database->Get({.versions = 9}, "t", "wide2");
    BOOST_REQUIRE_EQUAL(versions.cells().size(), 2);
    BOOST_CHECK_EQUAL(versions.cells()[1].value, "4");
    batch.Clear();
    batch.DeleteColumn("t", "wide", "d", "q20000");
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    BOOST_CHECK(!(**database->Get({}, "t", "wide")).Find("d", "q20000").has_value());
    batch.Clear();
    batch.Put("t", "wide", "d", "q20000", "20000");
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    if (round == 0) Compact();
    VerifyOk();
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
