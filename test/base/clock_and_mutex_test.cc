// Clocks, sleep, mutex and condition variable.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <ctime>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"

namespace tandem::base {
namespace {

BOOST_AUTO_TEST_SUITE(ClockAndMutexSuite)

BOOST_AUTO_TEST_CASE(WallClockIsInMicrosecondsSince1970) {
  const int64_t seconds = std::time(nullptr);
  const int64_t micros = NewSystemClock()->WallMicros();
  BOOST_TEST(micros >= (seconds - 2) * 1'000'000);
  BOOST_TEST(micros <= (seconds + 60) * 1'000'000);
}

BOOST_AUTO_TEST_CASE(SleepLastsAtLeastItsTime) {
  const auto clock = NewSystemClock();
  const int64_t start = clock->MonotonicMicros();
  clock->SleepMicros(20'000);
  clock->SleepMicros(0);
  clock->SleepMicros(-5);
  BOOST_TEST(clock->MonotonicMicros() - start >= 20'000);
}

BOOST_AUTO_TEST_CASE(MutexExcludes) {
  Mutex mutex;
  int64_t count = 0;
  const auto add = [&] {
    for (int i = 0; i < 20'000; ++i) {
      MutexLock lock(mutex);
      ++count;
    }
  };
  std::thread first(add), second(add);
  first.join();
  second.join();
  BOOST_TEST(count == 40'000);
}

BOOST_AUTO_TEST_CASE(WaitReleasesTheMutexAndHoldsItAgain) {
  Mutex mutex;
  CondVar changed;
  int turn = 0;
  std::thread other([&] {
    MutexLock lock(mutex);
    while (turn != 1) changed.Wait(mutex);
    turn = 2;
    changed.NotifyAll();
  });
  {
    MutexLock lock(mutex);
    turn = 1;
    changed.NotifyOne();
    while (turn != 2) changed.Wait(mutex);
  }
  other.join();
  BOOST_TEST(turn == 2);
}

BOOST_AUTO_TEST_CASE(WaitForEndsWithoutAWakeUp) {
  const auto clock = NewSystemClock();
  Mutex mutex;
  CondVar never;
  const int64_t start = clock->MonotonicMicros();
  MutexLock lock(mutex);
  while (never.WaitFor(mutex, 5'000)) {
  }
  BOOST_TEST(clock->MonotonicMicros() - start >= 5'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::base
