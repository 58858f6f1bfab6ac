// The queue against std::deque.
#include "engine/source/fifo.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <deque>
#include <memory>

#include "test/support/test_random.h"

namespace tandem::engine {
namespace {

BOOST_AUTO_TEST_SUITE(FifoTest)

BOOST_AUTO_TEST_CASE(HoldsWhatADequeHolds) {
  test::TestRandom random("FifoTest/HoldsWhatADequeHolds");
  Fifo<std::unique_ptr<uint64_t>> fifo;
  std::deque<uint64_t> reference;
  for (int step = 0; step < 20'000; ++step) {
    const uint64_t pushes_of_ten = step / 1000 % 2 == 0 ? 7 : 3;  // It grows and shrinks.
    if (random.Below(10) < pushes_of_ten) {
      const uint64_t value = random.Below(1'000'000);
      BOOST_REQUIRE_EQUAL(*fifo.push_back(std::make_unique<uint64_t>(value)), value);
      reference.push_back(value);
    } else if (!reference.empty()) {
      BOOST_REQUIRE_EQUAL(*fifo.front(), reference.front());
      BOOST_REQUIRE_EQUAL(*fifo.pop_front(), reference.front());
      reference.pop_front();
    }
    BOOST_REQUIRE_EQUAL(fifo.size(), reference.size());
    BOOST_REQUIRE_EQUAL(fifo.empty(), reference.empty());
    if (reference.empty()) continue;
    const size_t i = random.Below(reference.size());
    BOOST_REQUIRE_EQUAL(*fifo[i], reference[i]);
  }
}

// What is taken out is not kept alive by its place.
BOOST_AUTO_TEST_CASE(LetsGoOfWhatIsTakenOut) {
  Fifo<std::shared_ptr<int>> fifo;
  const auto shared = std::make_shared<int>(1);
  for (int i = 0; i < 20; ++i) fifo.push_back(shared);
  for (int i = 0; i < 20; ++i) (void)fifo.pop_front();
  BOOST_CHECK_EQUAL(shared.use_count(), 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine
