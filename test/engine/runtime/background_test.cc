// The thread pool and the gate: order, timers, and that stopping waits for what runs and for
// nothing else.
#define BOOST_TEST_DYN_LINK
#include "engine/runtime/background.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <string>

#include "base/mutex.h"

namespace tandem::test {
namespace {

using base::Executor;

// Blocks jobs until the test lets them go.
class Latch {
 public:
  void Wait() {
    base::MutexLock lock(mutex_);
    while (!open_) changed_.Wait(mutex_);
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
  pool->Schedule(Executor::Priority::kLow, [&] {
    begun.Open();
    latch.Wait();
  });
  begun.Wait();
  pool->Schedule(Executor::Priority::kLow, [&] { order += "l"; });
  pool->Schedule(Executor::Priority::kHigh, [&] { order += "h"; });
  pool->Schedule(Executor::Priority::kLow, [&] { order += "m"; });
  latch.Open();
  pool->Drain();
  BOOST_CHECK_EQUAL(order, "hlm");
}

BOOST_AUTO_TEST_CASE(TimersRunWhenTheyAreDue) {
  const auto pool = NewPool(2);
  const int64_t start = clock->MonotonicMicros();
  Latch ran;
  std::atomic<int64_t> at{0};
  pool->ScheduleAfter(20'000, [&] {
    at = clock->MonotonicMicros();
    ran.Open();
  });
  std::atomic<bool> later{false};
  pool->ScheduleAfter(3'600'000'000, [&] { later = true; });
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
      pool->Schedule(Executor::Priority::kHigh, [&] {
        begun.Open();
        clock->SleepMicros(5000);
        ++ran;
      });
    }
    begun.Wait();
  }
  BOOST_CHECK_GE(ran, 1);
}

BOOST_AUTO_TEST_CASE(StoppedJobsDoNothing) {
  const auto pool = NewPool(2);
  engine::BackgroundJobs jobs(pool.get());
  Latch begun, latch;
  std::atomic<bool> finished{false}, late{false};
  jobs.Schedule(Executor::Priority::kHigh, [&] {
    begun.Open();
    latch.Wait();
    finished = true;
  });
  begun.Wait();
  jobs.ScheduleAfter(10'000, [&] { late = true; });
  pool->Schedule(Executor::Priority::kLow, [&] { latch.Open(); });
  jobs.Stop();
  BOOST_CHECK(finished);
  jobs.Schedule(Executor::Priority::kHigh, [&] { late = true; });
  clock->SleepMicros(20'000);
  pool->Drain();
  BOOST_CHECK(!late);
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
