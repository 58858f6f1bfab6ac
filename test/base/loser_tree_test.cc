// The loser tree: sources of any number come out in order, as std::sort has them.
#define BOOST_TEST_DYN_LINK
#include "base/loser_tree.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <vector>

#include "tools/generator/dice.h"

namespace tandem::base {
namespace {

constexpr uint64_t kEnd = std::numeric_limits<uint64_t>::max();

struct Sources {
  std::vector<std::vector<uint64_t>> values;  ///< Of each, ascending, kEnd last.
  std::vector<size_t> at;

  uint64_t current(size_t source) const { return values[source][at[source]]; }
};

struct Before {
  const Sources* sources;

  bool operator()(size_t a, size_t b) const {
    const uint64_t left = sources->current(a), right = sources->current(b);
    return left != right ? left < right : a < b;
  }
};

BOOST_AUTO_TEST_SUITE(LoserTreeTest)

BOOST_AUTO_TEST_CASE(MergesAnyNumberOfSources) {
  test::Dice dice(5);
  for (size_t count = 1; count <= 40; ++count) {
    Sources sources{std::vector<std::vector<uint64_t>>(count), std::vector<size_t>(count)};
    std::vector<uint64_t> all;
    for (auto& values : sources.values) {
      for (uint64_t i = dice.Below(20); i > 0; --i) values.push_back(dice.Below(100));
      all.insert(all.end(), values.begin(), values.end());
      std::sort(values.begin(), values.end());
      values.push_back(kEnd);
    }
    std::sort(all.begin(), all.end());

    std::vector<uint64_t> merged;
    LoserTree<Before> tree(count, Before{&sources});
    while (sources.current(tree.top()) != kEnd) {
      merged.push_back(sources.current(tree.top()));
      ++sources.at[tree.top()];
      tree.Replay();
    }
    BOOST_TEST(merged == all, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::base
