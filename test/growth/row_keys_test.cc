// The memory of what looks at keys whose number nobody knows before the last one.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/split_keys/quantile_sketch.h"
#include "tandem/tandem.h"
#include "test/allocations/allocations.h"
#include "test/growth/growth.h"
#include "test/support/temporary_directory.h"
#include "tools/emulator/store.h"
#include "tools/generator/dice.h"
#include "tools/row_keys/simulation.h"

namespace tandem::test {
namespace {

std::string KeyOf(uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(24 - digits.size(), '0') + digits;
}

/// Live bytes of a sketch of n keys of 24 bytes; `number` is that of the i-th.
template <typename Number>
std::function<double(uint64_t)> Sketched(Number number) {
  return [=](uint64_t n) {
    const int64_t before = LiveBytes();
    engine::QuantileSketch sketch(1e-3);
    for (uint64_t i = 0; i < n; ++i) {
      sketch.Add(KeyOf(number(i, n)));
    }
    return static_cast<double>(LiveBytes() - before);
  };
}

/// Live bytes of a simulation of n keys, 64 regions and 20 windows.
double Simulated(uint64_t n) {
  std::vector<std::string> splits;
  for (uint64_t i = 1; i < 64; ++i) splits.push_back(KeyOf(i * (UINT64_MAX / 64)));
  const int64_t before = LiveBytes();
  row_keys::Simulation simulation(splits, n / 20);
  for (uint64_t i = 0; i < n; ++i) simulation.Add(KeyOf(Mix(1, i)));
  simulation.Finish();
  return static_cast<double>(LiveBytes() - before);
}

/// Live bytes of an emulated table of n rows, in memstores of 10,000.
double Emulated(uint64_t n) {
  engine::Tuning sizes;
  sizes.memstore_bytes = 1'000'000;
  sizes.region_bytes_max = 20'000'000;
  const int64_t before = LiveBytes();
  emulator::Store store(sizes,
                        {.raw = 100,
                         .memstore = emulator::MemstoreSizes(100),
                         .log = 100,
                         .flushed = {100},
                         .merged = {100}},
                        {});
  for (uint64_t i = 0; i < n; ++i) store.Put(KeyOf(Mix(1, i)));
  return static_cast<double>(LiveBytes() - before);
}

/// Scans for a sample of 100 of the n rows of a table.
double ScansForASample(uint64_t n) {
  const TemporaryDirectory place;
  Options options;
  options.create_if_missing = true;
  const auto database = *Database::Open(place.Path("db"), options);
  TableOptions table;
  table.name = "t";
  table.families = {{.name = "d"}};
  BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  WriteBatch batch;
  for (uint64_t i = 0; i < n; ++i) batch.Put("t", KeyOf(Mix(1, i)), "d", "c", "v");
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  auto sampler = *SplitKeySampler::Create(16);
  const uint64_t before = database->GetStatistics().scans;
  BOOST_REQUIRE_EQUAL(sampler.AddTable(database.get(), "t", {.rows_max = 100}).ToString(), "OK");
  BOOST_TEST(sampler.keys() == 100u);
  return static_cast<double>(database->GetStatistics().scans - before);
}

BOOST_AUTO_TEST_SUITE(row_keys_memory)

BOOST_AUTO_TEST_CASE(ASketchOfRandomKeysStaysSmall) {
  Check({.cost = "bytes of a sketch of n random keys, error 0.1 %",
         .n = 50'000,
         .bound = AtMost(1 << 19),
         .measure = Sketched([](uint64_t i, uint64_t) { return Mix(1, i); })});
}

BOOST_AUTO_TEST_CASE(ASketchOfRisingKeysStaysSmall) {
  Check({.cost = "bytes of a sketch of n rising keys, error 0.1 %",
         .n = 50'000,
         .bound = AtMost(1 << 19),
         .measure = Sketched([](uint64_t i, uint64_t) { return i; })});
}

BOOST_AUTO_TEST_CASE(ASketchOfFallingKeysStaysSmall) {
  Check({.cost = "bytes of a sketch of n falling keys, error 0.1 %",
         .n = 50'000,
         .bound = AtMost(1 << 19),
         .measure = Sketched([](uint64_t i, uint64_t n) { return n - i; })});
}

// The worst order that is known: each key lies where the sketch knows least.
BOOST_AUTO_TEST_CASE(ASketchOfKeysFromBothEndsStaysSmall) {
  Check({.cost = "bytes of a sketch of n keys from both ends, error 0.1 %",
         .n = 50'000,
         .bound = AtMostLogarithmic(0, 100'000),
         .measure = Sketched([](uint64_t i, uint64_t n) { return i % 2 == 0 ? i : 2 * n - i; })});
}

BOOST_AUTO_TEST_CASE(ASampleOfATableIsReadInAsManyScansAsItHasKeys) {
  Check({.cost = "scans for a sample of 100 of n rows",
         .n = 10'000,
         .bound = AtMost(101),
         .measure = ScansForASample});
}

BOOST_AUTO_TEST_CASE(ASimulationKeepsNoKeys) {
  Check({.cost = "bytes of a simulation of n keys, 64 regions",
         .n = 50'000,
         .bound = AtMost(16'384),
         .measure = Simulated});
}

BOOST_AUTO_TEST_CASE(AnEmulationStaysSmall) {
  Check({.cost = "bytes of an emulation of n rows",
         .n = 200'000,
         .bound = AtMost(64 << 20),
         .measure = Emulated});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
