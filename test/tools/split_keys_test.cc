// Split keys: of samples, of spaces of hashes, of partitions; and the forms in which they are
// printed.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "engine/split_keys/plan.h"
#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/tools/program.h"
#include "tools/generator/dice.h"
#include "tools/row_keys/split_spec.h"
#include "tools/row_keys/split_text.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/declarations.h"

namespace tandem::test {
namespace {

using engine::QuantileSketch;
using Keys = std::vector<std::string>;
using Weights = std::map<std::string, uint64_t>;

SplitPlan PlanOf(const Weights& weights, uint64_t regions, double error_share = 0) {
  QuantileSketch sketch(error_share);
  for (const auto& [key, weight] : weights) sketch.Add(key, weight);
  return engine::PlanFromSketch(&sketch, regions);
}

/// Keys a, b, c and so on with these weights.
SplitPlan PlanOfLetters(const std::vector<uint64_t>& weights, uint64_t regions) {
  Weights letters;
  for (const uint64_t weight : weights)
    letters[std::string(1, static_cast<char>('a' + letters.size()))] = weight;
  return PlanOf(letters, regions);
}

/// What each region of a plan gets, as a share.
std::vector<double> SharesOf(const SplitPlan& plan, const Weights& weights) {
  std::vector<double> shares(plan.regions());
  double total = 0;
  for (const auto& [key, weight] : weights) {
    const auto region = std::ranges::upper_bound(plan.keys, key) - plan.keys.begin();
    shares[static_cast<size_t>(region)] += static_cast<double>(weight);
    total += static_cast<double>(weight);
  }
  for (double& share : shares) share /= total;
  return shares;
}

void CheckPlan(const SplitPlan& plan, const Weights& weights) {
  BOOST_REQUIRE_EQUAL(plan.shares.size(), plan.regions());
  BOOST_TEST((std::ranges::adjacent_find(plan.keys, std::greater_equal()) == plan.keys.end()));
  BOOST_TEST((plan.keys.empty() || plan.keys.front() > weights.begin()->first));
  const std::vector<double> shares = SharesOf(plan, weights);
  for (size_t i = 0; i < shares.size(); ++i) {
    BOOST_TEST(shares[i] > 0);
    BOOST_TEST(std::abs(shares[i] - plan.shares[i]) <= plan.error_share + 1e-9);
  }
  BOOST_TEST(std::accumulate(plan.shares.begin(), plan.shares.end(), 0.0) == 1.0,
             boost::test_tools::tolerance(1e-9));
}

Result<SplitPlan> Parsed(std::string_view text) {
  auto spec = row_keys::ParseSplitSpec(text);
  if (!spec.has_value()) return spec.error();
  return std::move(spec->plan);
}

Keys KeysOf(std::string_view text) {
  const auto plan = Parsed(text);
  BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
  return plan->keys;
}

std::string ErrorOf(std::string_view text) {
  const auto spec = row_keys::ParseSplitSpec(text);
  BOOST_REQUIRE(!spec.has_value());
  BOOST_TEST((spec.error().code() == StatusCode::kInvalidArgument));
  return std::string(spec.error().message());
}

/// As HBase's Bytes.toBytesBinary reads a text.
std::string ReadByHBase(std::string_view text) {
  const std::string_view digits = "0123456789ABCDEF";
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    BOOST_REQUIRE(static_cast<unsigned char>(text[i]) < 0x80);
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 'x') {
      const size_t high = digits.find(text.at(i + 2)), low = digits.find(text.at(i + 3));
      BOOST_REQUIRE(high != digits.npos && low != digits.npos);
      bytes.push_back(static_cast<char>(high * 16 + low));
      i += 3;
    } else {
      bytes.push_back(text[i]);
    }
  }
  return bytes;
}

BOOST_AUTO_TEST_SUITE(split_keys)

BOOST_AUTO_TEST_CASE(EqualWeightsAreCutEvenly) {
  const SplitPlan plan = PlanOfLetters({1, 1, 1, 1, 1, 1, 1, 1}, 4);
  BOOST_TEST(plan.keys == (Keys{"c", "e", "g"}), boost::test_tools::per_element());
  BOOST_TEST(plan.shares == (std::vector<double>{.25, .25, .25, .25}),
             boost::test_tools::per_element());
  BOOST_TEST(plan.error_share == 0);
}

