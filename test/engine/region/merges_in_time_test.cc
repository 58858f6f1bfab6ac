// However large regions get, writers do not wait for their merges (test/support/merges_in_time).
#define BOOST_TEST_DYN_LINK
#include "test/support/merges_in_time.h"

#include <boost/test/unit_test.hpp>
#include <cstdio>

namespace tandem::test {
namespace {

TimedOutcome Run(const char* what, const TimedLoad& load) {
  const TimedOutcome outcome = SimulateMerges(load);
  std::printf(
      "%s, %zu regions, %llu flushes, merge rate %.0f: runs at most %zu, written %.2f, "
      "a flush each %.2f, writers waited for %.1f at most\n",
      what, load.regions, static_cast<unsigned long long>(load.flushes), load.merge_rate,
      outcome.runs_max, outcome.written, outcome.time, outcome.waited_max);
  return outcome;
}

// Waiting for its end as before would take longer and longer.
void Check(TimedLoad load, double waited_before) {
  const TimedOutcome outcome = Run("merges give way", load);
  BOOST_CHECK_LE(outcome.runs_max, 14u);
  BOOST_CHECK_EQUAL(outcome.waited_max, 0);
  load.gives_way = false;
  const TimedOutcome before = Run("one after the other", load);
  BOOST_CHECK_GE(before.waited_max, waited_before);
  BOOST_CHECK_LE(outcome.time, before.time * 1.1);
}

BOOST_AUTO_TEST_SUITE(MergesInTime)

BOOST_AUTO_TEST_CASE(RunsStayFewHoweverLongAMergeTakes) {
  for (const double rate : {6.0, 8.0, 12.0}) {
    Check({.flushes = 64, .merge_rate = rate}, 0);
    Check({.flushes = 256, .merge_rate = rate}, 0);
    Check({.flushes = 1024, .merge_rate = rate}, 0);
    Check({.flushes = 4096, .merge_rate = rate}, 100);
  }
}

BOOST_AUTO_TEST_CASE(RegionsDoNotWaitForOneAnother) {
  for (const double rate : {6.0, 8.0, 12.0}) {
    for (const size_t regions : {2, 4, 16, 64}) {
      Check({.flushes = 256 * regions, .regions = regions, .merge_rate = rate}, 0);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
