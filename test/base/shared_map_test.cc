// A map of shared entries against a std::map, and copies that keep what they had.
#define BOOST_TEST_DYN_LINK
#include "base/shared_map.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "test/support/print.h"

namespace tandem::base {
namespace {

using Map = SharedMap<int, std::string>;
using Reference = std::map<int, std::string>;

void RequireSame(const Map& map, const Reference& reference) {
  BOOST_REQUIRE_EQUAL(map.size(), reference.size());
  BOOST_REQUIRE_EQUAL(map.empty(), reference.empty());
  BOOST_REQUIRE(std::equal(map.begin(), map.end(), reference.begin(), reference.end()));
  BOOST_REQUIRE(std::equal(map.rbegin(), map.rend(), reference.rbegin(), reference.rend()));
}

void RequireSameAt(const Map& map, const Reference& reference, int key) {
  BOOST_REQUIRE_EQUAL(map.contains(key), reference.contains(key));
  BOOST_REQUIRE_EQUAL(map.find(key) == map.end(), !reference.contains(key));
  if (reference.contains(key)) BOOST_REQUIRE_EQUAL(map.at(key), reference.at(key));
  const auto bound = map.lower_bound(key);
  const auto expected = reference.lower_bound(key);
  BOOST_REQUIRE_EQUAL(bound == map.end(), expected == reference.end());
  if (expected != reference.end()) BOOST_REQUIRE_EQUAL(bound->first, expected->first);
}

BOOST_AUTO_TEST_SUITE(SharedMapSuite)

BOOST_AUTO_TEST_CASE(DoesWhatAMapDoes) {
  const auto random = NewSeededRandom(1);
  for (const int keys : {1, 5, 100, 1000}) {
    Map map;
    Reference reference;
    std::vector<std::pair<Map, Reference>> copies;
    for (int step = 0; step < 20'000; ++step) {
      const int key = static_cast<int>(random->Next64() % static_cast<uint64_t>(keys));
      // It fills, then it empties.
      const bool puts = random->Next64() % 10 < (step < 10'000 ? 7u : 3u);
      if (puts) {
        const std::string value = std::to_string(step);
        BOOST_REQUIRE_EQUAL(map.Put(key, value), !reference.contains(key));
        reference[key] = value;
      } else {
        BOOST_REQUIRE_EQUAL(map.Erase(key), reference.erase(key) == 1);
      }
      RequireSameAt(map, reference, key);
      RequireSameAt(map, reference, key + 1);
      if (step % 500 == 0) {
        RequireSame(map, reference);
        copies.emplace_back(map, reference);
      }
    }
    for (const auto& [copy, expected] : copies) RequireSame(copy, expected);
  }
}

BOOST_AUTO_TEST_CASE(KeysInEitherOrder) {
  Map rising, falling;
  Reference reference;
  for (int key = 0; key < 1000; ++key) {
    rising.Put(key, "");
    falling.Put(999 - key, "");
    reference[key] = "";
  }
  RequireSame(rising, reference);
  RequireSame(falling, reference);
  for (int key = 0; key < 1000; ++key) {
    BOOST_REQUIRE(rising.Erase(key));
    BOOST_REQUIRE(falling.Erase(999 - key));
  }
  RequireSame(rising, {});
  RequireSame(falling, {});
}

BOOST_AUTO_TEST_CASE(EntriesAreThoseOfTheCopy) {
  Map map;
  for (int key = 0; key < 1000; ++key) map.Put(key, std::to_string(key));
  Map copy = map;
  copy.Put(500, "changed");
  BOOST_TEST(map.at(500) == "500");
  for (const int key : {0, 499, 501, 999}) BOOST_TEST(&map.at(key) == &copy.at(key));
}

BOOST_AUTO_TEST_CASE(SharedEntriesOutliveTheirMap) {
  Map map;
  for (int key = 0; key < 1000; ++key) map.Put(key, std::to_string(key));
  const auto shared = map.Share(500);
  BOOST_TEST(&shared->second == &map.at(500));
  BOOST_TEST((map.Share(1000) == nullptr));
  map.Put(500, "changed");
  map = Map();
  BOOST_TEST(shared->second == "500");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::base
