// Named snapshots: what they show after anything that happens to their tables, also in another
// process, what they keep on disk, and when that goes.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/backup.h"
#include "tandem/limits.h"
#include "tandem/tandem.h"
#include "test/api/transaction_fixture.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

struct NamedSnapshotFixture : TransactionFixture {
  void Create(const std::string& name, const std::vector<std::string>& tables = {}) {
    BOOST_REQUIRE_EQUAL(database->CreateSnapshot(name, tables).ToString(), "OK");
  }
  void Drop(const std::string& name) {
    BOOST_REQUIRE_EQUAL(database->DropSnapshot(name).ToString(), "OK");
  }
  Snapshot OpenNamed(const std::string& name) {
    auto snapshot = database->OpenSnapshot(name);
    BOOST_REQUIRE_MESSAGE(snapshot.has_value(), snapshot.status().ToString());
    return *std::move(snapshot);
  }
  void Reopen() {
    BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
    Open();
  }
  NamedSnapshotInfo Listed(const std::string& name) {
    for (const NamedSnapshotInfo& info : database->ListSnapshots().value()) {
      if (info.name == name) return info;
    }
    BOOST_FAIL("not listed: " + name);
    return {};
  }
  uint64_t StoreFiles() const {
    uint64_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory.Path("db"))) {
      count += entry.path().filename().string().starts_with("store-");
    }
    return count;
  }
  // A background job that reads a file, such as the search for overlaps, keeps it a moment longer.
  void CheckStoreFiles(uint64_t expected) const {
    constexpr std::chrono::seconds kPatience(30);
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (StoreFiles() > expected && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    BOOST_CHECK_EQUAL(StoreFiles(), expected);
  }
  uint64_t SpaceOf(SpaceKind kind, const std::string& name) {
    uint64_t bytes = 0, all = 0;
    const SpaceUsage usage = database->GetSpaceUsage({}).value();
    for (const SpacePart& part : usage.parts) {
      all += part.bytes;
      if (part.kind == kind && part.name == name) bytes += part.bytes;
    }
    BOOST_CHECK_EQUAL(all, usage.directory_bytes);
    return bytes;
  }
  bool IsAnyOf(SpaceKind kind) {
    const SpaceUsage usage = database->GetSpaceUsage({}).value();
    return std::any_of(usage.parts.begin(), usage.parts.end(),
                       [kind](const SpacePart& part) { return part.kind == kind; });
  }
  void VerifyOk() {
    const Result<VerifyReport> report = database->Verify(true);
    BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
    for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  }

  /// The rows of table t; every way to read must agree.
  std::string At(const Snapshot& snapshot, const std::string& table = "t") {
    const ReadOptions read{.snapshot = &snapshot};
    const std::string rows = RowsOf(database->Scan(read, table, {}));
    BOOST_CHECK_EQUAL(RowsOf(database->Query(read, table, {})), rows);
    const Result<uint64_t> count = database->Count(read, table, {});
    if (!count.has_value()) {
      BOOST_CHECK_EQUAL(count.status().ToString(), rows);
      return rows;
    }
    BOOST_CHECK_EQUAL(*count, static_cast<uint64_t>(std::count(rows.begin(), rows.end(), '=')));
    for (const char* key : {"a", "b", "c", "d"}) CheckPoint(read, table, key, rows);
    return rows;
  }
  void CheckPoint(const ReadOptions& read, const std::string& table, const std::string& key,
                  const std::string& rows) {
    const std::string value = ValueOf(database->Get(read, table, key));
    const std::string shown = value == "-" ? "" : key + "=" + value;
    BOOST_CHECK_MESSAGE(rows.find(key + "=") == std::string::npos
                            ? shown.empty()
                            : rows.find(shown) != std::string::npos,
                        key + ": " + value + " in " + rows);
    const std::string_view keys[] = {key};
    auto many = database->MultiGet(read, table, keys);
    BOOST_REQUIRE(many.has_value());
    BOOST_CHECK_EQUAL(ValueOf(std::move(many->front())), value);
    PinnedRow pinned;
    BOOST_CHECK_EQUAL(*database->GetPinned(read, table, key, &pinned), value != "-");
  }
  std::string ByIndex(const Snapshot& snapshot, const std::string& value) {
    const ReadOptions read{.snapshot = &snapshot};
    const Predicate predicate = Predicate::Equal("c", value);
    const std::string rows = RowsOf(database->Query(read, "t", predicate, {.use_index = "by_c"}));
    BOOST_CHECK_EQUAL(RowsOf(database->Query(read, "t", predicate, {.no_index = true})), rows);
    auto prepared = database->Prepare("t", Predicate::Parse("c = ?").value());
    if (prepared.has_value()) {
      BOOST_REQUIRE_EQUAL(prepared->Bind(1, value).ToString(), "OK");
      BOOST_CHECK_EQUAL(RowsOf(database->Query(read, &*prepared)), rows);
    }
    const auto explained = database->Explain(read, "t", predicate);
    BOOST_REQUIRE(explained.has_value());
    BOOST_CHECK_EQUAL(explained->rows,
                      static_cast<uint64_t>(std::count(rows.begin(), rows.end(), '=')));
    return rows;
  }
};

BOOST_FIXTURE_TEST_SUITE(named_snapshots, NamedSnapshotFixture)

BOOST_AUTO_TEST_CASE(TheyShowWhatWasThereAfterAnyChange) {
  Put("a", "1");
  Flush();
  Put("b", "1");
  Put("a", "2");
  Create("s");
  const auto check = [this](const char* after) {
    BOOST_TEST_CONTEXT(after) {
      for (int round = 0; round < 2; ++round) {
        const Snapshot snapshot = OpenNamed("s");
        BOOST_CHECK_EQUAL(At(snapshot), "a=2 b=1");
        BOOST_CHECK_EQUAL(ByIndex(snapshot, "2"), "a=2");
        BOOST_CHECK_EQUAL(ByIndex(snapshot, "1"), "b=1");
      }
      VerifyOk();
      Reopen();
      BOOST_CHECK_EQUAL(At(OpenNamed("s")), "a=2 b=1");
    }
  };
  check("nothing");
  Put("a", "3");
  Put("c", "3");
  Delete("b");
  check("writes");
  Compact();
  check("a merge");
  BOOST_REQUIRE(database->Split("t", {.key = "b"}).has_value());
  Put("d", "4");
  Compact();
  check("a split");
  BOOST_REQUIRE(database->MergeRegions("t").has_value());
  check("a merge of regions");
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "by_c").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->AlterFamily("t", {.name = "d", .max_versions = 1}).ToString(),
                      "OK");
  check("a drop of the index");
  BOOST_REQUIRE_EQUAL(database->TruncateTable("t").ToString(), "OK");
  Put("a", "5");
  check("a truncation");
  BOOST_REQUIRE_EQUAL(database->RenameTable("t", "u").ToString(), "OK");
  check("a renaming");
  BOOST_REQUIRE_EQUAL(database->DropTable("u").ToString(), "OK");
  check("a drop");
  Drop("s");
  CheckStoreFiles(0);
}

BOOST_AUTO_TEST_CASE(DroppedFamiliesHaveTheirCellsAtThem) {
  WriteBatch batch;
  batch.Put("t", "a", "e", "x", "1");
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  Create("s");
  BOOST_REQUIRE_EQUAL(database->DropFamily("t", "e").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->AddFamily("t", {.name = "e"}).ToString(), "OK");
  Compact();
  Reopen();
  const Snapshot snapshot = OpenNamed("s");
  const auto row = database->Get({.snapshot = &snapshot}, "t", "a");
  BOOST_REQUIRE(row.has_value() && row->has_value());
  BOOST_CHECK_EQUAL(std::string((*row)->Find("e", "x").value_or("-")), "1");
  BOOST_CHECK_EQUAL(Get("a"), "-");
}

BOOST_AUTO_TEST_CASE(VersionsAndTimesAreThoseOfThen) {
  const auto put = [this](const std::string& value, int64_t timestamp) {
    WriteBatch batch;
    batch.Put("t", "a", "d", "c", value, timestamp);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  };
  put("1", 10);
  put("2", 20);
  Create("s");
  put("3", 30);
  put("4", 40);
  Compact();
  const Snapshot snapshot = OpenNamed("s");
  BOOST_CHECK_EQUAL(ValueOf(database->Get({.snapshot = &snapshot, .as_of = 15}, "t", "a")), "1");
  BOOST_CHECK_EQUAL(ValueOf(database->Get({.snapshot = &snapshot}, "t", "a")), "2");
  const auto row = database->Get({.snapshot = &snapshot, .versions = 5}, "t", "a");
  BOOST_REQUIRE(row.has_value() && row->has_value());
  BOOST_CHECK_EQUAL((*row)->view().cells().size(), 2);
}

BOOST_AUTO_TEST_CASE(OtherTablesAreNotFoundAtThem) {
  TableOptions other{.name = "u", .families = {{.name = "d"}}};
  BOOST_REQUIRE_EQUAL(database->CreateTable(other).ToString(), "OK");
  Create("s", {"t"});
  Create("all");
  other.name = "v";
  BOOST_REQUIRE_EQUAL(database->CreateTable(other).ToString(), "OK");
  const Snapshot one = OpenNamed("s"), all = OpenNamed("all");
  BOOST_CHECK_EQUAL(At(one, "u"), "NotFound: snapshot 's' has no table 'u'");
  BOOST_CHECK_EQUAL(At(all, "u"), "");
  BOOST_CHECK_EQUAL(database->Count({.snapshot = &all}, "v", {}).error().code(),
                    StatusCode::kNotFound);
}

BOOST_AUTO_TEST_CASE(BadArgumentsChangeNothing) {
  Create("s");
  BOOST_CHECK_EQUAL(database->CreateSnapshot("s").code(), StatusCode::kAlreadyExists);
  BOOST_CHECK_EQUAL(database->CreateSnapshot("").code(), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(database->CreateSnapshot("a\nb").code(), StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(database->CreateSnapshot("x", {"t", "none"}).code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(database->OpenSnapshot("x").status().code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(database->DropSnapshot("x").code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL(database->ListSnapshots()->size(), 1);
}

BOOST_AUTO_TEST_CASE(TheirNumberIsLimited) {
  for (size_t i = 0; i < kNamedSnapshotsMax; ++i) Create("s" + std::to_string(i));
  BOOST_CHECK_EQUAL(database->CreateSnapshot("more").code(), StatusCode::kInvalidArgument);
  Drop("s7");
  Create("more");
  Reopen();
  BOOST_CHECK_EQUAL(database->ListSnapshots()->size(), kNamedSnapshotsMax);
}

BOOST_AUTO_TEST_CASE(ANameCanBeUsedAgain) {
  Put("a", "1");
  Create("s");
  const Snapshot former = OpenNamed("s");
  Put("a", "2");
  Compact();
  Drop("s");
  Create("s");
  Put("a", "3");
  Compact();
  BOOST_CHECK_EQUAL(At(former), "a=1");
  BOOST_CHECK_EQUAL(At(OpenNamed("s")), "a=2");
  BOOST_CHECK_EQUAL(Scan(), "a=3");
}

BOOST_AUTO_TEST_CASE(FilesStayWhileASnapshotHasThem) {
  Put("a", "1");
  Create("one");
  Create("two");
  BOOST_CHECK_EQUAL(Listed("one").own_bytes, 0);
  Put("a", "2");
  Compact();
  CheckStoreFiles(2);
  const NamedSnapshotInfo shared = Listed("one");
  BOOST_CHECK_EQUAL(shared.own_bytes, 0);
  BOOST_CHECK_GT(shared.kept_bytes, 0);
  BOOST_CHECK_EQUAL(SpaceOf(SpaceKind::kSnapshot, ""), shared.kept_bytes);
  Drop("one");
  CheckStoreFiles(2);
  BOOST_CHECK_EQUAL(Listed("two").own_bytes, shared.kept_bytes);
  BOOST_CHECK_EQUAL(SpaceOf(SpaceKind::kSnapshot, "two"), shared.kept_bytes);
  Reopen();
  BOOST_CHECK_EQUAL(At(OpenNamed("two")), "a=1");
  Drop("two");
  CheckStoreFiles(1);
  BOOST_CHECK_EQUAL(Scan(), "a=2");
  Reopen();
  BOOST_CHECK_EQUAL(Scan(), "a=2");
}

// Also where nothing of it was read before the drop.
BOOST_AUTO_TEST_CASE(ADroppedSnapshotStaysForItsReaders) {
  Put("a", "1");
  Put("b", "1");
  Create("s");
  BOOST_REQUIRE_EQUAL(database->TruncateTable("t").ToString(), "OK");
  {
    const Snapshot unread = OpenNamed("s");
    std::optional<Cursor> cursor;
    {
      const Snapshot read = OpenNamed("s");
      cursor.emplace(*database->Scan({.snapshot = &read}, "t", {}));
    }
    BOOST_REQUIRE(cursor->Next());
    Drop("s");
    BOOST_CHECK_EQUAL(database->OpenSnapshot("s").status().code(), StatusCode::kNotFound);
    CheckStoreFiles(1);
    BOOST_CHECK_EQUAL(At(unread), "a=1 b=1");
    BOOST_CHECK(cursor->Next());
    BOOST_CHECK_EQUAL(database->Close().code(), StatusCode::kBusy);
  }
  CheckStoreFiles(0);
}

// What else has its files lets go of them after the drop: a table by a merge, another snapshot.
BOOST_AUTO_TEST_CASE(ADroppedSnapshotStaysThoughItsFilesGoLater) {
  Put("a", "1");
  Create("s");
  {
    const Snapshot unread = OpenNamed("s");
    Drop("s");
    Put("a", "2");
    Compact();
    CheckStoreFiles(2);
    BOOST_CHECK(IsAnyOf(SpaceKind::kInUse));
    BOOST_CHECK_EQUAL(At(unread), "a=1");
  }
  CheckStoreFiles(1);
}

BOOST_AUTO_TEST_CASE(ADroppedSnapshotStaysThoughAnotherOneGoesLater) {
  Put("a", "1");
  Create("one");
  Create("two");
  Put("a", "2");
  Compact();
  {
    const Snapshot one = OpenNamed("one");
    Drop("one");
    {
      const Snapshot two = OpenNamed("two");
      Drop("two");
    }
    CheckStoreFiles(2);
    BOOST_CHECK_EQUAL(At(one), "a=1");
  }
  CheckStoreFiles(1);
  BOOST_CHECK_EQUAL(Scan(), "a=2");
}

BOOST_AUTO_TEST_CASE(ADroppedSnapshotStaysThoughItsTableGoesLater) {
  Put("a", "1");
  Create("s");
  {
    const Snapshot unread = OpenNamed("s");
    Drop("s");
    BOOST_REQUIRE_EQUAL(database->DropTable("t").ToString(), "OK");
    BOOST_CHECK_EQUAL(At(unread), "a=1");
  }
  CheckStoreFiles(0);
}

BOOST_AUTO_TEST_CASE(OneOfSeveralThreadsCreatesOrDropsAName) {
  Put("a", "1");
  for (int round = 0; round < 10; ++round) {
    for (const bool creates : {true, false}) {
      std::atomic<int> done{0}, refused{0};
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
          const Status status =
              creates ? database->CreateSnapshot("s") : database->DropSnapshot("s");
          done += status.ok() ? 1 : 0;
          refused += status.code() == (creates ? StatusCode::kAlreadyExists : StatusCode::kNotFound)
                         ? 1
                         : 0;
        });
      }
      for (std::thread& thread : threads) thread.join();
      BOOST_CHECK_EQUAL(done.load(), 1);
      BOOST_CHECK_EQUAL(refused.load(), 3);
    }
  }
  BOOST_CHECK_EQUAL(Scan(), "a=1");
}

BOOST_AUTO_TEST_CASE(OpenOnesOutliveTheDatabase) {
  Put("a", "1");
  Create("s");
  Put("a", "2");
  Compact();
  std::optional<Snapshot> snapshot = OpenNamed("s");
  BOOST_CHECK_EQUAL(At(*snapshot), "a=1");
  Drop("s");
  database.reset();
  CheckStoreFiles(1);
  snapshot.reset();
  Open();
  BOOST_CHECK_EQUAL(Scan(), "a=2");
}

BOOST_AUTO_TEST_CASE(AReaderBesideAWriterHasThoseOfItsOpening) {
  Put("a", "1");
  Create("s");
  Put("a", "2");
  Compact();
  Options reading = options;
  reading.read_only = true;
  auto reader = Database::Open(directory.Path("db"), reading);
  BOOST_REQUIRE_MESSAGE(reader.has_value(), reader.status().ToString());
  Drop("s");
  Create("later");
  BOOST_CHECK_EQUAL((*reader)->OpenSnapshot("later").status().code(), StatusCode::kNotFound);
  BOOST_CHECK_EQUAL((*reader)->CreateSnapshot("x").code(), StatusCode::kReadOnly);
  BOOST_CHECK_EQUAL((*reader)->DropSnapshot("s").code(), StatusCode::kReadOnly);
  const Snapshot snapshot = *(*reader)->OpenSnapshot("s");
  BOOST_CHECK_EQUAL(RowsOf((*reader)->Scan({.snapshot = &snapshot}, "t", {})), "a=1");
  BOOST_CHECK_EQUAL(database->Scan({.snapshot = &snapshot}, "t", {}).status().code(),
                    StatusCode::kInvalidArgument);
}

BOOST_AUTO_TEST_CASE(CopiesHaveThem) {
  Put("a", "1");
  Create("s");
  BOOST_REQUIRE_EQUAL(database->TruncateTable("t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Checkpoint(directory.Path("copy")).ToString(), "OK");
  BOOST_REQUIRE(database->Backup(directory.Path("backups")).has_value());
  Drop("s");
  BOOST_REQUIRE_EQUAL(
      RestoreBackup(directory.Path("backups"), directory.Path("restored"), 0).ToString(), "OK");
  for (const char* copy : {"copy", "restored"}) {
    auto opened = Database::Open(directory.Path(copy), options);
    BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
    const Snapshot snapshot = *(*opened)->OpenSnapshot("s");
    BOOST_CHECK_EQUAL(RowsOf((*opened)->Scan({.snapshot = &snapshot}, "t", {})), "a=1");
    BOOST_CHECK_EQUAL((*opened)->Verify(true)->findings.size(), 0);
  }
}

BOOST_AUTO_TEST_CASE(UnloggedRowsAreInThem) {
  WriteBatch batch;
  batch.Put("t", "a", "d", "c", "1");
  BOOST_REQUIRE_EQUAL(database->Write({.durability = Durability::kMemory}, batch).ToString(), "OK");
  Create("s");
  Delete("a");
  Compact();
  Reopen();
  BOOST_CHECK_EQUAL(At(OpenNamed("s")), "a=1");
}

// The sum over two regions is the same in every state.
BOOST_AUTO_TEST_CASE(TheyAreOfOnePointInTimeWhileWritersRun) {
  BOOST_REQUIRE(database->Split("t", {.key = "m"}).has_value() || true);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop.load(); ++i) {
      WriteBatch batch;
      batch.Put("t", "a", "d", "c", std::to_string(i));
      batch.Put("t", "z", "d", "c", std::to_string(i));
      if (!database->Write({}, batch).ok()) return;
      if (i % 50 == 0) database->Compact("t").Ignore("it may be merging already");
    }
  });
  for (int i = 0; i < 20; ++i) Create("s" + std::to_string(i));
  stop.store(true);
  writer.join();
  Compact();
  Reopen();
  uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    const Snapshot snapshot = OpenNamed("s" + std::to_string(i));
    const std::string first = ValueOf(database->Get({.snapshot = &snapshot}, "t", "a"));
    BOOST_CHECK_EQUAL(ValueOf(database->Get({.snapshot = &snapshot}, "t", "z")), first);
    BOOST_CHECK_GE(snapshot.sequence(), last);
    last = snapshot.sequence();
  }
  for (int i = 0; i < 20; ++i) Drop("s" + std::to_string(i));
  VerifyOk();
  BOOST_CHECK_EQUAL(SpaceOf(SpaceKind::kSnapshot, ""), 0);
}

// Random rows and changes; each snapshot must show forever what a scan showed at its creation.
BOOST_AUTO_TEST_CASE(RandomHistoriesAgreeWithScansOfThen) {
  TestRandom random("named snapshots");
  std::map<std::string, std::string> expected;
  for (int step = 0; step < 400; ++step) {
    const std::string name = "s" + std::to_string(random.Below(6));
    switch (random.Below(12)) {
      case 0:
        Flush();
        break;
      case 1:
        Compact();
        break;
      case 2:
        if (random.Below(4) == 0) {
          BOOST_REQUIRE_EQUAL(database->TruncateTable("t").ToString(), "OK");
        }
        break;
      case 3:
        database->Split("t").status().Ignore("it may have too few rows");
        break;
      case 4:
        database->MergeRegions("t").status().Ignore("there may be one region");
        break;
      case 5:
        if (expected.contains(name)) {
          Drop(name);
          expected.erase(name);
        } else {
          expected[name] = Scan();
          Create(name);
        }
        break;
      case 6:
        if (random.Below(3) == 0) Reopen();
        break;
      case 7:
        Delete("r" + std::to_string(random.Below(20)));
        break;
      default:
        for (int i = 0; i < 5; ++i) {
          Put("r" + std::to_string(random.Below(20)), std::to_string(random.Below(9)));
        }
    }
    if (step % 20 != 0) continue;
    for (const auto& [known, rows] : expected) {
      const Snapshot snapshot = OpenNamed(known);
      BOOST_REQUIRE_EQUAL(At(snapshot), rows);
      ByIndex(snapshot, std::to_string(random.Below(9)));
    }
  }
  VerifyOk();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
