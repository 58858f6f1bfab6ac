// Generators, routing and the figures of a simulation, by cases that are counted by hand.
#define BOOST_TEST_DYN_LINK
#include "tools/row_keys/simulation.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "engine/split_keys/decimal.h"
#include "test/tools/program.h"
#include "tools/generator/dice.h"
#include "tools/row_keys/generator.h"
#include "tools/row_keys/router.h"
#include "tools/row_keys/skew.h"
#include "tools/row_keys/zipf.h"

namespace tandem::test {
namespace {

using row_keys::Router;
using row_keys::Simulation;
using row_keys::Skew;
using row_keys::SkewOf;
using Keys = std::vector<std::string>;

Keys Generated(const std::string& spec, uint64_t count, uint64_t seed = 1, uint64_t step = 1) {
  auto generator = row_keys::NewGenerator({.spec = spec, .seed = seed, .rate = 1000});
  BOOST_REQUIRE_EQUAL(generator.status().ToString(), "OK");
  const auto source = row_keys::KeysOf(std::move(*generator), count, step);
  Keys keys;
  row_keys::WeightedKey key;
  while (source->Next(&key).value()) keys.emplace_back(key.key);
  BOOST_TEST(keys.size() == count);
  return keys;
}

void CheckSpec(const std::string& spec, const Keys& expected) {
  BOOST_TEST(Generated(spec, expected.size()) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE(simulation)

BOOST_AUTO_TEST_CASE(SkewIsThatOfTheTextbook) {
  const Skew even = SkewOf(std::vector<double>{3, 3, 3});
  BOOST_TEST(even.gini == 0);
  BOOST_TEST(even.ratio() == 1);
  BOOST_TEST(even.hottest == 0);
  const Skew one = SkewOf(std::vector<double>{0, 0, 8, 0});
  BOOST_TEST(one.gini == 0.75);
  BOOST_TEST(one.ratio() == 0);
  BOOST_TEST(one.least == 0);
  BOOST_TEST(one.most == 8);
  BOOST_TEST(one.hottest == 2);
  BOOST_TEST(one.hottest_share == 1);
  // 2 * (1 * 1 + 2 * 2 + 3 * 3 + 4 * 4) / (4 * 10) - 5 / 4.
  const Skew rising = SkewOf(std::vector<double>{4, 2, 1, 3});
  BOOST_TEST(rising.gini == 0.25);
  BOOST_TEST(rising.ratio() == 4);
  BOOST_TEST(rising.hottest == 0);
  BOOST_TEST(rising.hottest_share == 0.4);
  const Skew nothing = SkewOf(std::vector<double>{0, 0});
  BOOST_TEST(nothing.gini == 0);
  BOOST_TEST(nothing.hottest_share == 0);
}

BOOST_AUTO_TEST_CASE(KeysAreCountedByRegionAndWindow) {
  const Keys splits = {"b", "c"};
  Simulation simulation(splits, 4);
  for (const char* key : {"a", "az", "b", "c", /**/ "z", "z", "z", "zz", /**/ "bb", "a"})
    simulation.Add(key);
  simulation.Finish();
  BOOST_TEST(simulation.keys() == 10);
  BOOST_TEST(simulation.totals() == (std::vector<uint64_t>{3, 2, 5}),
             boost::test_tools::per_element());
  const auto& windows = simulation.windows();
  BOOST_REQUIRE_EQUAL(windows.size(), 3);
  BOOST_TEST(windows[0].skew.least == 1);
  BOOST_TEST(windows[0].skew.most == 2);
  BOOST_TEST(windows[0].skew.hottest == 0);
  BOOST_TEST(windows[1].first == 4);
  BOOST_TEST(windows[1].skew.hottest == 2);
  BOOST_TEST(windows[1].skew.hottest_share == 1);
  BOOST_TEST(windows[2].first == 8);
  BOOST_TEST(windows[2].keys == 2);
  BOOST_TEST(windows[2].skew.hottest_share == 0.5);
  BOOST_TEST(simulation.HottestShareOfAWindow() == 1);
  // 2 * (1 * 2 + 2 * 3 + 3 * 5) / (3 * 10) - 4 / 3.
  BOOST_TEST(simulation.TotalSkew().gini == 0.2, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(simulation.TotalSkew().ratio() == 2.5);
}

BOOST_AUTO_TEST_CASE(AFullWindowLeavesNoEmptyOne) {
  Simulation simulation({}, 2);
  simulation.Add("a");
  simulation.Add("b");
  simulation.Finish();
  BOOST_TEST(simulation.windows().size() == 1);
  BOOST_TEST(simulation.regions() == 1);
}

BOOST_AUTO_TEST_CASE(KeysGoWhereTheirOrderSays) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Dice dice(seed);
    // Few different bytes, so that many begin alike, some are beginnings of others, and zeros
    // count.
    const std::string bytes(
        "\0\x01"
        "a\xff",
        4);
    const std::string prefix = dice.Chance(50) ? "" : "table/";
    const auto any = [&](uint64_t size_max) {
      std::string key = dice.Chance(90) ? prefix : "";
      for (uint64_t size = dice.Below(size_max + 1); size > 0; --size)
        key.push_back(bytes[dice.Below(bytes.size())]);
      return key;
    };
    Keys splits;
    const uint64_t size_max = dice.Chance(50) ? 3 : 20;
    for (uint64_t count = dice.Below(60); count > 0; --count) splits.push_back(any(size_max));
    std::ranges::sort(splits);
    splits.erase(std::unique(splits.begin(), splits.end()), splits.end());
    const Router router(splits);
    Keys keys = splits;
    for (int i = 0; i < 200; ++i) keys.push_back(any(size_max + 2));
    for (const std::string& key : keys) {
      const auto expected = std::ranges::upper_bound(splits, key) - splits.begin();
      BOOST_REQUIRE_EQUAL(router.RegionOf(key), static_cast<size_t>(expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(DesignsMakeTheirKeys) {
  CheckSpec("sequence", {"000000000000", "000000000001", "000000000002"});
  CheckSpec("reverse", {"000000000000", "100000000000", "200000000000"});
  CheckSpec("mod+id:2", {"0000000000000", "1000000000001", "0000000000002"});
  CheckSpec("mod+id:2:11", {"000000000000000", "100000000000001", "001000000000002"});
  // A thousand keys a second, the first at the beginning of 2026.
  const Keys times = Generated("user+time:1", 1001);
  BOOST_TEST(times[0] == "00000000011767225600000000");
  BOOST_TEST(times[1] == "00000000011767225600001000");
  BOOST_TEST(times[1000] == "00000000011767225601000000");
  for (const std::string& key : Generated("hash+id", 100)) {
    BOOST_TEST(key.size() == 20);
    BOOST_TEST(key.find_first_not_of("0123456789abcdef") == key.npos);
  }
  for (const char* spec : {"salt+time:16", "random-salt+time:16"}) {
    for (const std::string& key : Generated(spec, 100)) {
      BOOST_TEST(key.size() == 18);
      BOOST_TEST(key.substr(0, 2) < "16");
    }
  }
  // A salt that follows from the rest of the key is the same whatever the seed is.
  BOOST_TEST((Generated("salt+time:16", 100, 1) == Generated("salt+time:16", 100, 2)));
  BOOST_TEST(
      (Generated("random-salt+time:16", 100, 1) != Generated("random-salt+time:16", 100, 2)));
}

BOOST_AUTO_TEST_CASE(ASampleHasOneKeyOfEachStep) {
  const Keys keys = Generated("sequence", 100, 1, 1000);
  for (size_t i = 0; i < keys.size(); ++i) BOOST_TEST(std::stoull(keys[i]) / 1000 == i);
}

// A step that has factors in common with the number of partitions would see an eighth of them.
BOOST_AUTO_TEST_CASE(ASampleSeesAllRemainders) {
  Keys splits;
  for (uint64_t i = 1; i < 64; ++i) engine::AppendDecimal(i, 2, &splits.emplace_back());
  Simulation simulation(splits, 64'000);
  for (const std::string& key : Generated("mod+id:64", 64'000, 1, 1000)) simulation.Add(key);
  simulation.Finish();
  // 1,000 each; the standard deviation is 32.
  BOOST_TEST(simulation.TotalSkew().least > 850);
  BOOST_TEST(simulation.TotalSkew().most < 1150);
}

BOOST_AUTO_TEST_CASE(ASeedRepeatsARun) {
  for (const char* spec : {"user+time:1000", "user+time:1000:1.1", "zipf:1000", "zipf:1000:0.5"}) {
    const Keys first = Generated(spec, 100, 1);
    BOOST_TEST((first == Generated(spec, 100, 1)), spec);
    BOOST_TEST((first != Generated(spec, 100, 2)), spec);
  }
}

BOOST_AUTO_TEST_CASE(ASaltIsOfTheRestOfTheKey) {
  // Whatever the seed: a get must find the row again.
  BOOST_TEST((Generated("salt+time:8", 200, 1) == Generated("salt+time:8", 200, 2)));
  BOOST_TEST((Generated("hash+id", 200, 1) == Generated("hash+id", 200, 2)));
}

BOOST_AUTO_TEST_CASE(HashesAndSaltsAreEven) {
  for (const std::string spec : {"hash+id", "salt+time:4"}) {
    Simulation simulation(spec == "hash+id" ? Keys{"4", "8", "c"} : Keys{"1", "2", "3"}, 40'000);
    for (const std::string& key : Generated(spec, 40'000)) simulation.Add(key);
    simulation.Finish();
    // 10,000 each; the standard deviation is 87.
    BOOST_TEST(simulation.TotalSkew().least > 9'500, spec);
    BOOST_TEST(simulation.TotalSkew().most < 10'500, spec);
  }
}

BOOST_AUTO_TEST_CASE(RanksFollowZipfsLaw) {
  constexpr uint64_t kDraws = 200'000;
  for (const double exponent : {0.2, 0.5, 0.999, 1.0, 1.2, 2.0, 8.0}) {
    for (const uint64_t ranks : {1, 2, 10, 1000}) {
      const row_keys::Zipf zipf(ranks, exponent);
      Dice dice(ranks);
      std::vector<uint64_t> counts(ranks + 1);
      for (uint64_t i = 0; i < kDraws; ++i) {
        const uint64_t rank = zipf.Rank([&](uint64_t) { return dice.Next(); });
        BOOST_REQUIRE(rank >= 1 && rank <= ranks);
        ++counts[rank];
      }
      double sum = 0;
      for (uint64_t rank = 1; rank <= ranks; ++rank) sum += std::pow(rank, -exponent);
      for (uint64_t rank = 1; rank <= std::min<uint64_t>(ranks, 10); ++rank) {
        const double expected = kDraws * std::pow(rank, -exponent) / sum;
        const double off = std::abs(static_cast<double>(counts[rank]) - expected);
        BOOST_TEST(off <= 5 * std::sqrt(expected) + 1, "exponent " << exponent << ", rank " << rank
                                                                   << " of " << ranks << ": "
                                                                   << counts[rank] << " times");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(UnknownDesignsAreRefused) {
  for (const char* spec :
       {"", "sequenc", "sequence:1", "mod+id", "mod+id:0", "mod+id:65536", "mod+id:1:0",
        "salt+time", "salt+time:0", "salt+time:2:2", "zipf", "zipf:0", "zipf:10:0", "zipf:10:-1",
        "zipf:10:nan", "zipf:10:21", "user+time:0", "user+time:10000000000", "user+time:10:1:1"}) {
    const auto generator = row_keys::NewGenerator({.spec = spec});
    BOOST_TEST(!generator.has_value(), spec);
  }
}

BOOST_AUTO_TEST_CASE(CtrlCEndsARun) {
  const std::atomic<bool> interrupted{true};
  const ProgramRun run =
      RunProgram({"simulate", "--splits", "hex:4", "--generator", "hash+id"}, "", &interrupted);
  BOOST_TEST(run.exit_code == 130);
  BOOST_TEST(run.err == "tandem: simulate: interrupted after 65,536 keys\n");
  BOOST_TEST(run.out == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
