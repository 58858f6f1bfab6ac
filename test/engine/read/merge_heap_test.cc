// The heap of a merge, beside a sort: sources of random lengths, some added while it runs.
#include "engine/read/merge_heap.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "test/support/test_random.h"

namespace tandem::engine {
namespace {

struct Numbers {
  std::vector<uint64_t> values;  // Ascending, not empty.
  size_t at = 0;

  uint64_t value() const { return values[at]; }
};

struct ComesAfter {
  bool operator()(const Numbers* a, const Numbers* b) const { return a->value() > b->value(); }
};

bool AreEqual(const Numbers* a, const Numbers* b) { return a->value() == b->value(); }

std::vector<uint64_t> AscendingFrom(uint64_t first, test::TestRandom* random) {
  std::vector<uint64_t> values(1 + random->Below(12));
  for (uint64_t& value : values) value = first + random->Below(30);
  std::sort(values.begin(), values.end());
  return values;
}

BOOST_AUTO_TEST_SUITE(merge_heap)

BOOST_AUTO_TEST_CASE(GivesAllInOrderAndKnowsWhichAreAlone) {
  test::TestRandom random("merge_heap/GivesAllInOrderAndKnowsWhichAreAlone");
  for (size_t trial = 0; trial < test::Trials(2000); ++trial) {
    MergeHeap<Numbers, ComesAfter> heap{ComesAfter{}};
    std::vector<std::unique_ptr<Numbers>> sources;
    std::vector<uint64_t> given, expected;
    uint64_t last = 0;
    const auto add = [&] {
      sources.push_back(std::make_unique<Numbers>(Numbers{AscendingFrom(last, &random)}));
      const std::vector<uint64_t>& values = sources.back()->values;
      expected.insert(expected.end(), values.begin(), values.end());
      heap.Push(sources.back().get());
    };
    for (uint64_t count = 1 + random.Below(9); count > 0; --count) add();
    while (!heap.empty()) {
      Numbers* top = heap.top();
      last = top->value();
      const auto is_here = [&](const auto& source) {
        return source->at < source->values.size() && source->value() == last;
      };
      BOOST_REQUIRE(heap.IsTopAlone(AreEqual) ==
                    (std::count_if(sources.begin(), sources.end(), is_here) == 1));
      given.push_back(last);
      ++top->at < top->values.size() ? heap.Replay() : heap.Pop();
      if (random.OneIn(20)) add();
    }
    std::sort(expected.begin(), expected.end());
    BOOST_REQUIRE(given == expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine
