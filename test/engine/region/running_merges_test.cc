// What ends merges, which runs are theirs, and what they give way to.
#define BOOST_TEST_DYN_LINK
#include "engine/region/running_merges.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "test/support/empty_region.h"

namespace tandem::test {
namespace {

using engine::MergeKind;
using engine::Region;
using engine::RunningMerge;
using engine::RunningMerges;

struct RunningMergesFixture {
  RunningMerges merges;
  const std::shared_ptr<Region> one = EmptyRegion(1), two = EmptyRegion(2);
};

BOOST_FIXTURE_TEST_SUITE(RunningMergesSuite, RunningMergesFixture)

BOOST_AUTO_TEST_CASE(CallersEndMergesThatAreDue) {
  RunningMerge due(&merges, *one, {.kind = MergeKind::kDue});
  RunningMerge repair(&merges, *two, {.kind = MergeKind::kRepair});
  merges.CallersWait(*one, +1);
  merges.CallersWait(*two, +1);
  BOOST_CHECK(due.is_ended());
  BOOST_CHECK(!repair.is_ended());
  // One that begins meanwhile.
  BOOST_CHECK(RunningMerge(&merges, *one, {.within = &repair}).is_ended());
  merges.CallersWait(*one, -1);
  BOOST_CHECK(!due.is_ended());
}

BOOST_AUTO_TEST_CASE(AMergeWithinAnotherEndsWithIt) {
  RunningMerge outer(&merges, *one, {.kind = MergeKind::kDue});
  RunningMerge middle(&merges, *two, {.within = &outer});
  {
    const RunningMerge inner(&merges, *two, {.within = &middle});
    merges.CallersWait(*one, +1);
    BOOST_CHECK(outer.is_ended() && middle.is_ended() && inner.is_ended());
    merges.CallersWait(*one, -1);
    BOOST_CHECK(!outer.is_ended() && !middle.is_ended() && !inner.is_ended());
    merges.CallersWait(*two, +1);
    BOOST_CHECK(!outer.is_ended() && middle.is_ended() && inner.is_ended());
    merges.CallersWait(*two, -1);
  }
  merges.EndAllOf(*one);
  BOOST_CHECK(outer.is_ended() && middle.is_ended());
  BOOST_CHECK(RunningMerge(&merges, *two, {.within = &middle}).is_ended());
}

BOOST_AUTO_TEST_CASE(AllMergesOfARegionEndWithIt) {
  const RunningMerge outer(&merges, *one, {.kind = MergeKind::kRepair});
  {
    RunningMerge other(&merges, *two, {});
    const RunningMerge inner(&merges, *one, {.within = &other});
    merges.EndAllOf(*one);
    BOOST_CHECK(inner.is_ended() && outer.is_ended() && !other.is_ended());
  }
  BOOST_CHECK(outer.is_ended());
  BOOST_CHECK(!RunningMerge(&merges, *two, {}).is_ended());
}

BOOST_AUTO_TEST_CASE(ACloseEndsAllButSmallOnes) {
  const RunningMerge large(&merges, *one, {.input_bytes = 101});
  const RunningMerge small(&merges, *two, {.input_bytes = 100});
  const std::shared_ptr<Region> three = EmptyRegion(3);
  const RunningMerge by_hand(&merges, *three, {.kind = MergeKind::kByHand});
  merges.Close(100);
  BOOST_CHECK(large.is_ended() && !small.is_ended() && by_hand.is_ended());
  BOOST_CHECK(merges.is_closing());
}

// In the order in which they were made.
BOOST_AUTO_TEST_CASE(EachMergeSeesEveryOfferOnce) {
  const auto offers_to = [&](RunningMerge* merge) {
    std::vector<std::shared_ptr<Region>> offers;
    while (auto region = merges.NextOffer(merge)) offers.push_back(std::move(region));
    return offers;
  };
  merges.Offer(*two);
  merges.Offer(*one);
  RunningMerge merge(&merges, *two, {.input_bytes = 1000});
  BOOST_CHECK(merge.GivesWay(0));
  BOOST_CHECK(offers_to(&merge) == (std::vector{two, one}));
  BOOST_CHECK(!merge.GivesWay(0));
  merges.Offer(*two);
  {
    RunningMerge inner(&merges, *two, {.input_bytes = 500, .within = &merge});
    BOOST_CHECK(offers_to(&inner) == (std::vector{one, two}));
  }
  BOOST_CHECK(merge.GivesWay(0));
  BOOST_CHECK(offers_to(&merge) == std::vector{two});
  // One that came while an older one was looked at stays.
  const RunningMerges::Number before = merges.offers();
  merges.Offer(*one);
  merges.Withdraw(*one, before);
  BOOST_CHECK(offers_to(&merge) == std::vector{one});
  merges.Offer(*one);
  merges.Withdraw(*one, merges.offers());
  merges.Offer(*two);
  merges.EndAllOf(*two);
  merges.Offer(*EmptyRegion(3));  // It is gone.
  BOOST_CHECK(offers_to(&merge).empty());
  BOOST_CHECK(!merge.GivesWay(0));
}

// A third of the bytes are its own.
BOOST_AUTO_TEST_CASE(AMergeHasItsShare) {
  RunningMerge merge(&merges, *one, {.input_bytes = 1000});
  merges.Offer(*two);
  BOOST_CHECK_EQUAL(merge.given_bytes_max(), 500u);
  BOOST_CHECK(merge.GivesWay(0));
  merge.Gave(500);
  BOOST_CHECK(!merge.GivesWay(249));
  BOOST_CHECK(merge.GivesWay(250));
  // It begins again.
  merge.Gave(500);
  BOOST_CHECK(!merge.GivesWay(499));
  BOOST_CHECK(merge.GivesWay(10));
  merge.GoOn();
  BOOST_CHECK(!merge.GivesWay(1000));
}

BOOST_AUTO_TEST_CASE(ARepairThatIsAwaitedDoesNotGiveWay) {
  RunningMerge merge(&merges, *one, {.kind = MergeKind::kRepair, .input_bytes = 1000});
  RunningMerge within(&merges, *two, {.within = &merge});
  merges.Offer(*two);
  BOOST_CHECK(merge.GivesWay(0) && !within.IsAwaited());
  one->Begin(Region::Work::kCompaction);
  std::thread waiting([&] {
    one->Begin(Region::Work::kCompaction);
    one->End(Region::Work::kCompaction);
  });
  while (!one->IsAwaited(Region::Work::kCompaction)) std::this_thread::yield();
  BOOST_CHECK(!merge.GivesWay(0) && within.IsAwaited());
  one->End(Region::Work::kCompaction);
  waiting.join();
  BOOST_CHECK(merge.GivesWay(0) && !within.IsAwaited());
  RunningMerge by_hand(&merges, *one, {.kind = MergeKind::kByHand});
  BOOST_CHECK(by_hand.IsAwaited());
}

// The memory of all within one another is bounded, and so is the stack.
BOOST_AUTO_TEST_CASE(MergesWithinMergesEndSomewhere) {
  merges.Offer(*two);
  constexpr uint64_t kMemory = 1 << 20;
  std::vector<std::unique_ptr<RunningMerge>> within;
  uint64_t memory = 0;
  RunningMerge* last = nullptr;
  do {
    within.push_back(
        std::make_unique<RunningMerge>(&merges, *one, RunningMerge::Description{.within = last}));
    last = within.back().get();
    memory += last->PartOf(kMemory);
  } while (last->GivesWay(0));
  BOOST_CHECK_EQUAL(within.size(), 4u);
  BOOST_CHECK_LE(memory, kMemory / 3 * 4);
  BOOST_CHECK(last->HasTurnOf(*one) && !last->HasTurnOf(*two));
  while (!within.empty()) within.pop_back();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
