// When a commit leader waits for others, by the groups before.
#define BOOST_TEST_DYN_LINK
#include "engine/commit/commit_delay.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace tandem::test {
namespace {

using engine::CommitDelay;

BOOST_AUTO_TEST_SUITE(CommitDelayTest)

BOOST_AUTO_TEST_CASE(OneWriterAloneNeverWaits) {
  CommitDelay delay;
  BOOST_CHECK(!delay.IsDue(1));
  delay.NoteGroup(1, 0, 100);
  BOOST_CHECK_EQUAL(delay.expected(), 1u);
  BOOST_CHECK(!delay.IsDue(1));
}

BOOST_AUTO_TEST_CASE(TheWritersOfTheGroupAndThoseBehindItAreExpected) {
  CommitDelay delay;
  delay.NoteGroup(4, 3, 100);
  BOOST_CHECK_EQUAL(delay.expected(), 7u);
  BOOST_CHECK_EQUAL(delay.micros(), 100);
  BOOST_CHECK(delay.IsDue(1));
  BOOST_CHECK(delay.IsDue(6));
  BOOST_CHECK(!delay.IsDue(7));
  BOOST_CHECK(!delay.IsDue(9));
}

// They would need longer to wake up than a sync takes.
BOOST_AUTO_TEST_CASE(ManyWritersAreNotWaitedForWhereASyncIsShort) {
  CommitDelay delay;
  delay.NoteGroup(16, 16, 100);
  BOOST_CHECK(!delay.IsDue(21));
  BOOST_CHECK(delay.IsDue(22));
  BOOST_CHECK(delay.IsDue(31));
  CommitDelay long_syncs;
  long_syncs.NoteGroup(16, 16, 1000);
  BOOST_CHECK(long_syncs.IsDue(1));
}

BOOST_AUTO_TEST_CASE(AfterDelaysInVainGroupsHaveNone) {
  CommitDelay delay;
  delay.NoteGroup(2, 0, 100);
  for (uint32_t skipped = 1; skipped <= 256; skipped *= 2) {
    BOOST_REQUIRE(delay.IsDue(1));
    delay.NoteDelay(1);
    for (uint32_t group = 0; group < std::min(skipped, 64u); ++group) {
      BOOST_REQUIRE(!delay.IsDue(1));
    }
  }
  BOOST_REQUIRE(delay.IsDue(1));
  delay.NoteDelay(2);
  BOOST_CHECK(delay.IsDue(1));
}

BOOST_AUTO_TEST_CASE(ItLastsAsLongAsSyncsTakeOnAverage) {
  CommitDelay delay;
  for (int i = 0; i < 100; ++i) delay.NoteGroup(2, 0, 80);
  delay.NoteGroup(2, 0, 400);
  BOOST_CHECK_EQUAL(delay.micros(), 120);
  for (int i = 0; i < 100; ++i) delay.NoteGroup(2, 0, 80);
  BOOST_CHECK_LT(delay.micros(), 90);
  for (int i = 0; i < 100; ++i) delay.NoteGroup(2, 0, 50'000);
  BOOST_CHECK_LE(delay.micros(), CommitDelay::kMicrosMax);
  BOOST_CHECK_GT(delay.micros(), CommitDelay::kMicrosMax / 2);
  // A clock that stood still, or went back.
  for (int i = 0; i < 100; ++i) delay.NoteGroup(2, 0, -5);
  BOOST_CHECK_EQUAL(delay.micros(), 0);
  BOOST_CHECK(!delay.IsDue(1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
