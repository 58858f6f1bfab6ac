// What a forked child can do with the databases of its parent: nothing, and its calls return at
// once; the parent continues. The children are real ones, forked while threads of the parent hold
// whatever locks they may.
#define BOOST_TEST_DYN_LINK
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

constexpr int kHung = -1;
constexpr int kWaitsMax = 5000;  // Of two milliseconds.

/// The exit code of the child, kHung when it had to be killed.
int ExitCodeOf(pid_t child) {
  int status = 0;
  for (int i = 0; i < kWaitsMax; ++i) {
    if (waitpid(child, &status, WNOHANG) == child) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    usleep(2000);
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return kHung;
}

/// Runs `body` in a child and returns what it returned.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return ExitCodeOf(child);
}

size_t Descriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

/// Names, sizes and times of the files of a directory.
std::string FilesOf(const std::string& path) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    files.insert(entry.path().filename().string() + " " + std::to_string(entry.file_size()) + " " +
                 std::to_string(entry.last_write_time().time_since_epoch().count()) + "\n");
  }
  std::string text;
  for (const std::string& file : files) text += file;
  return text;
}

/// A database with every kind of handle open.
struct Handles {
  explicit Handles(const std::string& path, IoBackend io = IoBackend::kAuto) {
    Options options;
    options.create_if_missing = true;
    options.memory_bytes = 8 << 20;
    options.io = io;
    auto opened = Database::Open(path, options);
    BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
    database = *std::move(opened);
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d"}};
    table.indexes = {{.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    for (int i = 0; i < 1000; ++i) BOOST_REQUIRE_EQUAL(Put(i, Durability::kBuffered).code(), kOk);
    BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
    snapshot.emplace(*database->TakeSnapshot());
    cursor.emplace(*database->Scan({}, "t", {}));
    BOOST_REQUIRE(cursor->Next());
    transaction.emplace(*database->Begin());
    batch.Put("t", "row", "d", "c", "1");
    load.emplace(*database->BeginBulkLoad("t"));
    BOOST_REQUIRE_EQUAL(load->Add(batch).code(), kOk);
  }
  Status Put(int row, Durability durability) {
    WriteBatch put;
    put.Put("t", std::to_string(100'000 + row), "d", "c", "value " + std::to_string(row % 10));
    put.Put("t", std::to_string(100'000 + row), "d", "pad", std::string(500, 'p'));
    return database->Write({.durability = durability}, put);
  }

  static constexpr StatusCode kOk = StatusCode::kOk;
  std::unique_ptr<Database> database;
  std::optional<Snapshot> snapshot;
  std::optional<Cursor> cursor;
  std::optional<Transaction> transaction;
  std::optional<BulkLoad> load;
  WriteBatch batch;
};

/// The number of the first call that does not answer kBusy; 0: all do.
int CallThatIsNotBusy(Handles* handles) {
  Database& database = *handles->database;
  const auto predicate = Predicate::Parse("c = 'value 1'");
  ReadOptions at_snapshot;
  at_snapshot.snapshot = &*handles->snapshot;
  TableOptions table;
  table.name = "other";
  table.families = {{.name = "d"}};
  handles->cursor->Next();
  const StatusCode codes[] = {
      database.Write({.durability = Durability::kSynced}, handles->batch).code(),
      database.Increment({}, "t", "100001", "d", "n").status().code(),
      database.Append({}, "t", "100001", "d", "c", "x").status().code(),
      database.CheckAndMutate({}, "t", "100001", *predicate, handles->batch).status().code(),
      database.Get({}, "t", "100001").status().code(),
      database.Get(at_snapshot, "t", "100001").status().code(),
      database.MultiGet({}, "t", std::vector<std::string_view>{"100001"}).status().code(),
      database.Scan({}, "t", {}).status().code(),
      database.Query({}, "t", *predicate).status().code(),
      database.Count({}, "t", *predicate).status().code(),
      database.Explain({}, "t", *predicate).status().code(),
      database.TakeSnapshot().status().code(),
      database.CreateSnapshot("s").code(),
      database.OpenSnapshot("s").status().code(),
      database.DropSnapshot("s").code(),
      database.ListSnapshots().status().code(),
      database.Begin().status().code(),
      database.BeginBulkLoad("t").status().code(),
      handles->load->Add(handles->batch).code(),
      handles->load->Commit().code(),
      database.Transact([](Transaction&) { return Status(); }).code(),
      handles->transaction->Get({}, "t", "100001").status().code(),
      handles->transaction->Put("t", "row", "d", "c", "1").code(),
      handles->transaction->Commit().code(),
      database.CreateTable(table).code(),
      database.DropTable("t").code(),
      database.TruncateTable("t").code(),
      database.RenameTable("t", "u").code(),
      database.CreateIndex("t", {.name = "i", .columns = {{.qualifier = "x"}}}).code(),
      database.DropIndex("t", "i").code(),
      database.SetColumnType("t", {.qualifier = "x"}).code(),
      database.SetRowKey("t", "x:text").code(),
      database.AddFamily("t", {.name = "g"}).code(),
      database.AlterFamily("t", {.name = "g"}).code(),
      database.DropFamily("t", "g").code(),
      database.SetObservers("t", {}).code(),
      database.Flush().code(),
      database.Compact("").code(),
      database.Verify(false).status().code(),
      database.VerifyIndex("t", "i").status().code(),
      database.GetIndexStatistics("t", "i").status().code(),
      database.AdviseIndexes("t", {}, {}).status().code(),
      database.Checkpoint("/nowhere/copy").code(),
      database.Backup("/nowhere/backups").status().code(),
      database.ExportFiles("t", "/nowhere/export").status().code(),
      database.Attach("t", "/nowhere/export").status().code(),
      database.RestoreTable("/nowhere/copy", "t").status().code(),
      database.Info().status().code(),
      database.GetSpaceUsage().status().code(),
      database.PlanCompaction().status().code(),
      database.Close().code(),
      handles->cursor->status().code(),
  };
  int number = 0;
  for (const StatusCode code : codes) {
    ++number;
    if (code != StatusCode::kBusy) return number;
  }
  return database.GetStatistics().batches == 0 && handles->snapshot->sequence() > 0 ? 0 : 100;
}

bool AreRowKeysBusy(Database& database) {
  const StatusCode codes[] = {
      database.ChangeRowKey("t", "x:text").code(), database.RowKeysOf({}, "t").status().code(),
      database.KeyForWrite({}, "t", {}).status().code(), database.RewriteKeys("t").status().code()};
  return std::ranges::all_of(codes, [](StatusCode code) { return code == StatusCode::kBusy; });
}

/// Destroys every handle, some of them by assignment.
void Destroy(Handles* handles) {
  Cursor moved = *std::move(handles->cursor);
  handles->cursor.reset();
  Transaction transaction = *std::move(handles->transaction);
  handles->transaction.reset();
  transaction = Transaction(std::move(transaction));
  BulkLoad load = *std::move(handles->load);
  handles->load.reset();
  load = BulkLoad(std::move(load));
  Snapshot other = *std::move(handles->snapshot);
  handles->snapshot.reset();
  moved = Cursor(std::move(moved));
  other = Snapshot(std::move(other));
  handles->batch.Clear();
  handles->database.reset();
}

/// A child, and a child of it, that ask for everything and then destroy everything.
int AskAndDestroy(Handles* handles) {
  const int at = CallThatIsNotBusy(handles);
  if (at != 0) return at;
  if (!AreRowKeysBusy(*handles->database)) return 101;
  const int below = InChild([&] {
    const int not_busy = CallThatIsNotBusy(handles);
    Destroy(handles);
    return not_busy;
  });
  if (below != 0) return 200;
  Destroy(handles);
  return 0;
}

/// Threads that keep the engine busy: writers, readers, flushes and merges.
class BusyThreads {
 public:
  explicit BusyThreads(Handles* handles) {
    for (int thread = 0; thread < 2; ++thread) {
      threads_.emplace_back([this, handles, thread] {
        for (int i = 0; !ends_; ++i) {
          if (!handles->Put(thread * 10'000 + i % 3000, Durability::kSynced).ok()) failed_ = true;
        }
      });
    }
    threads_.emplace_back([this, handles] {
      while (!ends_) {
        if (!handles->database->Flush("t").ok()) failed_ = true;
        if (!handles->database->TakeSnapshot().has_value()) failed_ = true;
        if (!handles->database->Compact("t").ok()) failed_ = true;
      }
    });
  }
  /// Whether everything went well.
  bool End() {
    ends_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    return !failed_;
  }
  ~BusyThreads() { End(); }

 private:
  std::atomic<bool> ends_{false}, failed_{false};
  std::vector<std::thread> threads_;
};

BOOST_AUTO_TEST_SUITE(ForkTest)

BOOST_AUTO_TEST_CASE(AChildOfABusyParentTouchesNothing) {
  for (const IoBackend io : {IoBackend::kAuto, IoBackend::kPosix}) {
    const TemporaryDirectory directory;
    Handles handles(directory.Path("db"), io);
    BusyThreads busy(&handles);
    for (int i = 0; i < 15; ++i) {
      usleep(3000);
      BOOST_REQUIRE_EQUAL(InChild([&] { return AskAndDestroy(&handles); }), 0);
    }
    BOOST_CHECK(busy.End());
    size_t rows = 1;
    while (handles.cursor->Next()) ++rows;
    BOOST_CHECK_EQUAL(handles.cursor->status().ToString(), "OK");
    BOOST_CHECK_EQUAL(rows, 1000u);
    BOOST_CHECK_EQUAL(handles.database->Close().code(),
                      StatusCode::kBusy);  // The handles are open.
    handles.cursor.reset();
    handles.snapshot.reset();
    handles.transaction.reset();
    handles.load.reset();
    BOOST_CHECK_EQUAL(handles.database->Verify(true)->findings.size(), 0u);
    BOOST_CHECK_EQUAL(handles.database->Close().ToString(), "OK");
  }
}

BOOST_AUTO_TEST_CASE(WhatAChildDestroysStaysAsItWas) {
  const TemporaryDirectory directory;
  static std::unique_ptr<Handles> handles;
  handles = std::make_unique<Handles>(directory.Path("db"));
  const std::string before = FilesOf(directory.Path("db"));
  const pid_t child = fork();
  if (child == 0) {
    // As a child that returns from main does, for the statics of this function.
    handles.reset();
    _exit(0);
  }
  BOOST_CHECK_EQUAL(ExitCodeOf(child), 0);
  BOOST_CHECK_EQUAL(FilesOf(directory.Path("db")), before);
  BOOST_CHECK(handles->database->Get({}, "t", "100001")->has_value());
  handles.reset();
}

/// Forks in its hooks, and both processes return.
class Forking final : public Observer {
 public:
  Status BeforeWrite(PendingWrite* write) override {
    Fork();
    if (child != 0) return {};
    const StatusCode code = write->Get({}, "t", "row").status().code();
    return code == StatusCode::kBusy ? Status() : Status::Corruption("it was read");
  }
  Status BeforeGet(const ObservedGet&) override {
    Fork();
    return {};
  }
  pid_t child = -1;

 private:
  void Fork() { child = fork(); }
};

BOOST_AUTO_TEST_CASE(AChildThatAHookForkedGoesNoFurther) {
  const TemporaryDirectory directory;
  const auto forking = std::make_shared<Forking>();
  Options options;
  options.create_if_missing = true;
  options.memory_bytes = 8 << 20;
  options.observers = {{"f", forking}};
  const auto database = *Database::Open(directory.Path("db"), options);
  const TableOptions table{.name = "t", .families = {{.name = "d"}}, .observers = {"f"}};
  BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  WriteBatch batch;
  batch.Increment("t", "row", "d", "n");
  const auto check = [&](const Status& status) {
    if (forking->child == 0) _exit(status.code() == StatusCode::kBusy ? 0 : 1);
    BOOST_CHECK_EQUAL(status.ToString(), "OK");
    BOOST_CHECK_EQUAL(ExitCodeOf(forking->child), 0);
  };
  for (int i = 0; i < 3; ++i) check(database->Write({}, batch));
  check(database->Get({}, "t", "row").status());
  BOOST_CHECK_EQUAL(database->SetObservers("t", {}).ToString(), "OK");
  BOOST_CHECK_EQUAL((*database->Get({}, "t", "row"))->Find("d", "n").value(), "3");
  BOOST_CHECK(database->Verify(true)->findings.empty());
  BOOST_CHECK_EQUAL(database->Close().ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(AChildHasDatabasesOfItsOwn) {
  const TemporaryDirectory directory;
  Handles handles(directory.Path("db"));
  const int code = InChild([&] {
    Options options;
    options.create_if_missing = true;
    if (Database::Open(directory.Path("db"), options).status().code() != StatusCode::kBusy) {
      return 1;
    }
    options.read_only = true;
    const auto reader = Database::Open(directory.Path("db"), options);
    if (!reader.has_value() || !(*reader)->Get({}, "t", "100001")->has_value()) return 2;
    Handles own(directory.Path("own"));
    // Its own child leaves that one alone, too.
    if (InChild([&] { return CallThatIsNotBusy(&own); }) != 0) return 3;
    own.cursor.reset();
    own.snapshot.reset();
    own.transaction.reset();
    own.load.reset();
    if (!own.database->Verify(true)->findings.empty()) return 4;
    return own.database->Close().ok() ? 0 : 5;
  });
  BOOST_CHECK_EQUAL(code, 0);
}

// The child has the descriptor of the lock; the parent lets go of it nevertheless.
BOOST_AUTO_TEST_CASE(AParentClosesAndOpensWhileItsChildLives) {
  const TemporaryDirectory directory;
  const size_t descriptors = Descriptors();
  int pipe_ends[2];
  BOOST_REQUIRE_EQUAL(pipe(pipe_ends), 0);
  auto handles = std::make_unique<Handles>(directory.Path("db"));
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[1]);
    char end = 0;
    const bool told = read(pipe_ends[0], &end, 1) == 0;
    _exit(told ? CallThatIsNotBusy(handles.get()) : 1);
  }
  handles->cursor.reset();
  handles->snapshot.reset();
  handles->transaction.reset();
  handles->load.reset();
  BOOST_CHECK_EQUAL(handles->database->Close().ToString(), "OK");
  handles.reset();
  {
    const auto again = Database::Open(directory.Path("db"), {});
    BOOST_REQUIRE_MESSAGE(again.has_value(), again.status().ToString());
    BOOST_CHECK_EQUAL((*again)->Close().ToString(), "OK");
  }
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  BOOST_CHECK_EQUAL(ExitCodeOf(child), 0);
  BOOST_CHECK_EQUAL(Descriptors(), descriptors);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
