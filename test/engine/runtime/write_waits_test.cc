// Waits of writes and running jobs, as the statistics describe them.
#include "engine/runtime/write_waits.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "engine/runtime/running_jobs.h"
#include "tools/simulation/manual_clock.h"

namespace tandem::engine {
namespace {

// What the database's time is when the clock starts: a time that no other clock shows.
constexpr int64_t kStart = 5'000'000;

struct WaitsFixture {
  int64_t Time() { return kStart + clock.MonotonicMicros(); }
  WaitsByCause Counts() { return waits.Counts(Time()); }

  test::ManualClock clock;
  WriteWaits waits{&clock};
};

BOOST_FIXTURE_TEST_SUITE(Waits, WaitsFixture)

BOOST_AUTO_TEST_CASE(AWaitIsShownWhileItGoesOn) {
  WriteWait wait(&waits);
  BOOST_CHECK_EQUAL(Counts().total().writes, 0u);
  clock.Advance(10);
  wait.WaitFor(WaitCause::kRuns, "many runs");
  clock.Advance(100);

  WaitsByCause counts = Counts();
  BOOST_CHECK_EQUAL(counts.runs.writes, 1u);
  BOOST_CHECK_EQUAL(counts.runs.waiting, 1u);
  BOOST_CHECK_EQUAL(counts.runs.since_micros, kStart + 10);
  BOOST_CHECK_EQUAL(counts.runs.micros, 0u);
  BOOST_CHECK_EQUAL(counts.memory.waiting + counts.memstores.waiting, 0u);
  BOOST_CHECK_EQUAL(counts.total().since_micros, kStart + 10);
  BOOST_CHECK_EQUAL(waits.FirstReason(), "many runs");

  BOOST_CHECK_EQUAL(wait.End(), 100u);
  clock.Advance(1000);
  BOOST_CHECK_EQUAL(wait.End(), 0u);
  counts = Counts();
  BOOST_CHECK_EQUAL(counts.runs.writes, 1u);
  BOOST_CHECK_EQUAL(counts.runs.waiting, 0u);
  BOOST_CHECK_EQUAL(counts.runs.since_micros, 0);
  BOOST_CHECK_EQUAL(counts.runs.micros, 100u);
  BOOST_CHECK_EQUAL(waits.FirstReason(), "");
}

BOOST_AUTO_TEST_CASE(TheTimeCountsByTheCauseOfEachMoment) {
  uint64_t micros = 0;
  {
    WriteWait wait(&waits);
    wait.WaitFor(WaitCause::kMemstores, "four memstores");
    clock.Advance(30);
    wait.WaitFor(WaitCause::kMemstores, "five memstores");
    BOOST_CHECK_EQUAL(waits.FirstReason(), "five memstores");
    BOOST_CHECK_EQUAL(Counts().memstores.since_micros, kStart);
    clock.Advance(4);
    wait.WaitFor(WaitCause::kRuns, "many runs");
    clock.Advance(200);
    BOOST_CHECK_EQUAL(waits.FirstReason(), "many runs");
    BOOST_CHECK_EQUAL(Counts().memstores.waiting, 0u);
    BOOST_CHECK_EQUAL(Counts().memstores.since_micros, 0);
    BOOST_CHECK_EQUAL(Counts().runs.waiting, 1u);
    BOOST_CHECK_EQUAL(Counts().runs.since_micros, kStart + 34);
    micros = wait.End();
  }
  const WaitsByCause counts = Counts();
  BOOST_CHECK_EQUAL(counts.memstores.micros, 34u);
  BOOST_CHECK_EQUAL(counts.runs.micros, 200u);
  BOOST_CHECK_EQUAL(counts.total().micros, micros);
  BOOST_CHECK_EQUAL(counts.memstores.writes, 1u);
  BOOST_CHECK_EQUAL(counts.runs.writes, 0u);
}

BOOST_AUTO_TEST_CASE(OfSeveralWaitsTheFirstIsNamed) {
  auto first = std::make_unique<WriteWait>(&waits);
  first->WaitFor(WaitCause::kRuns, "first");
  clock.Advance(7);
  WriteWait second(&waits);
  second.WaitFor(WaitCause::kMemory, "second");
  clock.Advance(1);
  WriteWait third(&waits);
  third.WaitFor(WaitCause::kRuns, "third");

  BOOST_CHECK_EQUAL(Counts().total().waiting, 3u);
  BOOST_CHECK_EQUAL(Counts().total().since_micros, kStart);
  BOOST_CHECK_EQUAL(Counts().runs.waiting, 2u);
  BOOST_CHECK_EQUAL(Counts().runs.since_micros, kStart);
  BOOST_CHECK_EQUAL(Counts().memory.since_micros, kStart + 7);
  BOOST_CHECK_EQUAL(waits.FirstReason(), "first");
  first.reset();
  BOOST_CHECK_EQUAL(Counts().total().waiting, 2u);
  BOOST_CHECK_EQUAL(Counts().runs.since_micros, kStart + 8);
  BOOST_CHECK_EQUAL(Counts().total().since_micros, kStart + 7);
  BOOST_CHECK_EQUAL(waits.FirstReason(), "second");
}

BOOST_AUTO_TEST_CASE(JobsAreListedWhileTheyRun) {
  RunningJobs jobs(&clock);
  RunningJob merge(&jobs,
                   {.kind = JobKind::kMerge, .table = "t", .region_id = 3, .input_bytes = 1000});
  clock.Advance(20);
  {
    RunningJob flush(&jobs, {.kind = JobKind::kFlush, .table = "u", .region_id = 4});
    merge.progress()->store(600);
    const std::vector<JobInfo> described = jobs.Describe(Time());
    BOOST_REQUIRE_EQUAL(described.size(), 2u);
    BOOST_CHECK(described[0].kind == JobKind::kMerge);
    BOOST_CHECK_EQUAL(described[0].table, "t");
    BOOST_CHECK_EQUAL(described[0].region_id, 3u);
    BOOST_CHECK_EQUAL(described[0].input_bytes, 1000u);
    BOOST_CHECK_EQUAL(described[0].read_bytes, 600u);
    BOOST_CHECK_EQUAL(described[0].since_micros, kStart);
    BOOST_CHECK(described[1].kind == JobKind::kFlush);
    BOOST_CHECK_EQUAL(described[1].since_micros, kStart + 20);
  }
  BOOST_REQUIRE_EQUAL(jobs.Describe(Time()).size(), 1u);
  BOOST_CHECK_EQUAL(jobs.Describe(Time())[0].table, "t");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine
