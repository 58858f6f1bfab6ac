// Writes that are delayed by a rate.
#define BOOST_TEST_DYN_LINK
#include "engine/commit/write_schedule.h"

#include <boost/test/unit_test.hpp>

namespace tandem::engine {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr double kMegabytes = 1e6;

BOOST_AUTO_TEST_SUITE(WriteScheduleSuite)

BOOST_AUTO_TEST_CASE(AWriteEndsWhenItsBytesAreDue) {
  WriteSchedule schedule;
  const auto delay = [&](int64_t now_micros, uint64_t bytes) {
    return schedule.Delay({now_micros, bytes, 1 * kMegabytes, /*delay_micros_max=*/kSecond});
  };
  BOOST_TEST(delay(kSecond, 2'000) == 2'000);
  BOOST_TEST(delay(kSecond, 3'000) == 5'000);
  BOOST_TEST(delay(kSecond + 4'000, 1'500) == 2'500);
  BOOST_TEST(delay(2 * kSecond, 1'500) == 1'500);  // Nothing is saved up.
}

BOOST_AUTO_TEST_CASE(ShortDelaysAddUpToOne) {
  WriteSchedule schedule;
  int64_t longest = 0;
  for (int i = 0; i < 3; ++i) {
    longest = schedule.Delay({kSecond, 400, 1 * kMegabytes, /*delay_micros_max=*/kSecond});
    BOOST_TEST(longest == (i < 2 ? 0 : 1'200));
  }
}

BOOST_AUTO_TEST_CASE(ADelayHasALimit) {
  WriteSchedule schedule;
  const auto delay = [&](uint64_t bytes) {
    return schedule.Delay({kSecond, bytes, 1 * kMegabytes, /*delay_micros_max=*/16'000});
  };
  BOOST_TEST(delay(100'000) == 16'000);
  BOOST_TEST(delay(1) == 16'000);  // What is beyond it is forgotten.
  BOOST_TEST(schedule.Delay({kSecond + 15'000, 1'000, 1 * kMegabytes, 16'000}) == 2'000);
}

// A write to a table whose writes are delayed less.
BOOST_AUTO_TEST_CASE(AWriteThatIsDelayedLessLeavesTheDebtOfOthers) {
  WriteSchedule schedule;
  BOOST_TEST(schedule.Delay({kSecond, 100'000, 1 * kMegabytes, 64'000}) == 64'000);
  BOOST_TEST(schedule.Delay({kSecond, 1'000, 100 * kMegabytes, 16'000}) == 16'000);
  BOOST_TEST(schedule.Delay({kSecond + 1'000, 1, 1 * kMegabytes, 64'000}) > 62'000);
}

// Of two threads the one that read the clock first may come second.
BOOST_AUTO_TEST_CASE(AWriteThatReadTheClockEarlierLeavesTheDebtOfOthers) {
  WriteSchedule schedule;
  BOOST_TEST(schedule.Delay({kSecond + 5'000, 100'000, 1 * kMegabytes, 16'000}) == 16'000);
  BOOST_TEST(schedule.Delay({kSecond, 1'000, 1 * kMegabytes, 16'000}) == 16'000);
  BOOST_TEST(schedule.Delay({kSecond + 5'000, 1, 1 * kMegabytes, 16'000}) == 16'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine
