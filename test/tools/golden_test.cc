// Databases of released format versions, kept under test/golden/VERSION, are read by every later
// build: as they were left, and after this build wrote to them. Each holds `closed`, closed
// cleanly, `crashed`, whose last writes are in the log alone, what export prints of both, and
// `backup-1`, the record of a backup of `closed`, whose files are those of `closed`.
//
//   TANDEM_GOLDEN=DIRECTORY build/test_tools --run_test=golden   makes them again there, for a new
//   version of the format. Those of a version that was released are never made again.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engine/backup/directory.h"
#include "engine/backup/record.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/tools/program.h"
#include "test/tools/require_ok.h"
#include "tools/simulation/memory_file.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGolden = "test/golden";

TableOptions GoldenTable() {
  TableOptions table;
  table.name = "t";
  table.families = {
      {.name = "d", .max_versions = 3, .block_size_bytes = 1024},
      {.name = "sparse", .compression = Compression::kNone},
      {.name = "large", .max_versions = 2},
  };
  table.indexes = {
      {"text", {{"d", "text", ColumnType::kText}}},
      {"number", {{"d", "number", ColumnType::kInt64, true}}},
      {"flag", {{"sparse", "flag", ColumnType::kBool}}},
      {"bytes", {{"d", std::string("b\0", 2), ColumnType::kBytes}}},
  };
  table.split_keys = {"row-0150"};
  return table;
}

std::string KeyOf(int row) {
  std::string digits = std::to_string(10000 + row).substr(1);
  return (row % 50 == 0 ? std::string("row-\xff\0", 6) : "row-") + digits;
}

void PutRow(int row, int64_t timestamp, WriteBatch* batch) {
  const std::string key = KeyOf(row);
  batch->Put("t", key, "d", "text", "value-" + std::to_string(row % 7), timestamp);
  batch->Put("t", key, "d", "number", std::to_string(row * row - 1000), timestamp);
  batch->Put("t", key, "d", std::string("b\0", 2), std::string(row % 4, '\0'), timestamp);
  if (row % 5 != 0) return;
  batch->Put("t", key, "sparse", "flag", row % 2 == 0 ? "true" : "false", timestamp);
}

// One row wide, one overflow value, both compressible.
void PutLarge(WriteBatch* batch) {
  for (int column = 0; column < 1800; ++column) {
    batch->Put("t", "row-wide", "large", "column-" + std::to_string(column),
               "a value of some bytes", 5);
  }
  batch->Put("t", "row-far", "large", "far", std::string(66'000, 'f'), 5);
}

// Everything that the format can hold: several files and versions a row, every marker, postings of
// every form.
void Write(Database* database, int round) {
  for (int first = 0; first < 300; first += 100) {
    WriteBatch batch;
    for (int row = first; row < first + 100; ++row) {
      if (row % (round + 1) == 0) PutRow(row + round, 10 * round + row % 4, &batch);
    }
    RequireOk(database->Write({}, batch));
  }
  WriteBatch batch;
  batch.DeleteRow("t", KeyOf(10 + round));
  batch.DeleteFamily("t", KeyOf(20 + round), "sparse", 1000);
  batch.DeleteColumn("t", KeyOf(30 + round), "d", "text", 1000);
  batch.DeleteCell("t", KeyOf(40 + round), "d", "number");
  if (round == 1) PutLarge(&batch);
  RequireOk(database->Write({.durability = Durability::kSynced}, batch));
}

std::string Exported(const std::string& path) {
  const ProgramRun run = RunProgram({"export", path, "t"});
  BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.err);
  return run.out;
}

std::string ContentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What a crash would leave: the files as they are, without the log's preallocated rest, which is
// zero.
void CopyAsCrashed(const fs::path& from, const fs::path& to) {
  fs::copy(from, to);
  for (const auto& entry : fs::directory_iterator(to)) {
    if (!entry.path().filename().string().starts_with("log-")) continue;
    const std::string bytes = ContentOf(entry.path());
    fs::resize_file(entry.path(), (bytes.find_last_not_of('\0') + 8) / 8 * 8);
  }
}

void MakeGolden(const fs::path& directory) {
  fs::create_directories(directory);
  const fs::path closed = directory / "closed", crashed = directory / "crashed";
  {
    Options options;
    options.create_if_missing = true;
    auto database = Database::Open(closed, options);
    RequireOk(database.status());
    RequireOk((*database)->CreateTable(GoldenTable()));
    for (const int round : {0, 1}) {
      Write(database->get(), round);
      RequireOk((*database)->Flush("t"));
    }
    Write(database->get(), 2);
    CopyAsCrashed(closed, crashed);
    RequireOk((*database)->Close());
  }
  std::ofstream(directory / "exported.jsonl") << Exported(closed);
  const TemporaryDirectory backups;
  BOOST_REQUIRE_EQUAL(RunProgram({"backup", closed, backups.Path("b")}).exit_code, 0);
  fs::copy(backups.Path("b") + "/backup-1", directory / "backup-1");
}

// Opens a copy of the golden database as a user would, reading first.
void CheckGolden(const fs::path& golden, const std::string& expected) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  fs::copy(golden, path);
  BOOST_CHECK(Exported(path) == expected);
  const ProgramRun verified = RunProgram({"verify", path, "--deep"});
  BOOST_CHECK_MESSAGE(verified.exit_code == 0, verified.err);
  const ProgramRun put = RunProgram({"put", path, "t", "row-0001", "d:text=new"});
  BOOST_CHECK_MESSAGE(put.exit_code == 0, put.err);
  const ProgramRun compacted = RunProgram({"compact", path, "t"});
  BOOST_CHECK_MESSAGE(compacted.exit_code == 0, compacted.err);
  const ProgramRun found =
      RunProgram({"query", path, "t", "text = 'new'", "--count", "--output", "raw"});
  BOOST_CHECK_EQUAL(found.out, "1\n");
  BOOST_CHECK_EQUAL(RunProgram({"verify", path, "--deep"}).exit_code, 0);
}

