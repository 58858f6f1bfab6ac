// The memory of a sketch of keys, whose number nobody knows before the last one.
#define BOOST_TEST_DYN_LINK
#include "tools/row_keys/quantile_sketch.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "test/allocations/allocations.h"
#include "test/growth/growth.h"
#include "tools/generator/dice.h"

namespace tandem::test {
namespace {

/// Live bytes of a sketch of n keys of 24 bytes; `number` is that of the i-th.
template <typename Number>
std::function<double(uint64_t)> Sketched(Number number) {
  return [=](uint64_t n) {
    const int64_t before = LiveBytes();
    row_keys::QuantileSketch sketch(1e-3);
    for (uint64_t i = 0; i < n; ++i) {
      const std::string digits = std::to_string(number(i, n));
      sketch.Add(std::string(24 - digits.size(), '0') + digits);
    }
    return static_cast<double>(LiveBytes() - before);
  };
}

BOOST_AUTO_TEST_SUITE(quantile_sketch)

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

// The worst order that is known: each key lies where the sketch knows least.
BOOST_AUTO_TEST_CASE(ASketchOfKeysFromBothEndsStaysSmall) {
  Check({.cost = "bytes of a sketch of n keys from both ends, error 0.1 %",
         .n = 50'000,
         .bound = AtMostLogarithmic(0, 100'000),
         .measure = Sketched([](uint64_t i, uint64_t n) { return i % 2 == 0 ? i : 2 * n - i; })});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
