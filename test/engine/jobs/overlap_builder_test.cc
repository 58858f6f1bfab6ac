// How an engine builds the overlaps of its files after flushes and compactions, what queries make
// of them, and what happens where they are missing.
#define BOOST_TEST_DYN_LINK
#include <tandem/event_listener.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "engine/region/overlaps.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr int kRows = 40;
const Predicate kIsOne = Predicate::Equal("c", "1");

/// Notes the ends of flushes and the pairs that are built.
struct OrderListener final : EventListener {
  void OnFlushEnd(const FlushEvent&) override { order += 'F'; }
  void OnOverlapsBuilt(const OverlapsEvent&) override {
    order += 'B';
    if (const auto then = std::exchange(when_built, nullptr)) then();
  }
  std::string order;
  std::function<void()> when_built;  // Called once.
};

struct OverlapFixture : TestEngine {
  OverlapFixture() {
    tuning.compaction_runs = 100;
    options.listener = listener;
  }

  void Create() {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable()).ToString(), "OK");
  }
  static std::string Key(int row) { return "row" + std::to_string(100 + row); }
  /// Puts every step-th row and flushes.
  void Fill(int step, std::string_view column, std::string_view value) {
    for (int row = 0; row < kRows; row += step) {
      BOOST_REQUIRE_EQUAL(Put(Key(row), column, value).ToString(), "OK");
    }
    BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  }
  /// An old file of ones, and a newer one in which every 4th row is a two.
  void FillTwice() {
    Create();
    Fill(1, "c", "1");
    executor.Drain();
    Fill(4, "c", "2");
  }
  /// A row that all files have; its memstore waits for its flush.
  void FillMemstore() {
    BOOST_REQUIRE_EQUAL(Put(Key(0), "large", std::string(100'000, 'x')).ToString(), "OK");
  }
  Explanation Explained(const ReadOptions& options = {}) {
    QueryOptions query;
    query.use_index = "by_c";
    const auto explained = (**this).Explain(options, "t", kIsOne, query);
    BOOST_REQUIRE_EQUAL(explained.status().ToString(), "OK");
    const auto count = (**this).Count(options, "t", kIsOne, query);
    BOOST_REQUIRE_EQUAL(count.status().ToString(), "OK");
    BOOST_CHECK_EQUAL(*count, explained->rows);
    return *explained;
  }
  uint64_t OverlapBytes() { return (**this).Info().memory.overlap_bytes; }
  bool LogHas(std::string_view text) {
    return std::any_of(log.begin(), log.end(), [text](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  }

  const std::shared_ptr<OrderListener> listener = std::make_shared<OrderListener>();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(OverlapWork, OverlapFixture)

BOOST_AUTO_TEST_CASE(FiltersFindSingleSourceRowsUntilTheOverlapsAreBuilt) {
  FillTwice();
  const Explanation before = Explained();
  BOOST_CHECK_EQUAL(before.rows, 30u);
  BOOST_CHECK_EQUAL(before.single_source_by_bitmap, 0u);
  BOOST_CHECK_EQUAL(before.single_source_by_filter, 30u);
  BOOST_CHECK_EQUAL(before.merged_rows, 10u);
  executor.Drain();
  const Explanation after = Explained();
  BOOST_CHECK_EQUAL(after.rows, 30u);
  BOOST_CHECK_EQUAL(after.single_source_by_bitmap, 30u);
  BOOST_CHECK_EQUAL(after.single_source_by_filter, 0u);
  BOOST_CHECK_EQUAL(after.merged_rows, 0u);  // Their postings are dead.
  BOOST_CHECK_EQUAL(after.candidate_rows, 30u);
}

BOOST_AUTO_TEST_CASE(APutOfAnotherColumnKillsNothingAndIsMerged) {
  Create();
  Fill(1, "c", "1");
  Fill(4, "other", "x");
  executor.Drain();
  const Explanation explained = Explained();
  BOOST_CHECK_EQUAL(explained.rows, 40u);
  BOOST_CHECK_EQUAL(explained.single_source_by_bitmap, 30u);
  BOOST_CHECK_EQUAL(explained.merged_rows, 10u);
}

BOOST_AUTO_TEST_CASE(ASnapshotFromBeforeSeesWhatIsDeadNow) {
  Create();
  Fill(1, "c", "1");
  Result<Snapshot> snapshot = (**this).TakeSnapshot();
  Fill(4, "c", "2");
  executor.Drain();
  ReadOptions options;
  options.snapshot = &*snapshot;
  BOOST_CHECK_EQUAL(Explained(options).rows, 40u);
  BOOST_CHECK_EQUAL(Explained().rows, 30u);
  ReadOptions past;
  past.as_of = clock.WallMicros();
  BOOST_CHECK_EQUAL(Explained(past).single_source_by_bitmap, 0u);
}

BOOST_AUTO_TEST_CASE(ACompactedFileGetsOverlapsOfItsOwn) {
  FillTwice();
  executor.Drain();
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Put(Key(1), "c", "3").ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Put(Key(38), "c", "3").ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  executor.Drain();
  const Explanation explained = Explained();
  BOOST_CHECK_EQUAL(explained.rows, 28u);
  BOOST_CHECK_EQUAL(explained.single_source_by_bitmap, 28u);
}

BOOST_AUTO_TEST_CASE(AFlushDuringTheWalkIsSeenByTheNext) {
  FillTwice();
  Fill(2, "c", "3");  // The job that waits finds three files.
  BOOST_CHECK(executor.RunOne());
  const Explanation explained = Explained();
  BOOST_CHECK_EQUAL(explained.rows, 20u);
  BOOST_CHECK_EQUAL(explained.single_source_by_bitmap, 20u);
  BOOST_CHECK_EQUAL(explained.single_source_by_filter, 0u);
}

BOOST_AUTO_TEST_CASE(AFlushThatIsDueComesBeforeABuild) {
  FillTwice();  // A build waits.
  FillMemstore();
  executor.Drain();
  BOOST_CHECK_EQUAL(listener->order, "FFFBB");
}

// The first pairs are built, then a memstore becomes full.
BOOST_AUTO_TEST_CASE(AFlushThatBecomesDueComesBeforeTheRestOfABuild) {
  FillTwice();
  Fill(2, "c", "3");
  listener->when_built = [this] { FillMemstore(); };
  executor.Drain();
  BOOST_CHECK_EQUAL(listener->order, "FFFBFBB");
  const Explanation explained = Explained();
  BOOST_CHECK_EQUAL(explained.rows, 20u);
  BOOST_CHECK_EQUAL(explained.single_source_by_bitmap, 20u);
}

BOOST_AUTO_TEST_CASE(OverlapsAreBuiltAnewAfterAnOpen) {
  FillTwice();
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  options.read_only = true;
  for (const char* how : {"read-only", "for writing"}) {
    BOOST_TEST_CONTEXT(how) {
      BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
      BOOST_CHECK_EQUAL(Explained().single_source_by_bitmap, 0u);
      executor.Drain();
      BOOST_CHECK_EQUAL(Explained().single_source_by_bitmap, 30u);
      BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
      options.read_only = false;
    }
  }
}

BOOST_AUTO_TEST_CASE(WithoutMemoryTheFilterPathServes) {
  tuning.overlap_bytes = 100;
  FillTwice();
  executor.Drain();
  const Explanation explained = Explained();
  BOOST_CHECK_EQUAL(explained.rows, 30u);
  BOOST_CHECK_EQUAL(explained.single_source_by_filter, 30u);
  BOOST_CHECK(log.empty());
}

BOOST_AUTO_TEST_CASE(AReadThatFailsIsLoggedAndTriedAfterTheNextFlush) {
  FillTwice();
  disk.control().InjectFault({.operations = {DiskOperation::kRead}, .sticky = true});
  executor.Drain();
  disk.control().ClearFaults();
  BOOST_CHECK(LogHas("share failed: "));
  const Explanation explained = Explained();
  BOOST_CHECK_EQUAL(explained.rows, 30u);
  BOOST_CHECK_EQUAL(explained.single_source_by_bitmap, 0u);
  Fill(40, "c", "2");
  executor.Drain();
  BOOST_CHECK_EQUAL(Explained().single_source_by_bitmap, 30u);
}

BOOST_AUTO_TEST_CASE(JobsThatWaitDieWithTheEngine) {
  FillTwice();
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  executor.Drain();
  BOOST_CHECK(log.empty());
}

BOOST_AUTO_TEST_CASE(CumulativeCountsServeFilesThatShareNoRow) {
  Create();
  Fill(2, "c", "1");  // Even rows, then odd ones: the keys interleave.
  for (int row = 1; row < kRows; row += 2) {
    BOOST_REQUIRE_EQUAL(Put(Key(row), "c", "1").ToString(), "OK");
  }
  BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  executor.Drain();
  BOOST_CHECK_EQUAL(Explained().single_source_by_bitmap, 40u);
}

BOOST_AUTO_TEST_CASE(WhatAFlushRecordsLivesUntilTheWalk) {
  FillTwice();
  BOOST_CHECK_GT(OverlapBytes(), 0u);
  executor.Drain();
  const uint64_t pairs = OverlapBytes();
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  executor.Drain();  // From the file.
  BOOST_CHECK_EQUAL(OverlapBytes(), pairs);
}

BOOST_AUTO_TEST_CASE(NothingIsRecordedThatNoOlderFileMayHold) {
  Create();
  Fill(1, "c", "1");
  BOOST_CHECK_EQUAL(OverlapBytes(), 0u);  // There is no older file,
  BOOST_REQUIRE_EQUAL(Put("row9", "c", "1").ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(OverlapBytes(), 0u);  // or its keys are others.
}

BOOST_AUTO_TEST_CASE(ARecordGoesWithItsFile) {
  FillTwice();
  Result<Cursor> reader = (**this).Scan({}, "t", {});  // It keeps the files.
  BOOST_CHECK(reader->Next());
  BOOST_REQUIRE_EQUAL((**this).Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(OverlapBytes(), 0u);
}

BOOST_AUTO_TEST_CASE(AWalkThatFailsLetsGoOfTheRecord) {
  FillTwice();
  disk.control().InjectFault({.operations = {DiskOperation::kRead}, .sticky = true});
  executor.Drain();
  disk.control().ClearFaults();
  BOOST_CHECK(LogHas("share failed: "));
  BOOST_CHECK_EQUAL(OverlapBytes(), 0u);
}

BOOST_AUTO_TEST_CASE(AFlushThatFailsLeavesNoRecord) {
  Create();
  Fill(1, "c", "1");
  executor.Drain();
  for (int row = 0; row < kRows; row += 4) {
    BOOST_REQUIRE_EQUAL(Put(Key(row), "c", "2").ToString(), "OK");
  }
  const uint64_t used = disk.used_bytes();
  uint64_t failures = 0;
  for (uint64_t space = 0; space < 200'000; space += 300) {
    disk.control().SetSpaceBudget(used + space);
    const Status status = (**this).Flush("t");
    if (status.ok()) break;
    BOOST_REQUIRE(status.code() == StatusCode::kNoSpace);
    BOOST_REQUIRE_EQUAL(OverlapBytes(), 0u);
    ++failures;
  }
  BOOST_CHECK_GT(failures, 5u);
  disk.control().SetSpaceBudget(std::nullopt);
  BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  executor.Drain();
  BOOST_CHECK_EQUAL(Explained().single_source_by_bitmap, 30u);
}

BOOST_AUTO_TEST_CASE(EachFileOfARunHasItsRecord) {
  tuning.file_rows = 3;
  FillTwice();
  BOOST_CHECK_GT(FileCount(), 15u);
  BOOST_CHECK_GT(OverlapBytes(), 0u);
  executor.Drain();
  const uint64_t pairs = OverlapBytes();  // Reads add what they count.
  const Explanation explained = Explained();
  BOOST_CHECK_EQUAL(explained.rows, 30u);
  BOOST_CHECK_EQUAL(explained.merged_rows, 0u);
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  executor.Drain();
  BOOST_CHECK_EQUAL(OverlapBytes(), pairs);
  BOOST_CHECK_EQUAL(Explained().single_source_by_bitmap, explained.single_source_by_bitmap);
}

// Whatever the memory, a flush ends with the bitmaps that an open would build.
BOOST_AUTO_TEST_CASE(ARecordMakesRoomForBitmaps) {
  uint64_t with_record = 0;
  for (uint64_t bytes = 1000; bytes < 6000; bytes += 100) {
    BOOST_TEST_CONTEXT(bytes << " bytes") {
      OverlapFixture other;
      other.tuning.overlap_bytes = bytes;
      other.Create();
      for (int file = 0; file < 4; ++file) {
        other.Fill(1, "c", "1");
        other.executor.Drain();
      }
      const uint64_t before = other.OverlapBytes();
      other.Fill(4, "c", "2");
      BOOST_CHECK_LE(other.OverlapBytes() - before, bytes / 4);
      with_record += other.OverlapBytes() > before;
      other.executor.Drain();
      const uint64_t built = other.OverlapBytes();
      BOOST_CHECK_LE(built, bytes);
      BOOST_REQUIRE_EQUAL(other.Close().ToString(), "OK");
      BOOST_REQUIRE_EQUAL(other.Open().ToString(), "OK");
      other.executor.Drain();
      BOOST_CHECK_EQUAL(other.OverlapBytes(), built);
    }
  }
  BOOST_CHECK_GT(with_record, 10u);
}

BOOST_AUTO_TEST_CASE(APartOfTheMemoryIsBoundedTwice) {
  const auto whole = std::make_shared<engine::OverlapMemory>(100);
  const auto part = std::make_shared<engine::OverlapMemory>(40, whole);
  engine::OverlapCharge charge(part, 0);
  BOOST_CHECK(charge.GrowTo(40));
  BOOST_CHECK(!charge.GrowTo(41));
  BOOST_CHECK_EQUAL(whole->used_bytes(), 40u);
  charge.ShrinkTo(10);
  BOOST_CHECK_EQUAL(whole->used_bytes(), 10u);
  BOOST_CHECK(whole->Reserve(80));
  BOOST_CHECK(!charge.GrowTo(30));
  BOOST_CHECK_EQUAL(part->used_bytes(), 10u);
  BOOST_CHECK_EQUAL(whole->used_bytes(), 90u);
  whole->Release(80);
}

BOOST_AUTO_TEST_CASE(MemoryIsReservedWholeOrNotAtAll) {
  const auto memory = std::make_shared<engine::OverlapMemory>(100);
  BOOST_CHECK(memory->Reserve(60));
  BOOST_CHECK(!memory->Reserve(41));
  BOOST_CHECK(!memory->Reserve(UINT64_MAX));
  {
    engine::OverlapCharge charge(memory, 60);
    charge.ShrinkTo(10);
    BOOST_CHECK_EQUAL(memory->used_bytes(), 10u);
    charge.ShrinkTo(50);
    BOOST_CHECK_EQUAL(memory->used_bytes(), 10u);
    engine::OverlapCharge moved = std::move(charge);
    BOOST_CHECK_EQUAL(memory->used_bytes(), 10u);
  }
  BOOST_CHECK_EQUAL(memory->used_bytes(), 0u);
  BOOST_CHECK(memory->Reserve(100));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
