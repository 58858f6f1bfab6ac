// The sketch's bounds hold for every key, in whatever order keys come, and it stays small.
#define BOOST_TEST_DYN_LINK
#include "engine/split_keys/quantile_sketch.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tools/generator/dice.h"

namespace tandem::test {
namespace {

using engine::QuantileSketch;

constexpr double kErrorShare = 0.005;
constexpr uint64_t kKeys = 100'000;

std::string KeyOf(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "%020llu", static_cast<unsigned long long>(number));
  return text;
}

/// The sketch and what it was given.
struct Sketched {
  explicit Sketched(double error_share) : sketch(error_share), share(error_share) {}
  void Add(uint64_t number, uint64_t weight = 1) {
    sketch.Add(KeyOf(number), weight);
    added[number] += weight;
  }
  QuantileSketch sketch;
  double share;
  std::map<uint64_t, uint64_t> added;
};

/// Every key that was added, and one between each two.
void CheckRanks(Sketched* of) {
  QuantileSketch& sketch = of->sketch;
  const auto bound = static_cast<uint64_t>(of->share * static_cast<double>(sketch.weight()));
  BOOST_TEST(sketch.error() <= bound);
  uint64_t below = 0;
  size_t step = of->added.size() / 2000 + 1, place = 0;
  for (const auto& [number, weight] : of->added) {
    if (place++ % step == 0 || place == of->added.size()) {
      const auto at = sketch.RankOf(KeyOf(number)), after = sketch.RankOf(KeyOf(number) + "!");
      const bool right = at.least <= below && below <= at.most && after.least <= below + weight &&
                         below + weight <= after.most;
      const bool near = at.most - at.least <= bound && after.most - after.least <= bound;
      BOOST_REQUIRE_MESSAGE(right && near, "key " << number << ", weight below " << below << ": "
                                                  << at.least << " to " << at.most << ", then "
                                                  << after.least << " to " << after.most);
    }
    below += weight;
  }
  BOOST_TEST(sketch.weight() == below);
}

void CheckSmall(Sketched* of) { BOOST_TEST(of->sketch.entries().size() < 8 / of->share); }

std::vector<uint64_t> Sorted() {
  std::vector<uint64_t> numbers(kKeys);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void Check(const std::vector<uint64_t>& numbers) {
  Sketched of(kErrorShare);
  for (const uint64_t number : numbers) of.Add(number);
  CheckRanks(&of);
  CheckSmall(&of);
}

BOOST_AUTO_TEST_SUITE(quantile_sketch)

BOOST_AUTO_TEST_CASE(SortedKeysHaveTheirRanks) { Check(Sorted()); }

BOOST_AUTO_TEST_CASE(ReversedKeysHaveTheirRanks) {
  std::vector<uint64_t> numbers = Sorted();
  std::ranges::reverse(numbers);
  Check(numbers);
}

BOOST_AUTO_TEST_CASE(RandomKeysHaveTheirRanks) {
  for (const uint64_t seed : {1, 2, 3}) {
    Dice dice(seed);
    std::vector<uint64_t> numbers(kKeys);
    for (uint64_t& number : numbers) number = dice.Next();
    Check(numbers);
  }
}

BOOST_AUTO_TEST_CASE(RepeatedKeysHaveTheirRanks) {
  Dice dice(4);
  for (const uint64_t distinct : {1, 2, 10, 1000, 20'000}) {
    std::vector<uint64_t> numbers(kKeys);
    // Few keys are frequent, many are not.
    for (uint64_t& number : numbers) number = dice.Below(1 + dice.Below(distinct));
    Check(numbers);
  }
}

BOOST_AUTO_TEST_CASE(KeysFromBothEndsHaveTheirRanks) {
  std::vector<uint64_t> numbers;
  for (uint64_t i = 0; i < kKeys / 2; ++i) {
    numbers.push_back(i);
    numbers.push_back(kKeys - 1 - i);
  }
  Check(numbers);
  std::ranges::reverse(numbers);
  Check(numbers);
}

BOOST_AUTO_TEST_CASE(SawteethHaveTheirRanks) {
  std::vector<uint64_t> numbers;
  for (uint64_t tooth = 0; tooth < 100; ++tooth) {
    for (uint64_t i = 0; i < kKeys / 100; ++i) numbers.push_back(i * 100 + tooth);
  }
  Check(numbers);
}

// Each round puts its keys where the sketch knows least.
BOOST_AUTO_TEST_CASE(KeysInTheLargestGapHaveTheirRanks) {
  constexpr int kRounds = 400, kOfRound = 64;
  Sketched of(0.02);
  Dice dice(5);
  for (int i = 0; i < 4096; ++i) of.Add(dice.Next());
  for (int round = 0; round < kRounds; ++round) {
    const auto& entries = of.sketch.entries();
    uint64_t least = 0, width = 0, unknown = 0;
    for (size_t i = 1; i < entries.size(); ++i) {
      const uint64_t begin = std::stoull(entries[i - 1].key), end = std::stoull(entries[i].key);
      const uint64_t gap = entries[i].gap + entries[i].spread;
      if (end - begin > kOfRound && gap >= unknown) {
        least = begin + 1;
        width = end - begin - 1;
        unknown = gap;
      }
    }
    for (int i = 0; i < kOfRound; ++i) of.Add(least + dice.Below(width));
    if (round % 40 == 0) CheckRanks(&of);
  }
  CheckRanks(&of);
}

BOOST_AUTO_TEST_CASE(WeightsCountAsManyKeys) {
  for (const uint64_t seed : {6, 7}) {
    Sketched of(kErrorShare);
    Dice dice(seed);
    for (uint64_t i = 0; i < kKeys; ++i) of.Add(dice.Below(50'000), 1 + dice.Below(1000));
    // One key that outweighs all others, and comes in parts.
    for (int i = 0; i < 10; ++i) of.Add(25'000, 5'000'000);
    CheckRanks(&of);
    CheckSmall(&of);
    BOOST_TEST(of.sketch.keys() == kKeys + 10);
  }
}

BOOST_AUTO_TEST_CASE(FewKeysAreExact) {
  Sketched of(kErrorShare);
  for (uint64_t i = 0; i < 199; ++i) of.Add(i * 7 % 199);
  BOOST_TEST(of.sketch.error() == 0);
  BOOST_TEST(of.sketch.entries().size() == 199);
  const auto rank = of.sketch.RankOf(KeyOf(100));
  BOOST_TEST(rank.least == 100);
  BOOST_TEST(rank.most == 100);
  BOOST_TEST(of.sketch.RankOf("").most == 0);
  BOOST_TEST(of.sketch.RankOf("a").least == 199);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
