// Merges on a disk with little space: none begins that could fill it, small ones run all the same,
// writes go on until the ordinary back pressure, and merges run when there is space again.
#define BOOST_TEST_DYN_LINK
#include "engine/runtime/merge_space.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using engine::MergeSpace;

struct SpaceFixture {
  Result<std::shared_ptr<MergeSpace::Claim>> Take(uint64_t bytes) { return space.Take(bytes); }
  bool Fits(uint64_t bytes) { return Take(bytes).has_value(); }

  Result<uint64_t> free = uint64_t{0};
  MergeSpace space{[this] { return free; }, 1000};
};

BOOST_FIXTURE_TEST_SUITE(SpaceForMerges, SpaceFixture)

BOOST_AUTO_TEST_CASE(ASmallMergeLeavesItsOwnSizeAndALargeOneTheReserve) {
  free = 100;
  BOOST_TEST(Fits(50));
  BOOST_TEST(!Fits(51));
  BOOST_TEST(space.Room() == 50u);
  free = 10'000;
  BOOST_TEST(Fits(9000));
  BOOST_TEST(!Fits(9001));
  BOOST_TEST(space.Room() == 9000u);
}

BOOST_AUTO_TEST_CASE(TheRefusalNamesWhatIsNeededAndFree) {
  free = 100;
  const auto refused = Take(60);
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code() == StatusCode::kNoSpace));
  BOOST_TEST(std::string(refused.error().message()) ==
             "a merge of 60 bytes needs 120 bytes of free space, with what other merges may still "
             "write and a reserve, and 100 are free");
}

BOOST_AUTO_TEST_CASE(RunningMergesCountByWhatTheyMayStillWrite) {
  free = 4000;
  const auto running = *Take(2000);
  BOOST_TEST(space.Room() == 1000u);
  BOOST_TEST(!Fits(1001));
  running->Wrote(1500);
  free = 2500;
  BOOST_TEST(space.Room() == 1000u);
  running->Wrote(5000);  // More than its inputs had.
  free = 2000;
  BOOST_TEST(space.Room() == 1000u);
  running->BeginAgain();
  BOOST_TEST(space.Room() == 0u);
  BOOST_TEST(!Fits(1));
  BOOST_TEST(Fits(0));
}

BOOST_AUTO_TEST_CASE(AMergeThatEndsOrIsRefusedClaimsNothing) {
  free = 2000;
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(Fits(1000));
    BOOST_TEST(!Fits(1500));
  }
  BOOST_TEST(space.Room() == 1000u);
}

// Room and Take are two forms of one rule.
BOOST_AUTO_TEST_CASE(RoomIsTheMostThatCanBeTaken) {
  for (const uint64_t before : {0, 1, 300, 999, 1000, 1700}) {
    free = 1'000'000;
    const auto running = *Take(before);
    for (uint64_t now = 0; now < 5000; now += 7) {
      free = now;
      const uint64_t room = space.Room();
      BOOST_REQUIRE(Fits(room));
      BOOST_REQUIRE(!Fits(room + 1));
    }
  }
}

BOOST_AUTO_TEST_CASE(WhereFreeSpaceIsUnknownNoMergeIsRefused) {
  free = Status::IoError("injected");
  BOOST_TEST(Fits(uint64_t{1} << 50));
  BOOST_TEST(space.Room() == UINT64_MAX);
}

BOOST_AUTO_TEST_SUITE_END()

