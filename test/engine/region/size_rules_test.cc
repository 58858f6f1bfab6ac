// Where a region is split, and which memstores are switched first.
#define BOOST_TEST_DYN_LINK
#include "engine/region/size_rules.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tools/generator/dice.h"

namespace tandem::engine {
namespace {

using test::Mix;

std::string KeyOf(uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(6 - digits.size(), '0') + digits;
}

/// Sources as rising keys; counts the keys that are asked for.
struct Sources {
  size_t count() const { return keys.size(); }
  uint64_t RowsOf(size_t source) const { return keys[source].size(); }
  Result<std::string> KeyOf(size_t source, uint64_t place) const {
    if (place > 0) ++read;
    return keys[source][place];
  }
  Result<uint64_t> PlaceOf(size_t source, std::string_view key) const {
    const auto& of = keys[source];
    return static_cast<uint64_t>(std::ranges::lower_bound(of, key) - of.begin());
  }
  uint64_t Before(std::string_view key) const {
    uint64_t before = 0;
    for (size_t i = 0; i < keys.size(); ++i) before += *PlaceOf(i, key);
    return before;
  }

  std::vector<std::vector<std::string>> keys;
  mutable size_t read = 0;
};

Sources Drawn(uint64_t seed) {
  Sources sources;
  for (uint64_t i = 0; i < 1 + Mix(seed, 0) % 6; ++i) {
    std::vector<std::string> keys;
    const uint64_t begin = Mix(seed, 10 + i) % 1000, span = 1 + Mix(seed, 20 + i) % 1000;
    for (uint64_t row = 0; row < Mix(seed, 30 + i) % 200; ++row) {
      keys.push_back(KeyOf(begin + Mix(seed + i, 100 + row) % span));
    }
    std::ranges::sort(keys);
    keys.erase(std::ranges::unique(keys).begin(), keys.end());
    sources.keys.push_back(std::move(keys));
  }
  return sources;
}

BOOST_AUTO_TEST_SUITE(size_rules)

BOOST_AUTO_TEST_CASE(TheMiddleHasHalfOfTheRowsBeforeIt) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const Sources sources = Drawn(seed);
    uint64_t rows = 0;
    size_t largest = 0;
    std::vector<std::string> all;
    for (const auto& keys : sources.keys) {
      rows += keys.size();
      largest = std::max(largest, keys.size());
      all.insert(all.end(), keys.begin(), keys.end());
    }
    std::ranges::sort(all);
    const bool can_be_split = !all.empty() && all.front() < all.back();
    const Result<std::string> middle = MiddleKey(sources);
    BOOST_REQUIRE_EQUAL(middle.has_value(), true);
    BOOST_REQUIRE_EQUAL(!middle->empty(), can_be_split);
    if (!can_be_split) continue;
    const uint64_t before = sources.Before(*middle);
    BOOST_TEST(before > 0u, "seed " << seed);
    BOOST_TEST(before < rows, "seed " << seed);
    BOOST_TEST(std::ranges::binary_search(all, *middle), "seed " << seed);
  }
}

// Files of a load in key order: each begins after the one before it.
BOOST_AUTO_TEST_CASE(FilesOneAfterTheOtherAreHalved) {
  Sources sources;
  for (uint64_t file = 0; file < 128; ++file) {
    std::vector<std::string> keys;
    for (uint64_t row = 0; row < 100; ++row) keys.push_back(KeyOf(1000 * file + row));
    sources.keys.push_back(std::move(keys));
  }
  BOOST_TEST(*MiddleKey(sources) == KeyOf(64'000));
  BOOST_TEST(sources.read < 32u);
  // The larger ones are the later ones.
  for (uint64_t row = 100; row < 200; ++row) sources.keys[127].push_back(KeyOf(127'000 + row));
  BOOST_TEST(sources.Before(*MiddleKey(sources)) == 6'450u);
}

BOOST_AUTO_TEST_CASE(SourcesOfTheSameKeysAreHalvedByTheLargest) {
  Sources sources;
  for (const uint64_t step : {2, 3, 5}) {
    std::vector<std::string> keys;
    for (uint64_t key = 0; key < 30'000; key += step) keys.push_back(KeyOf(key));
    sources.keys.push_back(std::move(keys));
  }
  BOOST_TEST(*MiddleKey(sources) == KeyOf(15'000));
}

BOOST_AUTO_TEST_CASE(OneRowHasNoMiddle) {
  BOOST_TEST(*MiddleKey(Sources{}) == "");
  BOOST_TEST(*MiddleKey(Sources{.keys = {{"a"}, {}}}) == "");
  BOOST_TEST(*MiddleKey(Sources{.keys = {{"a"}, {"a"}}}) == "");
  BOOST_TEST(*MiddleKey(Sources{.keys = {{"a"}, {"b"}}}) == "b");
}

BOOST_AUTO_TEST_CASE(TheLargestComeFirst) {
  const uint64_t sizes[] = {3, 9, 3, 0, 12};
  LargestFirst largest(sizes);
  std::vector<size_t> places;
  while (!largest.empty()) places.push_back(largest.Next());
  BOOST_TEST((places == std::vector<size_t>{4, 1, 0, 2, 3}));
}

BOOST_AUTO_TEST_CASE(SmallFilesJoinNoRun) {
  const uint64_t large[] = {32, 33}, mixed[] = {32, 31};
  BOOST_TEST(JoinsRun(true, large, 32));
  BOOST_TEST(!JoinsRun(false, large, 32));
  BOOST_TEST(!JoinsRun(true, mixed, 32));
  BOOST_TEST(!JoinsRun(true, {}, 32));
}

BOOST_AUTO_TEST_CASE(RegionsThatAreNeverSplitAreNeverMerged) {
  BOOST_TEST(AreRegionsTooSmall(24, 100));
  BOOST_TEST(!AreRegionsTooSmall(25, 100));
  BOOST_TEST(!AreRegionsTooSmall(0, UINT64_MAX));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine
