// Counts of writes and reads of regions, and the event of one that takes most of them.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tandem/event_listener.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

class Listener final : public EventListener {
 public:
  void OnHotRegion(const HotRegionEvent& event) override {
    heard.push_back(std::string(event.table) + (event.is_read ? " reads " : " writes ") +
                    std::to_string(event.count) + "/" + std::to_string(event.of));
  }
  std::vector<std::string> heard;
};

struct World {
  World() : listener(std::make_shared<Listener>()) {
    engine.options.listener = listener;
    BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
    TableOptions table = SimpleTable();
    table.split_keys = {"m"};
    BOOST_REQUIRE_EQUAL(engine->CreateTable(table).ToString(), "OK");
  }
  // A second in which so many rows before "m", and from "m" on, are written.
  void WriteForASecond(uint64_t left, uint64_t right) {
    for (uint64_t i = 0; i < left; ++i) BOOST_REQUIRE(engine.Put("a", "c", "v").ok());
    for (uint64_t i = 0; i < right; ++i) BOOST_REQUIRE(engine.Put("z", "c", "v").ok());
    engine.clock.Advance(1'000'000);
  }

  std::shared_ptr<Listener> listener;
  TestEngine engine;
};

BOOST_AUTO_TEST_SUITE(hot_regions)

BOOST_AUTO_TEST_CASE(RegionsCountWhatTheyTake) {
  World world;
  for (int i = 0; i < 3; ++i) BOOST_REQUIRE(world.engine.Put("a", "c", "v").ok());
  BOOST_REQUIRE(world.engine.Put("z", "c", "v").ok());
  BOOST_TEST(world.engine.Value("z", "c") == "v");
  const auto info = world.engine->Info();
  BOOST_REQUIRE_EQUAL(info.tables.at(0).regions.size(), 2u);
  BOOST_TEST(info.tables[0].regions[0].writes == 3u);
  BOOST_TEST(info.tables[0].regions[1].writes == 1u);
  BOOST_TEST(info.tables[0].regions[0].reads == 0u);
  BOOST_TEST(info.tables[0].regions[1].reads == 1u);
}

BOOST_AUTO_TEST_CASE(ARegionIsHotAfterTenSeconds) {
  World world;
  for (int second = 0; second < 10; ++second) world.WriteForASecond(30, 120);
  BOOST_TEST(world.listener->heard.empty());
  for (int second = 0; second < 20; ++second) world.WriteForASecond(30, 120);
  BOOST_REQUIRE_EQUAL(world.listener->heard.size(), 1u);  // Not again while it stays so.
  BOOST_TEST(world.listener->heard[0] == "t writes 120/150");
}

BOOST_AUTO_TEST_CASE(ARegionIsNotHotThatIsSoNowAndThen) {
  World world;
  for (int second = 0; second < 40; ++second) {
    world.WriteForASecond(second % 8 == 0 ? 130 : 30, 120);
  }
  for (int second = 0; second < 40; ++second) world.WriteForASecond(1, 20);  // Too few to say.
  BOOST_TEST(world.listener->heard.empty());
}

// What comes after a pause begins anew.
BOOST_AUTO_TEST_CASE(SecondsOfAPauseDoNotCount) {
  World world;
  for (int second = 0; second < 8; ++second) world.WriteForASecond(0, 120);
  world.engine.clock.Advance(5'000'000);
  for (int second = 0; second < 8; ++second) world.WriteForASecond(0, 120);
  BOOST_TEST(world.listener->heard.empty());
}

BOOST_AUTO_TEST_CASE(ReadsAreCountedApart) {
  World world;
  world.WriteForASecond(1, 1);
  for (int second = 0; second < 13; ++second) {
    for (int i = 0; i < 150; ++i) BOOST_TEST_REQUIRE(world.engine.Value("a", "c") == "v");
    world.engine.clock.Advance(1'000'000);
  }
  BOOST_REQUIRE_EQUAL(world.listener->heard.size(), 1u);
  BOOST_TEST(world.listener->heard[0] == "t reads 150/150");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
