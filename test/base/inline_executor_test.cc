// The manual clock and the inline executor.
#define BOOST_TEST_DYN_LINK
#include "tools/simulation/inline_executor.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "tools/simulation/manual_clock.h"

namespace tandem::test {
namespace {

using base::NewJob;
using base::Priority;

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
  executor.Schedule(NewJob(Priority::kLow, [&] { order += 'a'; }));
  executor.Schedule(NewJob(Priority::kHigh, [&] { order += 'b'; }));
  executor.Schedule(NewJob(Priority::kLow, [&] { order += 'c'; }));
  executor.Schedule(NewJob(Priority::kHigh, [&] {
    order += 'd';
    executor.Schedule(NewJob(Priority::kHigh, [&] { order += 'e'; }));
  }));
  BOOST_TEST(order.empty());
  BOOST_TEST(executor.due_count() == 4u);
  BOOST_TEST(executor.RunOne());
  BOOST_TEST(order == "b");
  executor.Drain();
  BOOST_TEST(order == "bdeac");
  BOOST_TEST(!executor.RunOne());
}

BOOST_AUTO_TEST_CASE(MiddlePriorityIsBetween) {
  ManualClock clock;
  InlineExecutor executor(clock);
  std::string order;
  executor.Schedule(NewJob(Priority::kLow, [&] { order += 'l'; }));
  executor.Schedule(NewJob(Priority::kMiddle, [&] { order += 'm'; }));
  executor.Schedule(NewJob(Priority::kHigh, [&] { order += 'h'; }));
  BOOST_TEST(executor.due_count() == 3u);
  executor.Drain();
  BOOST_TEST(order == "hml");
}

// Jobs of high priority may come without end.
BOOST_AUTO_TEST_CASE(MiddlePriorityDoesNotStarve) {
  ManualClock clock;
  InlineExecutor executor(clock);
  int runs = 0, runs_before_first = 0;
  const auto steady = NewJob(Priority::kHigh, [&] { ++runs; });
  const auto other = NewJob(Priority::kHigh, [&] { ++runs; });
  bool is_first_done = false, is_second_done = false;
  executor.Schedule(NewJob(Priority::kMiddle, [&] { is_first_done = true; }));
  executor.Schedule(NewJob(Priority::kMiddle, [&] { is_second_done = true; }));
  for (int i = 0; i < 40 && !is_second_done; ++i) {
    executor.Schedule(steady);
    executor.Schedule(other);
    BOOST_TEST(executor.RunOne());
    if (!is_first_done) runs_before_first = runs;
  }
  BOOST_TEST(is_second_done);
  BOOST_TEST(runs_before_first == static_cast<int>(base::JobQueue::kPassedOverMax));
  BOOST_TEST(runs == 2 * static_cast<int>(base::JobQueue::kPassedOverMax));
  executor.Drain();
}

BOOST_AUTO_TEST_CASE(AJobRunsOneThatIsUrgent) {
  ManualClock clock;
  InlineExecutor executor(clock);
  std::string order;
  executor.Schedule(NewJob(Priority::kMiddle, [&] {
    order += '(';
    BOOST_TEST(!executor.RunUrgent());
    executor.Schedule(NewJob(Priority::kLow, [&] { order += 'l'; }));
    executor.Schedule(NewJob(Priority::kMiddle, [&] { order += 'm'; }));
    BOOST_TEST(!executor.RunUrgent());
    executor.Schedule(NewJob(Priority::kHigh, [&] { order += 'a'; }));
    executor.Schedule(NewJob(Priority::kHigh, [&] { order += 'b'; }));
    executor.ScheduleAfter(10, NewJob(Priority::kHigh, [&] { order += 'c'; }));
    BOOST_TEST(executor.RunUrgent());
    order += ')';
    clock.Advance(10);
  }));
  executor.Drain();
  BOOST_TEST(order == "(a)bcml");
}

BOOST_AUTO_TEST_CASE(DelayedJobsWaitForTheirTime) {
  ManualClock clock;
  InlineExecutor executor(clock);
  std::string order;
  executor.ScheduleAfter(20, NewJob(Priority::kHigh, [&] { order += 'b'; }));
  executor.ScheduleAfter(10, NewJob(Priority::kLow, [&] {
                           order += 'a';
                           executor.Schedule(NewJob(Priority::kLow, [&] { order += '0'; }));
                         }));
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

BOOST_AUTO_TEST_CASE(TimeKeepsThePriority) {
  ManualClock clock;
  InlineExecutor executor(clock);
  std::string order;
  executor.ScheduleAfter(10, NewJob(Priority::kLow, [&] { order += 'l'; }));
  executor.ScheduleAfter(20, NewJob(Priority::kHigh, [&] { order += 'h'; }));
  clock.Advance(20);
  executor.Drain();
  BOOST_TEST(order == "hl");
}

BOOST_AUTO_TEST_CASE(AJobThatWaitsRunsOnceAtTheEarlierTime) {
  ManualClock clock;
  InlineExecutor executor(clock);
  int runs = 0;
  const auto job = NewJob(Priority::kLow, [&] { ++runs; });
  executor.ScheduleAfter(20, job);
  executor.ScheduleAfter(10, job);
  executor.ScheduleAfter(30, job);
  BOOST_TEST(executor.delayed_count() == 1u);
  clock.Advance(10);
  executor.Drain();
  BOOST_TEST(runs == 1);
  clock.Advance(100);
  executor.Drain();
  BOOST_TEST(runs == 1);
  executor.ScheduleAfter(10, job);
  executor.Schedule(job);
  executor.ScheduleAfter(10, job);
  BOOST_TEST(executor.due_count() == 1u);
  BOOST_TEST(executor.delayed_count() == 0u);
  executor.Drain();
  BOOST_TEST(runs == 2);
}

BOOST_AUTO_TEST_CASE(AJobThatRunsMayBeScheduledAgain) {
  ManualClock clock;
  InlineExecutor executor(clock);
  int runs = 0;
  std::shared_ptr<base::Job> job;
  job = NewJob(Priority::kLow, [&] {
    if (++runs < 3) executor.Schedule(job);
  });
  executor.Schedule(job);
  executor.Drain();
  BOOST_TEST(runs == 3);
}

// The executor may go first, or the job's owner.
BOOST_AUTO_TEST_CASE(AJobBelongsToAllThatKnowIt) {
  ManualClock clock;
  const auto job = NewJob(Priority::kLow, [] {});
  {
    InlineExecutor executor(clock);
    executor.Schedule(job);
    executor.ScheduleAfter(10, NewJob(Priority::kHigh, [] {}));
  }
  BOOST_TEST(job.use_count() == 1);
  InlineExecutor executor(clock);
  bool ran = false;
  executor.Schedule(NewJob(Priority::kLow, [&] { ran = true; }));
  executor.Drain();
  BOOST_TEST(ran);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
