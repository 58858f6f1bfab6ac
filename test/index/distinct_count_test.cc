// The count is exact where it says so, and near elsewhere.
#define BOOST_TEST_DYN_LINK
#include "index/distinct_count.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "base/random.h"

namespace tandem::format {
namespace {

BOOST_AUTO_TEST_SUITE(distinct_count)

BOOST_AUTO_TEST_CASE(FewAreCountedExactly) {
  DistinctCount none;
  BOOST_TEST(none.Estimate() == 0u);
  for (const size_t count : {size_t{1}, size_t{1000}, DistinctCount::kKept - 1}) {
    const auto random = base::NewSeededRandom(count);
    std::vector<uint64_t> hashes;
    for (size_t i = 0; i < count; ++i) hashes.push_back(random->Next64());
    DistinctCount distinct;
    for (int round = 0; round < 3; ++round) {
      for (const uint64_t hash : hashes) distinct.Add(hash);
    }
    BOOST_TEST(distinct.Estimate() == count);
    BOOST_TEST(distinct.Estimate() == count);  // It changes nothing.
  }
}

BOOST_AUTO_TEST_CASE(ManyAreEstimated) {
  for (const size_t count : {DistinctCount::kKept, DistinctCount::kKept + 1, size_t{1'000'000}}) {
    const auto random = base::NewSeededRandom(count);
    DistinctCount distinct;
    std::vector<uint64_t> some;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t hash = random->Next64();
      distinct.Add(hash);
      if (i % 10 == 0) some.push_back(hash);
    }
    for (const uint64_t hash : some) distinct.Add(hash);  // Those that are known do not count.
    const double error =
        std::abs(static_cast<double>(distinct.Estimate()) / static_cast<double>(count) - 1);
    BOOST_TEST(error < 0.02);  // Five standard deviations.
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
