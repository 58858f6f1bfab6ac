// Files of which every cell has expired: they go without being read, and nothing else goes.
#define BOOST_TEST_DYN_LINK
#include <tandem/event_listener.h>

#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/engine/test_engine.h"

namespace tandem::test {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kTtl = 100 * kSecond;

struct MergeListener final : EventListener {
  void OnCompactionEnd(const CompactionEvent& event) override {
    if (!event.status.ok()) return;
    files += event.input_files;
    written_bytes += event.bytes;
    dropped += event.cells.dropped.expired + event.cells.dropped.delete_markers;
  }
  uint64_t files = 0, written_bytes = 0, dropped = 0;
};

/// A table "t" whose cells live for 100 seconds; no merge is ever due.
struct ExpiryFixture : TestEngine {
  ExpiryFixture() {
    options.listener = merges;
    tuning.compaction_runs = 100;
    Ok(Open());
    Ok((**this).CreateTable(SimpleTable(1, kTtl)));
  }
  static void Ok(const Status& status) { BOOST_REQUIRE_EQUAL(status.ToString(), "OK"); }
  void PutRow(std::string_view row, std::string_view value = "1",
              std::optional<int64_t> timestamp = std::nullopt) {
    Ok(Put(row, "c", value, Durability::kWritten, timestamp));
  }
  void Flush() {
    Ok((**this).Flush("t"));
    executor.Drain();
  }
  void FlushRow(std::string_view row, std::string_view value = "1") {
    PutRow(row, value);
    Flush();
  }
  void DeleteRow(std::string_view row, std::optional<int64_t> timestamp = std::nullopt) {
    WriteBatch batch;
    batch.DeleteRow("t", row, timestamp);
    Ok(Write(batch));
  }
  /// Time passes, with what is done in the background then.
  void Pass(int64_t micros) {
    clock.Advance(micros);
    executor.Drain();
  }
  uint64_t Files() {
    uint64_t files = 0;
    const DatabaseInfo info = (**this).Info();
    for (const RegionInfo& region : info.tables[0].regions) files += region.files.size();
    return files;
  }
  uint64_t FilesOnDisk() {
    uint64_t files = 0;
    const auto names = (*disk.OpenDirectory("db", false))->List();
    for (const std::string& name : *names) files += name.starts_with("store-");
    return files;
  }
  void CheckSound() {
    const auto report = (**this).Verify(true);
    BOOST_REQUIRE(report.has_value());
    for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  }
  FamilyOptions Family(int64_t ttl_micros) {
    FamilyOptions family = SimpleTable(1, ttl_micros).families[0];
    return family;
  }

  const std::shared_ptr<MergeListener> merges = std::make_shared<MergeListener>();
};

BOOST_FIXTURE_TEST_SUITE(Expiry, ExpiryFixture)

// Nothing is written meanwhile: the clock alone lets them go.
BOOST_AUTO_TEST_CASE(FilesGoWhenTheirTimeHasCome) {
  FlushRow("a");
  Pass(30 * kSecond);
  FlushRow("b");
  Pass(30 * kSecond);
  FlushRow("c");
  BOOST_TEST(FilesOnDisk() == 3u);
  Pass(39 * kSecond);
  BOOST_TEST(Files() == 3u);
  Pass(2 * kSecond);
  BOOST_TEST(Files() == 2u);
  BOOST_TEST(FilesOnDisk() == 2u);
  BOOST_TEST(Rows() == "b{c=1} c{c=1}");
  Pass(30 * kSecond);
  BOOST_TEST(Files() == 1u);
  Pass(60 * kSecond);
  BOOST_TEST(FilesOnDisk() == 0u);
  BOOST_TEST(merges->files == 3u);
  BOOST_TEST(merges->dropped == 3u);
  BOOST_TEST(merges->written_bytes == 0u);
  CheckSound();
}

BOOST_AUTO_TEST_CASE(AFileBetweenOthersGoesToo) {
  FlushRow("a", "old");
  Pass(kTtl / 2);
  PutRow("b", "late", clock.WallMicros() - kTtl + kSecond);
  Flush();
  FlushRow("a", "new");
  Pass(20 * kSecond);
  BOOST_TEST(Files() == 2u);
  BOOST_TEST(Rows() == "a{c=new}");
  CheckSound();
  Kill();
  Ok(Open());
  BOOST_TEST(Files() == 2u);
  BOOST_TEST(Rows() == "a{c=new}");
}

// Deletes at the time of the write go with what they have hidden, wherever that is.
BOOST_AUTO_TEST_CASE(DeletesGoWithWhatTheyHide) {
  PutRow("a", "later", clock.WallMicros() + kTtl);
  Flush();
  FlushRow("b");
  DeleteRow("b");
  Flush();
  Pass(kTtl + kSecond);
  BOOST_TEST(Files() == 1u);
  BOOST_TEST(Rows() == "a{c=later}");
  CheckSound();
}

BOOST_AUTO_TEST_CASE(ADeleteStaysWhileItHidesWhatIsAlive) {
  const int64_t later = clock.WallMicros() + 3 * kTtl;
  PutRow("a", "hidden", later);
  Flush();
  DeleteRow("a", later);
  PutRow("b");
  Flush();
  Pass(kTtl + 11 * kSecond);
  BOOST_TEST(Files() == 2u);
  BOOST_TEST(Rows() == "");
  Pass(3 * kTtl);
  BOOST_TEST(Files() == 0u);
}

BOOST_AUTO_TEST_CASE(ASnapshotKeepsWhatItSees) {
  FlushRow("a");
  FlushRow("b");
  Pass(kTtl / 2);
  {
    const auto snapshot = (**this).TakeSnapshot();
    BOOST_REQUIRE(snapshot.has_value());
    Pass(kTtl);
    BOOST_TEST(Files() == 2u);
    BOOST_TEST((**this).Count({.snapshot = &*snapshot}, "t", {}, {}).value() == 2u);
    BOOST_TEST(Rows() == "");
  }
  Pass(kTtl);
  BOOST_TEST(FilesOnDisk() == 0u);
}

BOOST_AUTO_TEST_CASE(ACursorGoesOnWithItsFiles) {
  FlushRow("a");
  FlushRow("b");
  {
    auto cursor = (**this).Scan({}, "t", {});
    BOOST_REQUIRE(cursor.has_value());
    BOOST_REQUIRE(cursor->Next());
    Pass(kTtl + 11 * kSecond);
    BOOST_TEST(FilesOnDisk() == 2u);
    BOOST_REQUIRE(cursor->Next());
    BOOST_TEST(std::string(cursor->row().key()) == "b");
    BOOST_TEST(!cursor->Next());
  }
  Pass(kTtl);
  BOOST_TEST(FilesOnDisk() == 0u);
}

BOOST_AUTO_TEST_CASE(ANamedSnapshotKeepsItsFiles) {
  FlushRow("a");
  Ok((**this).CreateSnapshot("s", {}));
  Pass(kTtl + 11 * kSecond);
  BOOST_TEST(Files() == 0u);
  BOOST_TEST(FilesOnDisk() == 1u);
  {
    const auto snapshot = (**this).OpenSnapshot("s");
    BOOST_TEST((**this).Count({.snapshot = &*snapshot}, "t", {}, {}).value() == 1u);
  }
  Ok((**this).DropSnapshot("s"));
  BOOST_TEST(FilesOnDisk() == 0u);
}

BOOST_AUTO_TEST_CASE(AFileOfTwoRegionsGoesWithTheLast) {
  PutRow("a");
  PutRow("m");
  Flush();
  Ok((**this).Split("t", {.key = "k"}).status());
  executor.Drain();
  BOOST_TEST(Files() == 2u);
  BOOST_TEST(FilesOnDisk() == 1u);
  Pass(kTtl + 11 * kSecond);
  BOOST_TEST(Files() == 0u);
  BOOST_TEST(FilesOnDisk() == 0u);
  FlushRow("a");
  Ok((**this).MergeRegions("t", {.key = "a"}).status());
  BOOST_TEST(Rows() == "a{c=1}");
  CheckSound();
}

// What had expired does not come back, and what had not expired stays.
BOOST_AUTO_TEST_CASE(AnotherTimeToLiveIsObeyed) {
  FlushRow("a");
  Pass(kTtl / 2);
  FlushRow("b");
  Ok((**this).AlterFamily("t", Family(kTtl / 4)));
  executor.Drain();
  BOOST_TEST(Files() == 1u);
  Ok((**this).AlterFamily("t", Family(4 * kTtl)));
  executor.Drain();
  BOOST_TEST(Rows() == "b{c=1}");
  Pass(2 * kTtl);
  BOOST_TEST(Files() == 1u);
  BOOST_TEST(Rows() == "b{c=1}");
  Pass(3 * kTtl);
  BOOST_TEST(Files() == 0u);
}

BOOST_AUTO_TEST_CASE(AClockThatGoesBackBringsNothingBack) {
  FlushRow("a");
  Pass(kTtl / 2);
  FlushRow("b");
  Pass(kTtl / 2 + kSecond);
  BOOST_TEST(Files() == 1u);
  clock.SetWall(clock.WallMicros() - kTtl);
  Kill();
  Ok(Open());
  executor.Drain();
  BOOST_TEST(Files() == 1u);
  BOOST_TEST(Rows() == "b{c=1}");
  Pass(kTtl / 4);  // The engine's time stands until the clock has caught up.
  BOOST_TEST(Rows() == "b{c=1}");
}

BOOST_AUTO_TEST_CASE(APlanNamesThem) {
  FlushRow("a");
  Pass(kTtl / 2);
  FlushRow("b");
  clock.Advance(kTtl / 2 + kSecond);
  const auto plans = (**this).PlanCompaction("t");
  BOOST_REQUIRE(plans.has_value());
  const CompactionPlan& plan = plans->at(0);
  BOOST_TEST(plan.files == 2u);
  BOOST_TEST(plan.expired_files == 1u);
  BOOST_TEST(plan.expired_bytes > 0u);
  BOOST_TEST(plan.full.files == 1u);
  BOOST_TEST(plan.expired_bytes + plan.full.read_bytes == plan.bytes);
  BOOST_TEST(plan.freed_bytes == plan.bytes);
  Ok((**this).Compact("t"));
  BOOST_TEST(Files() == 1u);
  BOOST_TEST(merges->files == 2u);
}

// The manifest cannot be written: the file stays, and goes when it can.
BOOST_AUTO_TEST_CASE(AfterAnErrorItIsTriedAgain) {
  FlushRow("a");
  PutRow("b");
  bool is_full = true;
  disk.control().SetHook([&](const DiskEvent& event) {
    if (!is_full || event.operation != DiskOperation::kWrite) return;
    if (event.name.starts_with("manifest-")) {
      disk.control().InjectFault({.status = Status::NoSpace("injected")});
    }
  });
  Pass(kTtl + kSecond);
  BOOST_TEST(FilesOnDisk() == 1u);
  BOOST_TEST(Rows() == "");
  is_full = false;
  disk.control().SetHook({});
  Flush();
  Pass(11 * kSecond);
  BOOST_TEST(Files() == 0u);
  CheckSound();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
