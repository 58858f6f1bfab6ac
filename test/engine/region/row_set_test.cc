// Row sets against std::set, sparse, dense and at the edge between them.
#define BOOST_TEST_DYN_LINK
#include "engine/region/row_set.h"

#include <boost/test/unit_test.hpp>
#include <set>
#include <vector>

#include "test/support/test_random.h"

namespace tandem::engine {
namespace {

using test::TestRandom;

std::shared_ptr<const RowSet> SetOf(const std::vector<uint32_t>& members, uint32_t row_count) {
  RowSet::Builder builder(row_count);
  for (const uint32_t member : members) builder.Add(member);
  return builder.Finish();
}

void CheckLookUps(const RowSet& set, const std::set<uint32_t>& expected, uint32_t row_count) {
  BOOST_REQUIRE_EQUAL(set.count(), expected.size());
  uint32_t rank = 0;
  for (const uint32_t member : expected) {
    BOOST_REQUIRE_EQUAL(set.At(rank), member);
    for (uint32_t start : {0u, rank / 2, rank, set.count()}) {
      BOOST_REQUIRE(set.Find(member, &start));
      BOOST_REQUIRE_EQUAL(start, rank);
    }
    if (member + 1 < row_count) {
      BOOST_REQUIRE_EQUAL(set.Contains(member + 1), expected.contains(member + 1));
    }
    ++rank;
  }
  uint32_t place = 0;
  for (uint32_t ordinal = 0; ordinal < row_count; ordinal += 1 + row_count / 1000) {
    BOOST_REQUIRE_EQUAL(set.Find(ordinal, &place), expected.contains(ordinal));
  }
  BOOST_REQUIRE_EQUAL(set.Contains(row_count - 1), expected.contains(row_count - 1));
  BOOST_REQUIRE_EQUAL(set.Contains(0), expected.contains(0));
}

void CheckRemoval(const RowSet& set, const std::set<uint32_t>& members, uint32_t row_count,
                  TestRandom& random) {
  std::vector<uint32_t> ordinals, expected;
  for (uint32_t ordinal = 0; ordinal < row_count;
       ordinal += 1 + random.Below(row_count / 500 + 2)) {
    ordinals.push_back(ordinal);
    if (!members.contains(ordinal)) expected.push_back(ordinal);
  }
  set.RemoveFrom(&ordinals);
  BOOST_REQUIRE(ordinals == expected);
}

BOOST_AUTO_TEST_SUITE(row_set)

BOOST_AUTO_TEST_CASE(RandomSetsAgreeWithStdSet) {
  TestRandom random("row_set/RandomSetsAgreeWithStdSet");
  for (const uint32_t row_count : {1u, 31u, 64u, 65u, 511u, 512u, 513u, 4096u, 100'000u}) {
    for (const uint32_t count :
         {1u, 2u, row_count / 32, row_count / 32 + 1, row_count / 2, row_count}) {
      if (count == 0) continue;
      std::vector<uint32_t> added(count);
      for (uint32_t& member : added) member = static_cast<uint32_t>(random.Below(row_count));
      const std::set<uint32_t> members(added.begin(), added.end());
      if (random.OneIn(2)) added.assign(members.begin(), members.end());
      const auto set = SetOf(added, row_count);
      CheckLookUps(*set, members, row_count);
      CheckRemoval(*set, members, row_count, random);
      if (added.size() == members.size()) {
        BOOST_REQUIRE_LE(set->size_bytes(), RowSet::SizeBytesMax(set->count(), row_count));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(NothingAddedIsNoSet) {
  BOOST_CHECK(SetOf({}, 10) == nullptr);
  BOOST_CHECK(SetOf({}, 0) == nullptr);
}

BOOST_AUTO_TEST_CASE(EqualMembersMakeEqualSets) {
  BOOST_CHECK(*SetOf({3, 900, 40'000}, 100'000) == *SetOf({40'000, 3, 900, 3}, 100'000));
  BOOST_CHECK(!(*SetOf({3}, 100'000) == *SetOf({4}, 100'000)));
  std::vector<uint32_t> all(1000);
  for (uint32_t i = 0; i < 1000; ++i) all[i] = i;
  BOOST_CHECK(*SetOf(all, 1000) == *SetOf({all.rbegin(), all.rend()}, 1000));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine
