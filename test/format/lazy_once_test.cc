// A value that is loaded once, however many threads need it.
#define BOOST_TEST_DYN_LINK
#include "format/lazy_once.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <latch>
#include <new>
#include <thread>
#include <vector>

#include "test/support/print.h"

namespace tandem::format {
namespace {

constexpr int kThreads = 4;

/// Runs `work(i)` on kThreads threads that begin together.
template <typename Work>
void OnThreads(Work work) {
  std::latch begin(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      begin.arrive_and_wait();
      work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void TakeLong() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(LazyOnceTest)

BOOST_AUTO_TEST_CASE(OneThreadLoadsAndTheOthersWait) {
  LazyOnce<int> lazy;
  std::atomic<int> loads{0}, right{0};
  OnThreads([&](int) {
    const Result<int*> value = lazy.Get([&]() -> Result<int> {
      ++loads;
      TakeLong();
      return 7;
    });
    if (value.has_value() && **value == 7) ++right;
  });
  BOOST_TEST(loads == 1);
  BOOST_TEST(right == kThreads);
}

BOOST_AUTO_TEST_CASE(AfterAFailureTheNextOneTries) {
  LazyOnce<int> lazy;
  std::atomic<int> loads{0}, failed{0}, right{0};
  OnThreads([&](int) {
    const auto load = [&]() -> Result<int> {
      const int load = ++loads;
      TakeLong();
      if (load == 1) return Status::IoError("the first");
      if (load == 2) throw std::bad_alloc();
      return 7;
    };
    try {
      const Result<int*> value = lazy.Get(load);
      ++(value.has_value() ? right : failed);
    } catch (const std::bad_alloc&) {
      ++failed;
    }
  });
  BOOST_TEST(loads == 3);
  BOOST_TEST(failed == 2);
  BOOST_TEST(right == kThreads - 2);
  BOOST_TEST(*lazy.loaded() == 7);
}

// Each of two values needs the other one while it is loaded, as when a listener hears of damage
// and reads. Threads that waited for each other would never end.
BOOST_AUTO_TEST_CASE(ALoadNeverWaitsForAnother) {
  LazyOnce<int> one, other;
  std::atomic<int> loads{0}, wrong{0};
  const auto plain = []() -> Result<int> { return 7; };
  const auto crossed = [&](LazyOnce<int>* to) {
    return [&, to]() -> Result<int> {
      TakeLong();
      const Result<int*> value = to->Get(plain);
      if (!value.has_value()) return value.error();
      ++loads;
      return **value;
    };
  };
  OnThreads([&](int i) {
    LazyOnce<int>* const first = i % 2 == 0 ? &one : &other;
    LazyOnce<int>* const second = i % 2 == 0 ? &other : &one;
    const Result<int*> value = first->Get(crossed(second));
    if (!value.has_value() || **value != 7) ++wrong;  // Checks are for one thread.
  });
  BOOST_TEST(wrong == 0);
  BOOST_TEST(loads >= 1);
  BOOST_TEST(*one.loaded() == 7);
  BOOST_TEST(*other.loaded() == 7);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::format
