// A merge gives way to smaller ones that come due while it runs: above it in its region, or in
// other regions.
#define BOOST_TEST_DYN_LINK
#include <tandem/event_listener.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

/// Calls what a test wants when a merge begins, and writes down "begin 1", "end 1 OK" by the number
/// of its files.
struct Merges final : EventListener {
  void OnCompactionBegin(const CompactionEvent& event) override {
    events.push_back("begin " + std::to_string(event.input_files) + " of " +
                     std::string(event.table));
    if (begun < on_begin.size()) on_begin[begun++]();
  }
  void OnCompactionEnd(const CompactionEvent& event) override {
    events.push_back("end " + std::to_string(event.input_files) + " of " +
                     std::string(event.table) +
                     (event.status.ok() ? "" : ": " + event.status.ToString()));
    if (auto end = std::exchange(on_end, nullptr)) end();
  }
  std::function<void()> on_end;                 // Of the first one that ends.
  std::vector<std::function<void()>> on_begin;  // The first merge, the second ...
  size_t begun = 0;
  std::vector<std::string> events;
};

struct WithinFixture : TestEngine {
  WithinFixture() {
    options.listener = merges;
    tuning.compaction_runs = engine::Tuning().compaction_runs;
    tuning.memstore_bytes = 16 << 20;
    tuning.memstores_total_bytes = 64 << 20;
    tuning.log_segment_bytes = 16 << 20;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().CreateTable(SimpleTable(2)).ToString(), "OK");
  }
  engine::Engine& engine() { return **this; }

  /// A run of rows that zstd cannot make smaller. The index has three values.
  void FlushRows(uint64_t first, uint64_t count, const std::string& table = "t") {
    WriteBatch batch;
    for (uint64_t i = first; i < first + count; ++i) {
      std::string value(200, 0);
      for (char& byte : value) byte = static_cast<char>(random.Below(256));
      const std::string row = std::to_string(1'000'000 + i);
      batch.Put(table, row, "d", "q", value);
      batch.Put(table, row, "d", "c", std::to_string(random.Below(3)));
      if (table == "t") rows[row] = value;
    }
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().Flush(table).ToString(), "OK");
  }
  void FlushFour(uint64_t first, const std::string& table = "t") {
    for (uint64_t i = 0; i < 4; ++i) FlushRows(first + 5 * i, 10, table);
  }
  /// A run in "t", and a due merge of the table "u".
  void PrepareTwoTables() {
    TableOptions other = SimpleTable(2);
    other.name = "u";
    BOOST_REQUIRE(engine().CreateTable(other).ok());
    FlushRows(0, 1000);
    FlushFour(0, "u");
  }
  /// The rows are those that were written, and the index agrees with them.
  void CheckRows() {
    std::map<std::string, std::string> found;
    std::map<std::string, uint64_t> by_value;
    Result<Cursor> cursor = engine().Scan({}, "t", {});
    while (cursor->Next()) {
      const RowView row = cursor->row();
      for (const Cell& cell : row.cells()) {
        if (cell.qualifier == "q") found[std::string(row.key())] = cell.value;
        if (cell.qualifier == "c") ++by_value[std::string(cell.value)];
      }
    }
    BOOST_REQUIRE(cursor->status().ok());
    BOOST_CHECK(found == rows);
    for (const auto& [value, count] : by_value) {
      BOOST_CHECK_EQUAL(*engine().Count({}, "t", Predicate::Equal("c", value), {}), count);
    }
    const Result<VerifyReport> report = engine().Verify(true);
    BOOST_REQUIRE(report.has_value());
    for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  }

  std::shared_ptr<Merges> merges = std::make_shared<Merges>();
  std::map<std::string, std::string> rows;
  TestRandom random{"merges within"};
};

using Events = std::vector<std::string>;

BOOST_FIXTURE_TEST_SUITE(MergesWithinMerges, WithinFixture)

BOOST_AUTO_TEST_CASE(RunsAboveAreMergedMeanwhile) {
  FlushRows(0, 1000);
  FlushRows(495, 10);
  merges->on_begin = {[&] { FlushFour(500); }};
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_TEST(merges->events == (Events{"begin 2 of t", "begin 4 of t", "end 4 of t", "end 2 of t"}),
             boost::test_tools::per_element());
  BOOST_CHECK_EQUAL(FileCount(), 2u);
  CheckRows();
  executor.Drain();  // The overlaps of what both wrote.
  CheckRows();
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(FileCount(), 2u);
  CheckRows();
}

// The one in between is of the same region, and so is the one that it gives way to.
BOOST_AUTO_TEST_CASE(AMergeWithinAMergeGivesWayToo) {
  FlushRows(0, 2000);
  merges->on_begin = {[&] {
                        for (uint64_t i = 0; i < 4; ++i) FlushRows(100 * i, 150);
                      },
                      [&] { FlushFour(500); }};
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_TEST(merges->events == (Events{"begin 1 of t", "begin 4 of t", "begin 4 of t", "end 4 of t",
                                       "end 4 of t", "end 1 of t"}),
             boost::test_tools::per_element());
  BOOST_CHECK_EQUAL(FileCount(), 3u);
  CheckRows();
}

BOOST_AUTO_TEST_CASE(MergesOfOtherRegionsComeInBetween) {
  PrepareTwoTables();
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_TEST(merges->events == (Events{"begin 1 of t", "begin 4 of u", "end 4 of u", "end 1 of t"}),
             boost::test_tools::per_element());
  executor.Drain();
  BOOST_CHECK_EQUAL(merges->events.size(), 4u);
  CheckRows();
}

