// Named snapshots under a clock and on a disk that the test controls: time, what is opened and
// when, the catalog's limit, and damage.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/salvage/salvage.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr int64_t kSecond = 1'000'000;

struct World {
  explicit World(const TableOptions& table = SimpleTable()) {
    engine.tuning.compaction_runs = 100;
    Ok(engine.Open());
    Ok(engine->CreateTable(table));
  }
  static void Ok(const Status& status) { BOOST_REQUIRE_EQUAL(status.ToString(), "OK"); }
  void Reopen() {
    Ok(engine.Close());
    Ok(engine.Open());
  }
  std::string ValueAt(const char* name, const char* row) {
    const auto snapshot = engine->OpenSnapshot(name);
    Ok(snapshot.status());
    const auto found = engine->Get({.snapshot = &*snapshot}, "t", row);
    if (!found.has_value()) return found.status().ToString();
    return found->has_value() ? std::string((*found)->Find("d", "c").value_or("?")) : "-";
  }
  /// How often store files are opened by `work`.
  uint64_t OpensBy(const std::function<void()>& work) {
    uint64_t opens = 0;
    engine.disk.control().SetHook([&opens](const DiskEvent& event) {
      opens += event.operation == DiskOperation::kOpen && event.name.starts_with("store-");
    });
    work();
    engine.disk.control().SetHook(nullptr);
    return opens;
  }
  uint64_t StoreFiles() {
    uint64_t count = 0;
    const auto directory = engine.disk.OpenDirectory("db", /*create=*/false);
    for (const std::string& name : *(*directory)->List()) count += name.starts_with("store-");
    return count;
  }
  /// The file of the snapshot, which no table has any more.
  std::string FileOf(const char* name) {
    for (const NamedSnapshotInfo& info : *engine->ListSnapshots()) {
      if (info.name == name) return "store-" + std::to_string(info.files.front());
    }
    return {};
  }
  void Damage(const std::string& file) {
    std::string bytes = *engine.disk.Content("db", file);
    bytes[200] = static_cast<char>(bytes[200] ^ 4);
    engine.disk.SetContent("db", file, bytes);
  }

  TestEngine engine;
};

BOOST_AUTO_TEST_SUITE(NamedSnapshotSuite)

BOOST_AUTO_TEST_CASE(CellsExpireByTheTimeOfTheirCreation) {
  World world(SimpleTable(1, 10 * kSecond));
  World::Ok(world.engine.Put("old", "c", "1"));
  world.engine.clock.Advance(8 * kSecond);
  World::Ok(world.engine.Put("new", "c", "2"));
  world.engine.clock.Advance(4 * kSecond);
  World::Ok(world.engine->CreateSnapshot("s", {}));
  world.engine.clock.Advance(20 * kSecond);
  for (int round = 0; round < 3; ++round) {
    BOOST_TEST(world.ValueAt("s", "old") == "-");
    BOOST_TEST(world.ValueAt("s", "new") == "2");
    BOOST_TEST(world.engine.Value("new", "c") == "-");
    const auto listed = world.engine->ListSnapshots();
    BOOST_TEST(listed->front().age_micros >= 20 * kSecond);
    if (round == 0) World::Ok(world.engine->Compact("t"));
    if (round == 1) world.Reopen();
  }
}

// Also where the clock says that both are of the same time.
BOOST_AUTO_TEST_CASE(AnOpenOneIsNotTheNextOneOfItsName) {
  World world;
  TableOptions other = SimpleTable();
  other.name = "u";
  World::Ok(world.engine->CreateTable(other));
  World::Ok(world.engine.Put("a", "c", "1"));
  World::Ok(world.engine->CreateSnapshot("s", {"t"}));
  const auto former = world.engine->OpenSnapshot("s");
  World::Ok(world.engine->DropSnapshot("s"));
  World::Ok(world.engine->CreateSnapshot("s", {"u"}));
  const auto present = world.engine->OpenSnapshot("s");
  World::Ok(present.status());
  BOOST_TEST(world.engine->Count({.snapshot = &*former}, "t", {}, {}).value() == 1u);
  BOOST_TEST(world.engine->Count({.snapshot = &*present}, "u", {}, {}).value() == 0u);
  const auto none = world.engine->Count({.snapshot = &*present}, "t", {}, {});
  BOOST_TEST((none.status().code() == StatusCode::kNotFound));
}

// An open of the database checks the ends of all files; from then on, those of a snapshot are
// opened by the first read of their region.
BOOST_AUTO_TEST_CASE(FilesAreOpenedWhenTheyAreRead) {
  World world;
  for (const char* row : {"a", "m"}) World::Ok(world.engine.Put(row, "c", "1"));
  BOOST_REQUIRE(world.engine->Split("t", {.key = "m"}).has_value());
  World::Ok(world.engine->Compact("t"));
  World::Ok(world.engine->CreateSnapshot("s", {}));
  World::Ok(world.engine->TruncateTable("t"));
  world.Reopen();
  const auto snapshot = world.engine->OpenSnapshot("s");
  BOOST_TEST(world.OpensBy([&] { (void)world.engine->OpenSnapshot("s"); }) == 0u);
  const auto get = [&](const char* row) {
    BOOST_TEST(world.engine->Get({.snapshot = &*snapshot}, "t", row)->has_value());
  };
  BOOST_TEST(world.OpensBy([&] { get("a"); }) == 1u);
  BOOST_TEST(world.OpensBy([&] { get("a"); }) == 0u);
  BOOST_TEST(world.OpensBy([&] { get("m"); }) == 1u);
}

