// Small memstores of several regions in one turn (engine/jobs/flush.h): one catalog edit shows all,
// one that fails or is gone takes none of the others with it, and a large one is flushed alone.
#define BOOST_TEST_DYN_LINK
#include <tandem/event_listener.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

// "begin 3", "end 3 OK", by region.
struct FlushListener final : EventListener {
  void OnFlushBegin(const FlushEvent& event) override {
    told.push_back("begin " + std::to_string(event.region_id));
  }
  void OnFlushEnd(const FlushEvent& event) override {
    told.push_back("end " + std::to_string(event.region_id) + " " + event.status.ToString());
    if (event.status.ok()) BOOST_CHECK_EQUAL(event.rows, event.memstore_rows);
  }
  std::vector<std::string> told;
};

constexpr char kRows[] = "a{c=1} b{c=1} c{c=1} d{c=1} e{c=1}";

struct GroupedFlush : TestEngine {
  explicit GroupedFlush(uint64_t seed = 1) : TestEngine(seed) {
    options.listener = listener;
    tuning.compaction_runs = 100;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    for (const char* name : {"t", "u"}) {
      TableOptions table = SimpleTable();
      table.name = name;
      if (table.name == "t") table.split_keys = {"b", "c", "d", "e"};
      BOOST_REQUIRE_EQUAL(engine().CreateTable(table).ToString(), "OK");
    }
    Fill();
  }
  engine::Engine& engine() { return **this; }

  // A row in each region of "t", and one in "u".
  void Fill() {
    WriteBatch batch;
    for (const char* row : {"a", "b", "c", "d", "e"}) batch.Put("t", row, "d", "c", "1");
    batch.Put("u", "z", "d", "c", "1");
    BOOST_REQUIRE_EQUAL(Write(batch, Durability::kSynced).ToString(), "OK");
  }
  uint64_t LeftOver() {
    const auto names = (*disk.OpenDirectory("db", false))->List();
    const auto is_store = [](const std::string& name) { return name.starts_with("store-"); };
    const auto stores = std::count_if(names->begin(), names->end(), is_store);
    return static_cast<uint64_t>(stores) - FileCount();
  }
  // What is on the disk is all there, and no more.
  void CheckSound(const std::string& what) {
    BOOST_CHECK_MESSAGE(LeftOver() == 0, what);
    BOOST_CHECK_MESSAGE((*engine().Verify(true)).findings.empty(), what);
    BOOST_REQUIRE_MESSAGE(Rows() == kRows, what << ": " << Rows());
  }

  std::shared_ptr<FlushListener> listener = std::make_shared<FlushListener>();
};

bool IsOfStoreFile(const DiskEvent& event) { return event.name.starts_with("store-"); }

BOOST_AUTO_TEST_SUITE(GroupedFlushes)

BOOST_FIXTURE_TEST_CASE(OneEditShowsAll, GroupedFlush) {
  disk.control().SetTracing(true);
  BOOST_REQUIRE_EQUAL(engine().Flush("").ToString(), "OK");
  uint64_t files = 0, manifest_syncs = 0;
  for (const DiskEvent& event : disk.control().TakeTrace()) {
    if (event.operation != DiskOperation::kDataSync) continue;
    files += IsOfStoreFile(event);
    manifest_syncs += event.name.starts_with("manifest-");
  }
  disk.control().SetTracing(false);
  BOOST_CHECK_EQUAL(files, 6u);
  BOOST_CHECK_EQUAL(manifest_syncs, 1u);
  BOOST_CHECK_EQUAL(engine().GetStatistics().flushes, 6u);
  BOOST_CHECK_EQUAL(engine().GetStatistics().flushed_rows, 6u);
  BOOST_REQUIRE_EQUAL(listener->told.size(), 12u);
  for (size_t i = 0; i < 6; ++i) {
    const std::string& begin = listener->told[i];
    BOOST_CHECK_EQUAL(listener->told[6 + i], "end " + begin.substr(6) + " OK");
  }
  CheckSound("flushed");
}

BOOST_FIXTURE_TEST_CASE(ALargeMemstoreIsFlushedAlone, GroupedFlush) {
  BOOST_REQUIRE_EQUAL(Put("a", "q", std::string(20'000, 'x')).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(Put("c", "q", std::string(20'000, 'x')).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine().Flush("t").ToString(), "OK");
  const std::vector<std::string> expected = {"begin 1", "end 1 OK", "begin 2",  "begin 4",
                                             "begin 5", "end 2 OK", "end 4 OK", "end 5 OK",
                                             "begin 3", "end 3 OK"};
  BOOST_CHECK_EQUAL_COLLECTIONS(listener->told.begin(), listener->told.end(), expected.begin(),
                                expected.end());
}

// Tables are dropped by others while the files are synced.
BOOST_FIXTURE_TEST_CASE(ARegionThatIsGoneLeavesTheOthers, GroupedFlush) {
  uint64_t syncs = 0;
  disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kDataSync || !IsOfStoreFile(event)) return;
    if (++syncs == 3) BOOST_REQUIRE_EQUAL(engine().DropTable("u").ToString(), "OK");
  });
  BOOST_REQUIRE_EQUAL(engine().Flush("").ToString(), "OK");
  disk.control().SetHook(nullptr);
  BOOST_CHECK_EQUAL(syncs, 6u);
  BOOST_CHECK_EQUAL(engine().GetStatistics().flushes, 5u);
  BOOST_CHECK_EQUAL(engine().GetStatistics().failed_flushes, 1u);
  BOOST_CHECK_EQUAL(FileCount(), 5u);
  CheckSound("dropped");
  Kill();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  CheckSound("opened");
}

// The one whose file fails waits on; nobody asks for its retry.
BOOST_AUTO_TEST_CASE(AFileThatFailsLeavesTheOthers) {
  for (size_t at = 1;; ++at) {
    GroupedFlush world(at);
    size_t count = 0;
    std::string what;
    world.disk.control().SetHook([&](const DiskEvent& event) {
      if (!IsOfStoreFile(event) || ++count != at) return;
      what = Describe(event);
      world.disk.control().InjectFault({.at = 1, .status = Status::NoSpace("injected")});
    });
    const Status flushed = world.engine().Flush("");
    world.disk.control().SetHook(nullptr);
    world.disk.control().ClearFaults();
    if (what.empty()) {
      BOOST_CHECK_GE(at, 6u * 8u);
      break;
    }
    BOOST_CHECK_MESSAGE(flushed.code() == StatusCode::kNoSpace, what << ": " << flushed);
    const Statistics statistics = world.engine().GetStatistics();
    BOOST_CHECK_MESSAGE(statistics.flushes == 5 && statistics.failed_flushes == 1, what);
    BOOST_CHECK_MESSAGE(!world.engine().Info().read_only, what);
    world.CheckSound(what);
    world.clock.Advance(1'000'000);
    world.executor.Drain();
    BOOST_CHECK_EQUAL(world.engine().GetStatistics().flushes, 6u);
    world.CheckSound(what);
    world.Crash({.kept = CrashPolicy::Kept::kNone});
    BOOST_REQUIRE_EQUAL(world.Open().ToString(), "OK");
    world.CheckSound(what);
  }
}

// When the edit fails, the files stay for the next attempt.
BOOST_FIXTURE_TEST_CASE(AnEditThatFailsIsDoneAgainWithTheSameFiles, GroupedFlush) {
  bool has_come = false;
  disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kWrite || !event.name.starts_with("manifest-")) return;
    if (std::exchange(has_come, true)) return;
    disk.control().InjectFault({.at = 1, .status = Status::NoSpace("injected")});
  });
  BOOST_CHECK_EQUAL(engine().Flush("").code(), StatusCode::kNoSpace);
  BOOST_CHECK_EQUAL(engine().GetStatistics().failed_flushes, 6u);
  uint64_t created = 0;
  disk.control().SetHook([&](const DiskEvent& event) {
    created += event.operation == DiskOperation::kCreate && IsOfStoreFile(event);
  });
  clock.Advance(1'000'000);
  executor.Drain();
  disk.control().SetHook(nullptr);
  BOOST_CHECK_EQUAL(created, 0u);
  BOOST_CHECK_EQUAL(engine().GetStatistics().flushes, 6u);
  CheckSound("again");
}

BOOST_AUTO_TEST_CASE(ACrashAtAnyOperationLosesNothing) {
  for (const auto kept : {CrashPolicy::Kept::kNone, CrashPolicy::Kept::kRandom}) {
    for (uint64_t at = 1;; ++at) {
      GroupedFlush world(at);
      const uint64_t before = world.disk.control().operation_count();
      world.disk.control().PowerOffAt(at);
      const Status flushed = world.engine().Flush("");
      const bool is_over = world.disk.control().operation_count() - before < at;
      world.Crash({.kept = kept, .seed = at});
      BOOST_REQUIRE_EQUAL(world.Open().ToString(), "OK");
      world.CheckSound("power off at " + std::to_string(at) + ": " + flushed.ToString());
      if (!is_over) continue;
      BOOST_CHECK_EQUAL(flushed.ToString(), "OK");
      BOOST_CHECK_EQUAL(world.FileCount(), 6u);
      break;
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
