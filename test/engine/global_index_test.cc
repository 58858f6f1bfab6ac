// What a power cut leaves of a global index that was added to a table with rows.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "tandem/predicate.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

IndexOptions GlobalByC() {
  IndexOptions index = *IndexOptions::Parse("c");
  index.name = "g";
  index.placement = IndexPlacement::kGlobal;
  return index;
}

// More than one batch of the build.
constexpr int kRows = 600;

struct Built : TestEngine {
  Built() {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((*this)->CreateTable(SimpleTable()).ToString(), "OK");
    for (int i = 0; i < kRows; ++i) {
      BOOST_REQUIRE_EQUAL(Put("r" + std::to_string(i), "c", "v").ToString(), "OK");
    }
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  }
  bool IsBuilding() {
    const DatabaseInfo info = (*this)->Info();
    for (const IndexInfo& index : info.tables.at(0).indexes) {
      if (index.options.name == "g") return index.is_building;
    }
    return true;
  }
  // "building" if the index does not serve yet.
  std::string CountByIndex() {
    const Predicate predicate = *Predicate::Parse("c = 'v'");
    if (IsBuilding()) return "building";
    const Result<uint64_t> count = (*this)->Count({}, "t", predicate, {.use_index = "g"});
    return count.has_value() ? std::to_string(*count) : count.error().ToString();
  }
};

BOOST_AUTO_TEST_SUITE(global_index)

// The edit that says so is durable before the end of the log that has the entries may be.
BOOST_AUTO_TEST_CASE(AnIndexThatServesHasItsEntriesAfterAPowerCut) {
  for (const auto kept :
       {CrashPolicy::Kept::kNone, CrashPolicy::Kept::kAll, CrashPolicy::Kept::kRandom}) {
    Built engine;
    BOOST_REQUIRE_EQUAL(engine->CreateIndex("t", GlobalByC()).ToString(), "OK");
    engine.executor.Drain();
    BOOST_TEST(engine.CountByIndex() == std::to_string(kRows));
    engine.Crash({.kept = kept, .seed = 1});
    BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
    BOOST_TEST(engine.CountByIndex() == std::to_string(kRows));
    BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
  }
}

// Wherever it comes, the index has all entries when it serves.
BOOST_AUTO_TEST_CASE(ABuildThatLosesPowerBeginsAgain) {
  uint64_t at = 1;
  for (bool has_struck = true; has_struck; ++at) {
    Built engine;
    engine.disk.control().PowerOffAt(at);
    has_struck = !engine->CreateIndex("t", GlobalByC()).ok();
    engine.executor.Drain();
    has_struck |= engine.CountByIndex() != std::to_string(kRows);
    engine.Crash({.kept = CrashPolicy::Kept::kNone, .seed = at});
    engine.disk.control().PowerOn();
    BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
    if (const std::string count = engine.CountByIndex(); count != "building") {
      BOOST_TEST(count == std::to_string(kRows), "power off at " << at << ": " << count);
    }
    engine.executor.Drain();
    BOOST_TEST(((engine->Info().tables.at(0).indexes.size() == 1) ||
                engine.CountByIndex() == std::to_string(kRows)));
    BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
  }
  BOOST_TEST(at > 5u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
