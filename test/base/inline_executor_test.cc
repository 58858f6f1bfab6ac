// The manual clock and the inline executor.
#define BOOST_TEST_DYN_LINK
#include "tools/simulation/inline_executor.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "tools/simulation/manual_clock.h"

namespace tandem::test {
namespace {

using Priority = base::Executor::Priority;

BOOST_AUTO_TEST_SUITE(InlineExecutorSuite)

BOOST_AUTO_TEST_CASE(TheClockMovesOnlyWhenTold) {
  ManualClock clock(1000);
  BOOST_TEST(clock.WallMicros() == 1000);
  clock.Advance(5);
  clock.SleepMicros(7);
  clock.SleepMicros(-1);
  BOOST_TEST(clock.WallMicros() == 1012);
  BOOST_TEST(clock.MonotonicMicros() == 12);
  clock.SetWall(3);
  BOOST_TEST(clock.WallMicros() == 3);
  BOOST_TEST(clock.MonotonicMicros() == 12);
}

BOOST_AUTO_TEST_CASE(HighPriorityComesFirstThenTheOrderOfArrival) {
  ManualClock clock;
  InlineExecutor executor(clock);
  std::string order;
  executor.Schedule(Priority::kLow, [&] { order += 'a'; });
  executor.Schedule(Priority::kHigh, [&] { order += 'b'; });
  executor.Schedule(Priority::kLow, [&] { order += 'c'; });
  executor.Schedule(Priority::kHigh, [&] {
    order += 'd';
    executor.Schedule(Priority::kHigh, [&] { order += 'e'; });
  });
  BOOST_TEST(order.empty());
  BOOST_TEST(executor.due_count() == 4u);
  BOOST_TEST(executor.RunOne());
  BOOST_TEST(order == "b");
  executor.Drain();
  BOOST_TEST(order == "bdeac");
  BOOST_TEST(!executor.RunOne());
}

BOOST_AUTO_TEST_CASE(DelayedJobsWaitForTheirTime) {
  ManualClock clock;
  InlineExecutor executor(clock);
  std::string order;
  executor.ScheduleAfter(20, [&] { order += 'b'; });
  executor.ScheduleAfter(10, [&] {
    order += 'a';
    executor.ScheduleAfter(0, [&] { order += '0'; });
  });
  executor.Drain();
  BOOST_TEST(order.empty());
  BOOST_TEST(executor.delayed_count() == 2u);
  clock.Advance(10);
  executor.Drain();
  BOOST_TEST(order == "a0");
  clock.Advance(100);
  executor.Drain();
  BOOST_TEST(order == "a0b");
  BOOST_TEST(executor.delayed_count() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
