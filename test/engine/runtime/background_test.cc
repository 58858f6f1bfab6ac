// The thread pool, tasks and the gate: order, timers, that no job waits for one that runs while a
// thread has nothing to do, and that stopping waits for what runs and for nothing else.
#define BOOST_TEST_DYN_LINK
#include "engine/runtime/background.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <new>
#include <string>

#include "base/mutex.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"

namespace tandem::test {
namespace {

using base::Executor;
using base::NewJob;
using base::Priority;

// Blocks jobs until the test lets them go.
class Latch {
 public:
  void Wait() {
    base::MutexLock lock(mutex_);
    while (!open_) changed_.Wait(mutex_);
  }
  /// False: it was not opened in that time.
  bool WaitFor(int64_t micros) {
    base::MutexLock lock(mutex_);
    while (!open_) {
      if (!changed_.WaitFor(mutex_, micros)) break;
    }
    return open_;
  }
  void Open() {
    base::MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  bool open_ GUARDED_BY(mutex_) = false;
};

struct PoolFixture {
  std::unique_ptr<Executor> NewPool(uint32_t threads) {
    return *engine::NewThreadPool(threads, clock.get());
  }
  std::unique_ptr<base::Clock> clock = base::NewSystemClock();
};

BOOST_FIXTURE_TEST_SUITE(Background, PoolFixture)

BOOST_AUTO_TEST_CASE(HighPriorityComesFirst) {
  const auto pool = NewPool(1);
  Latch latch, begun;
  std::string order;
  pool->Schedule(NewJob(Priority::kLow, [&] {
    begun.Open();
    latch.Wait();
  }));
  begun.Wait();
  pool->Schedule(NewJob(Priority::kLow, [&] { order += "l"; }));
  pool->Schedule(NewJob(Priority::kHigh, [&] { order += "h"; }));
  pool->Schedule(NewJob(Priority::kLow, [&] { order += "m"; }));
  latch.Open();
  pool->Drain();
  BOOST_CHECK_EQUAL(order, "hlm");
}

// Where processors are few, a merge gives way to the threads that write, and a flush does not.
BOOST_AUTO_TEST_CASE(MergesHaveALowerPriorityInTheSystem) {
  const auto nice = [] {
    return getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)));
  };
  const int usual = nice();
  const auto nice_of = [&](Executor* pool, Priority priority) {
    int found = 0;
    Latch ran;
    pool->Schedule(NewJob(priority, [&] {
      found = nice();
      ran.Open();
    }));
    ran.Wait();
    pool->Drain();
    return found;
  };
  const auto pool = NewPool(3);
  for (int i = 0; i < 20; ++i) {
    BOOST_CHECK_GT(nice_of(pool.get(), Priority::kLow), usual);
    BOOST_CHECK_EQUAL(nice_of(pool.get(), Priority::kMiddle), usual);
    BOOST_CHECK_EQUAL(nice_of(pool.get(), Priority::kHigh), usual);
  }
  const auto single = NewPool(1);
  BOOST_CHECK_EQUAL(nice_of(single.get(), Priority::kLow), usual);
  BOOST_CHECK_EQUAL(nice(), usual);
}

// The worker that runs no merges is busy.
BOOST_AUTO_TEST_CASE(AWorkerThatMergesRunsWhatIsUrgentWhenNobodyElseCan) {
  const auto pool = NewPool(2);
  Latch begun, may_end, ran_high, ran_middle, ran_low;
  pool->Schedule(NewJob(Priority::kHigh, [&] {
    begun.Open();
    may_end.Wait();
  }));
  begun.Wait();
  pool->Schedule(NewJob(Priority::kHigh, [&] { ran_high.Open(); }));
  ran_high.Wait();
  pool->Schedule(NewJob(Priority::kMiddle, [&] { ran_middle.Open(); }));
  ran_middle.Wait();
  pool->Schedule(NewJob(Priority::kLow, [&] { ran_low.Open(); }));
  ran_low.Wait();
  may_end.Open();
}

// One worker has a job of low priority, the other one a long job of middle priority.
BOOST_AUTO_TEST_CASE(AnUrgentJobRunsWithinOneOfMiddlePriority) {
  const auto pool = NewPool(2);
  Latch low_begun, middle_begun, is_due, may_end;
  std::string order;
  pool->Schedule(NewJob(Priority::kLow, [&] {
    low_begun.Open();
    may_end.Wait();
  }));
  low_begun.Wait();
  pool->Schedule(NewJob(Priority::kMiddle, [&] {
    middle_begun.Open();
    is_due.Wait();
    order += "(";
    const bool ran = pool->RunUrgent();
    const bool ran_another = pool->RunUrgent();
    order += ran && !ran_another ? ")" : "?";
    may_end.Open();
  }));
  middle_begun.Wait();
  pool->Schedule(NewJob(Priority::kMiddle, [&] { order += "m"; }));
  pool->Schedule(NewJob(Priority::kHigh, [&] { order += "h"; }));
  is_due.Open();
  may_end.Wait();
  pool->Drain();
  BOOST_CHECK_EQUAL(order, "(h)m");
}

BOOST_AUTO_TEST_CASE(TimersRunWhenTheyAreDue) {
  const auto pool = NewPool(2);
  const int64_t start = clock->MonotonicMicros();
  Latch ran;
  std::atomic<int64_t> at{0};
  pool->ScheduleAfter(20'000, NewJob(Priority::kHigh, [&] {
                        at = clock->MonotonicMicros();
                        ran.Open();
                      }));
  std::atomic<bool> later{false};
  pool->ScheduleAfter(3'600'000'000, NewJob(Priority::kHigh, [&] { later = true; }));
  pool->Drain();  // Does not wait for timers.
  ran.Wait();
  BOOST_CHECK_GE(at - start, 20'000);
  BOOST_CHECK(!later);
}

BOOST_AUTO_TEST_CASE(DestructionWaitsForWhatRuns) {
  std::atomic<int> ran{0};
  Latch begun;
  {
    const auto pool = NewPool(3);
    for (int i = 0; i < 3; ++i) {
      pool->Schedule(NewJob(Priority::kHigh, [&] {
        begun.Open();
        clock->SleepMicros(5000);
        ++ran;
      }));
    }
    begun.Wait();
  }
  BOOST_CHECK_GE(ran, 1);
}

// One worker wakes for the job that is due at once, and finds the timers due as well.
BOOST_AUTO_TEST_CASE(NoDueJobWaitsForOneThatRuns) {
  ManualClock manual;
  const auto pool = *engine::NewThreadPool(2, &manual);
  Latch first, second;
  constexpr int64_t kHour = 3'600'000'000;
  pool->ScheduleAfter(kHour, NewJob(Priority::kHigh, [&] { first.Open(); }));
  pool->ScheduleAfter(kHour, NewJob(Priority::kHigh, [&] { second.Open(); }));
  pool->Drain();
  // Both workers wait now: at most for the hour, by the real clock.
  clock->SleepMicros(20'000);
  manual.Advance(kHour);
  std::atomic<bool> in_time{false};
  pool->Schedule(NewJob(Priority::kHigh, [&] { in_time = first.WaitFor(5'000'000); }));
  BOOST_CHECK(second.WaitFor(10'000'000));
  pool->Drain();
  BOOST_CHECK(in_time);
}

BOOST_AUTO_TEST_CASE(DrainRunsTimersThatAreDue) {
  ManualClock manual;
  const auto pool = *engine::NewThreadPool(2, &manual);
  constexpr int64_t kHour = 3'600'000'000;
  std::atomic<int> ran{0};
  for (int i = 0; i < 3; ++i) pool->ScheduleAfter(kHour, NewJob(Priority::kLow, [&] { ++ran; }));
  manual.Advance(kHour);
  pool->Drain();
  BOOST_CHECK_EQUAL(ran, 3);
}

BOOST_AUTO_TEST_CASE(StoppedTasksDoNothing) {
  const auto pool = NewPool(2);
  engine::BackgroundJobs jobs(pool.get());
  Latch begun, latch;
  std::atomic<bool> finished{false}, is_late{false};
  engine::BackgroundTask task(&jobs, Priority::kHigh, [&] {
    begun.Open();
    latch.Wait();
    finished = true;
  });
  engine::BackgroundTask late(&jobs, Priority::kHigh, [&] { is_late = true; });
  task.Schedule();
  begun.Wait();
  late.Schedule(10'000);
  pool->Schedule(NewJob(Priority::kLow, [&] { latch.Open(); }));
  jobs.Stop();
  BOOST_CHECK(finished);
  late.Schedule();
  clock->SleepMicros(20'000);
  pool->Drain();
  BOOST_CHECK(!is_late);
}

BOOST_AUTO_TEST_CASE(ATaskThatFindsNoMemoryIsRunAgain) {
  ManualClock manual;
  InlineExecutor executor(manual);
  engine::BackgroundJobs jobs(&executor);
  int runs = 0;
  engine::BackgroundTask task(&jobs, Priority::kLow, [&] {
    if (++runs < 3) throw std::bad_alloc();
  });
  task.Schedule();
  for (int i = 1; i <= 5; ++i) {
    executor.Drain();
    BOOST_CHECK_EQUAL(runs, std::min(i, 3));
    BOOST_CHECK_EQUAL(executor.delayed_count(), i < 3 ? 1u : 0u);
    manual.Advance(1'000'000);
  }
  jobs.Stop();
}

BOOST_AUTO_TEST_CASE(AClosedGateLetsNobodyInUntilItIsReopened) {
  engine::Gate gate;
  BOOST_CHECK(gate.Enter());
  gate.Leave();
  gate.Close();
  BOOST_CHECK(!gate.Enter());
  gate.Reopen();
  BOOST_CHECK(gate.Enter());
  gate.Leave();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
