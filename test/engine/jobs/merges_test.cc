// The engine's use of compaction/pick: partial merges keep what older runs need, writers never see
// too many runs, and a close makes small merges and ends large ones.
#define BOOST_TEST_DYN_LINK
#include <tandem/event_listener.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

struct InputCounter final : EventListener {
  void OnCompactionEnd(const CompactionEvent& event) override {
    if (event.status.ok()) files_max = std::max(files_max, event.input_files);
  }
  uint64_t files_max = 0;
};

/// Flushes when the first merge begins.
struct FlushDuringMerge final : EventListener {
  explicit FlushDuringMerge(std::function<void()> what) : flush(std::move(what)) {}
  void OnCompactionBegin(const CompactionEvent&) override {
    if (!std::exchange(has_flushed, true)) flush();
  }
  std::function<void()> flush;
  bool has_flushed = false;
};

struct MergesFixture : TestEngine {
  MergesFixture() {
    options.listener = counter;
    tuning.compaction_runs = engine::Tuning().compaction_runs;
    tuning.memstore_bytes = 16 << 20;
    tuning.memstores_total_bytes = 64 << 20;
    tuning.log_segment_bytes = 16 << 20;
    Start();
  }
  engine::Engine& engine() { return **this; }

  void Start() {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    if (engine().Info().tables.empty()) {
      BOOST_REQUIRE_EQUAL(engine().CreateTable(SimpleTable(2)).ToString(), "OK");
    }
  }
  void Reopen(uint32_t runs_max) {
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    tuning.compaction_runs = runs_max;
    Start();
  }
  void Flush() { BOOST_REQUIRE_EQUAL(engine().Flush("t").ToString(), "OK"); }
  /// That zstd cannot make smaller.
  std::string RandomValue(size_t bytes) {
    std::string value(bytes, 0);
    for (char& byte : value) byte = static_cast<char>(random.Below(256));
    return value;
  }
  /// A run of rows.
  void FlushRows(uint64_t first, uint64_t count, size_t value_bytes = 200) {
    WriteBatch batch;
    for (uint64_t i = first; i < first + count; ++i) {
      batch.Put("t", std::to_string(1'000'000 + i), "d", "q", RandomValue(value_bytes));
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    Flush();
  }
  /// A new table of four runs of one row each.
  void FlushFour(const std::string& table, size_t value_bytes) {
    TableOptions table_options = SimpleTable();
    table_options.name = table;
    BOOST_REQUIRE(engine().CreateTable(table_options).ok());
    for (int run = 0; run < 4; ++run) {
      WriteBatch batch;
      batch.Put(table, std::to_string(run), "d", "q", RandomValue(value_bytes));
      BOOST_REQUIRE(Write(batch).ok());
      BOOST_REQUIRE(engine().Flush(table).ok());
    }
  }
  /// A merge is due that no task was scheduled for. `change` fails, and it is made.
  void CheckThatTheMergeStaysDue(const std::function<Status()>& change) {
    for (uint64_t i = 0; i < 4; ++i) FlushRows(i * 100, 100, 12'000);
    Reopen(8);  // Which schedules none.
    executor.Drain();
    BOOST_REQUIRE_EQUAL(FileCount(), 4u);
    disk.control().InjectFault(
        {.operations = {DiskOperation::kWrite}, .status = Status::NoSpace("injected")});
    BOOST_CHECK_EQUAL(change().code(), StatusCode::kNoSpace);
    BOOST_CHECK(disk.control().has_struck());
    executor.Drain();
    BOOST_CHECK_EQUAL(FileCount(), 1u);
    CheckSound();
  }
  void CheckSound() {
    const Result<VerifyReport> report = engine().Verify(true);
    BOOST_REQUIRE(report.has_value());
    for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  }
  uint64_t RowCount() { return *engine().Count({}, "t", Predicate(), {}); }
  uint64_t Merges() { return engine().GetStatistics().compactions; }

  std::shared_ptr<InputCounter> counter = std::make_shared<InputCounter>();
  TestRandom random{"merges"};
};

BOOST_FIXTURE_TEST_SUITE(MergesOfRuns, MergesFixture)

BOOST_AUTO_TEST_CASE(AMergeAboveTheBaseKeepsMarkers) {
  for (const std::string row : {"cell", "column", "family", "row", "live"}) {
    for (int64_t timestamp = 1; timestamp <= 3; ++timestamp) {
      const std::string value = "old" + std::to_string(timestamp);
      BOOST_REQUIRE(Put(row, "c", value, Durability::kWritten, timestamp).ok());
    }
  }
  FlushRows(0, 1000);  // The base.
  const uint64_t base = engine().Info().tables[0].regions[0].files[0].number;
  WriteBatch deletes;
  deletes.DeleteCell("t", "cell", "d", "c", 3);
  deletes.DeleteColumn("t", "column", "d", "c");
  deletes.DeleteFamily("t", "family", "d");
  deletes.DeleteRow("t", "row");
  deletes.DeleteRow("t", "never there");
  BOOST_REQUIRE(Write(deletes).ok());
  FlushRows(2000, 10);
  BOOST_REQUIRE(Put("live", "c", "new", Durability::kWritten, 1).ok());
  for (uint64_t i = 0; i < 3; ++i) FlushRows(2010 + 10 * i, 10);
  executor.Drain();
  BOOST_CHECK_EQUAL(Merges(), 1u);
  BOOST_REQUIRE_EQUAL(FileCount(), 2u);
  BOOST_CHECK_EQUAL(engine().Info().tables[0].regions[0].files[0].number, base);
  for (int life = 0; life < 2; ++life) {
    BOOST_CHECK_EQUAL(Versions("cell", "c"), "old2@2");
    BOOST_CHECK_EQUAL(Versions("column", "c"), "");
    BOOST_CHECK_EQUAL(Versions("family", "c"), "");
    BOOST_CHECK_EQUAL(Versions("row", "c"), "");
    BOOST_CHECK_EQUAL(Versions("live", "c"), "old3@3 old2@2");
    BOOST_CHECK_EQUAL(*engine().Count({}, "t", Predicate::Equal("c", "old3"), {}), 1u);
    CheckSound();
    BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");  // And with the base.
    BOOST_REQUIRE_EQUAL(FileCount(), 1u);
  }
}

BOOST_AUTO_TEST_CASE(ManyRunsAreMergedByHandInSteps) {
  Reopen(100);
  for (uint64_t i = 0; i < 45; ++i) FlushRows(i, 1);
  executor.Drain();
  BOOST_REQUIRE_EQUAL(FileCount(), 45u);
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(FileCount(), 1u);
  BOOST_CHECK_EQUAL(counter->files_max, 16u);
  CheckSound();
}

// The executor runs nothing before a writer waits.
BOOST_AUTO_TEST_CASE(WritersNeverSeeMoreThanSixteenRuns) {
  uint64_t most = 0, waits = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    FlushRows(i * 10, 10);
    most = std::max(most, FileCount());
    waits = engine().GetStatistics().stalls;
  }
  BOOST_CHECK_LE(most, 16u);
  BOOST_CHECK_GE(most, 12u);
  BOOST_CHECK_GT(waits, 0u);
  BOOST_CHECK_GT(engine().GetStatistics().delayed_writes, waits);
  CheckSound();
}

BOOST_AUTO_TEST_CASE(WritersSlowDownByWhatTheyWriteAndThenWait) {
  tuning.memstore_bytes = 4'000'000;
  Reopen(8);
  const auto micros_of = [&](size_t bytes) {
    const int64_t before = clock.MonotonicMicros();
    BOOST_REQUIRE_EQUAL(Put("row", "q", std::string(bytes, 'v')).ToString(), "OK");
    return clock.MonotonicMicros() - before;
  };
  for (uint64_t runs = 1; runs < 15; ++runs) {
    FlushRows(runs, 1);
    BOOST_REQUIRE_EQUAL(FileCount(), runs);
    int64_t micros = 0;
    for (int i = 0; i < 100; ++i) micros += micros_of(4000);
    if (runs < 10) {
      BOOST_CHECK_EQUAL(micros, 0);
    } else {
      // A tenth of a memstore, and each put is a few bytes more than its value.
      BOOST_CHECK_GE(micros, 97'000 << (runs - 10));
      BOOST_CHECK_LE(micros, 110'000 << (runs - 10));
    }
    const int64_t most = runs < 13 ? 16'000 : runs == 13 ? 64'000 : 256'000;
    const int64_t micros_of_large = micros_of(400'000);
    BOOST_CHECK_LE(micros_of_large, most);
    if (runs >= 10) BOOST_CHECK_GE(micros_of_large, most * 9 / 10);
  }
  FlushRows(15, 1);
  WriteBatch batch;
  batch.Put("t", "row", "d", "q", "v");
  BOOST_CHECK_EQUAL(
      engine().Write({.durability = Durability::kWritten, .no_wait = true}, batch).ToString(),
      "Busy: region 1 of table 't' has 15 runs of store files waiting to be merged");
  BOOST_CHECK_EQUAL(Put("row", "q", "v").ToString(), "OK");
  BOOST_CHECK_LE(FileCount(), 8u);
}

// Waiting for merges that cannot be would be for ever.
BOOST_AUTO_TEST_CASE(WritersDoNotWaitForMergesThatFail) {
  for (const Status& status : {Status::IoError("injected"), Status::NoSpace("injected")}) {
    for (uint64_t i = 0; i < 40; ++i) {
      FlushRows(i, 1);
      disk.control().InjectFault(
          {.operations = {DiskOperation::kCreate}, .sticky = true, .status = status});
      executor.Drain();  // Merges run here, flushes above.
      disk.control().ClearFaults();
    }
    BOOST_CHECK_GE(FileCount(), 40u);
    BOOST_CHECK(!engine().Info().read_only);
    // By hand it is tried, and from then on by itself.
    BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
    BOOST_CHECK_EQUAL(FileCount(), 1u);
    Reopen(8);
  }
}

BOOST_AUTO_TEST_CASE(ACloseMakesSmallMergesAndEndsLargeOnes) {
  for (uint64_t i = 0; i < 4; ++i) FlushRows(i * 100, 100, 12'000);  // 4.8 MB.
  Reopen(8);
  BOOST_CHECK_EQUAL(FileCount(), 4u);
  for (uint64_t i = 0; i < 4; ++i) FlushRows(i, 1);
  Reopen(8);
  BOOST_CHECK_EQUAL(FileCount(), 5u);
  CheckSound();
  // Nothing was due before the flush, and now all is.
  executor.Drain();
  FlushRows(0, 1);
  executor.Drain();
  BOOST_CHECK_EQUAL(FileCount(), 1u);
}

// A split ends a due merge first. Writers that wait for that one would wait for ever.
BOOST_AUTO_TEST_CASE(ASplitThatFailsLeavesTheMergeDue) {
  CheckThatTheMergeStaysDue([&] { return engine().Split("t", {}).status(); });
}

BOOST_AUTO_TEST_CASE(AMergeOfRegionsThatFailsLeavesTheMergeDue) {
  BOOST_REQUIRE(engine().Split("t", {.key = "2"}).has_value());
  CheckThatTheMergeStaysDue([&] { return engine().MergeRegions("t", {}).status(); });
}

// All regions together make no long close.
BOOST_AUTO_TEST_CASE(ACloseMergesNoMoreThanFewBytesOfAllRegions) {
  for (int table = 0; table < 3; ++table) FlushFour("large" + std::to_string(table), 450'000);
  Reopen(8);
  BOOST_CHECK_EQUAL(FileCount(), 1u + 1u + 4u);
}

// Nor do merges that would come in between of a larger one at other times.
BOOST_AUTO_TEST_CASE(MergesOfACloseDoNotGiveWay) {
  FlushFour("large", 900'000);
  for (int table = 0; table < 3; ++table) FlushFour("small" + std::to_string(table), 100'000);
  Reopen(8);
  BOOST_CHECK_EQUAL(FileCount(), 1u + 1u + 4u + 4u);
}

BOOST_AUTO_TEST_CASE(AMergeThatFailsAtACloseHarmsNothing) {
  for (const Status& status : {Status::IoError("injected"), Status::NoSpace("injected")}) {
    for (const DiskOperation operation :
         {DiskOperation::kCreate, DiskOperation::kWrite, DiskOperation::kDataSync}) {
      for (uint64_t i = 0; i < 4; ++i) FlushRows(i, 1);
      disk.control().InjectFault({.operations = {operation}, .status = status});
      log.clear();
      BOOST_CHECK_EQUAL(Close().ToString(), "OK");
      BOOST_CHECK(disk.control().has_struck());
      BOOST_CHECK(std::any_of(log.begin(), log.end(), [](const std::string& line) {
        return line.starts_with("merging at the close failed: ");
      }));
      disk.control().ClearFaults();
      Start();
      BOOST_CHECK_EQUAL(FileCount(), 4u);
      BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
      BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
      CheckSound();
      WriteBatch batch;
      for (uint64_t i = 0; i < 4; ++i) batch.DeleteRow("t", std::to_string(1'000'000 + i));
      BOOST_REQUIRE(Write(batch).ok());
      BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
      BOOST_REQUIRE_EQUAL(FileCount(), 0u);
    }
  }
}

// Files of 1 MiB join their run where their keys are all after its own.
BOOST_AUTO_TEST_CASE(ALoadInKeyOrderRewritesNothing) {
  tuning.join_bytes = 1 << 20;
  Reopen(8);
  const auto runs = [&] {
    std::set<uint32_t> numbers;
    const DatabaseInfo info = engine().Info();
    for (const FileInfo& file : info.tables[0].regions[0].files) numbers.insert(file.run);
    return numbers.size();
  };
  for (uint64_t i = 0; i < 40; ++i) FlushRows(100 * i, 100, 12'000);
  executor.Drain();
  BOOST_CHECK_EQUAL(FileCount(), 40u);
  BOOST_CHECK_EQUAL(runs(), 1u);
  BOOST_CHECK_EQUAL(Merges(), 0u);
  FlushRows(4000, 1);            // Too small to join,
  FlushRows(2000, 100, 12'000);  // and not after all others.
  BOOST_CHECK_EQUAL(runs(), 3u);
  FlushRows(5000, 100, 12'000);
  BOOST_CHECK_EQUAL(runs(), 3u);
  for (int life = 0; life < 2; ++life) {
    BOOST_CHECK_EQUAL(RowCount(), 4101u);
    CheckSound();
    Reopen(8);
  }
  // Small runs become one that has the size to join.
  for (uint64_t i = 0; i < 6; ++i) FlushRows(6000 + 50 * i, 50, 12'000);
  executor.Drain();
  BOOST_CHECK_GT(Merges(), 0u);
  BOOST_CHECK_LE(runs(), 5u);
  CheckSound();
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(runs(), 1u);
  BOOST_CHECK_EQUAL(RowCount(), 4401u);
}

// A flush joins the newest run while that is merged with older ones, which hold later keys.
BOOST_AUTO_TEST_CASE(AFileThatJoinedAnInputIsARunAfterTheMerge) {
  tuning.join_bytes = 0;
  auto flushing = std::make_shared<FlushDuringMerge>([&] { FlushRows(150, 10); });
  options.listener = flushing;
  Reopen(8);
  for (const uint64_t first : {500, 300, 200, 100}) FlushRows(first, 10);
  executor.Drain();
  BOOST_CHECK(flushing->has_flushed);
  options.listener = nullptr;
  for (int life = 0; life < 2; ++life) {
    BOOST_CHECK_EQUAL(RowCount(), 50u);
    BOOST_CHECK_EQUAL(FileCount(), 2u);
    CheckSound();
    Reopen(8);
  }
}

// What former lives left is merged without a flush, once it is more than an idle region may have.
BOOST_AUTO_TEST_CASE(AnOpenMergesWhatIsTooMuch) {
  Reopen(100);
  for (uint64_t i = 0; i < 8; ++i) FlushRows(i * 100, 100, 12'000);
  Reopen(8);
  executor.Drain();
  BOOST_CHECK_EQUAL(FileCount(), 8u);
  Reopen(100);
  FlushRows(900, 100, 12'000);
  Reopen(8);
  BOOST_CHECK_EQUAL(FileCount(), 9u);
  executor.Drain();
  BOOST_CHECK_EQUAL(FileCount(), 1u);
}

/// A table whose rows have `columns` columns of 100 bytes, of which one version is kept; then three
/// flushes replace the first column of some of them by a short value.
struct ReplacedRows : MergesFixture {
  ReplacedRows() {
    TableOptions table = SimpleTable(1);
    table.name = "u";
    BOOST_REQUIRE_EQUAL(engine().CreateTable(table).ToString(), "OK");
  }
  /// The files that are left.
  uint64_t FilesAfter(uint64_t columns, uint64_t replaced_each) {
    constexpr uint64_t kRows = 400;
    WriteBatch batch;
    for (uint64_t row = 0; row < kRows; ++row) {
      for (uint64_t column = 0; column < columns; ++column) {
        std::string value(100, 0);
        for (char& byte : value) byte = static_cast<char>(random.Below(256));
        batch.Put("u", std::to_string(1000 + row), "d", std::to_string(column), value);
      }
    }
    FlushBatch(batch);
    for (uint64_t flush = 0; flush < 3; ++flush) {
      WriteBatch update;
      for (uint64_t row = flush * replaced_each; row < (flush + 1) * replaced_each; ++row) {
        update.Put("u", std::to_string(1000 + row), "d", "0", "");
      }
      FlushBatch(update);
    }
    const DatabaseInfo info = engine().Info();
    return info.tables[1].regions[0].files.size();
  }
  void FlushBatch(const WriteBatch& batch) {
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().Flush("u").ToString(), "OK");
    executor.Drain();
  }
};

// By their bytes they would be left alone.
BOOST_FIXTURE_TEST_CASE(RowsThatAreReplacedAreMerged, ReplacedRows) {
  BOOST_TEST(FilesAfter(1, 60) == 1u);
  CheckSound();
}

BOOST_FIXTURE_TEST_CASE(FewReplacedRowsAreLeftAlone, ReplacedRows) {
  BOOST_TEST(FilesAfter(1, 30) == 4u);
}

// Most of what they have is alive.
BOOST_FIXTURE_TEST_CASE(RowsThatAreReplacedInPartAreLeftAlone, ReplacedRows) {
  BOOST_TEST(FilesAfter(8, 60) == 4u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