BOOST_AUTO_TEST_CASE(TheyNeverFillTheCatalog) {
  TableOptions table = SimpleTable();
  for (int i = 1; i < 4096; ++i) table.split_keys.push_back(std::to_string(100'000 + i));
  World world(table);
  int created = 0;
  Status status;
  for (; created < 500; ++created) {
    status = world.engine->CreateSnapshot("s" + std::to_string(created), {});
    if (!status.ok()) break;
  }
  BOOST_TEST(created > 20);
  BOOST_TEST((status.code() == StatusCode::kUnsupported));
  BOOST_TEST(status.message().find("drop other snapshots first") != std::string_view::npos);
  World::Ok(world.engine.Put("100500", "c", "1"));
  World::Ok(world.engine->Flush("t"));
  world.Reopen();
  World::Ok(world.engine->DropSnapshot("s3"));
  World::Ok(world.engine->CreateSnapshot("another", {}));
  BOOST_TEST(world.ValueAt("another", "100500") == "1");
  BOOST_TEST(world.ValueAt("s4", "100500") == "-");
}

BOOST_AUTO_TEST_CASE(DamageOfTheirFilesIsFound) {
  World world;
  world.engine.options.scrub_bytes_per_second = 10'000;
  World::Ok(world.engine.Put("a", "c", "1"));
  World::Ok(world.engine->CreateSnapshot("s", {}));
  World::Ok(world.engine->TruncateTable("t"));
  world.Reopen();
  const std::string file = world.FileOf("s");
  BOOST_TEST(world.engine->Verify(true)->findings.size() == 0u);
  BOOST_TEST(world.engine->Verify(false)->files == 1u);
  for (int tenth = 0; tenth < 50; ++tenth) {
    world.engine.clock.Advance(kSecond / 10);
    world.engine.executor.Drain();
  }
  BOOST_TEST(world.engine->GetStatistics().scrubbed_bytes > 0u);
  BOOST_TEST(world.engine->GetStatistics().scrub_findings == 0u);
  world.Damage(file);
  const auto report = world.engine->Verify(true);
  BOOST_REQUIRE(report.has_value());
  BOOST_REQUIRE(!report->findings.empty());
  BOOST_TEST(report->findings.front().text.find(file) != std::string::npos);
  for (int tenth = 0; tenth < 50; ++tenth) {
    world.engine.clock.Advance(kSecond / 10);
    world.engine.executor.Drain();
  }
  BOOST_TEST(world.engine->GetStatistics().scrub_findings > 0u);
}

// A snapshot is dropped while the scrub opens its file.
BOOST_AUTO_TEST_CASE(AScrubTakesADropForNoDamage) {
  World world;
  world.engine.options.scrub_bytes_per_second = 10'000;
  World::Ok(world.engine.Put("a", "c", "1"));
  World::Ok(world.engine->CreateSnapshot("s", {}));
  World::Ok(world.engine->TruncateTable("t"));
  world.Reopen();
  bool is_dropped = false;
  world.engine.disk.control().SetHook([&](const DiskEvent& event) {
    const bool opens = event.operation == DiskOperation::kOpen;
    if (is_dropped || !opens || !event.name.starts_with("store-")) return;
    is_dropped = true;
    World::Ok(world.engine->DropSnapshot("s"));
  });
  for (int tenth = 0; tenth < 50; ++tenth) {
    world.engine.clock.Advance(kSecond / 10);
    world.engine.executor.Drain();
  }
  world.engine.disk.control().SetHook(nullptr);
  BOOST_TEST(is_dropped);
  BOOST_TEST(world.engine->GetStatistics().scrub_findings == 0u);
  BOOST_TEST(world.StoreFiles() == 0u);
}

// The files of a snapshot are no rows of the tables, whether these are there or not.
BOOST_AUTO_TEST_CASE(ASalvageLeavesThemAndSaysSo) {
  World world;
  World::Ok(world.engine.Put("a", "c", "1"));
  World::Ok(world.engine->CreateSnapshot("s", {}));
  World::Ok(world.engine->TruncateTable("t"));
  World::Ok(world.engine.Put("b", "c", "2"));
  World::Ok(world.engine.Close());
  const auto random = base::NewSeededRandom(3);
  const auto report = engine::Salvage({.source = "db", .destination = "copy"}, world.engine.tuning,
                                      {.file_system = &world.engine.disk,
                                       .clock = &world.engine.clock,
                                       .random = random.get(),
                                       .executor = &world.engine.executor},
                                      nullptr);
  World::Ok(report.status());
  BOOST_TEST(report->snapshots == std::vector<std::string>{"s"});
  BOOST_TEST(report->lost_something());
  BOOST_TEST(report->tables == 1u);
  BOOST_TEST(report->rows == 1u);
  BOOST_TEST(report->orphans.size() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
