// Building an index on a table with data: each file is copied with the new section, in its place
// and for all regions that share it; queries, snapshots and cursors go on meanwhile.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tandem/tandem.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

using std::chrono::steady_clock;

struct IndexBuildFixture {
  void Open(uint64_t bytes_per_second = 0) {
    Options options;
    options.create_if_missing = true;
    options.memory_bytes = 32 << 20;
    options.io = IoBackend::kPosix;
    options.index_build_bytes_per_second = bytes_per_second;
    auto opened = Database::Open(directory.Path("db"), options);
    BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
    database = *std::move(opened);
  }
  void Reopen(uint64_t bytes_per_second = 0) {
    BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
    Open(bytes_per_second);
  }
  void CreateTable() {
    const IndexOptions by_c = {.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}};
    BOOST_REQUIRE_EQUAL(
        database
            ->CreateTable(
                {.name = "t", .families = {{.name = "d"}, {.name = "e"}}, .indexes = {by_c}})
            .ToString(),
        "OK");
  }
  static std::string RowOf(int i) { return "row" + std::to_string(100'000 + i); }
  /// Rows of two families; each seventh has text where others have a number, until there is an
  /// index that refuses it. Flushed.
  void PutRows(int begin, int end) {
    WriteBatch batch;
    for (int i = begin; i < end; ++i) {
      std::string payload;
      for (int k = 0; k < 25; ++k) payload += std::to_string(int64_t{i} * 7919 * (k + 1) % 99'991);
      batch.Put("t", RowOf(i), "d", "c", std::to_string(i % 11));
      batch.Put("t", RowOf(i), "d", "n",
                i % 7 == 3 && !is_indexed ? "none" : std::to_string(i % 50));
      batch.Put("t", RowOf(i), "e", "payload", payload);
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
  }
  void CreateIndex() {
    is_indexed = true;
    const IndexOptions by_n = {
        .name = "by_n", .columns = {{.family = "d", .qualifier = "n", .type = ColumnType::kInt64}}};
    BOOST_REQUIRE_EQUAL(database->CreateIndex("t", by_n).ToString(), "OK");
  }
  TableInfo Table() { return (*database->Info()).tables[0]; }
  IndexInfo InfoOf(const std::string& index) {
    const TableInfo table = Table();
    for (const IndexInfo& found : table.indexes) {
      if (found.options.name == index) return found;
    }
    BOOST_FAIL("there is no index " + index);
    return {};
  }
  void WaitForFiles() {
    const auto end = steady_clock::now() + std::chrono::seconds(60);
    while (InfoOf("by_n").files_older > 0) {
      BOOST_REQUIRE(steady_clock::now() < end);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  uint64_t Count(std::string_view text, const QueryOptions& query = {},
                 const ReadOptions& read = {}) {
    const auto count = database->Count(read, "t", *Predicate::Parse(text), query);
    BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
    return *count;
  }
  void CheckSound() {
    for (const char* text : {"n::int64 < 5", "n::int64 IS NULL", "c = '3'", "n::int64 = 33"}) {
      BOOST_CHECK_EQUAL(Count(text), Count(text, {.no_index = true}));
    }
    const auto report = database->Verify(true);
    BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
    for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
  bool is_indexed = false;
};

struct FileParts {
  explicit FileParts(const TableInfo& table) {
    for (const RegionInfo& region : table.regions) {
      for (const FileInfo& file : region.files) {
        numbers.push_back(file.number);
        parts.push_back({region.id, file.run, file.low_row, file.high_row, file.rows, file.cells,
                         file.data_bytes});
      }
    }
  }
  std::vector<uint64_t> numbers;
  std::vector<std::vector<uint64_t>> parts;
};

BOOST_FIXTURE_TEST_SUITE(index_build, IndexBuildFixture)

BOOST_AUTO_TEST_CASE(FilesAreReplacedInTheirPlaces) {
  Open();
  CreateTable();
  PutRows(0, 3000);
  PutRows(1000, 2000);
  const FileParts before(Table());
  BOOST_REQUIRE_EQUAL(before.numbers.size(), 2u);
  CreateIndex();
  WaitForFiles();
  const FileParts after(Table());
  BOOST_CHECK(after.parts == before.parts);
  for (size_t i = 0; i < before.numbers.size(); ++i) {
    BOOST_CHECK_GT(after.numbers[i], before.numbers[i]);
  }
  CheckSound();
  Reopen();
  BOOST_CHECK(FileParts(Table()).parts == before.parts);
  CheckSound();
}

BOOST_AUTO_TEST_CASE(RegionsGoOnSharingACopy) {
  Open();
  CreateTable();
  PutRows(0, 4000);
  for (const int at : {1000, 2000, 3000}) {
    BOOST_REQUIRE(database->Split("t", {.key = RowOf(at)}).has_value());
  }
  PutRows(1500, 1600);
  const FileParts before(Table());
  CreateIndex();
  WaitForFiles();
  const FileParts after(Table());
  BOOST_CHECK(after.parts == before.parts);
  CheckSound();
  BOOST_REQUIRE(database->MergeRegions("t", {.key = RowOf(500)}).has_value());
  CheckSound();
}

BOOST_AUTO_TEST_CASE(SnapshotsAndCursorsKeepTheFilesTheyHave) {
  Open();
  CreateTable();
  PutRows(0, 3000);
  const auto snapshot = database->TakeSnapshot();
  BOOST_REQUIRE(snapshot.has_value());
  auto cursor = database->Scan({}, "t", {});
  BOOST_REQUIRE(cursor.has_value());
  BOOST_REQUIRE(cursor->Next());
  CreateIndex();
  WaitForFiles();
  int rows = 1;
  while (cursor->Next()) ++rows;
  BOOST_CHECK_EQUAL(rows, 3000);
  PutRows(2990, 3100);
  ReadOptions read;
  read.snapshot = &*snapshot;
  BOOST_CHECK_EQUAL(Count("n::int64 < 5", {}, read),
                    Count("n::int64 < 5", {.no_index = true}, read));
  CheckSound();
}

BOOST_AUTO_TEST_CASE(ANamedSnapshotKeepsTheFileAsItWas) {
  Open();
  CreateTable();
  PutRows(0, 3000);
  BOOST_REQUIRE_EQUAL(database->CreateSnapshot("before").ToString(), "OK");
  CreateIndex();
  WaitForFiles();
  PutRows(2990, 3100);
  for (int round = 0; round < 2; ++round) {
    if (round > 0) Reopen();
    const auto snapshot = database->OpenSnapshot("before");
    BOOST_REQUIRE_EQUAL(snapshot.status().ToString(), "OK");
    ReadOptions read;
    read.snapshot = &*snapshot;
    BOOST_CHECK_EQUAL(Count("c IS NOT NULL", {}, read), 3000u);
    BOOST_CHECK_EQUAL(Count("n::int64 < 5", {}, read),
                      Count("n::int64 < 5", {.no_index = true}, read));
    CheckSound();
  }
  BOOST_REQUIRE_EQUAL(database->DropSnapshot("before").ToString(), "OK");
  Reopen();
  BOOST_CHECK_EQUAL(InfoOf("by_n").files_older, 0u);
  CheckSound();
}

BOOST_AUTO_TEST_CASE(AnExplanationCountsWhatTheIndexLeavesOut) {
  Open();
  CreateTable();
  PutRows(0, 700);
  CreateIndex();
  WaitForFiles();
  BOOST_CHECK_EQUAL(InfoOf("by_n").rows_without_entry, 100u);
  BOOST_CHECK_EQUAL(InfoOf("by_c").rows_without_entry, 0u);
  const auto explanation =
      database->Explain({}, "t", *Predicate::Parse("n::int64 < 5"), {.use_index = "by_n"});
  BOOST_REQUIRE(explanation.has_value());
  BOOST_CHECK_EQUAL(explanation->rows_without_entry, 100u);
  BOOST_CHECK_EQUAL(explanation->files_scanned, 0u);
  BOOST_CHECK_EQUAL(Count("n IS NOT NULL AND n::int64 IS NULL"), 100u);
}

BOOST_AUTO_TEST_CASE(ReadsOfAnIndexAreCounted) {
  Open();
  CreateTable();
  PutRows(0, 700);
  const auto reads = [&] { return database->GetIndexStatistics("t", "by_c")->reads; };
  BOOST_CHECK_EQUAL(reads(), 0u);
  Count("c = '3'", {.use_index = "by_c"});
  Count("c = '3'", {.no_index = true});
  BOOST_CHECK_EQUAL(reads(), 1u);
  // A query of a few cached rows takes a way of its own.
  CreateIndex();
  PutRows(701, 702);
  for (uint64_t i = 0; i < 3; ++i) {
    auto cursor = database->Query({}, "t", *Predicate::Parse("c = '8'"), {.limit = 1});
    BOOST_REQUIRE(cursor.has_value());
  }
  BOOST_CHECK_EQUAL(reads(), 4u);
  BOOST_CHECK_EQUAL(database->GetIndexStatistics("t", "by_n")->reads, 0u);
}

BOOST_AUTO_TEST_CASE(ABuildKeepsToItsRateAndSaysHowFarItIs) {
  constexpr uint64_t kRate = 2 << 20;
  Open(kRate);
  CreateTable();
  PutRows(0, 20'000);
  uint64_t bytes = 0;
  const TableInfo table = Table();
  for (const FileInfo& file : table.regions[0].files) bytes += file.size_bytes;
  const auto begin = steady_clock::now();
  CreateIndex();
  bool is_under_way = false;
  while (InfoOf("by_n").files_older > 0) {
    const uint64_t left = InfoOf("by_n").bytes_older;
    is_under_way |= left > 0 && left < bytes;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::chrono::duration<double> taken = steady_clock::now() - begin;
  BOOST_CHECK_GT(taken.count(), 0.7 * static_cast<double>(bytes) / kRate);
  BOOST_CHECK(is_under_way);
  BOOST_CHECK_EQUAL(InfoOf("by_n").bytes_older, 0u);
  BOOST_CHECK_GT(InfoOf("by_n").build_bytes_per_second, 0u);
  BOOST_CHECK_LT(InfoOf("by_n").build_bytes_per_second, kRate * 3 / 2);
  CheckSound();
}

BOOST_AUTO_TEST_CASE(CloseAndDropEndABuild) {
  Open(64 << 10);
  CreateTable();
  PutRows(0, 20'000);
  const auto begin = steady_clock::now();
  CreateIndex();
  while (InfoOf("by_n").bytes_older == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Reopen(64 << 10);
  BOOST_CHECK_EQUAL(InfoOf("by_n").files_older, 1u);
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "by_n").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
  BOOST_CHECK(steady_clock::now() - begin < std::chrono::seconds(20));
  Open();
  CheckSound();
  CreateIndex();
  BOOST_REQUIRE_EQUAL(database->DropTable("t").ToString(), "OK");
}

// A copy holds the turns of all regions that share its file, for long where it is slow.
BOOST_AUTO_TEST_CASE(ABuildGivesWayToSplitsAndCompactions) {
  Open(64 << 10);
  CreateTable();
  PutRows(0, 20'000);
  BOOST_REQUIRE(database->Split("t", {.key = RowOf(10'000)}).has_value());
  CreateIndex();
  const uint64_t bytes = InfoOf("by_n").bytes_older;
  while (InfoOf("by_n").bytes_older == bytes) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto begin = steady_clock::now();
  BOOST_REQUIRE(database->Split("t", {.key = RowOf(15'000)}).has_value());
  BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  BOOST_CHECK(steady_clock::now() - begin < std::chrono::seconds(15));
  BOOST_CHECK_EQUAL(InfoOf("by_n").files_older, 0u);
  CheckSound();
}

BOOST_AUTO_TEST_CASE(BuildsGoBesideWritesSplitsMergesAndCheckpoints) {
  Open();
  CreateTable();
  PutRows(0, 4000);
  for (int round = 0; round < 6; ++round) {
    CreateIndex();
    PutRows(round * 500, round * 500 + 700);
    BOOST_REQUIRE(database->Split("t", {.key = RowOf(300 + 600 * round)}).has_value());
    BOOST_REQUIRE_EQUAL(
        database->Checkpoint(directory.Path("copy" + std::to_string(round))).ToString(), "OK");
    if (round % 2 == 1) BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
    CheckSound();
    if (round == 5) break;
    BOOST_REQUIRE_EQUAL(database->DropIndex("t", "by_n").ToString(), "OK");
  }
  WaitForFiles();
  CheckSound();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
