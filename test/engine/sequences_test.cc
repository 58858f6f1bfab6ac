// Ids and crashes: at every operation of the disk power may go, and none comes again.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

// Takes ids until the disk fails, which returns false, or enough were taken. Raises `*end` to the
// end of those that were returned.
bool TakeIds(TestEngine& engine, uint64_t* end) {
  for (const uint64_t count : {1, 1, 3, 1, 20, 1, 200, 1}) {
    const Result<uint64_t> first = engine->NextIds("ids", count);
    if (!first.has_value()) return false;
    BOOST_REQUIRE_GE(*first, *end);
    *end = *first + count;
  }
  return true;
}

// False: the operation to fail at was not reached.
bool FailAt(uint64_t at, CrashPolicy::Kept kept) {
  TestEngine engine(at + 1);
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->CreateSequence({.name = "ids", .first = 10}).ToString(), "OK");
  uint64_t end = 10;
  engine.disk.control().PowerOffAt(at);
  const bool has_struck = !TakeIds(engine, &end);
  engine.Crash({.kept = kept, .seed = at});
  engine.disk.control().PowerOn();
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  const Result<uint64_t> first = engine->NextIds("ids", 5);
  BOOST_REQUIRE_EQUAL(first.status().ToString(), "OK");
  BOOST_TEST(*first >= end);
  BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
  return has_struck;
}

BOOST_AUTO_TEST_SUITE(sequences)

BOOST_AUTO_TEST_CASE(NoIdComesAgainAfterAPowerCut) {
  for (const auto kept :
       {CrashPolicy::Kept::kNone, CrashPolicy::Kept::kAll, CrashPolicy::Kept::kRandom}) {
    uint64_t at = 1;
    while (FailAt(at, kept)) ++at;
    BOOST_TEST(at > 5u);
  }
}

// A failed reservation gives out nothing, and what is reserved is still given out.
BOOST_AUTO_TEST_CASE(AFullDiskStopsASequenceUntilThereIsSpace) {
  TestEngine engine;
  BOOST_REQUIRE_EQUAL(engine.Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->CreateSequence({.name = "ids"}).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->NextIds("ids", 10).status().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->NextIds("ids", 5).status().ToString(), "OK");  // Reserves 20.
  engine.disk.control().SetSpaceBudget(0);
  BOOST_TEST(*engine->NextIds("ids", 15) == 16u);
  const Result<uint64_t> refused = engine->NextIds("ids", 1);
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().code() == StatusCode::kNoSpace));
  engine.disk.control().SetSpaceBudget(std::nullopt);
  const Result<uint64_t> later = engine->NextIds("ids", 1);
  BOOST_REQUIRE_EQUAL(later.status().ToString(), "OK");
  BOOST_TEST(*later == 31u);
  BOOST_REQUIRE_EQUAL(engine.Close().ToString(), "OK");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
