// When flushes fall behind, the disk is full or broken: writers slow down, wait, get the reason,
// and go on when they can.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct PressureFixture : TestEngine {
  PressureFixture() {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().CreateTable(SimpleTable()).ToString(), "OK");
  }
  engine::Engine& engine() { return **this; }

  Status PutBig(int i, bool no_wait = false) {
    WriteBatch batch;
    batch.Put("t", std::to_string(100'000 + i), "d", "q", std::string(20'000, 'v'));
    return engine().Write({.durability = Durability::kWritten, .no_wait = no_wait}, batch);
  }
  /// Writes without waiting until that is refused; returns how many were accepted.
  int Fill(Status* status) {
    for (int i = 0;; ++i) {
      *status = PutBig(i, true);
      if (!status->ok()) return i;
    }
  }
  RegionInfo Region() { return engine().Info().tables[0].regions[0]; }
  int RowCount() {
    int count = 0;
    Result<Cursor> cursor = engine().Scan({}, "t", {});
    while (cursor->Next()) ++count;
    BOOST_CHECK(cursor->status().ok());
    return count;
  }
};

BOOST_FIXTURE_TEST_SUITE(Pressure, PressureFixture)

BOOST_AUTO_TEST_CASE(FourWaitingMemstoresStopWriters) {
  tuning.memstores_total_bytes = 64 << 20;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  Status status;
  const int accepted = Fill(&status);
  BOOST_CHECK_EQUAL(status.ToString(),
                    "Busy: region 1 of table 't' has 4 memstores waiting to be flushed");
  BOOST_CHECK_EQUAL(Region().memstores, 5u);
  BOOST_CHECK_EQUAL(RowCount(), accepted);
  // A writer that may wait lets the flushes run.
  BOOST_CHECK_EQUAL(PutBig(accepted).ToString(), "OK");
  BOOST_CHECK_EQUAL(Region().memstores, 1u);
  BOOST_CHECK_EQUAL(RowCount(), accepted + 1);
}

BOOST_AUTO_TEST_CASE(TwoWaitingMemstoresSlowWriters) {
  int i = 0;
  while (Region().memstores < 3) BOOST_REQUIRE(PutBig(i++, true).ok());
  const int64_t before = clock.MonotonicMicros();
  BOOST_REQUIRE(PutBig(i++).ok());
  BOOST_CHECK_EQUAL(clock.MonotonicMicros() - before, 1000);
  BOOST_REQUIRE(PutBig(i, true).ok());
  BOOST_CHECK_EQUAL(clock.MonotonicMicros() - before, 1000);
}

BOOST_AUTO_TEST_CASE(AllMemstoresTogetherStayUnderTheirLimit) {
  tuning.memstore_bytes = 64 << 20;
  tuning.memstores_total_bytes = 1 << 20;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  Status status;
  Fill(&status);
  BOOST_CHECK(status.ToString().starts_with("Busy: the memstores hold "));
  BOOST_CHECK(status.ToString().ends_with(" bytes, their limit is 1048576"));
  for (int i = 0; i < 200; ++i) {
    BOOST_REQUIRE(PutBig(1000 + i).ok());
    // One memstore grows by blocks of the arena, and a check is due every sixteenth of its size.
    BOOST_REQUIRE_LT(engine().Info().memstore_bytes, 6u << 20);
  }
}

// Before a flush was measured, a memstore is taken to need a second.
BOOST_AUTO_TEST_CASE(WritersSlowDownBeforeTheMemoryIsFull) {
  tuning.memstore_bytes = 16 << 20;
  tuning.memstores_total_bytes = 32 << 20;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  const auto fullness = [&] {
    return static_cast<double>(engine().Info().memstore_bytes) / (32 << 20);
  };
  int64_t early = 0, middle = 0, late = 0;
  for (int i = 0; fullness() < 0.98; ++i) {
    const double before = fullness();
    const int64_t began = clock.MonotonicMicros();
    BOOST_REQUIRE(PutBig(i).ok());
    const int64_t micros = clock.MonotonicMicros() - began;
    BOOST_REQUIRE_LE(micros, 4000);
    (before < 0.6 ? early : before < 0.8 ? middle : late) += micros;
  }
  BOOST_CHECK_EQUAL(early, 0);
  // Half of the ramp is some 6 MiB: faster than a flush, then slower.
  BOOST_CHECK_GT(middle, 20'000);
  BOOST_CHECK_LT(middle, 400'000);
  BOOST_CHECK_GT(late, 400'000);
  BOOST_CHECK_EQUAL(engine().GetStatistics().stalls, 0u);
  BOOST_CHECK_GT(engine().GetStatistics().delayed_writes, 100u);
}

BOOST_AUTO_TEST_CASE(MemoryThatNoFlushIsGoingToFreeSlowsNobody) {
  tuning.memstore_bytes = 64 << 20;
  tuning.memstores_total_bytes = 8 << 20;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  const int64_t began = clock.MonotonicMicros();
  for (int i = 0; engine().Info().memstore_bytes < (6 << 20); ++i) BOOST_REQUIRE(PutBig(i).ok());
  BOOST_CHECK_EQUAL(clock.MonotonicMicros(), began);
}

BOOST_AUTO_TEST_CASE(RunsAreCompactedBeforeTheyAreMany) {
  for (int i = 0; i < 200; ++i) {
    BOOST_REQUIRE(PutBig(i).ok());
    executor.Drain();
    BOOST_REQUIRE_LE(FileCount(), tuning.compaction_runs);
  }
  BOOST_CHECK_EQUAL(RowCount(), 200);
}

BOOST_AUTO_TEST_CASE(TheLogStaysSmallBesideAnIdleTable) {
  TableOptions idle = SimpleTable();
  idle.name = "idle";
  BOOST_REQUIRE(engine().CreateTable(idle).ok());
  WriteBatch batch;
  batch.Put("idle", "r", "d", "q", "v");
  BOOST_REQUIRE(Write(batch).ok());
  for (int i = 0; i < 300; ++i) {
    BOOST_REQUIRE(PutBig(i).ok());
    executor.Drain();
    BOOST_REQUIRE_LE(engine().Info().log_segments, 8u);
    BOOST_REQUIRE_LE(engine().Info().log_bytes, 8 * tuning.memstore_bytes);
  }
  const DatabaseInfo info = engine().Info();
  BOOST_CHECK_EQUAL(info.tables[1].regions[0].files.size(), 1u);
  BOOST_CHECK_EQUAL(info.tables[1].regions[0].memstore_rows, 0u);
}

BOOST_AUTO_TEST_CASE(AFullDiskIsAState) {
  Status status;
  int accepted = 0;
  for (; accepted < 20; ++accepted) BOOST_REQUIRE(PutBig(accepted).ok());
  disk.control().SetSpaceBudget(disk.used_bytes());
  // The log's preallocated space may take a few more.
  while ((status = PutBig(accepted)).ok()) ++accepted;
  BOOST_CHECK_EQUAL(status.code(), StatusCode::kNoSpace);
  for (int i = 0; i < 5; ++i) {
    // A flush that found room may have made more by dropping a segment of the log.
    status = PutBig(accepted);
    BOOST_CHECK(status.ok() || status.code() == StatusCode::kNoSpace);
    if (status.ok()) ++accepted;
    BOOST_CHECK_EQUAL(RowCount(), accepted);
    clock.Advance(1'000'000);
    executor.Drain();
  }
  BOOST_CHECK(!engine().Info().read_only);
  disk.control().SetSpaceBudget(std::nullopt);
  clock.Advance(1'000'000);
  executor.Drain();
  for (int i = 0; i < 20; ++i) BOOST_REQUIRE_EQUAL(PutBig(accepted++).ToString(), "OK");
  BOOST_CHECK_EQUAL(RowCount(), accepted);
  Crash({.kept = CrashPolicy::Kept::kAll});
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(RowCount(), accepted);
  BOOST_CHECK((*engine().Verify(true)).findings.empty());
}

BOOST_AUTO_TEST_CASE(AFlushThatFindsTheDiskFullIsTriedAgain) {
  for (int i = 0; i < 4; ++i) BOOST_REQUIRE(PutBig(i, true).ok());
  disk.control().SetSpaceBudget(disk.used_bytes());
  BOOST_CHECK_EQUAL(engine().Flush("t").code(), StatusCode::kNoSpace);
  BOOST_CHECK_EQUAL(Close().code(), StatusCode::kNoSpace);
  BOOST_CHECK_EQUAL(RowCount(), 4);
  disk.control().SetSpaceBudget(std::nullopt);
  clock.Advance(1'000'000);
  executor.Drain();
  BOOST_CHECK_EQUAL(Region().memstore_rows, 0u);
  BOOST_CHECK_EQUAL(FileCount(), 1u);
  BOOST_CHECK_EQUAL(Close().ToString(), "OK");
}

// Each failing operation of a flush in turn, with space missing: nothing is lost, no file is left
// over, and the next attempt succeeds.
BOOST_AUTO_TEST_CASE(AFlushMayRunOutOfSpaceAnywhere) {
  for (uint64_t at = 1; at <= 40; ++at) {
    TestEngine engine(at);
    BOOST_REQUIRE(engine.Open().ok());
    BOOST_REQUIRE(engine->CreateTable(SimpleTable()).ok());
    BOOST_REQUIRE(engine.Put("a", "c", "1").ok());
    engine.disk.control().InjectFault(
        {.operations = {DiskOperation::kWrite, DiskOperation::kCreate, DiskOperation::kPreallocate},
         .at = at,
         .status = Status::NoSpace("injected")});
    const Status status = engine->Flush("t");
    if (!engine.disk.control().has_struck()) {
      BOOST_REQUIRE(status.ok());
      break;
    }
    engine.disk.control().ClearFaults();
    BOOST_REQUIRE_MESSAGE(status.ok() || status.code() == StatusCode::kNoSpace,
                          at << ": " << status.ToString());
    BOOST_REQUIRE_EQUAL(engine.Rows(), "a{c=1}");
    BOOST_REQUIRE_EQUAL(engine->Flush("t").ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine.FileCount(), 1u);
    BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine.Rows(), "a{c=1}");
  }
}

BOOST_AUTO_TEST_CASE(AFailedSyncOfTheLogEndsWriting) {
  BOOST_REQUIRE(Put("a", "c", "1").ok());
  disk.control().InjectFault({.operations = {DiskOperation::kDataSync}});
  BOOST_CHECK_EQUAL(Put("b", "c", "2", Durability::kSynced).code(), StatusCode::kIoError);
  const Status refused = Put("c", "c", "3", Durability::kMemory);
  BOOST_CHECK(refused.ToString().starts_with("ReadOnly: syncing the log: IoError: "));
  BOOST_CHECK(refused.ToString().find("injected") != std::string::npos);
  BOOST_CHECK_EQUAL(engine().CreateTable(SimpleTable()).code(), StatusCode::kReadOnly);
  BOOST_CHECK_EQUAL(engine().Flush("").code(), StatusCode::kReadOnly);
  BOOST_CHECK_EQUAL(Rows(), "a{c=1}");
  BOOST_CHECK(engine().Info().read_only);
  BOOST_CHECK(log.back().find("read-only") != std::string::npos);
  BOOST_CHECK_EQUAL(Close().code(), StatusCode::kIoError);
  Drop();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK(Rows().starts_with("a{c=1}"));
  BOOST_CHECK_EQUAL(Put("d", "c", "4", Durability::kSynced).ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(AFlushThatFailsOtherwiseEndsWriting) {
  BOOST_REQUIRE(Put("a", "c", "1", Durability::kSynced).ok());
  disk.control().InjectFault({.operations = {DiskOperation::kWrite}, .sticky = true});
  BOOST_CHECK_EQUAL(engine().Flush("t").code(), StatusCode::kIoError);
  executor.Drain();
  BOOST_CHECK_EQUAL(Put("b", "c", "2").code(), StatusCode::kReadOnly);
  BOOST_CHECK_EQUAL(Rows(), "a{c=1}");
  disk.control().ClearFaults();
  Drop();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(Rows(), "a{c=1}");
}

BOOST_AUTO_TEST_CASE(ACompactionThatFailsHarmsNothing) {
  for (int i = 0; i < 3; ++i) {
    BOOST_REQUIRE(PutBig(i).ok());
    BOOST_REQUIRE(engine().Flush("t").ok());
  }
  disk.control().InjectFault({.operations = {DiskOperation::kDataSync}});
  BOOST_CHECK_EQUAL(engine().Compact("t").code(), StatusCode::kIoError);
  disk.control().ClearFaults();
  BOOST_CHECK_EQUAL(FileCount(), 3u);
  BOOST_CHECK_EQUAL(PutBig(3).ToString(), "OK");
  BOOST_CHECK_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(FileCount(), 1u);
  BOOST_CHECK_EQUAL(RowCount(), 4);
}

BOOST_AUTO_TEST_CASE(FilesThatAReaderHoldsGoWithTheReader) {
  for (int i = 0; i < 3; ++i) {
    BOOST_REQUIRE(PutBig(i).ok());
    BOOST_REQUIRE(engine().Flush("t").ok());
  }
  const std::string name = "store-" + std::to_string(Region().files[0].number);
  {
    Result<Cursor> cursor = engine().Scan({}, "t", {});
    BOOST_REQUIRE(cursor->Next());
    BOOST_REQUIRE(engine().Compact("t").ok());
    BOOST_CHECK(disk.Content("db", name).has_value());
    BOOST_CHECK(cursor->Next() && cursor->Next() && !cursor->Next());
  }
  BOOST_CHECK(!disk.Content("db", name).has_value());
}

// No limit but those of its memstores and files binds a row.
BOOST_AUTO_TEST_CASE(ARowOfAnySizeIsFlushedCompactedAndRead) {
  tuning.memstore_bytes = 64 << 20;
  tuning.memstores_total_bytes = 256 << 20;
  tuning.log_segment_bytes = 64 << 20;
  BOOST_REQUIRE(Close().ok());
  BOOST_REQUIRE(Open().ok());
  const std::string value(60'000, 'v');
  for (int i = 0; i < 300; ++i) {
    BOOST_REQUIRE(Put("wide", "q" + std::to_string(i), value).ok());
    if (i % 100 == 99) BOOST_REQUIRE(engine().Flush("t").ok());
  }
  BOOST_CHECK_EQUAL(FileCount(), 3u);
  BOOST_CHECK_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(FileCount(), 1u);
  BOOST_CHECK_EQUAL((*engine().Get({}, "t", "wide"))->cells().size(), 300u);
  BOOST_CHECK_EQUAL(Put("b", "c", "1").ToString(), "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