BOOST_AUTO_TEST_CASE(WeightsDecideWhereToCut) {
  BOOST_TEST(PlanOfLetters({1, 1, 1, 1, 4, 4}, 3).keys == (Keys{"e", "f"}),
             boost::test_tools::per_element());
  BOOST_TEST(PlanOfLetters({4, 4, 1, 1, 1, 1}, 3).keys == (Keys{"b", "c"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(OneRegionHasNoSplitKey) {
  const SplitPlan plan = PlanOfLetters({1, 2, 3}, 1);
  BOOST_TEST(plan.keys.empty());
  BOOST_TEST(plan.shares == (std::vector<double>{1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(AHeavyKeyGetsARegionAndTheOthersShareTheRest) {
  BOOST_TEST(PlanOfLetters({9, 1, 1, 1}, 4).keys == (Keys{"b", "c", "d"}),
             boost::test_tools::per_element());
  BOOST_TEST(PlanOfLetters({1, 1, 1, 9}, 4).keys == (Keys{"b", "c", "d"}),
             boost::test_tools::per_element());
  BOOST_TEST(PlanOfLetters({1, 1, 9, 1, 1}, 3).keys == (Keys{"c", "d"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(FewerDistinctKeysMakeFewerRegions) {
  const SplitPlan plan = PlanOfLetters({5, 5, 5}, 16);
  BOOST_TEST(plan.keys == (Keys{"b", "c"}), boost::test_tools::per_element());
  BOOST_TEST(plan.regions_asked == 16);
  BOOST_TEST(plan.distinct == 3);
  BOOST_TEST(PlanOfLetters({7}, 2).keys.empty());
}

BOOST_AUTO_TEST_CASE(PlansHoldTheirPromises) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    Weights weights;
    const uint64_t count = 1 + dice.Below(400), heaviest = dice.Chance(50) ? 1 : 1000;
    for (uint64_t i = 0; i < count; ++i)
      weights[std::to_string(dice.Below(1000))] += 1 + dice.Below(heaviest);
    const uint64_t regions = 1 + dice.Below(64);
    BOOST_TEST_CONTEXT("seed " << seed) {
      const SplitPlan plan = PlanOf(weights, regions);
      CheckPlan(plan, weights);
      // Never fewer than there may be.
      BOOST_TEST(plan.regions() == std::min<size_t>(regions, weights.size()));
    }
  }
}

BOOST_AUTO_TEST_CASE(PlansOfLargeSamplesAreNearlyEven) {
  constexpr uint64_t kRegions = 16;
  Weights weights;
  Dice dice(9);
  for (int i = 0; i < 100'000; ++i) ++weights[std::to_string(dice.Next())];
  const SplitPlan plan = PlanOf(weights, kRegions, 1e-3);
  CheckPlan(plan, weights);
  BOOST_TEST(plan.error_share > 0);
  for (const double share : SharesOf(plan, weights))
    BOOST_TEST(std::abs(share - 1.0 / kRegions) <= 2e-3);
}

BOOST_AUTO_TEST_CASE(SpacesOfHashesAreCutEvenly) {
  BOOST_TEST(KeysOf("hex:4:2") == (Keys{"40", "80", "c0"}), boost::test_tools::per_element());
  BOOST_TEST(KeysOf("upper-hex:4:2") == (Keys{"40", "80", "C0"}), boost::test_tools::per_element());
  BOOST_TEST(KeysOf("decimal:3:2") == (Keys{"33", "66"}), boost::test_tools::per_element());
  BOOST_TEST(KeysOf("binary:3:1") == (Keys{"\x55", "\xaa"}), boost::test_tools::per_element());
  BOOST_TEST(KeysOf("hex:3") == (Keys{"55555555", "aaaaaaaa"}), boost::test_tools::per_element());
  BOOST_TEST(KeysOf("hex:1").empty());
  // The whole of 2^64 keys, and as many regions as there are keys.
  BOOST_TEST(KeysOf("hex:2:16") == (Keys{"8000000000000000"}), boost::test_tools::per_element());
  BOOST_TEST(KeysOf("binary:256:1").size() == 255);
  const Keys most = KeysOf("binary:65535:8");
  BOOST_TEST(most.size() == 65'534);
  BOOST_TEST((std::ranges::adjacent_find(most, std::greater_equal()) == most.end()));
}

BOOST_AUTO_TEST_CASE(UnevenSpacesSaySo) {
  const auto plan = Parsed("decimal:3:1");  // 0-2, 3-5, 6-9.
  BOOST_REQUIRE(plan.has_value());
  BOOST_TEST(plan->shares == (std::vector<double>{.3, .3, .4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(PartitionsAreRegions) {
  BOOST_TEST(KeysOf("partitions:3") == (Keys{"1", "2"}), boost::test_tools::per_element());
  BOOST_TEST(KeysOf("partitions:11").front() == "01");
  BOOST_TEST(KeysOf("partitions:2:2") == (Keys{"01", "10", "11"}),
             boost::test_tools::per_element());
  BOOST_TEST(KeysOf("partitions:2:11").at(9) == "010");
  BOOST_TEST(KeysOf("partitions:1").empty());
  BOOST_TEST(KeysOf("partition-bytes:3") == (Keys{"\x01", "\x02"}),
             boost::test_tools::per_element());
  BOOST_TEST(KeysOf("partition-bytes:256").back() == "\xff");
  BOOST_TEST(KeysOf("partition-bytes:257").at(0) == std::string("\0\1", 2));
  BOOST_TEST(KeysOf("partition-bytes:257").at(255) == std::string("\1\0", 2));
  BOOST_TEST(KeysOf("partition-bytes:2:2") ==
                 (Keys{std::string("\0\1", 2), std::string("\1\0", 2), "\1\1"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(WhatCannotBeCutIsRefused) {
  for (const char* text : {"auto:0",
                           "auto:65536",
                           "hex:0",
                           "hex:65536",
                           "partitions:0",
                           "partitions:65536",
                           "partitions:256:256",
                           "partitions:18446744073709551615:2",
                           "auto",
                           "auto:",
                           "auto:x",
                           "auto:1:1",
                           "auto:-1",
                           "hex:4:0",
                           "hex:4:21",
                           "hex:17:1",
                           "hex:2:17",
                           "binary:2:9",
                           "partitions:2:2:2",
                           "hexx:4",
                           "",
                           ":4",
                           "16"}) {
    BOOST_TEST(!ErrorOf(text).empty(), text);
  }
  BOOST_TEST(ErrorOf("hexx:4").find("did you mean 'hex'?") != std::string::npos);
  BOOST_TEST(ErrorOf("hex:65536").find("expected 1 to 65535, found '65536'") != std::string::npos);
  BOOST_TEST(KeysOf("partitions:255:257").size() == 65'534);
}

BOOST_AUTO_TEST_CASE(PrintedKeysAreReadAsTheyWere) {
  Dice dice(10);
  for (int i = 0; i < 2000; ++i) {
    Keys keys;
    for (uint64_t count = 1 + dice.Below(3); count > 0; --count) {
      std::string key;
      for (uint64_t size = 1 + dice.Below(6); size > 0; --size)
        key.push_back(static_cast<char>(dice.Below(256)));
      keys.push_back(std::move(key));
    }
    if (i < 4) keys.push_back(Keys{"0x41", "base64:QQ==", "@file", "it's \\x41, \"so\""}[i]);
    for (const std::string& key : keys) {
      const std::string text = row_keys::ShellText(key);
      BOOST_TEST(ReadByHBase(text) == key);
      BOOST_TEST(text.find_first_of(" '\",\\\n") == text.find('\\'));
    }
    std::string text = row_keys::SplitsForCreate(keys);
    text.pop_back();
    const auto read = tools::ParseKeys(text);
    BOOST_REQUIRE_EQUAL(read.status().ToString(), "OK");
    BOOST_TEST(*read == keys, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(FormsAreThoseOfHBase) {
  const Keys keys = {"a", std::string("b'\0c", 4), "\xff"};
  BOOST_TEST(row_keys::SplitsForShell(keys) == "SPLITS => ['a', 'b\\x27\\x00c', '\\xFF']\n");
  BOOST_TEST(row_keys::SplitsFile(keys) == "a\nb\\x27\\x00c\n\\xFF\n");
  BOOST_TEST(row_keys::SplitsFile({}) == "");
}

// It is read in pieces of 1 MiB.
BOOST_AUTO_TEST_CASE(ALargeRowOfATableIsOneKey) {
  const TemporaryDirectory place;
  {
    Options options;
    options.create_if_missing = true;
    auto database = Database::Open(place.Path("db"), options);
    BOOST_REQUIRE(database.has_value());
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d"}};
    BOOST_REQUIRE((*database)->CreateTable(table).ok());
    WriteBatch batch;
    for (const char* row : {"a", "b", "c"}) {
      for (int column = 0; column < 5; ++column)
        batch.Put("t", row, "d", std::to_string(column),
                  std::string(*row == 'b' ? 700'000 : 1, 'x'));
    }
    BOOST_REQUIRE((*database)->Write({}, batch).ok());
    BOOST_REQUIRE((*database)->Close().ok());
  }
  const ProgramRun run = RunProgram({"split-keys", "auto:3", "--database", place.Path("db"),
                                     "--table", "t", "--output", "jsonl"});
  BOOST_TEST(run.out.find("\"sample_keys\":3,") != std::string::npos, run.out);
  BOOST_TEST(run.exit_code == 0, run.err);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