struct FullDiskFixture : TestEngine {
  FullDiskFixture() {
    tuning.memstore_bytes = 1 << 20;
    tuning.memstores_total_bytes = 4 << 20;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().CreateTable(SimpleTable()).ToString(), "OK");
  }
  engine::Engine& engine() { return **this; }

  /// A run of rows that zstd cannot make smaller. The log has none of them, so it takes no space.
  Status WriteRows(uint64_t first, uint64_t count, const std::string& table = "t") {
    WriteBatch batch;
    for (uint64_t i = first; i < first + count; ++i) {
      std::string value(200, 0);
      for (char& byte : value) byte = static_cast<char>(random.Below(256));
      batch.Put(table, std::to_string(1'000'000 + i), "d", "q", value);
    }
    return Write(batch, Durability::kMemory);
  }
  void FlushRows(uint64_t first, uint64_t count, const std::string& table = "t") {
    BOOST_REQUIRE_EQUAL(WriteRows(first, count, table).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().Flush(table).ToString(), "OK");
  }
  /// Four runs of about the same size, which are due to become one.
  void FlushFour() {
    for (uint64_t i = 0; i < 4; ++i) FlushRows(100 * i, 100);
    BOOST_REQUIRE_EQUAL(FileCount(), 4u);
  }
  uint64_t FileBytes() {
    uint64_t bytes = 0;
    const DatabaseInfo info = engine().Info();
    for (const FileInfo& file : info.tables[0].regions[0].files) {
      bytes += file.size_bytes;
    }
    return bytes;
  }
  void SetFree(uint64_t bytes) { disk.control().SetSpaceBudget(disk.used_bytes() + bytes); }
  void TenSecondsLater() {
    clock.Advance(10'000'000);
    executor.Drain();
  }
  Statistics Counted() { return engine().GetStatistics(); }
  /// Lines about merges and space.
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (const std::string& line : log) {
      const bool is_about =
          line.find("space") != std::string::npos || line.find("compacting") != std::string::npos;
      if (is_about) lines.push_back(line);
    }
    return lines;
  }

  TestRandom random{"merge space"};
};

BOOST_FIXTURE_TEST_SUITE(FullDisk, FullDiskFixture)

BOOST_AUTO_TEST_CASE(ADueMergeWaitsUntilThereIsSpace) {
  FlushFour();
  const uint64_t bytes = FileBytes();
  SetFree(bytes * 3 / 2);
  executor.Drain();
  for (int i = 0; i < 10; ++i) TenSecondsLater();
  BOOST_CHECK_EQUAL(FileCount(), 4u);
  BOOST_CHECK_EQUAL(Counted().compactions, 0u);
  BOOST_CHECK_EQUAL(Counted().failed_compactions, 0u);
  // It is told once.
  BOOST_CHECK_EQUAL(Counted().postponed_compactions, 1u);
  BOOST_REQUIRE_EQUAL(Lines().size(), 1u);
  const std::string told =
      "merging files of region 1 of table 't' waits for disk space: a merge of " +
      std::to_string(bytes) + " bytes needs " + std::to_string(2 * bytes) + " bytes of free space";
  BOOST_CHECK_MESSAGE(Lines()[0].starts_with(told), Lines()[0]);

  SetFree(2 * bytes + (1 << 20));
  TenSecondsLater();
  BOOST_CHECK_EQUAL(FileCount(), 1u);
  BOOST_CHECK_EQUAL(Counted().compactions, 1u);
  BOOST_CHECK_EQUAL(Lines().size(), 1u);
  BOOST_CHECK((*engine().Verify(true)).findings.empty());
}

BOOST_AUTO_TEST_CASE(EachTimeThatAMergeBeginsToWaitIsTold) {
  FlushFour();
  for (uint64_t times = 1; times <= 3; ++times) {
    SetFree(FileBytes());
    executor.Drain();
    TenSecondsLater();
    BOOST_CHECK_EQUAL(Counted().postponed_compactions, times);
    BOOST_CHECK_EQUAL(Lines().size(), times);
    disk.control().SetSpaceBudget(std::nullopt);
    TenSecondsLater();
    BOOST_REQUIRE_EQUAL(Counted().compactions, times);
    // As much as there is, in three runs, so that all become one again.
    const uint64_t rows = 400 << (times - 1);
    for (uint64_t i = 0; i < 3; ++i) FlushRows(rows + i * rows / 3, rows / 3);
  }
}

// The merge of everything waits; that of the four small runs takes less and goes on.
BOOST_AUTO_TEST_CASE(ASmallerMergeIsMadeInstead) {
  FlushRows(0, 400);
  const uint64_t base = engine().Info().tables[0].regions[0].files[0].number;
  for (uint64_t i = 0; i < 4; ++i) FlushRows(1000 + 50 * i, 50);
  BOOST_REQUIRE_EQUAL(FileCount(), 5u);
  SetFree(FileBytes());
  executor.Drain();
  BOOST_CHECK_EQUAL(Counted().compactions, 1u);
  BOOST_CHECK_EQUAL(Counted().postponed_compactions, 1u);
  BOOST_REQUIRE_EQUAL(FileCount(), 2u);
  BOOST_CHECK_EQUAL(engine().Info().tables[0].regions[0].files[0].number, base);
}

// Room for a flush, but not for a merge of two runs.
BOOST_AUTO_TEST_CASE(WritesGoOnUntilThereAreTooManyRuns) {
  FlushRows(0, 100);
  const uint64_t run_bytes = FileBytes();
  for (uint64_t runs = 2; runs <= 7; ++runs) {
    SetFree(3 * run_bytes);
    FlushRows(100 * runs, 100);
    BOOST_REQUIRE_EQUAL(FileCount(), runs);
    executor.Drain();
    TenSecondsLater();
  }
  BOOST_CHECK_EQUAL(Counted().compactions, 0u);
  BOOST_CHECK_EQUAL(Counted().postponed_compactions, 1u);
  const std::string runs = "region 1 of table 't' has 7 runs of store files waiting to be merged";
  for (int i = 0; i < 3; ++i) {
    BOOST_CHECK_EQUAL(WriteRows(1000, 1).ToString(),
                      "NoSpace: " + runs +
                          ", and that waits for disk space: the disk has too little for a merge");
  }
  BOOST_CHECK_EQUAL(*engine().Count({}, "t", Predicate(), {}), 700u);
  BOOST_CHECK(!engine().Info().read_only);
  BOOST_CHECK_EQUAL(FileCount(), 7u);

  // The write that learned of it lets the merge look: nobody has to wait for ten seconds.
  disk.control().SetSpaceBudget(std::nullopt);
  BOOST_CHECK_EQUAL(WriteRows(1000, 1).ToString(), "OK");
  BOOST_CHECK_EQUAL(FileCount(), 1u);
  BOOST_CHECK_EQUAL(*engine().Count({}, "t", Predicate(), {}), 701u);
}

BOOST_AUTO_TEST_CASE(FilesThatGoLetAMergeBegin) {
  FlushFour();
  TableOptions other = SimpleTable();
  other.name = "u";
  BOOST_REQUIRE_EQUAL(engine().CreateTable(other).ToString(), "OK");
  FlushRows(0, 1000, "u");
  SetFree(FileBytes() * 3 / 2);
  executor.Drain();
  BOOST_CHECK_EQUAL(Counted().postponed_compactions, 1u);
  BOOST_REQUIRE_EQUAL(engine().DropTable("u").ToString(), "OK");
  executor.Drain();
  BOOST_CHECK_EQUAL(FileCount(), 1u);
}

BOOST_AUTO_TEST_CASE(ByHandAMergeWithoutSpaceIsAnError) {
  FlushFour();
  const uint64_t bytes = FileBytes();
  SetFree(bytes);
  const Status status = engine().Compact("t");
  BOOST_CHECK_EQUAL(status.code(), StatusCode::kNoSpace);
  const std::string needed = "a merge of " + std::to_string(bytes) + " bytes needs " +
                             std::to_string(2 * bytes) + " bytes of free space";
  BOOST_CHECK_MESSAGE(status.message().starts_with(needed), status.ToString());
  BOOST_CHECK_MESSAGE(status.message().ends_with(" are free"), status.ToString());
  BOOST_CHECK_EQUAL(FileCount(), 4u);
  BOOST_CHECK_EQUAL(Counted().failed_compactions, 0u);
  BOOST_CHECK(!engine().Info().read_only);
  disk.control().SetSpaceBudget(std::nullopt);
  BOOST_CHECK_EQUAL(engine().Compact("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(FileCount(), 1u);
}

// It needs no merge: the next life looks again.
BOOST_AUTO_TEST_CASE(ACloseDoesWithoutTheMergesThatHaveNoSpace) {
  FlushFour();
  SetFree(FileBytes());
  BOOST_CHECK_EQUAL(Close().ToString(), "OK");
  BOOST_CHECK(Lines().empty());
  disk.control().SetSpaceBudget(std::nullopt);
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(FileCount(), 4u);
  BOOST_CHECK_EQUAL(*engine().Count({}, "t", Predicate(), {}), 400u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