// The files that are flushed meanwhile have the index.
BOOST_AUTO_TEST_CASE(ABuildOfAnIndexGivesWay) {
  FlushRows(0, 1000);
  executor.Drain();
  merges->on_begin = {[&] { FlushFour(500); }};
  BOOST_REQUIRE_EQUAL(
      engine().CreateIndex("t", {.name = "by_q", .columns = {{"d", "q"}}}).ToString(), "OK");
  executor.Drain();
  BOOST_TEST(merges->events == (Events{"begin 1 of t", "begin 4 of t", "end 4 of t", "end 1 of t"}),
             boost::test_tools::per_element());
  BOOST_CHECK_EQUAL(FileCount(), 2u);
  CheckRows();
  for (const auto& [row, value] : rows) {
    BOOST_REQUIRE_EQUAL(*engine().Count({}, "t", Predicate::Equal("q", value), {}), 1u);
  }
}

// What is as large waits.
BOOST_AUTO_TEST_CASE(ALargeMergeDoesNotComeInBetween) {
  FlushRows(0, 400);
  merges->on_begin = {[&] {
    for (uint64_t i = 0; i < 4; ++i) FlushRows(100 * i, 90);
  }};
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_TEST(merges->events == (Events{"begin 1 of t", "end 1 of t"}),
             boost::test_tools::per_element());
  executor.Drain();
  BOOST_CHECK_EQUAL(FileCount(), 1u);
  CheckRows();
}

BOOST_AUTO_TEST_CASE(ATableThatGoesEndsBoth) {
  FlushRows(0, 1000);
  merges->on_begin = {[&] { FlushFour(500); },
                      [&] { BOOST_REQUIRE(engine().DropTable("t").ok()); }};
  BOOST_CHECK_EQUAL(engine().Compact("t").code(), StatusCode::kNotFound);
  BOOST_REQUIRE_EQUAL(merges->events.size(), 4u);
  BOOST_CHECK(merges->events[2].starts_with("end 4 of t: Cancelled"));
  BOOST_CHECK(merges->events[3].starts_with("end 1 of t: Cancelled"));
  executor.Drain();
  BOOST_CHECK_EQUAL(merges->events.size(), 4u);
}

// One that is ended for something else is no failure: others come in between later.
BOOST_AUTO_TEST_CASE(AMergeInBetweenThatIsCancelledEndsAlone) {
  PrepareTwoTables();
  merges->on_begin = {[] {},
                      [&] {
                        BOOST_REQUIRE(engine().DropTable("u").ok());
                        FlushFour(500);
                      }};
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(merges->events.size(), 6u);
  BOOST_CHECK(merges->events[2].starts_with("end 4 of u: Cancelled"));
  BOOST_CHECK_EQUAL(merges->events[4], "end 4 of t");
  BOOST_CHECK_EQUAL(merges->events[5], "end 1 of t");
  CheckRows();
}

// What they hide is in a file that is being merged.
BOOST_AUTO_TEST_CASE(MarkersStayInAMergeInBetween) {
  FlushRows(0, 1000);
  const Result<Snapshot> snapshot = engine().TakeSnapshot();
  merges->on_begin = {[&] {
    for (int i = 0; i < 4; ++i) {
      const std::string row = std::to_string(1'000'500 + i);
      WriteBatch batch;
      batch.DeleteRow("t", row);
      BOOST_REQUIRE(Write(batch).ok());
      rows.erase(row);
      FlushRows(600 + 5 * static_cast<uint64_t>(i), 3);
    }
  }};
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(merges->events.size(), 4u);
  BOOST_CHECK_EQUAL(FileCount(), 2u);
  CheckRows();
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  CheckRows();
  ReadOptions then;
  then.snapshot = &*snapshot;
  BOOST_CHECK_EQUAL(*engine().Count(then, "t", Predicate(), {}), 1000u);
}

// What is merged in between joins the run that is being merged, and is a run when that has ended.
BOOST_AUTO_TEST_CASE(AMergeInBetweenMayJoinTheRunBeforeIt) {
  tuning.join_bytes = 8000;
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  FlushRows(0, 1000);
  const auto runs = [&] {
    std::set<uint32_t> numbers;
    const DatabaseInfo info = engine().Info();
    for (const FileInfo& file : info.tables[0].regions[0].files) numbers.insert(file.run);
    return numbers.size();
  };
  size_t joined = 0;
  merges->on_begin = {[&] { FlushFour(5000); }, [] {}};
  merges->on_end = [&] { joined = runs(); };
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_TEST(merges->events == (Events{"begin 1 of t", "begin 4 of t", "end 4 of t", "end 1 of t"}),
             boost::test_tools::per_element());
  BOOST_CHECK_EQUAL(joined, 1u);
  for (int life = 0; life < 2; ++life) {
    BOOST_CHECK_EQUAL(FileCount(), 2u);
    CheckRows();
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  }
}

// It is tried again on its own.
BOOST_AUTO_TEST_CASE(AFailureInBetweenFailsNothingElse) {
  FlushRows(0, 1000);
  merges->on_begin = {[&] { FlushFour(500); },
                      [&] {
                        disk.control().InjectFault({.operations = {DiskOperation::kCreate},
                                                    .status = Status::IoError("injected")});
                      }};
  BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_CHECK(disk.control().has_struck());
  BOOST_REQUIRE_EQUAL(merges->events.size(), 4u);
  BOOST_CHECK_EQUAL(merges->events[3], "end 1 of t");
  BOOST_CHECK_EQUAL(FileCount(), 5u);
  CheckRows();
  executor.Drain();
  BOOST_CHECK_EQUAL(FileCount(), 2u);
  CheckRows();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
