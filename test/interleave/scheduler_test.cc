// The scheduler proves itself on programs of a few lines whose bugs, and whose number of
// schedules, are known.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <set>
#include <stdexcept>

#include "base/mutex.h"
#include "test/interleave/explorer.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

constexpr Budget kAll{.systematic = 100'000, .random = 0};

// Runs threads side by side, exploring.
void RunThreads(Scheduler* scheduler, std::vector<std::function<void()>> bodies) {
  std::vector<ThreadId> threads;
  for (auto& body : bodies) threads.push_back(scheduler->Spawn("thread", std::move(body)));
  scheduler->SetExploring(true);
  scheduler->Join(threads);
  scheduler->SetExploring(false);
}

struct Guarded {
  base::Mutex mutex;
  base::CondVar changed;
  int value = 0;
  int Get() {
    base::MutexLock lock(mutex);
    return value;
  }
  void Set(int to) {
    base::MutexLock lock(mutex);
    value = to;
  }
};

BOOST_AUTO_TEST_SUITE(scheduler)

BOOST_AUTO_TEST_CASE(AnUpdateInTwoStepsIsLost) {
  const Scenario scenario{"scheduler/AnUpdateInTwoStepsIsLost", [](Scheduler* scheduler) {
                            Guarded counter;
                            const auto add = [&] { counter.Set(counter.Get() + 1); };
                            RunThreads(scheduler, {add, add});
                            return std::string(counter.value == 2 ? "" : "an update is lost");
                          }};
  const Exploration found = Explore(scenario, kAll);
  BOOST_TEST(found.failure.starts_with("an update is lost"));
  BOOST_TEST(found.schedule.size() == 1u);  // One preemption is all it takes.
  BOOST_TEST(Replay(scenario, found.schedule).problem == "an update is lost");
  BOOST_TEST(Replay(scenario, {}).problem.empty());
}

BOOST_AUTO_TEST_CASE(AnUpdateUnderALockIsNeverLost) {
  const Exploration found =
      Explore({"scheduler/AnUpdateUnderALockIsNeverLost",
               [](Scheduler* scheduler) {
                 Guarded counter;
                 const auto add = [&] {
                   base::MutexLock lock(counter.mutex);
                   const int value = counter.value;
                   scheduler->Yield(Point::kAtomic);
                   counter.value = value + 1;
                 };
                 RunThreads(scheduler, {add, add, add});
                 return std::string(counter.value == 3 ? "" : "an update is lost");
               }},
              {.systematic = 100'000, .random = 200});
  BOOST_TEST(found.failure == "");
  BOOST_TEST(found.complete_preemptions == 2);
  BOOST_TEST(found.random == Trials(200));
}

BOOST_AUTO_TEST_CASE(LocksInOppositeOrderAreADeadlock) {
  const Exploration found =
      Explore({"scheduler/LocksInOppositeOrderAreADeadlock",
               [](Scheduler* scheduler) {
                 base::Mutex one, two;
                 const auto both = [](base::Mutex& a, base::Mutex& b) {
                   base::MutexLock first(a);
                   base::MutexLock second(b);
                 };
                 RunThreads(scheduler, {[&] { both(one, two); }, [&] { both(two, one); }});
                 return std::string();
               }},
              kAll);
  BOOST_TEST(found.failure.starts_with("deadlock"));
  BOOST_TEST(found.failure.find("held by thread 1") != std::string::npos);
  BOOST_TEST(found.failure.find("held by thread 2") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ANotificationBeforeTheWaitIsLost) {
  const auto scenario = [](bool looks_first) {
    return Scenario{"scheduler/ANotificationBeforeTheWaitIsLost",
                    [looks_first](Scheduler* scheduler) {
                      Guarded flag;
                      const auto wait = [&] {
                        base::MutexLock lock(flag.mutex);
                        while (looks_first && flag.value == 0) flag.changed.Wait(flag.mutex);
                        if (!looks_first) flag.changed.Wait(flag.mutex);
                      };
                      const auto notify = [&] {
                        flag.Set(1);
                        flag.changed.NotifyOne();
                      };
                      RunThreads(scheduler, {wait, notify});
                      return std::string();
                    }};
  };
  const Exploration found = Explore(scenario(false), kAll);
  BOOST_TEST(found.failure.find("waits for condition") != std::string::npos);
  BOOST_TEST(Explore(scenario(true), kAll).failure == "");
}

// (What WaitFor returns is decided by a real clock, in the standard library.)
BOOST_AUTO_TEST_CASE(AWaitWithALimitEndsWhenNobodyElseCanGoOn) {
  const Exploration found = Explore({"scheduler/AWaitWithALimitEndsWhenNobodyElseCanGoOn",
                                     [](Scheduler* scheduler) {
                                       Guarded flag;
                                       bool ended = false;
                                       const auto wait = [&] {
                                         base::MutexLock lock(flag.mutex);
                                         (void)flag.changed.WaitFor(flag.mutex, 1000);
                                         ended = true;
                                       };
                                       RunThreads(scheduler, {wait});
                                       return std::string(ended ? "" : "it did not end");
                                     }},
                                    kAll);
  BOOST_TEST(found.failure == "");
}

// Two threads of n points each have C(2n, n) orders; with at most k preemptions, fewer.
BOOST_AUTO_TEST_CASE(EveryOrderComesUpOnce) {
  const auto run = [](uint32_t preemptions) {
    std::multiset<std::string> orders;
    const Scenario scenario{"scheduler/EveryOrderComesUpOnce", [&](Scheduler* scheduler) {
                              std::string order;
                              const auto letters = [&](char letter) {
                                for (int i = 0; i < 3; ++i) {
                                  if (i > 0) scheduler->Yield(Point::kAtomic);
                                  order += letter;
                                }
                              };
                              RunThreads(scheduler, {[&] { letters('a'); }, [&] { letters('b'); }});
                              orders.insert(order);
                              return std::string();
                            }};
    SystematicChooser chooser(preemptions, 2);
    do {
      BOOST_TEST(RunOnce(scenario, &chooser).problem == "");
    } while (chooser.Advance());
    BOOST_TEST(std::set<std::string>(orders.begin(), orders.end()).size() == orders.size());
    return orders.size();
  };
  BOOST_TEST(run(0) == 2u);
  BOOST_TEST(run(1) == 2u + 4u);
  BOOST_TEST(run(10) == 20u);
}

BOOST_AUTO_TEST_CASE(SchedulesAreText) {
  Schedule schedule;
  BOOST_TEST(ParseSchedule("12:2,45:0", &schedule));
  BOOST_TEST(Describe(schedule) == "12:2,45:0");
  BOOST_TEST(ParseSchedule("usual", &schedule));
  BOOST_TEST(schedule.empty());
  for (const char* bad : {"", "12", "12:", "x:1", "1:2;", "1:2,,3:4"}) {
    BOOST_TEST((std::string(bad).empty() || !ParseSchedule(bad, &schedule)));
  }
}

// An exception that is handled on one thread is not seen by another that runs meanwhile.
BOOST_AUTO_TEST_CASE(ExceptionsBelongToTheirThread) {
  const Exploration found =
      Explore({"scheduler/ExceptionsBelongToTheirThread",
               [](Scheduler* scheduler) {
                 std::string problem;
                 const auto body = [&](const std::string& text) {
                   try {
                     throw std::runtime_error(text);
                   } catch (const std::exception&) {
                     scheduler->Yield(Point::kAtomic);
                     try {
                       throw;
                     } catch (const std::exception& again) {
                       if (again.what() != text) problem = again.what();
                     }
                   }
                 };
                 RunThreads(scheduler, {[&] { body("one"); }, [&] { body("two"); }});
                 return problem;
               }},
              kAll);
  BOOST_TEST(found.failure == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
