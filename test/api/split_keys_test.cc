// Split keys in a program: of samples, of a table, of spaces of hashes and of partitions; and the
// tables that are made with them.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "test/api/small_database.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using Keys = std::vector<std::string>;
using Weights = std::map<std::string, uint64_t>;

SplitKeySampler SamplerFor(uint64_t regions_max) {
  Result<SplitKeySampler> sampler = SplitKeySampler::Create(regions_max);
  BOOST_REQUIRE_EQUAL(sampler.status().ToString(), "OK");
  return *std::move(sampler);
}

void Add(SplitKeySampler* sampler, std::string_view key, uint64_t weight = 1) {
  BOOST_REQUIRE_EQUAL(sampler->Add(key, weight).ToString(), "OK");
}

SplitPlan Planned(Result<SplitPlan> plan) {
  BOOST_REQUIRE_EQUAL(plan.status().ToString(), "OK");
  return *std::move(plan);
}

std::string Number(uint64_t number) { return std::to_string(100'000 + number); }

TableOptions Table(const std::string& name, const Keys& split_keys = {}) {
  TableOptions table;
  table.name = name;
  table.families = {{.name = "d", .compression = Compression::kNone, .block_size_bytes = 512}};
  table.split_keys = split_keys;
  return table;
}

// What each region of the plan gets of these keys, as a share.
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

// Whether the plan is one of these keys, and says of it what is true.
void CheckPlan(const SplitPlan& plan, const Weights& weights) {
  BOOST_REQUIRE_EQUAL(plan.shares.size(), plan.regions());
  BOOST_TEST((std::ranges::adjacent_find(plan.keys, std::greater_equal()) == plan.keys.end()));
  for (const std::string& key : plan.keys) BOOST_TEST(weights.contains(key));
  BOOST_TEST((plan.keys.empty() || plan.keys.front() > weights.begin()->first));
  BOOST_TEST((plan.regions() == plan.regions_asked) == plan.note.empty());
  BOOST_TEST(std::accumulate(plan.shares.begin(), plan.shares.end(), 0.0) == 1.0,
             boost::test_tools::tolerance(1e-9));
  const std::vector<double> shares = SharesOf(plan, weights);
  for (size_t i = 0; i < shares.size(); ++i) {
    BOOST_TEST(shares[i] > 0);
    BOOST_TEST(std::abs(shares[i] - plan.shares[i]) <= plan.error_share + 1e-9);
  }
}

void Write(Database* database, const WriteBatch& batch) {
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
}

// The row keys of a table.
Keys RowsOf(Database* database, const std::string& table) {
  auto cursor = database->Scan({}, table, {});
  BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
  Keys rows;
  while (cursor->Next()) rows.emplace_back(cursor->row().key());
  BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
  return rows;
}

Weights Once(const Keys& keys) {
  Weights weights;
  for (const std::string& key : keys) weights[key] = 1;
  return weights;
}

// The rows that each region of the table has, from its start key on.
std::map<std::string, uint64_t> RowsByRegion(Database* database, const std::string& table) {
  const auto info = database->Info();
  BOOST_REQUIRE_EQUAL(info.status().ToString(), "OK");
  std::map<std::string, uint64_t> rows;
  for (const TableInfo& found : info->tables) {
    if (found.options.name != table) continue;
    for (const RegionInfo& region : found.regions) {
      rows[region.start_key] = region.rows + region.memstore_rows;
    }
  }
  return rows;
}

BOOST_AUTO_TEST_SUITE(split_keys)

BOOST_AUTO_TEST_CASE(ASampleMakesRegionsOfOneSize) {
  SplitKeySampler sampler = SamplerFor(4);
  for (uint64_t i = 0; i < 1000; ++i) Add(&sampler, Number(i * 7 % 1000));
  const SplitPlan plan = Planned(sampler.Plan(4));
  BOOST_TEST(plan.keys == (Keys{Number(250), Number(500), Number(750)}),
             boost::test_tools::per_element());
  BOOST_TEST(plan.shares == (std::vector<double>(4, .25)), boost::test_tools::per_element());
  BOOST_TEST(plan.regions_asked == 4u);
  BOOST_TEST(plan.sample_keys == 1000u);
  BOOST_TEST(plan.distinct == 1000u);
  BOOST_TEST(plan.error_share == 0);
  BOOST_TEST(!plan.weighted);
  BOOST_TEST(plan.note == "");
  BOOST_TEST(sampler.keys() == 1000u);
  BOOST_TEST(sampler.weight() == 1000u);
  BOOST_TEST(sampler.memory_bytes() > 1000u);

  const TemporaryDirectory place;
  const auto database = OpenSmall(place.Path("db"));
  BOOST_REQUIRE_EQUAL(database->CreateTable(Table("t", plan.keys)).ToString(), "OK");
  WriteBatch batch;
  for (uint64_t i = 0; i < 1000; ++i) batch.Put("t", Number(i), "d", "c", "v");
  Write(database.get(), batch);
  for (const auto& [start, rows] : RowsByRegion(database.get(), "t")) BOOST_TEST(rows == 250u);
}

// The sampler goes on after a plan, and makes fewer regions than it was made for.
BOOST_AUTO_TEST_CASE(MoreKeysMayFollowAPlan) {
  SplitKeySampler sampler = SamplerFor(8);
  for (uint64_t i = 0; i < 100; ++i) Add(&sampler, Number(i));
  BOOST_TEST(Planned(sampler.Plan(2)).keys == Keys{Number(50)}, boost::test_tools::per_element());
  for (uint64_t i = 100; i < 200; ++i) Add(&sampler, Number(i));
  SplitKeySampler moved = std::move(sampler);
  BOOST_TEST(Planned(moved.Plan(2)).keys == Keys{Number(100)}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(PlansHoldWhatTheySay) {
  TestRandom random("PlansHoldWhatTheySay");
  for (int round = 0; round < 60; ++round) {
    const uint64_t regions = 1 + random.Below(64);
    SplitKeySampler sampler = SamplerFor(regions + random.Below(9));
    Weights weights;
    const uint64_t count = regions + random.Below(round % 10 == 0 ? 60'000 : 400);
    const uint64_t distinct = 1 + random.Below(2 * count), heaviest = random.OneIn(2) ? 1 : 1000;
    for (uint64_t i = 0; i < count; ++i) {
      const std::string key = Number(random.Below(distinct));
      const uint64_t weight = 1 + random.Below(heaviest);
      Add(&sampler, key, weight);
      weights[key] += weight;
    }
    const SplitPlan plan = Planned(sampler.Plan(regions));
    CheckPlan(plan, weights);
    BOOST_TEST(plan.error_share <= 1e-4);
    if (plan.error_share > 0) continue;
    BOOST_TEST(plan.regions() == std::min<size_t>(regions, weights.size()));
    BOOST_TEST(plan.distinct == weights.size());
  }
}

BOOST_AUTO_TEST_CASE(FewerKeysThanRegionsAreSaid) {
  SplitKeySampler sampler = SamplerFor(5);
  for (int i = 0; i < 9; ++i) Add(&sampler, Keys{"a", "b", "c"}[static_cast<size_t>(i % 3)]);
  const SplitPlan plan = Planned(sampler.Plan(5));
  BOOST_TEST(plan.keys == (Keys{"b", "c"}), boost::test_tools::per_element());
  BOOST_TEST(plan.regions_asked == 5u);
  BOOST_TEST(plan.note == "3 regions instead of 5: the sample has only 3 distinct keys");

  SplitKeySampler same = SamplerFor(2);
  for (int i = 0; i < 4; ++i) Add(&same, "same", 10);
  const SplitPlan one = Planned(same.Plan(2));
  BOOST_TEST(one.keys.empty());
  BOOST_TEST(one.weighted);
  BOOST_TEST(one.note == "1 region instead of 2: the sample has only 1 distinct key");

  SplitKeySampler few = SamplerFor(4);
  for (const char* key : {"a", "b", "c"}) Add(&few, key);
  BOOST_TEST(few.Plan(4).status().ToString() ==
             "InvalidArgument: the sample has 3 keys, fewer than regions; a thousand a region make "
             "them even");
  BOOST_TEST(Planned(few.Plan(3)).keys.size() == 2u);
}

BOOST_AUTO_TEST_CASE(AHeavyKeyGetsARegionAlone) {
  SplitKeySampler sampler = SamplerFor(4);
  for (const char* key : {"a", "b", "d", "e"}) Add(&sampler, key, 10);
  Add(&sampler, "c", 1000);
  const SplitPlan plan = Planned(sampler.Plan(4));
  BOOST_TEST(std::ranges::count(plan.keys, "c") == 1);
  BOOST_TEST(std::ranges::count(plan.keys, "d") == 1);
  BOOST_TEST(plan.weighted);
  CheckPlan(plan, {{"a", 10}, {"b", 10}, {"c", 1000}, {"d", 10}, {"e", 10}});
}

BOOST_AUTO_TEST_CASE(WhatIsNoSampleIsRefused) {
  const auto text = [](const Status& status) { return status.ToString(); };
  BOOST_TEST(text(SplitKeySampler::Create(0).status()) ==
             "InvalidArgument: split keys: expected 1 to 65535 regions, found 0");
  BOOST_TEST(text(SplitKeySampler::Create(kSplitPlanRegionsMax + 1).status()) ==
             "InvalidArgument: split keys: expected 1 to 65535 regions, found 65536");
  SplitKeySampler sampler = SamplerFor(8);
  BOOST_TEST(text(sampler.Add("")) == "InvalidArgument: split keys: a key is empty");
  BOOST_TEST(text(sampler.Add(std::string(kRowKeyBytesMax + 1, 'x'))) ==
             "InvalidArgument: split keys: a key has 65536 bytes, the limit is 65535");
  BOOST_TEST(text(sampler.Add("a", 0)) == "InvalidArgument: split keys: a key has weight 0");
  constexpr uint64_t kMost = uint64_t{1} << 62;
  BOOST_TEST(text(sampler.Add("a", kMost + 1)).starts_with("InvalidArgument: the weights add up"));
  BOOST_TEST(sampler.keys() == 0u);
  BOOST_TEST(sampler.weight() == 0u);
  Add(&sampler, std::string(kRowKeyBytesMax, 'x'), kMost);
  BOOST_TEST(text(sampler.Add("a")).starts_with("InvalidArgument: the weights add up"));
  BOOST_TEST(text(sampler.Plan(0).status()) ==
             "InvalidArgument: split keys: expected 1 to 8 regions, found 0");
  BOOST_TEST(text(sampler.Plan(9).status()) ==
             "InvalidArgument: split keys: expected 1 to 8 regions, found 9");
  BOOST_TEST(Planned(sampler.Plan(1)).keys.empty());
}

BOOST_AUTO_TEST_CASE(SpacesOfHashesAreCutEvenly) {
  using Digits = HashSpace::Digits;
  const auto keys = [](Digits digits, uint64_t width, uint64_t regions) {
    return Planned(EvenSplitKeys({.digits = digits, .width = width}, regions)).keys;
  };
  const auto per_element = boost::test_tools::per_element();
  BOOST_TEST(Planned(EvenSplitKeys({}, 2)).keys == Keys{"80000000"}, per_element);
  BOOST_TEST(keys(Digits::kUpperHex, 2, 4) == (Keys{"40", "80", "C0"}), per_element);
  BOOST_TEST(keys(Digits::kDecimal, 2, 3) == (Keys{"33", "66"}), per_element);
  BOOST_TEST(keys(Digits::kBytes, 1, 3) == (Keys{"\x55", "\xaa"}), per_element);
  BOOST_TEST(keys(Digits::kHex, 16, 2) == Keys{"8000000000000000"}, per_element);
  const SplitPlan plan = Planned(EvenSplitKeys({.digits = Digits::kDecimal, .width = 1}, 3));
  BOOST_TEST(plan.shares == (std::vector<double>{.3, .3, .4}), per_element);
  BOOST_TEST(plan.regions_asked == 3u);
  BOOST_TEST(plan.sample_keys == 0u);

  const auto error = [](Digits digits, uint64_t width, uint64_t regions) {
    return EvenSplitKeys({.digits = digits, .width = width}, regions).status().ToString();
  };
  BOOST_TEST(error(Digits::kHex, 8, 0) ==
             "InvalidArgument: split keys: regions: expected 1 to 65535, found 0");
  BOOST_TEST(error(Digits::kHex, 8, 65'536) ==
             "InvalidArgument: split keys: regions: expected 1 to 65535, found 65536");
  BOOST_TEST(error(Digits::kHex, 0, 1) == "InvalidArgument: 0 digits make no keys");
  BOOST_TEST(error(Digits::kHex, 1, 17) ==
             "InvalidArgument: 1 digits of base 16 make 16 keys, fewer than 17 regions");
  BOOST_TEST(error(Digits::kBytes, 9, 2) ==
             "InvalidArgument: 9 digits of base 256 make more than 2^64 keys; fewer digits do");
  BOOST_TEST(error(Digits::kDecimal, UINT64_MAX, 2).starts_with("InvalidArgument"));
}

BOOST_AUTO_TEST_CASE(PartsOfPartitionsAreRegions) {
  const auto keys = [](const PartitionSpace& space) {
    return Planned(PartitionSplitKeys(space)).keys;
  };
  const auto per_element = boost::test_tools::per_element();
  BOOST_TEST(keys({}).empty());
  BOOST_TEST(keys({.partitions = 11}).front() == "01");
  BOOST_TEST(keys({.partitions = 2, .sub_partitions = 2}) == (Keys{"01", "10", "11"}), per_element);
  const Keys bytes = {std::string("\0\1", 2), std::string("\1\0", 2), "\1\1"};
  BOOST_TEST(keys({.partitions = 2, .sub_partitions = 2, .in_bytes = true}) == bytes, per_element);

  const auto error = [](const PartitionSpace& space) {
    return PartitionSplitKeys(space).status().ToString();
  };
  BOOST_TEST(error({.partitions = 0}) ==
             "InvalidArgument: split keys: partitions: expected 1 to 65535, found 0");
  BOOST_TEST(error({.partitions = 2, .sub_partitions = 0}) ==
             "InvalidArgument: split keys: parts of each: expected 1 to 65535, found 0");
  BOOST_TEST(error({.partitions = 256, .sub_partitions = 256}) ==
             "InvalidArgument: split keys: parts of all partitions: expected 1 to 65535, found "
             "65536");
  BOOST_TEST(error({.partitions = UINT64_MAX, .sub_partitions = 2}).starts_with("InvalidArgument"));
}

// What leads the keys of a declaration is what split keys are made of: each part is a region, and a
// number is looked for in one.
BOOST_AUTO_TEST_CASE(EachPartOfAModulusIsARegion) {
  struct Case {
    const char* row_key;
    PartitionSpace space;
  };
  for (const Case& tried : {Case{"mod(id, 4, 3), id:int64", {4, 3, true}},
                            Case{"mod(id, 3, 300), id:int64", {3, 300, true}},
                            Case{"mod(id, 300, 2), id:int64", {300, 2, true}},
                            Case{"mod(id, 5), id:int64", {5, 1, true}}}) {
    const TemporaryDirectory place;
    const auto database = OpenSmall(place.Path("db"));
    TableOptions table = Table("t", Planned(PartitionSplitKeys(tried.space)).keys);
    table.row_key = tried.row_key;
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    const RowKeySchema schema = *RowKeySchema::Parse(tried.row_key);
    const auto regions = static_cast<int64_t>(tried.space.partitions * tried.space.sub_partitions);
    WriteBatch batch;
    for (int64_t id = -2 * regions; id < 3 * regions; ++id) {
      const std::vector<RowKeyField> fields = {{"id", std::to_string(id)}};
      batch.Put("t", *schema.Encode(fields), "d", "c", "v");
    }
    Write(database.get(), batch);
    const auto rows = RowsByRegion(database.get(), "t");
    BOOST_TEST(rows.size() == static_cast<size_t>(regions), tried.row_key);
    for (const auto& [start, count] : rows) BOOST_TEST(count == 5u, tried.row_key);
  }
}

// As hash(F, N) does.
BOOST_AUTO_TEST_CASE(EachShareOfAHashIsARegion) {
  const TemporaryDirectory place;
  const auto database = OpenSmall(place.Path("db"));
  const HashSpace space{.digits = HashSpace::Digits::kBytes, .width = 2};
  TableOptions table = Table("t", Planned(EvenSplitKeys(space, 8)).keys);
  table.row_key = "hash(user, 2), user:text";
  BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  const RowKeySchema schema = *RowKeySchema::Parse(table.row_key);
  WriteBatch batch;
  for (uint64_t i = 0; i < 8000; ++i) {
    const std::vector<RowKeyField> fields = {{"user", Number(i)}};
    batch.Put("t", *schema.Encode(fields), "d", "c", "v");
  }
  Write(database.get(), batch);
  for (const auto& [start, rows] : RowsByRegion(database.get(), "t")) {
    BOOST_TEST(rows > 800u);
    BOOST_TEST(rows < 1200u);
  }
}

// Files that overlap, memstores, deletes, and a row that comes in pieces.
BOOST_AUTO_TEST_CASE(ATableIsSampledInEqualSteps) {
  const TemporaryDirectory place;
  const auto database = OpenSmall(place.Path("db"));
  BOOST_REQUIRE_EQUAL(database->CreateTable(Table("t", {Number(700), Number(2000)})).ToString(),
                      "OK");
  TestRandom random("ATableIsSampledInEqualSteps");
  for (int round = 0; round < 4; ++round) {
    WriteBatch batch;
    for (uint64_t i = 0; i < 3000; ++i) {
      if (random.OneIn(3)) continue;
      if (random.OneIn(9)) {
        batch.DeleteRow("t", Number(i));
      } else {
        batch.Put("t", Number(i), "d", "c", std::string(20, 'v'));
      }
    }
    for (int column = 0; column < 3; ++column) {
      batch.Put("t", Number(1234), "d", std::to_string(column), std::string(700'000, 'x'));
    }
    Write(database.get(), batch);
    if (round < 3) BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK");
    const Keys rows = RowsOf(database.get(), "t");
    for (const uint64_t rows_max : {1u, 7u, 100u, 1000u, 100'000u}) {
      SplitKeySampler sampler = SamplerFor(4);
      BOOST_REQUIRE_EQUAL(sampler.AddTable(database.get(), "t", {.rows_max = rows_max}).ToString(),
                          "OK");
      BOOST_TEST(sampler.keys() >= 1u);
      BOOST_TEST(sampler.keys() <= rows_max);
      const uint64_t regions = std::min<uint64_t>(4, sampler.keys());
      const SplitPlan plan = Planned(sampler.Plan(regions));
      BOOST_TEST(plan.sample_keys == sampler.keys());
      CheckPlan(plan, Once(rows));
      if (rows_max < 100'000) {
        BOOST_TEST(plan.error_share > 0);
        continue;
      }
      BOOST_TEST(sampler.keys() == rows.size());
      BOOST_TEST(plan.error_share == 0);
    }
  }
}

// Keys that were added and those of several tables are one sample.
BOOST_AUTO_TEST_CASE(TablesAndKeysAreOneSample) {
  const TemporaryDirectory place;
  const auto database = OpenSmall(place.Path("db"));
  SplitKeySampler sampler = SamplerFor(3);
  Keys all;
  for (const std::string name : {"a", "b"}) {
    BOOST_REQUIRE_EQUAL(database->CreateTable(Table(name)).ToString(), "OK");
    WriteBatch batch;
    for (uint64_t i = 0; i < 500; ++i) batch.Put(name, name + Number(i), "d", "c", "v");
    Write(database.get(), batch);
    BOOST_REQUIRE_EQUAL(sampler.AddTable(database.get(), name, {.rows_max = 50}).ToString(), "OK");
    const Keys rows = RowsOf(database.get(), name);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  for (uint64_t i = 0; i < 500; ++i) Add(&sampler, all.emplace_back("c" + Number(i)));
  const SplitPlan plan = Planned(sampler.Plan(3));
  BOOST_TEST(sampler.keys() == 600u);
  BOOST_TEST(plan.error_share == 18.0 / 1500, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(plan.keys == (Keys{"b" + Number(0), "c" + Number(0)}),
             boost::test_tools::per_element());
  CheckPlan(plan, Once(all));
}

BOOST_AUTO_TEST_CASE(WhatIsNoTableIsNotSampled) {
  const TemporaryDirectory place;
  const auto database = OpenSmall(place.Path("db"));
  BOOST_REQUIRE_EQUAL(database->CreateTable(Table("t")).ToString(), "OK");
  SplitKeySampler sampler = SamplerFor(4);
  BOOST_TEST(sampler.AddTable(database.get(), "t").ToString() == "OK");  // It is empty.
  BOOST_TEST(sampler.keys() == 0u);
  BOOST_TEST(sampler.AddTable(database.get(), "none").ToString() ==
             "NotFound: table 'none' does not exist");
  BOOST_TEST(sampler.AddTable(database.get(), "t", {.rows_max = 0}).ToString() ==
             "InvalidArgument: split keys: rows_max is 0");
  WriteBatch batch;
  for (uint64_t i = 0; i < 100; ++i) batch.Put("t", Number(i), "d", "c", "v");
  Write(database.get(), batch);
  const std::atomic<bool> cancelled = true;
  for (const uint64_t rows_max : {10u, 1000u}) {
    BOOST_TEST((sampler.AddTable(database.get(), "t", {rows_max, &cancelled}).code() ==
                StatusCode::kCancelled));
  }
  BOOST_TEST(sampler.keys() == 0u);
  BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
  BOOST_TEST((sampler.AddTable(database.get(), "t").code() == StatusCode::kClosed));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
