// One seed, one run: a session or a small world does the same, byte for byte, when its seed is run
// again, and when its record is replayed.
//
//   TANDEM_SEED=N     the first seed; random otherwise.
//   TANDEM_TRIALS=N   N times the usual 40 seeds.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <iostream>
#include <memory>

#include "test/model/run.h"
#include "test/model/session_shrink.h"
#include "test/model/small_world.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

constexpr uint64_t kSeeds = 40;
constexpr uint64_t kOperationsEach = 200;

struct Traced {
  uint64_t hash = 0, events = 0;
  std::string failure;
  std::vector<SessionAction> record;
  bool operator==(const Traced& other) const {
    return hash == other.hash && events == other.events && failure == other.failure;
  }
};

SessionPlan PlanOf(uint64_t seed) {
  return {.seed = seed, .rows = 20 + seed % 100, .operations = kOperationsEach};
}

// `record`: what to do; nullptr: what the seed says.
Traced RunSession(uint64_t seed, const std::vector<SessionAction>* record) {
  Traced traced;
  RunTrace trace;
  SessionPlan plan = PlanOf(seed);
  plan.trace = &trace;
  Counters counters;
  {
    Session session(plan, &counters);
    try {
      record == nullptr ? session.Run() : session.Replay(*record);
    } catch (const Failure& failure) {
      traced.failure = failure.what();
    }
    traced.record = session.record();
  }
  traced.hash = trace.hash();
  traced.events = trace.event_count();
  return traced;
}

// Something between two runs that moves what is allocated later.
std::vector<std::unique_ptr<char[]>> StirMemory(uint64_t seed) {
  std::vector<std::unique_ptr<char[]>> kept;
  for (uint64_t i = 0; i < 20; ++i) kept.push_back(std::make_unique<char[]>(1 + (seed * i) % 5000));
  for (size_t i = 0; i < kept.size(); i += 2) kept[i].reset();
  return kept;
}

BOOST_AUTO_TEST_SUITE(replay)

BOOST_AUTO_TEST_CASE(ASessionIsAFunctionOfItsSeed) {
  uint64_t events = 0, hashes = 0;
  for (uint64_t seed = Seed(); seed < Seed() + Trials(kSeeds); ++seed) {
    const Traced first = RunSession(seed, nullptr);
    const auto stirred = StirMemory(seed);
    const Traced second = RunSession(seed, nullptr);
    const Traced replayed = RunSession(seed, &first.record);
    const std::string command = "; again with: TANDEM_SEED=" + std::to_string(seed) +
                                " build/test_model --run_test=replay/ASessionIsAFunctionOfItsSeed";
    BOOST_TEST(first.failure.empty(), first.failure << command);
    BOOST_TEST((first == second), "two runs of seed " << seed << " differ" << command);
    BOOST_TEST((first == replayed), "the record of seed " << seed << " runs otherwise" << command);
    events += first.events;
    hashes = hashes * 31 + first.hash;
  }
  std::cout << "replay: " << Trials(kSeeds) << " sessions from seed " << Seed() << ", " << events
            << " disk operations each time, hash " << hashes << std::endl;
  BOOST_TEST(events > 0u);
}

BOOST_AUTO_TEST_CASE(ASmallWorldIsAFunctionOfItsSeed) {
  for (uint64_t seed = Seed(); seed < Seed() + Trials(kSeeds); ++seed) {
    const SmallWorld world = NewSmallWorld(seed);
    uint64_t hashes[2] = {};
    for (uint64_t& hash : hashes) {
      const auto stirred = StirMemory(seed + hashes[0]);
      Counters counters;
      RunTrace trace;
      const auto failure = RunSmallWorld(world, &counters, &trace);
      BOOST_TEST(!failure.has_value(), "seed " << seed << ": " << failure.value_or(""));
      hash = trace.hash();
    }
    BOOST_TEST(hashes[0] == hashes[1], "two runs of seed " << seed << " differ");
  }
}

BOOST_AUTO_TEST_CASE(AnotherSeedIsAnotherRun) {
  BOOST_TEST(RunSession(1, nullptr).hash != RunSession(2, nullptr).hash);
}

// A read of a row that nobody put: of some thousand actions the one is left that fails.
BOOST_AUTO_TEST_CASE(ARecordShrinksToWhatFails) {
  std::vector<SessionAction> record = RunSession(7, nullptr).record;
  SessionAction wrong{.kind = SessionAction::Kind::kFlush, .table = "no such table", .seed = 1};
  record.insert(record.begin() + static_cast<std::ptrdiff_t>(record.size() / 2), wrong);
  BOOST_TEST(ReplaySession(PlanOf(7), record).has_value());
  const std::vector<SessionAction> left = ShrinkSession(PlanOf(7), record);
  BOOST_TEST(left.size() == 1u);
  BOOST_TEST(left[0].table == "no such table");
  BOOST_TEST(Describe(record, 40).ends_with(" lines more"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
