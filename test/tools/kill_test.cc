// An import that is killed: what was acknowledged is there, nothing is half there, and the table
// holds exactly the first records of the input. A rewrite of keys that is killed: each row is there
// once, with what it had.
#define BOOST_TEST_DYN_LINK
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <fstream>

#include "base/clock.h"
#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"
#include "test/tools/program.h"
#include "test/tools/require_ok.h"
#include "tools/tandem/run.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRecords = 30'000;
constexpr uint64_t kBatch = 100;
constexpr int kKills = 20;

std::string KeyOf(uint64_t record) {
  // Keys come in no order of their own, so that a hole cannot be mistaken for an end of the key
  // space.
  char key[32];
  std::snprintf(key, sizeof(key), "%08llx",
                static_cast<unsigned long long>(record * 2654435761u % (uint64_t{1} << 32)));
  return key;
}

void WriteInput(const std::string& path) {
  std::ofstream out(path);
  for (uint64_t i = 1; i <= kRecords; ++i) {
    out << "Key: " << KeyOf(i) << "\nNumber: " << i << "\nText: record " << i << "\n\n";
  }
}

/// The program in a process of its own, its standard output in a pipe.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments) {
    int ends[2];
    BOOST_REQUIRE_EQUAL(pipe(ends), 0);
    process_ = fork();
    BOOST_REQUIRE(process_ >= 0);
    if (process_ == 0) Run(arguments, ends);
    close(ends[1]);
    out_ = fdopen(ends[0], "r");
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { std::fclose(out_); }

  /// The next number that it prints; 0 at the end.
  uint64_t NextNumber() {
    unsigned long long number = 0;
    return std::fscanf(out_, "%llu", &number) == 1 ? number : 0;
  }
  void Kill() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }

 private:
  [[noreturn]] static void Run(const std::vector<std::string>& arguments, const int (&ends)[2]) {
    const auto clock = base::NewSystemClock();
    tools::Context context;
    context.in = stdin;
    context.out = fdopen(ends[1], "w");
    context.err = std::fopen("/dev/null", "w");
    context.clock = clock.get();
    _exit(tools::Run(arguments, context));
  }

  pid_t process_ = -1;
  std::FILE* out_ = nullptr;
};

/// Checks that the table holds exactly the first m records, and returns m.
uint64_t CheckPrefix(const std::string& path) {
  auto database = Database::Open(path);
  RequireOk(database.status());
  auto cursor = (*database)->Scan({}, "t", {});
  RequireOk(cursor.status());
  std::vector<bool> seen(kRecords + 1, false);
  uint64_t rows = 0;
  while (cursor->Next()) {
    const RowView& row = cursor->row();
    const uint64_t number = std::stoull(std::string(*row.Find("d", "Number")));
    BOOST_REQUIRE(number >= 1 && number <= kRecords && !seen[number]);
    BOOST_REQUIRE_EQUAL(row.key(), KeyOf(number));
    BOOST_REQUIRE_EQUAL(*row.Find("d", "Text"), "record " + std::to_string(number));
    seen[number] = true;
    ++rows;
  }
  RequireOk(cursor->status());
  for (uint64_t i = 1; i <= rows; ++i) BOOST_REQUIRE_MESSAGE(seen[i], "record " << i << " is lost");
  const auto indexed = (*database)->Count({}, "t", *Predicate::Parse("Number >= 1"));
  RequireOk(indexed.status());
  BOOST_CHECK_EQUAL(*indexed, rows);
  return rows;
}

// Tables "t", of salted keys, and "plain", with the same rows.
constexpr int kTypedRows = 20'000;
constexpr const char* kPlainKey = "user:text, n:int64";

std::vector<RowKeyField> TypedRow(int number) {
  return {{"user", "u" + std::to_string(number % 7)}, {"n", std::to_string(number)}};
}

/// Writes `column` of every `step`-th row, to both tables.
void WriteTyped(Database& database, int step, const std::string& column, const std::string& value) {
  const RowKeySchema plain = *RowKeySchema::Parse(kPlainKey);
  WriteBatch batch;
  for (int i = 0; i < kTypedRows; i += step) {
    const auto key = database.KeyForWrite({}, "t", TypedRow(i));
    RequireOk(key.status());
    batch.Put("t", *key, "d", column, value);
    batch.Put("plain", *plain.Encode(TypedRow(i)), "d", column, value);
    if (batch.operation_count() < 1000 && i + step < kTypedRows) continue;
    RequireOk(database.Write({}, batch));
    batch.Clear();
  }
}

/// All rows and cells in the order of the fields.
std::string TypedRows(Database& database, const std::string& table) {
  const auto keys = database.RowKeysOf({}, table);
  RequireOk(keys.status());
  ReadOptions read;
  read.versions = 9;
  auto cursor = database.Scan(read, table, *keys->InFieldOrder({}));
  RequireOk(cursor.status());
  std::string text;
  while (cursor->Next()) {
    const auto fields = keys->Decode(cursor->row().key());
    RequireOk(fields.status());
    text += (*fields)[0].value + "/" + (*fields)[1].value + ":";
    for (const Cell& cell : cursor->row().cells()) {
      text.append(cell.qualifier).append("=").append(cell.value);
      text += "@" + std::to_string(cell.timestamp) + " ";
    }
  }
  RequireOk(cursor->status());
  return text;
}

BOOST_AUTO_TEST_SUITE(kill_during_rewrite)

BOOST_AUTO_TEST_CASE(EachRowIsThereOnceAfterEachKill) {
  TestRandom random("kill_during_rewrite");
  const TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  for (const std::string table : {"t", "plain"}) {
    const std::string key = table == "t" ? std::string("salt(4), ") + kPlainKey : kPlainKey;
    BOOST_REQUIRE_EQUAL(RunProgram({"create", path, table, "--key", key, "--family", "d,versions=3",
                                    "--index", "c=d:c"})
                            .exit_code,
                        0);
  }
  const auto in_database = [&path](const auto& work) {
    auto database = Database::Open(path);
    RequireOk(database.status());
    work(**database);
    RequireOk((*database)->Close());
  };
  in_database([](Database& database) { WriteTyped(database, 1, "c", "first"); });
  for (int change = 0; change < 3; ++change) {
    const std::string key = "salt(" + std::to_string(20 + change) + "), " + kPlainKey;
    BOOST_REQUIRE_EQUAL(RunProgram({"alter", path, "t", "--key", key}).exit_code, 0);
    for (int kills = 0; kills < 5; ++kills) {
      Child rewrite({"rewrite-keys", path, "t"});
      usleep(random.Below(150'000));
      rewrite.Kill();
      in_database([&](Database& database) {
        BOOST_REQUIRE(TypedRows(database, "t") == TypedRows(database, "plain"));
        WriteTyped(database, 50 + kills, random.OneIn(2) ? "c" : "x", std::to_string(kills));
        BOOST_REQUIRE(TypedRows(database, "t") == TypedRows(database, "plain"));
      });
    }
    const ProgramRun ended = RunProgram({"rewrite-keys", path, "t", "--output", "jsonl"});
    BOOST_REQUIRE_MESSAGE(ended.exit_code == 0, ended.err);
    in_database([](Database& database) {
      BOOST_TEST(database.RowKeysOf({}, "t")->schemas().size() == 1u);
      BOOST_REQUIRE(TypedRows(database, "t") == TypedRows(database, "plain"));
    });
  }
  const ProgramRun verified = RunProgram({"verify", path, "--deep"});
  BOOST_CHECK_MESSAGE(verified.exit_code == 0, verified.out << verified.err);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(kill_during_import)

BOOST_AUTO_TEST_CASE(AcknowledgedRecordsSurviveInOrder) {
  TestRandom random("kill");
  const TemporaryDirectory directory;
  WriteInput(directory.Path("input"));
  for (int round = 0; round < kKills; ++round) {
    const std::string path = directory.Path("db" + std::to_string(round));
    BOOST_REQUIRE_EQUAL(
        RunProgram({"create", path, "t", "--index", "number=d:Number:int64"}).exit_code, 0);
    Child import({"import", path, "t", directory.Path("input"), "--format", "deb822", "--row",
                  "Key", "--acknowledge", "--batch", std::to_string(kBatch)});
    // The last rounds let it come to its end, where flush and compaction run.
    const uint64_t batches = round < kKills - 4 ? random.Below((kRecords / kBatch)) : ~uint64_t{0};
    uint64_t acknowledged = 0;
    for (uint64_t i = 0; i < batches && acknowledged < kRecords; ++i) {
      const uint64_t number = import.NextNumber();
      if (number == 0) break;
      acknowledged = number;
    }
    usleep(random.Below(20'000));
    import.Kill();
    const uint64_t found = CheckPrefix(path);
    BOOST_CHECK_MESSAGE(found >= acknowledged, "round " << round << ": acknowledged "
                                                        << acknowledged << ", found " << found);
    const ProgramRun verified = RunProgram({"verify", path, "--deep"});
    BOOST_CHECK_MESSAGE(verified.exit_code == 0, verified.out << verified.err);
  }
}

BOOST_AUTO_TEST_CASE(AnInterruptedImportKeepsWhatItWroteAndGoesOn) {
  const TemporaryDirectory directory;
  WriteInput(directory.Path("input"));
  const std::string path = directory.Path("db");
  BOOST_REQUIRE_EQUAL(
      RunProgram({"create", path, "t", "--index", "number=d:Number:int64"}).exit_code, 0);
  const std::vector<std::string> import = {"import",   path,     "t",     directory.Path("input"),
                                           "--format", "deb822", "--row", "Key"};
  const std::atomic<bool> interrupted{true};
  const ProgramRun stopped = RunProgram(import, "", &interrupted);
  BOOST_CHECK_EQUAL(stopped.exit_code, 130);
  BOOST_CHECK(stopped.err.find("records written: 1, which stay") != std::string::npos);
  BOOST_CHECK_EQUAL(CheckPrefix(path), 1);
  BOOST_CHECK_EQUAL(RunProgram(import).exit_code, 0);
  BOOST_CHECK_EQUAL(CheckPrefix(path), kRecords);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
