// Sets of ordinals against std::sort and std::unique, on every path.
#define BOOST_TEST_DYN_LINK
#include "engine/source/ordinal_set.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "test/support/test_random.h"

namespace tandem::engine {
namespace {

using test::TestRandom;

void Check(std::vector<uint32_t> ordinals, uint32_t row_count) {
  std::vector<uint32_t> expected = ordinals;
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  SortUnique(&ordinals, row_count);
  BOOST_REQUIRE(ordinals == expected);
}

BOOST_AUTO_TEST_SUITE(OrdinalSetSuite)

BOOST_AUTO_TEST_CASE(RandomOrdinalsAgreeWithStdSort) {
  TestRandom random("RandomOrdinalsAgreeWithStdSort");
  for (const uint32_t row_count : {1u, 64u, 1000u, 1'000'000u, 0x7fffffffu}) {
    for (const size_t count : {0, 1, 2, 100, 513, 5'000, 20'000}) {
      if (row_count == 0x7fffffffu && count > 5'000) continue;
      std::vector<uint32_t> ordinals(count);
      for (uint32_t& ordinal : ordinals) ordinal = static_cast<uint32_t>(random.Below(row_count));
      Check(ordinals, row_count);
      ordinals.insert(ordinals.end(), ordinals.begin(), ordinals.end());
      Check(ordinals, row_count);
      std::sort(ordinals.begin(), ordinals.end());
      Check(ordinals, row_count);
      if (count > 0) Check({row_count - 1, row_count - 1, 0}, row_count);
    }
  }
}

BOOST_AUTO_TEST_CASE(RandomIntersectionsAgreeWithStdIntersection) {
  TestRandom random("RandomIntersectionsAgreeWithStdIntersection");
  const auto some = [&](uint32_t row_count, size_t count) {
    std::vector<uint32_t> ordinals(count);
    for (uint32_t& ordinal : ordinals) ordinal = static_cast<uint32_t>(random.Below(row_count));
    return ordinals;
  };
  const auto sorted = [](std::vector<uint32_t> ordinals) {
    std::sort(ordinals.begin(), ordinals.end());
    ordinals.erase(std::unique(ordinals.begin(), ordinals.end()), ordinals.end());
    return ordinals;
  };
  for (const uint32_t row_count : {1u, 64u, 1000u, 100'000u, 0x7fffffffu}) {
    for (const size_t count : {0, 1, 2, 40, 513, 20'000}) {
      for (const size_t others : {0, 1, 2, 40, 513, 20'000}) {
        if (row_count == 0x7fffffffu && others > 513) continue;
        const std::vector<uint32_t> had = sorted(some(row_count, count));
        const std::vector<uint32_t> unsorted = some(row_count, others);
        std::vector<uint32_t> expected;
        const std::vector<uint32_t> wanted = sorted(unsorted);
        std::set_intersection(had.begin(), had.end(), wanted.begin(), wanted.end(),
                              std::back_inserter(expected));
        for (const std::vector<uint32_t>& form : {unsorted, wanted}) {
          std::vector<uint32_t> kept = had;
          Intersect(form, row_count, &kept);
          BOOST_REQUIRE(kept == expected);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(FindNextGoesOnWhereItWas) {
  const std::vector<uint32_t> ordinals{2, 3, 7, 9};
  size_t at = 0;
  BOOST_CHECK(!FindNext(ordinals, 1, &at));
  BOOST_CHECK(FindNext(ordinals, 3, &at));
  BOOST_CHECK(FindNext(ordinals, 3, &at));
  BOOST_CHECK(!FindNext(ordinals, 8, &at));
  BOOST_CHECK(FindNext(ordinals, 9, &at));
  BOOST_CHECK(!FindNext(ordinals, 10, &at));
  BOOST_CHECK(!FindNext({}, 0, &at));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine
