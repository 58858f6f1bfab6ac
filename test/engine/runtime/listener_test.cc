// What a listener receives, on one thread and in a fixed order, and that nothing it does harms the
// engine.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tandem/event_listener.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

/// Records the events it receives, then does what the test asks for.
class Recorder final : public EventListener {
 public:
  void OnFlushBegin(const FlushEvent& event) override {
    std::ostringstream text;
    text << "flush of " << event.table << "/" << event.region_id << ", " << event.memstore_rows
         << " rows";
    BOOST_CHECK_GT(event.memstore_bytes, 0u);
    Add(text.str());
  }
  void OnFlushEnd(const FlushEvent& event) override {
    std::ostringstream text;
    text << "flushed " << event.rows << " rows to " << event.files << " files: " << event.status;
    BOOST_CHECK_EQUAL(event.bytes > 0, event.files > 0);
    Add(text.str());
  }
  void OnCompactionBegin(const CompactionEvent& event) override {
    std::ostringstream text;
    text << "compaction of " << event.table << "/" << event.region_id << ", " << event.input_files
         << " files, " << event.input_rows << " rows";
    BOOST_CHECK_GT(event.input_bytes, 0u);
    Add(text.str());
  }
  void OnCompactionEnd(const CompactionEvent& event) override {
    std::ostringstream text;
    text << "compacted to " << event.rows << " rows in " << event.files
         << " files: " << event.status;
    BOOST_CHECK_EQUAL(event.bytes > 0, event.files > 0);
    Add(text.str());
  }
  void OnStallBegin(const StallEvent& event) override {
    Add("stall: " + std::string(event.reason.substr(0, event.reason.find(' '))));
  }
  void OnStallEnd(const StallEvent& event) override {
    BOOST_CHECK(!event.reason.empty());
    Add("stall ended");
  }
  void OnOverlapsBuilt(const OverlapsEvent& event) override {
    BOOST_CHECK_GT(event.bytes, 0u);
    Add("overlaps of " + std::to_string(event.pairs) + " pairs");
  }
  void OnReadOnly(const Status& reason) override {
    Add("read-only: " + std::string(StatusCodeName(reason.code())));
  }
  void OnLogLine(std::string_view line) override { Add("line: " + std::string(line)); }

  std::vector<std::string> told;
  std::function<void()> then = [] {};

 private:
  void Add(std::string text) {
    told.push_back(std::move(text));
    then();
  }
};

struct ListenerFixture : TestEngine {
  ListenerFixture() {
    options.listener = recorder;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable()).ToString(), "OK");
  }
  /// What was received since the last call.
  std::string Told() {
    std::string text;
    for (const std::string& event : std::exchange(recorder->told, {})) text += event + "\n";
    return text;
  }
  void PutAndFlush(std::string_view row) {
    BOOST_REQUIRE_EQUAL(Put(row, "c", "1").ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  }

  const std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
};

BOOST_FIXTURE_TEST_SUITE(Listener, ListenerFixture)

BOOST_AUTO_TEST_CASE(FlushesCompactionsAndOverlapsAreTold) {
  PutAndFlush("a");
  PutAndFlush("a");
  BOOST_CHECK_EQUAL(Told(),
                    "flush of t/1, 1 rows\nflushed 1 rows to 1 files: OK\n"
                    "flush of t/1, 1 rows\nflushed 1 rows to 1 files: OK\n");
  executor.Drain();
  BOOST_CHECK_EQUAL(Told(), "overlaps of 1 pairs\n");
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(Told(),
                    "compaction of t/1, 2 files, 2 rows\ncompacted to 1 rows in 1 files: OK\n");

  const Statistics statistics = (**this).GetStatistics();
  BOOST_CHECK_EQUAL(statistics.flushes, 2u);
  BOOST_CHECK_EQUAL(statistics.flushed_rows, 2u);
  BOOST_CHECK_EQUAL(statistics.compactions, 1u);
  BOOST_CHECK_EQUAL(statistics.compacted_rows, 1u);
  BOOST_CHECK_GT(statistics.compaction_input_bytes, statistics.compacted_bytes);
  BOOST_CHECK_EQUAL(statistics.overlap_pairs, 1u);
  BOOST_CHECK_EQUAL(statistics.failed_flushes + statistics.failed_compactions, 0u);
}

BOOST_AUTO_TEST_CASE(CallsAreCounted) {
  BOOST_REQUIRE_EQUAL(Put("a", "c", "1").ToString(), "OK");
  WriteBatch batch;
  batch.Put("t", "b", "d", "c", "2");
  batch.DeleteRow("t", "a");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  BOOST_CHECK_EQUAL(Value("b", "c"), "2");
  BOOST_CHECK_EQUAL(Rows(), "b{c=2}");
  BOOST_CHECK_EQUAL(*(**this).Count({}, "t", {}, {}), 1u);
  BOOST_CHECK((**this).Query({}, "t", {}, {}).has_value());
  const Statistics statistics = (**this).GetStatistics();
  BOOST_CHECK_EQUAL(statistics.batches, 2u);
  BOOST_CHECK_EQUAL(statistics.operations, 3u);
  BOOST_CHECK_GT(statistics.batch_bytes, batch.size_bytes());
  BOOST_CHECK_EQUAL(statistics.gets, 1u);
  BOOST_CHECK_EQUAL(statistics.scans, 1u);
  BOOST_CHECK_EQUAL(statistics.queries, 1u);
  BOOST_CHECK_EQUAL(statistics.counts, 1u);
  BOOST_CHECK_EQUAL(statistics.last_sequence, 3u);
  BOOST_CHECK_GT(statistics.log_bytes, 0u);
  BOOST_CHECK_GT(statistics.memory.memstore_bytes, 0u);

  BOOST_REQUIRE_EQUAL((**this).Close().ToString(), "OK");
  const Statistics after = (**this).GetStatistics();
  BOOST_CHECK_EQUAL(after.operations, 3u);
  BOOST_CHECK_EQUAL(after.log_bytes + after.memory.memstore_bytes, 0u);
}

BOOST_AUTO_TEST_CASE(WhoeverWaitsForFlushesIsTold) {
  const std::string value(20'000, 'v');
  for (int i = 0; (**this).GetStatistics().stalls == 0; ++i) {
    BOOST_REQUIRE_LT(i, 1000);
    BOOST_REQUIRE_EQUAL(Put("row" + std::to_string(i), "x", value).ToString(), "OK");
  }
  const std::string told = Told();
  BOOST_CHECK_MESSAGE(told.starts_with("stall: ") && told.find("flush of") != std::string::npos &&
                          told.ends_with("stall ended\n"),
                      told);
  BOOST_CHECK_EQUAL((**this).GetStatistics().stalls, 1u);
}

BOOST_AUTO_TEST_CASE(AFailedFlushAndTheReadOnlyStateAreTold) {
  BOOST_REQUIRE_EQUAL(Put("a", "c", "1").ToString(), "OK");
  disk.control().InjectFault({.operations = {DiskOperation::kDataSync}, .sticky = true});
  BOOST_CHECK(!(**this).Flush("t").ok());
  const std::string told = Told();
  BOOST_CHECK_MESSAGE(
      told.starts_with("flush of t/1, 1 rows\n"
                       "line: the database is read-only from now on: ") &&
          told.find("\nread-only: ReadOnly\nflushed 0 rows to 0 files: ") != std::string::npos,
      told);
  BOOST_CHECK_EQUAL((**this).GetStatistics().failed_flushes, 1u);
  BOOST_CHECK_EQUAL((**this).GetStatistics().flushes, 0u);
  BOOST_CHECK_EQUAL(Put("b", "c", "1").code(), StatusCode::kReadOnly);
  BOOST_CHECK_EQUAL(Value("a", "c"), "1");
  const std::string closed = (**this).Close().ToString();
  BOOST_CHECK_MESSAGE(closed.starts_with("IoError: closed, but not cleanly"), closed);
  BOOST_CHECK_EQUAL((**this).Close().code(), StatusCode::kClosed);
}

BOOST_AUTO_TEST_CASE(LinesGoToTheListenerAndToTheLog) {
  BOOST_REQUIRE_EQUAL(Put("a", "c", "1").ToString(), "OK");
  Kill();
  Told();
  log.clear();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(log.size(), 1u);
  BOOST_CHECK(log[0].starts_with("recovered 1 operations"));
  BOOST_CHECK_EQUAL(Told(), "line: " + log[0] + "\n");
}

BOOST_AUTO_TEST_CASE(WhatAListenerThrowsHarmsNothing) {
  recorder->then = [] { throw std::runtime_error("a listener that fails"); };
  options.log = [](std::string_view) { throw 7; };
  BOOST_REQUIRE_EQUAL(Put("a", "c", "0").ToString(), "OK");
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL((**this).GetStatistics().listener_failures, 2u);  // One line, two sinks.
  recorder->told.clear();
  PutAndFlush("a");
  PutAndFlush("b");
  executor.Drain();
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "a{c=1} b{c=1}");
  BOOST_CHECK_EQUAL((**this).GetStatistics().listener_failures, recorder->told.size() + 2);
  BOOST_CHECK_EQUAL(Close().ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(AListenerMayRead) {
  int reads = 0;
  recorder->then = [&] {
    const auto row = (**this).Get({}, "t", "a");
    BOOST_CHECK(row.has_value() || row.error().code() == StatusCode::kClosed);
    const auto count = (**this).Count({}, "t", *Predicate::Parse("c = '1'"), {});
    BOOST_CHECK(count.has_value() || count.error().code() == StatusCode::kClosed);
    (void)(**this).Info();
    reads += (**this).GetStatistics().gets > 0 ? 1 : 0;
  };
  PutAndFlush("a");
  PutAndFlush("b");
  executor.Drain();
  const std::string value(20'000, 'v');
  for (int i = 0; (**this).GetStatistics().stalls == 0; ++i) {
    BOOST_REQUIRE_EQUAL(Put("row" + std::to_string(i), "x", value).ToString(), "OK");
  }
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL((**this).Close().ToString(), "OK");
  BOOST_CHECK_GE(reads, 10);
  recorder->then = [] {};
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
