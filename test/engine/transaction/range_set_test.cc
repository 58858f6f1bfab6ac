// Ranges that a transaction has read, against a list that is united at once.
#define BOOST_TEST_DYN_LINK
#include "engine/transaction/range_set.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/predicate/key_ranges.h"
#include "test/support/test_random.h"

namespace tandem::engine {
namespace {

std::string TextOf(const KeyRanges& ranges) {
  std::string text;
  for (const format::KeyRange& range : ranges) {
    text += "[" + range.low + "," + range.high.value_or("") + ")";
  }
  return text;
}

BOOST_AUTO_TEST_SUITE(RangeSets)

BOOST_AUTO_TEST_CASE(RangesThatOverlapOrTouchAreOne) {
  RangeSet set;
  BOOST_CHECK_EQUAL(TextOf(set.ranges()), "");
  set.Add({"d", "f"});
  set.Add({"a", "b"});
  BOOST_CHECK_EQUAL(TextOf(set.ranges()), "[a,b)[d,f)");
  set.Add({"e", "e5"});
  BOOST_CHECK_EQUAL(TextOf(set.ranges()), "[a,b)[d,f)");
  set.Add({"b", "d"});
  BOOST_CHECK_EQUAL(TextOf(set.ranges()), "[a,f)");
  set.Add({"x", std::nullopt});
  set.Add({"y", "z"});
  set.Add({"e", "g"});
  BOOST_CHECK_EQUAL(TextOf(set.ranges()), "[a,g)[x,)");
  set.Add({"", std::nullopt});
  BOOST_CHECK_EQUAL(TextOf(set.ranges()), "[,)");
  BOOST_CHECK_EQUAL(set.count(), 1u);
}

BOOST_AUTO_TEST_CASE(RandomRangesAgreeWithAUnion) {
  test::TestRandom random("range sets");
  for (size_t trial = 0; trial < test::Trials(2000); ++trial) {
    RangeSet set;
    KeyRanges all;
    for (uint64_t i = 0, count = random.Below(12); i < count; ++i) {
      const uint64_t low = 10 + random.Below(60), high = low + 1 + random.Below(12);
      format::KeyRange range{std::to_string(low), std::to_string(high)};
      if (random.OneIn(20)) range.high.reset();
      if (random.OneIn(20)) range.low.clear();
      set.Add(range);
      all.push_back(range);
    }
    BOOST_REQUIRE_EQUAL(TextOf(set.ranges()), TextOf(Unite(all)));
    BOOST_REQUIRE_EQUAL(set.count(), set.ranges().size());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine
