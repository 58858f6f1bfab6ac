// Writes that read unlogged data (engine/region/unlogged.h): whatever a crash leaves, a batch is
// there as a whole or not at all.
#define BOOST_TEST_DYN_LINK
#include "engine/region/unlogged.h"

#include <boost/test/unit_test.hpp>
#include <set>
#include <thread>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

using engine::LoggingHold;
using engine::Unlogged;
using format::SequenceNumber;

struct UnloggedFixture : TestEngine {
  UnloggedFixture() {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable(2)).ToString(), "OK");
  }
  /// An unlogged batch over two rows, and a version of the first that covers it.
  void PutUnlogged(std::string_view table = "t") {
    WriteBatch batch;
    batch.Put(table, "p", "d", "a", "1", 10);
    batch.Put(table, "q", "d", "x", "9");
    BOOST_REQUIRE_EQUAL(Write(batch, Durability::kMemory).ToString(), "OK");
    WriteBatch cover;
    cover.Put(table, "p", "d", "a", "2", 20);
    BOOST_REQUIRE_EQUAL(Write(cover, Durability::kMemory).ToString(), "OK");
  }
  Status Delete(std::string_view row, std::string_view qualifier,
                Durability durability = Durability::kSynced) {
    WriteBatch batch;
    batch.DeleteCell("t", row, "d", qualifier);
    return Write(batch, durability);
  }
  void KillAndOpen() {
    Kill();
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  }
  uint64_t Flushes() { return (**this).GetStatistics().flushes; }
};

BOOST_FIXTURE_TEST_SUITE(UnloggedBatches, UnloggedFixture)

BOOST_AUTO_TEST_CASE(ARevealedCellComesBackWithItsBatch) {
  PutUnlogged();
  BOOST_REQUIRE_EQUAL(Delete("p", "a").ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "p{a=1} q{x=9}");
  KillAndOpen();
  BOOST_CHECK_EQUAL(Rows(), "p{a=1} q{x=9}");
}

// The power fails at each operation of the disk in turn, and any part of what was not synced stays.
BOOST_AUTO_TEST_CASE(WhereverThePowerFailsTheBatchIsWhole) {
  std::set<std::string> seen;
  bool went_through = false;
  for (uint64_t at = 1; !went_through; ++at) {
    BOOST_REQUIRE_LT(at, 200u);
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      UnloggedFixture engine;
      engine.PutUnlogged();
      engine.disk.control().PowerOffAt(at);
      const bool done = engine.Delete("p", "a").ok();
      engine.Crash({.kept = seed == 4 ? CrashPolicy::Kept::kAll : CrashPolicy::Kept::kRandom,
                    .seed = seed,
                    .torn = true});
      engine.disk.control().PowerOn();
      BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
      const std::string rows = engine.Rows();
      BOOST_CHECK_MESSAGE(
          rows == "p{a=1} q{x=9}" || (!done && (rows.empty() || rows == "p{a=2} q{x=9}")),
          "power cut at operation " << at << ", seed " << seed << ": " << rows);
      seen.insert(rows);
      went_through |= done;
    }
  }
  // Nothing, the batches without the deletion, and all of it: each occurred.
  BOOST_CHECK_EQUAL(seen.size(), 3u);
}

BOOST_AUTO_TEST_CASE(OneDeletionReadsInSeveralTablesAndRegions) {
  TableOptions split = SimpleTable(2);
  split.name = "split";
  split.split_keys = {"m"};
  BOOST_REQUIRE_EQUAL((**this).CreateTable(split).ToString(), "OK");
  PutUnlogged();
  PutUnlogged("split");
  for (const int64_t timestamp : {10, 20}) {
    WriteBatch right;
    right.Put("split", "x", "d", "a", std::to_string(timestamp), timestamp);
    right.Put("split", "y", "d", "a", std::to_string(timestamp), timestamp);
    BOOST_REQUIRE_EQUAL(Write(right, Durability::kMemory).ToString(), "OK");
  }
  WriteBatch batch;
  batch.DeleteCell("t", "p", "d", "a");
  batch.DeleteCell("split", "p", "d", "a");
  batch.DeleteCell("split", "y", "d", "a");
  BOOST_REQUIRE_EQUAL(Write(batch, Durability::kWritten).ToString(), "OK");
  KillAndOpen();
  BOOST_CHECK_EQUAL(Rows(), "p{a=1} q{x=9}");
  // Row q of the split table lies in its second region, so its batch was logged all the time.
  BOOST_CHECK_EQUAL(Rows("split"), "p{a=1} q{x=9} x{a=20} y{a=10}");
}

// It was acknowledged, and what hides it must not be lost.
BOOST_AUTO_TEST_CASE(WhatADeletionRestsOnStaysWithIt) {
  BOOST_REQUIRE_EQUAL(Put("p", "a", "1").ToString(), "OK");
  WriteBatch hide;
  hide.DeleteColumn("t", "p", "d", "a");
  BOOST_REQUIRE_EQUAL(Write(hide, Durability::kMemory).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Delete("p", "a").ToString(), "OK");
  KillAndOpen();
  BOOST_CHECK_EQUAL(Rows(), "");
}

BOOST_AUTO_TEST_CASE(ADeletionIsLoggedWhateverItAsksFor) {
  BOOST_REQUIRE_EQUAL(Put("p", "a", "1").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Delete("p", "a", Durability::kMemory).ToString(), "OK");
  clock.Advance(100'000);
  executor.Drain();
  KillAndOpen();
  BOOST_CHECK_EQUAL(Rows(), "");
}

BOOST_AUTO_TEST_CASE(WhatReadsNothingUnloggedFlushesNothing) {
  BOOST_REQUIRE_EQUAL(Put("logged", "a", "1").ToString(), "OK");
  PutUnlogged();
  BOOST_REQUIRE_EQUAL(Delete("logged", "a").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Delete("absent", "a").ToString(), "OK");
  BOOST_CHECK_EQUAL(Flushes(), 0u);
  KillAndOpen();
  BOOST_CHECK_EQUAL(Rows(), "");  // And the unlogged ones were lost alone, as requested.
}

// The region logs everything until a memstore is full, so that the number of flushes depends on
// memory, not on the number of deletions.
BOOST_AUTO_TEST_CASE(ManyDeletionsAmongUnloggedBatchesCostOneFlush) {
  tuning.memstore_bytes = 1 << 20;  // No flush for want of memory.
  KillAndOpen();
  for (int i = 0; i < 200; ++i) {
    const std::string row = "row" + std::to_string(i % 7);
    BOOST_REQUIRE_EQUAL(Put(row, "a", std::to_string(i), Durability::kMemory).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Put(row, "b", std::to_string(i), Durability::kMemory).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Delete(row, "a", Durability::kBuffered).ToString(), "OK");
  }
  BOOST_CHECK_EQUAL(Flushes(), 1u);
  const std::string rows = Rows();
  BOOST_REQUIRE_EQUAL(Put("end", "a", "1").ToString(), "OK");
  KillAndOpen();
  BOOST_CHECK_EQUAL(Rows(), "end{a=1} " + rows);
}

BOOST_AUTO_TEST_CASE(AfterTheNextFlushMemoryIsMemoryAgain) {
  PutUnlogged();
  BOOST_REQUIRE_EQUAL(Delete("p", "a").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Put("r", "a", "logged", Durability::kMemory).ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Put("s", "a", "lost", Durability::kMemory).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Put("u", "a", "kept").ToString(), "OK");
  KillAndOpen();
  BOOST_CHECK_EQUAL(Rows(), "p{a=1} q{x=9} r{a=logged} u{a=kept}");
}

BOOST_AUTO_TEST_CASE(AFullDiskRefusesTheDeletionAndLosesNothing) {
  PutUnlogged();
  disk.control().SetSpaceBudget(0);
  const StatusCode code = Delete("p", "a").code();
  BOOST_CHECK_EQUAL(code, StatusCode::kNoSpace);
  BOOST_CHECK_EQUAL(Rows(), "p{a=2} q{x=9}");
  disk.control().SetSpaceBudget(std::nullopt);
  BOOST_REQUIRE_EQUAL(Delete("p", "a").ToString(), "OK");
  KillAndOpen();
  BOOST_CHECK_EQUAL(Rows(), "p{a=1} q{x=9}");
}

BOOST_AUTO_TEST_CASE(AMillionBatchesTakeTheMemoryOfOne) {
  static_assert(sizeof(Unlogged) <= 32);
  Unlogged unlogged;
  for (uint64_t sequence = 1; sequence <= 1'000'000; ++sequence) {
    unlogged.Note(SequenceNumber(sequence), SequenceNumber(sequence));
  }
  BOOST_CHECK(unlogged.MayHold(SequenceNumber(1), SequenceNumber(0)));
  BOOST_CHECK(unlogged.MayHold(SequenceNumber(1'000'000), SequenceNumber(0)));
  BOOST_CHECK(!unlogged.MayHold(SequenceNumber(1'000'001), SequenceNumber(0)));
  BOOST_CHECK(!unlogged.MayHold(SequenceNumber(500), SequenceNumber(500)));
}

BOOST_AUTO_TEST_CASE(ARegionLogsWhileItIsHeldAndThroughAMemstore) {
  Unlogged unlogged;
  const SequenceNumber none(0);
  {
    LoggingHold hold;
    hold.Add(&unlogged);
    for (int i = 0; i < 5; ++i) unlogged.Switched(none);
    BOOST_CHECK(unlogged.logs_everything());
  }
  BOOST_CHECK(!unlogged.logs_everything());
  {
    LoggingHold hold;
    hold.Add(&unlogged);
  }
  unlogged.Switched(none);
  BOOST_CHECK(unlogged.logs_everything());
  unlogged.Switched(none);
  BOOST_CHECK(!unlogged.logs_everything());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
