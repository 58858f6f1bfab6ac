// The scrub under a clock and an executor that the test moves: its rate, its order, its figures,
// and what it does about damage and about files that go.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tandem/event_listener.h"
#include "test/engine/test_engine.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRate = 10'000;
constexpr int64_t kSecond = 1'000'000;

struct Listener final : EventListener {
  void OnScrubFinding(const ScrubFindingEvent& event) override {
    findings.push_back(std::string(event.file) + " " + event.status.ToString());
  }
  std::vector<std::string> findings;
};

struct World {
  explicit World(uint64_t rate = kRate) {
    engine.options.scrub_bytes_per_second = rate;
    engine.options.listener = listener;
    engine.tuning.compaction_runs = 100;
    BOOST_REQUIRE(engine.Open().ok());
    BOOST_REQUIRE(engine->CreateTable(SimpleTable(1)).ok());
    for (int file = 0; file < 3; ++file) Grow(file);
  }
  void Grow(int file) {
    for (int i = 0; i < 100; ++i) {
      const std::string row = std::to_string(file) + "/" + std::to_string(i);
      BOOST_REQUIRE(engine.Put(row, "c", std::string(60, static_cast<char>('a' + i % 26))).ok());
    }
    BOOST_REQUIRE(engine->Flush("t").ok());
    engine.executor.Drain();
  }
  void Pass(int64_t seconds) {
    for (int64_t tenth = 0; tenth < 10 * seconds; ++tenth) {
      engine.clock.Advance(kSecond / 10);
      engine.executor.Drain();
    }
  }
  uint64_t Bytes() {
    uint64_t bytes = 0;
    const DatabaseInfo info = engine->Info();
    for (const FileInfo& file : info.tables[0].regions[0].files) bytes += file.size_bytes;
    return bytes;
  }
  std::string NameOfFile(size_t place) {
    const DatabaseInfo info = engine->Info();
    return "store-" + std::to_string(info.tables[0].regions[0].files[place].number);
  }

  std::shared_ptr<Listener> listener = std::make_shared<Listener>();
  TestEngine engine;
};

BOOST_AUTO_TEST_SUITE(ScrubSuite)

BOOST_AUTO_TEST_CASE(ItReadsAtItsRate) {
  World world;
  const uint64_t before = world.engine->GetStatistics().scrubbed_bytes;
  world.Pass(20);
  const uint64_t passed = world.engine->GetStatistics().scrubbed_bytes - before;
  BOOST_TEST(passed > 20 * kRate * 8 / 10);
  BOOST_TEST(passed < 20 * kRate * 12 / 10);
  BOOST_TEST(world.listener->findings.empty());
  const DatabaseInfo info = world.engine->Info();
  BOOST_TEST(info.scrub_bytes_per_second == kRate);
  BOOST_TEST(info.scrub_findings == 0u);
}

BOOST_AUTO_TEST_CASE(WithoutARateNothingIsRead) {
  World world(0);
  world.Pass(5);
  const Statistics statistics = world.engine->GetStatistics();
  BOOST_TEST(statistics.scrubbed_bytes == 0u);
  BOOST_TEST(statistics.oldest_unverified_micros == 0u);
}

BOOST_AUTO_TEST_CASE(NoByteStaysUnverifiedForMuchLongerThanARound) {
  World world;
  const uint64_t round_micros = world.Bytes() * kSecond / kRate;
  for (int second = 0; second < 40; ++second) {
    world.Pass(1);
    const uint64_t age = world.engine->GetStatistics().oldest_unverified_micros;
    BOOST_TEST(age <= 2 * round_micros + 3 * kSecond);
  }
  BOOST_TEST(world.engine->GetStatistics().oldest_unverified_micros > 0u);
}

BOOST_AUTO_TEST_CASE(TheOldestComesFirst) {
  World world;
  std::vector<std::string> order;
  world.engine.disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kRead || !event.name.starts_with("store-")) return;
    if (order.empty() || order.back() != event.name) order.push_back(event.name);
  });
  world.Pass(static_cast<int64_t>(6 * world.Bytes() / kRate));
  world.engine.disk.control().SetHook(nullptr);
  // All files in turn, again and again.
  const size_t files = world.engine.FileCount();
  // Once the first round has put them in order.
  BOOST_REQUIRE(order.size() > 3 * files);
  for (size_t i = 2 * files; i < order.size(); ++i) BOOST_TEST(order[i] == order[i - files]);
}

BOOST_AUTO_TEST_CASE(EveryDamagedByteIsToldWithFileAndOffset) {
  World world;
  const std::string name = world.NameOfFile(1);
  const std::string bytes = *world.engine.disk.Content("db", name);
  for (size_t at = 0; at < bytes.size(); at += bytes.size() / 40) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    world.engine.disk.SetContent("db", name, damaged);
    world.listener->findings.clear();
    const uint64_t before = world.engine->GetStatistics().scrub_findings;
    world.Pass(static_cast<int64_t>(2 * world.Bytes() / kRate) + 2);
    BOOST_REQUIRE_MESSAGE(!world.listener->findings.empty(), "flip at " << at);
    BOOST_TEST(world.listener->findings[0].starts_with(name + " Corruption: " + name + ": "));
    BOOST_TEST(world.engine->GetStatistics().scrub_findings > before);
    BOOST_TEST(world.engine.log.back().starts_with("the scrub found damage: "));
  }
  // It goes on with the other files, and the database works.
  BOOST_TEST(world.engine.Put("x", "c", "1").ok());
  world.engine.disk.SetContent("db", name, bytes);
}

BOOST_AUTO_TEST_CASE(AFileThatGoesIsNotHeld) {
  World world;
  world.Pass(1);
  BOOST_TEST(world.engine->Compact("t").ok());
  world.engine.executor.Drain();
  uint64_t stores = 0;
  for (const std::string& name : *(*world.engine.disk.OpenDirectory("db", false))->List()) {
    stores += name.starts_with("store-") ? 1 : 0;
  }
  BOOST_TEST(stores == 1u);
  world.Pass(5);
  BOOST_TEST(world.listener->findings.empty());
  BOOST_TEST(world.engine.Close().ok());
  // Nothing runs after the end.
  world.Pass(2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