// The directory of backups that the golden record belongs to.
void MakeBackups(const fs::path& golden, const format::BackupRecord& record, const fs::path& to) {
  fs::create_directory(to);
  fs::copy(golden / "backup-1", to / "backup-1");
  for (const engine::BackupFile& file : engine::FilesOf(record)) {
    const std::string name =
        file.is_segment ? engine::SegmentName(file.number) : engine::StoreFileName(file.number);
    fs::copy(golden / "closed" / name, to / file.name());
  }
}

// The record is read, written as it is, and restored from.
void CheckGoldenBackup(const fs::path& golden, const std::string& expected) {
  constexpr size_t kIdAt = 64;  // Of the file header.
  MemoryFile file(ContentOf(golden / "backup-1"));
  const auto record = format::ReadBackupRecord(&file, 1);
  RequireOk(record.status());
  BOOST_CHECK_EQUAL(record->segments.size(), 1u);
  format::FileId id;
  std::copy_n(file.bytes().begin() + kIdAt, id.bytes.size(), id.bytes.begin());
  MemoryFile written;
  RequireOk(format::WriteBackupRecord(&written, id, *record));
  BOOST_CHECK(written.bytes() == file.bytes());

  const TemporaryDirectory directory;
  const std::string backups = directory.Path("backups"), restored = directory.Path("db");
  MakeBackups(golden, *record, backups);
  const ProgramRun verified = RunProgram({"restore", backups, "--verify"});
  BOOST_CHECK_MESSAGE(verified.exit_code == 0, verified.err);
  const ProgramRun run = RunProgram({"restore", backups, restored});
  BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.err);
  BOOST_CHECK(Exported(restored) == expected);
}

BOOST_AUTO_TEST_SUITE(golden)

BOOST_AUTO_TEST_CASE(DatabasesOfEveryVersionAreReadAndWritten) {
  if (const char* directory = std::getenv("TANDEM_GOLDEN"); directory != nullptr) {
    return MakeGolden(directory);
  }
  int versions = 0;
  for (const auto& version : fs::directory_iterator(kGolden)) {
    const std::string expected = ContentOf(version.path() / "exported.jsonl");
    BOOST_TEST_CONTEXT(version.path()) {
      for (const char* state : {"closed", "crashed"}) {
        BOOST_TEST_CONTEXT(state) { CheckGolden(version.path() / state, expected); }
      }
      BOOST_TEST_CONTEXT("backup-1") { CheckGoldenBackup(version.path(), expected); }
    }
    ++versions;
  }
  BOOST_CHECK_GT(versions, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
