// The scheduler on programs of a few lines with known bugs and a known number of schedules.
#define BOOST_TEST_DYN_LINK
#include <array>
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

// Each run takes the lock once more than the one before: a schedule does not determine it.
BOOST_AUTO_TEST_CASE(ARunThatItsScheduleDoesNotDetermineIsReported) {
  int runs = 0;
  const Scenario scenario{"scheduler/ARunThatItsScheduleDoesNotDetermineIsReported",
                          [&](Scheduler* scheduler) {
                            Guarded counter;
                            const auto get = [&, count = ++runs] {
                              scheduler->Label("gets");
                              for (int i = 0; i < count; ++i) (void)counter.Get();
                            };
                            RunThreads(scheduler, {get});
                            return std::string();
                          }};
  const Exploration found = Explore(scenario, {.systematic = 0, .random = 1000});
  BOOST_TEST(found.failure.starts_with("the same schedule made another run"));
  BOOST_TEST(found.failure.find("then  thread 1 at a point of kind lock, the last call begun: "
                                "gets") != std::string::npos,
             found.failure);
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

// Locks them one after the other, as a cache does its shards.
void Walk(std::array<Guarded, 4>& array) {
  for (Guarded& element : array) (void)element.Get();
}

// One thread waits and two others add, with a mutex where that of an array was.
std::string AddWhereAnArrayWas(Scheduler* scheduler, bool is_forgotten) {
  scheduler->QuietArraysOf(4);
  std::array<Guarded, 4> memory;
  Walk(memory);
  (void)memory[0].Get();  // The walk is over.
  if (is_forgotten) scheduler->ForgetArrays();
  Guarded& flag = memory[1];
  int sum = 0;
  const auto wait = [&] {
    base::MutexLock lock(flag.mutex);
    while (flag.value == 0) flag.changed.Wait(flag.mutex);
  };
  const auto add = [&] {
    const int before = sum;
    flag.Set(1);
    flag.changed.NotifyAll();
    sum = before + 1;
  };
  RunThreads(scheduler, {wait, add, add});
  return sum == 2 ? "" : "an update is lost";
}

// The memory of a cache is used again once the cache is gone, for whatever comes.
BOOST_AUTO_TEST_CASE(MemoryOfAQuietArrayIsUsedAgain) {
  const auto scenario = [](bool is_forgotten) {
    return Scenario{"scheduler/MemoryOfAQuietArrayIsUsedAgain", [=](Scheduler* scheduler) {
                      return AddWhereAnArrayWas(scheduler, is_forgotten);
                    }};
  };
  BOOST_TEST(Replay(scenario(false), {}).problem == "");
  BOOST_TEST(Replay(scenario(true), {}).problem == "");
  // Who locks there hands over again.
  const Exploration found = Explore(scenario(true), kAll);
  BOOST_TEST(found.failure.starts_with("an update is lost"));
}

// Of a mutex of each of two arrays, the first `kept` of which are not forgotten.
std::string QuietOfTwoArrays(size_t kept) {
  std::string quiet;
  const Scenario scenario{"scheduler/SomeArraysAreForgotten", [&](Scheduler* scheduler) {
                            scheduler->QuietArraysOf(4);
                            std::array<Guarded, 4> first, second;
                            for (auto* array : {&first, &second}) {
                              Walk(*array);
                              (void)(*array)[0].Get();
                            }
                            BOOST_TEST(scheduler->found_arrays() == 2u);
                            scheduler->ForgetArrays(kept);
                            for (auto* array : {&first, &second}) {
                              base::MutexLock lock((*array)[1].mutex);
                              scheduler->SetExploring(true);
                              quiet += scheduler->IsAtRest() ? '-' : 'q';
                              scheduler->SetExploring(false);
                            }
                            return std::string();
                          }};
  BOOST_TEST(Replay(scenario, {}).problem == "");
  return quiet;
}

BOOST_AUTO_TEST_CASE(SomeArraysAreForgotten) {
  BOOST_TEST(QuietOfTwoArrays(0) == "--");
  BOOST_TEST(QuietOfTwoArrays(1) == "q-");
  BOOST_TEST(QuietOfTwoArrays(2) == "qq");
}

// The mutex at `place` is locked before the other four and after them. Returns which of the five
// have become quiet, by place.
std::string QuietBesideAWalk(size_t place) {
  std::string quiet;
  const Scenario scenario{"scheduler/WhatLiesBesideAnArray", [&](Scheduler* scheduler) {
                            scheduler->QuietArraysOf(4);
                            std::array<Guarded, 5> memory;
                            (void)memory[place].Get();
                            for (size_t i = 0; i < memory.size(); ++i) {
                              if (i != place) (void)memory[i].Get();
                            }
                            (void)memory[place].Get();
                            for (Guarded& element : memory) {
                              base::MutexLock lock(element.mutex);
                              scheduler->SetExploring(true);
                              quiet += scheduler->IsAtRest() ? '-' : 'q';
                              scheduler->SetExploring(false);
                            }
                            return std::string();
                          }};
  BOOST_TEST(Replay(scenario, {}).problem == "");
  return quiet;
}

// As the mutex of a cache that has come to lie at the distance of its shards from them.
BOOST_AUTO_TEST_CASE(WhatLiesBesideAnArray) {
  BOOST_TEST(QuietBesideAWalk(0) == "-qqqq");
  BOOST_TEST(QuietBesideAWalk(4) == "qqqq-");
}

std::string WalkBesideALock(Scheduler* scheduler) {
  scheduler->QuietArraysOf(4);
  std::array<Guarded, 4> array;
  Guarded other;
  scheduler->SetExploring(true);
  const ThreadId locks = scheduler->Spawn("locks", [&] { (void)array[1].Get(); });
  scheduler->SetExploring(false);
  Walk(array);
  (void)other.Get();  // The walk is over.
  scheduler->Join({locks});
  scheduler->SetExploring(true);
  return scheduler->IsAtRest() ? "" : "a mutex is held";
}

// It is on its way to a mutex of the array, and unlocks it when the array has become quiet.
BOOST_AUTO_TEST_CASE(AnArrayBecomesQuietWhileAThreadLocksInIt) {
  const Scenario scenario{"scheduler/AnArrayBecomesQuietWhileAThreadLocksInIt", WalkBesideALock};
  const RunResult run = Replay(scenario, {{0, 1}, {1, 0}});  // Begins the thread, and goes on.
  BOOST_TEST(run.outcome.schedule.size() == 2u);
  BOOST_TEST(run.problem == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
