// Runs of several files: flush and compaction roll them, readers do not notice.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

std::string Key(uint64_t row) { return std::to_string(1'000'000 + row); }

struct RollingFixture : TestEngine {
  RollingFixture() {
    tuning.file_rows = 100;
    tuning.memstore_bytes = 16 << 20;
    tuning.memstores_total_bytes = 64 << 20;
    tuning.log_segment_bytes = 16 << 20;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().CreateTable(SimpleTable()).ToString(), "OK");
  }
  engine::Engine& engine() { return **this; }

  void PutRows(uint64_t first, uint64_t count, uint64_t step, const std::string& value) {
    WriteBatch batch;
    for (uint64_t i = 0; i < count; ++i) {
      const std::string row = Key(first + i * step);
      batch.Put("t", row, "d", "c", value + std::to_string(i % 7));
      expected[row] = value + std::to_string(i % 7);
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  }
  void DeleteRows(uint64_t first, uint64_t count) {
    WriteBatch batch;
    for (uint64_t i = 0; i < count; ++i) {
      batch.DeleteRow("t", Key(first + i));
      expected.erase(Key(first + i));
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  }
  std::vector<FileInfo> Files() { return engine().Info().tables[0].regions[0].files; }

  // The files are disjoint in keys, ascending, and have the rows stated.
  void CheckRun(const std::vector<uint64_t>& rows) {
    const std::vector<FileInfo> files = Files();
    std::vector<uint64_t> found;
    for (size_t i = 0; i < files.size(); ++i) {
      found.push_back(files[i].rows);
      if (i > 0) BOOST_CHECK_LT(files[i - 1].max_key, files[i].min_key);
    }
    BOOST_CHECK_MESSAGE(found == rows, "files of " + Text(found) + " rows");
  }
  // What is there by every way of reading, and that nothing is wrong underneath.
  void CheckAll() {
    std::map<std::string, std::string> found;
    Result<Cursor> cursor = engine().Scan({}, "t", {});
    while (cursor->Next()) {
      found[std::string(cursor->row().key())] = std::string(cursor->row().cells()[0].value);
    }
    BOOST_CHECK(cursor->status().ok());
    BOOST_CHECK(found == expected);
    std::map<std::string, uint64_t> by_value;
    for (const auto& [row, value] : expected) {
      ++by_value[value];
      BOOST_REQUIRE_EQUAL(Value(row, "c"), value);
    }
    for (const auto& [value, count] : by_value) {
      BOOST_CHECK_EQUAL(*engine().Count({}, "t", Predicate::Equal("c", value), {}), count);
    }
    const Result<VerifyReport> report = engine().Verify(true);
    BOOST_REQUIRE(report.has_value());
    for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  }
  uint64_t StoreFilesOnDisk() {
    uint64_t count = 0;
    for (const std::string& name : *(*disk.OpenDirectory("db", false))->List()) {
      count += name.starts_with("store-") ? 1 : 0;
    }
    return count;
  }

  // The files of the run, by place, whose rows were read since the last call.
  std::set<size_t> FilesRead() {
    std::set<size_t> read;
    const std::vector<FileInfo> files = Files();
    for (const DiskEvent& event : disk.control().TakeTrace()) {
      for (size_t i = 0; i < files.size(); ++i) {
        const bool is_read = event.operation == DiskOperation::kRead &&
                             event.name == "store-" + std::to_string(files[i].number);
        if (is_read && event.offset >= 128 && event.offset < 128 + files[i].data_bytes) {
          read.insert(i);
        }
      }
    }
    return read;
  }
  // Nothing is cached afterwards.
  void Restart() {
    Kill();
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    disk.control().SetTracing(true);
    disk.control().TakeTrace();
  }

  std::map<std::string, std::string> expected;

 private:
  static std::string Text(const std::vector<uint64_t>& numbers) {
    std::string text;
    for (const uint64_t number : numbers) text += std::to_string(number) + " ";
    return text;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(RollingTest, RollingFixture)

BOOST_AUTO_TEST_CASE(AFlushRollsAtTheRowsOfAFile) {
  PutRows(0, 300, 1, "a");
  BOOST_REQUIRE(engine().Flush("t").ok());
  CheckRun({100, 100, 100});
  CheckAll();
  PutRows(1000, 101, 1, "b");
  BOOST_REQUIRE(engine().Flush("t").ok());
  CheckRun({100, 100, 100, 100, 1});
  CheckAll();
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  CheckRun({100, 100, 100, 100, 1});
  CheckAll();
}

BOOST_AUTO_TEST_CASE(AFlushRollsAtTheBytesOfAFile) {
  tuning.file_rows = 1'000'000;
  tuning.file_bytes = 64 << 10;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  TestRandom random("rolling/AFlushRollsAtTheBytesOfAFile");
  WriteBatch batch;
  for (uint64_t i = 0; i < 500; ++i) {
    std::string value;
    while (value.size() < 1000) value += std::to_string(random.Below(UINT64_MAX));
    batch.Put("t", Key(i), "d", "c", value);
    expected[Key(i)] = value;
  }
  BOOST_REQUIRE(Write(batch).ok());
  BOOST_REQUIRE(engine().Flush("t").ok());
  const std::vector<FileInfo> files = Files();
  BOOST_CHECK_GE(files.size(), 3u);
  for (size_t i = 0; i + 1 < files.size(); ++i) {
    BOOST_CHECK_GE(files[i].data_bytes, 60u << 10);
    BOOST_CHECK_LE(files[i].data_bytes, 100u << 10);
  }
  CheckAll();
}

BOOST_AUTO_TEST_CASE(ACompactionWritesOneRunOfSeveralFiles) {
  PutRows(0, 250, 2, "a");
  BOOST_REQUIRE(engine().Flush("t").ok());
  PutRows(1, 250, 2, "b");
  BOOST_REQUIRE(engine().Flush("t").ok());
  PutRows(100, 40, 3, "c");
  DeleteRows(300, 50);
  BOOST_REQUIRE(engine().Flush("t").ok());
  BOOST_CHECK_EQUAL(Files().size(), 7u);
  CheckAll();
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  CheckRun({100, 100, 100, 100, 50});
  CheckAll();
  BOOST_CHECK_EQUAL(StoreFilesOnDisk(), 5u);
  // Again, over the run that it wrote.
  PutRows(250, 10, 7, "d");
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(Files().size(), 5u);
  CheckAll();
  DeleteRows(0, 1000);
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  CheckRun({});
  CheckAll();
  BOOST_CHECK_EQUAL(StoreFilesOnDisk(), 0u);
}

BOOST_AUTO_TEST_CASE(FilesOfOneRunCountAsOne) {
  PutRows(0, 1000, 1, "a");
  BOOST_REQUIRE(engine().Flush("t").ok());
  executor.Drain();
  BOOST_REQUIRE_EQUAL(Files().size(), 10u);  // More than runs_max, and yet nothing is due.
  const uint64_t number = Files()[0].number;
  const auto flush_row = [&](uint64_t row, const std::string& value) {
    PutRows(row, 1, 1, value);
    BOOST_REQUIRE(engine().Flush("t").ok());
    executor.Drain();
  };
  for (uint64_t i = 0; i < 3; ++i) flush_row(i, "b");
  BOOST_CHECK_EQUAL(Files().size(), 13u);
  // Similar runs become one, above a large one that stays.
  flush_row(3, "b");
  BOOST_CHECK_EQUAL(Files().size(), 11u);
  BOOST_CHECK_EQUAL(Files()[0].number, number);
  CheckAll();
  // Half as many rows come into the large one.
  PutRows(0, 500, 1, "c");
  BOOST_REQUIRE(engine().Flush("t").ok());
  flush_row(1, "d");
  CheckRun(std::vector<uint64_t>(10, 100));
  BOOST_CHECK_NE(Files()[0].number, number);
  CheckAll();
}

BOOST_AUTO_TEST_CASE(ASingleRunIsCompactedOnlyWhenAskedFor) {
  tuning.compaction_runs = 1;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  PutRows(0, 300, 1, "a");
  BOOST_REQUIRE(engine().Flush("t").ok());
  executor.Drain();
  const uint64_t number = Files()[0].number;
  BOOST_REQUIRE(engine().Flush("t").ok());
  executor.Drain();
  BOOST_CHECK_EQUAL(Files()[0].number, number);
  BOOST_REQUIRE(engine().Compact("t").ok());
  BOOST_CHECK_NE(Files()[0].number, number);
  CheckAll();
}

BOOST_AUTO_TEST_CASE(RandomRunsHoldWhatWasWritten) {
  TestRandom random("rolling/RandomRunsHoldWhatWasWritten");
  for (int trial = 0; trial < 4; ++trial) {
    tuning.file_rows = static_cast<uint32_t>(1 + random.Below(80));
    BOOST_REQUIRE(Close().ok());
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    for (int i = 0; i < 12; ++i) {
      PutRows(random.Below(400), random.Below(150), 1 + random.Below(4),
              std::string(1, static_cast<char>('a' + random.Below(5))));
      if (random.OneIn(3)) DeleteRows(random.Below(500), random.Below(60));
      if (random.OneIn(2)) BOOST_REQUIRE(engine().Flush("t").ok());
      if (random.OneIn(4)) BOOST_REQUIRE(engine().Compact("t").ok());
      executor.Drain();
    }
    BOOST_REQUIRE(engine().Flush("t").ok());
    for (const FileInfo& file : Files()) BOOST_CHECK_LE(file.rows, tuning.file_rows);
    CheckAll();
  }
}

// A memstore whose rows lie around the run makes one cluster of all its files.
BOOST_AUTO_TEST_CASE(AReadPaysForTheFilesThatItsKeysAreIn) {
  for (const bool is_clustered : {false, true}) {
    if (!is_clustered) {
      PutRows(0, 1000, 1, "a");
      BOOST_REQUIRE(engine().Flush("t").ok());
    } else {
      PutRows(0, 2, 999, "b");
    }
    const auto read = [](Result<Cursor> cursor) {
      BOOST_REQUIRE(cursor.has_value());
      int rows = 0;
      while (cursor->Next()) ++rows;
      BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
      BOOST_CHECK_GT(rows, 0);
    };
    using Places = std::set<size_t>;
    ScanOptions scan;
    scan.limit = 5;
    Restart();
    read(engine().Scan({}, "t", scan));
    BOOST_CHECK(FilesRead() == Places{0});
    Restart();
    scan.reverse = true;
    read(engine().Scan({}, "t", scan));
    BOOST_CHECK(FilesRead() == Places{9});
    Restart();
    QueryOptions query;
    query.use_index = "by_c";
    query.limit = 5;
    read(engine().Query({}, "t", Predicate::Equal("c", "a3"), query));
    BOOST_CHECK(FilesRead() == Places{0});
    Restart();
    query = {};
    const Result<Predicate> rows =
        Predicate::Parse("_row >= '" + Key(350) + "' AND _row < '" + Key(420) + "'");
    BOOST_REQUIRE(rows.has_value());
    read(engine().Query({}, "t", *rows, query));
    BOOST_CHECK((FilesRead() == Places{3, 4}));
    Restart();
    BOOST_CHECK_EQUAL(Value(Key(777), "c"), "a0");
    BOOST_CHECK(FilesRead() == Places{7});
  }
  CheckAll();
}

// An error anywhere leaves either the run or nothing of it.
BOOST_AUTO_TEST_CASE(ARunIsThereAsAWholeOrNotAtAll) {
  PutRows(0, 250, 2, "a");
  BOOST_REQUIRE(engine().Flush("t").ok());
  PutRows(1, 250, 2, "b");
  BOOST_REQUIRE(engine().Flush("t").ok());
  BOOST_REQUIRE_EQUAL(StoreFilesOnDisk(), 6u);
  for (uint64_t at = 1;; at += 7) {
    disk.control().InjectFault({.operations = {DiskOperation::kWrite, DiskOperation::kCreate},
                                .at = at,
                                .status = Status::NoSpace("injected")});
    const Status status = engine().Compact("t");
    const bool struck = disk.control().has_struck();
    disk.control().ClearFaults();
    BOOST_REQUIRE_EQUAL(status.code(), struck ? StatusCode::kNoSpace : StatusCode::kOk);
    BOOST_REQUIRE_EQUAL(Files().size(), struck ? 6u : 5u);
    if (!struck) break;
    // Deletions of files that a failed edit may name wait for the next edit.
    BOOST_REQUIRE_LE(StoreFilesOnDisk(), 11u);
  }
  CheckAll();
  BOOST_CHECK_EQUAL(StoreFilesOnDisk(), 5u);
}

BOOST_AUTO_TEST_CASE(ACrashLeavesTheRunOrTheLog) {
  for (uint64_t at = 1; at < 120; at += 4) {
    TestEngine other(at);
    other.tuning = tuning;
    BOOST_REQUIRE_EQUAL(other.Open().ToString(), "OK");
    BOOST_REQUIRE(other->CreateTable(SimpleTable()).ok());
    WriteBatch batch;
    for (uint64_t i = 0; i < 350; ++i) batch.Put("t", Key(i), "d", "c", "v");
    BOOST_REQUIRE(other.Write(batch, Durability::kSynced).ok());
    other.disk.control().PowerOffAt(at);
    if (other->Flush("t").ok()) (void)other->Compact("t");
    other.Crash({.kept = CrashPolicy::Kept::kRandom});
    BOOST_REQUIRE_EQUAL(other.Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(*other->Count({}, "t", Predicate::Equal("c", "v"), {}), 350u);
    const uint64_t files = other.FileCount();
    BOOST_REQUIRE(files == 0 || files == 4);
    BOOST_REQUIRE((*other->Verify(true)).findings.empty());
  }
}

// Trigrams are many times as many as rows; those that a flush holds at once are bounded.
BOOST_AUTO_TEST_CASE(AFlushOfManyEntriesRollsItsFile) {
  TestEngine engine;
  engine.tuning.merge_entry_bytes = 1 << 20;
  engine.tuning.memstore_bytes = 16 << 20;
  engine.tuning.memstores_total_bytes = 64 << 20;
  engine.tuning.log_segment_bytes = 16 << 20;
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  TableOptions table = SimpleTable();
  table.indexes = {
      {.name = "parts",
       .columns = {{.family = "d", .qualifier = "c", .functions = {Function::Trigrams()}}}}};
  BOOST_REQUIRE_EQUAL(engine->CreateTable(table).ToString(), "OK");
  TestRandom random("AFlushOfManyEntriesRollsItsFile");
  constexpr uint64_t kRows = 10'000;
  uint64_t hits = 0;
  WriteBatch batch;
  for (uint64_t row = 0; row < kRows; ++row) {
    const std::string value = random.Text(600, "abcdefghijklmnop");
    hits += value.find("abc") != std::string::npos ? 1 : 0;
    batch.Put("t", Key(row), "d", "c", value);
  }
  BOOST_REQUIRE_EQUAL(engine.Write(batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
  const std::vector<FileInfo> files = engine->Info().tables[0].regions[0].files;
  BOOST_CHECK_GT(files.size(), 1u);
  BOOST_CHECK_EQUAL(
      *engine->Count({}, "t", Predicate::Contains("c", "abc"), {.use_index = "parts"}), hits);
  const Result<VerifyReport> report = engine->Verify(true);
  BOOST_REQUIRE(report.has_value());
  for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
