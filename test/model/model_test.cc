// Random sessions on databases, compared with the reference model, on a simulated disk with power
// cuts and kills, and on real files through POSIX calls and io_uring.
//
//   TANDEM_SEED=N         the seed of the first database; random otherwise.
//   TANDEM_OPERATIONS=N   the number of operations over all cases; 240,000 by default.
//   TANDEM_QUICK=1        about a fifth of that.
#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <iostream>
#include <random>

#include "test/model/run.h"
#include "test/model/session.h"
#include "test/model/session_shrink.h"

namespace tandem::test {
namespace {

constexpr uint64_t kOperationsOfSession = 10'000;
constexpr size_t kLinesMax = 40;  // Of a record that was cut down.

struct PrintSeed {
  PrintSeed() { std::cout << "seed: " << Seed() << std::endl; }
};
BOOST_GLOBAL_FIXTURE(PrintSeed);

struct Case {
  std::string name;
  DiskKind disk = DiskKind::kSimulated;
  std::string parent{};
  uint64_t operations = 0;
  uint64_t session_operations = kOperationsOfSession;  ///< At most.
};

/// A file system without a disk below it, where there is one.
std::string InMemory() { return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ""; }

SessionPlan PlanOf(const Case& test, uint64_t seed) {
  constexpr uint64_t kRows[] = {50, 200, 800, 200, 50, 2500, 100, 5000};
  return {.disk = test.disk,
          .parent = test.parent,
          .seed = seed,
          .rows = kRows[seed % 8],
          .operations = std::min({kOperationsOfSession, Operations(), test.session_operations})};
}

/// What is left of a failing session on the simulated disk, where runs are fast and the same each
/// time.
std::string CutDown(const SessionPlan& plan, const std::vector<SessionAction>& record) {
  if (plan.disk != DiskKind::kSimulated) return {};
  if (!ReplaySession(plan, record).has_value()) return "\n  its record does not fail again";
  const std::vector<SessionAction> left = ShrinkSession(plan, record);
  return "\n  cut down from " + std::to_string(OperationCount(record)) + " operations to " +
         std::to_string(OperationCount(left)) + ": " +
         ReplaySession(plan, left).value_or("passes") + Describe(left, kLinesMax);
}

/// Runs databases of consecutive seeds until the operations of the case have been made.
void RunSessions(const Case& test) {
  Counters counters;
  for (uint64_t seed = Seed(); counters.operations < test.operations; ++seed) {
    const SessionPlan plan = PlanOf(test, seed);
    Session session(plan, &counters);
    if (!session.fallback_reason().empty() && seed == Seed()) {
      std::cout << "skipped: " << test.name
                << " runs through POSIX calls: " << session.fallback_reason() << std::endl;
    }
    try {
      session.Run();
    } catch (const Failure& failure) {
      BOOST_FAIL(failure.what() << "\n  at step " << session.step() << "; again with: TANDEM_SEED="
                                << seed << " TANDEM_OPERATIONS=" << plan.operations
                                << " build/test_model --run_test=model/" << test.name
                                << CutDown(plan, session.record()));
    }
  }
  std::cout << "counters: " << test.name << ": " << counters.Describe() << std::endl;
  // A short run, such as that of one failing seed, need not have met everything.
  if (test.operations < 5 * kOperationsOfSession) return;
  BOOST_TEST(counters.deep_checks * 5 >= counters.checks * 2);
  BOOST_TEST(counters.stale_hits > 0u);
  BOOST_TEST(counters.deletes_over_files > 0u);
  BOOST_TEST(counters.rows_in_several_files > 0u);
  BOOST_TEST(counters.absent_columns > 0u);
  BOOST_TEST(counters.past_reads > 0u);
  BOOST_TEST(counters.wide_rows > 0u);
  BOOST_TEST(counters.overflow_values > 0u);
  BOOST_TEST(counters.rows_of_families > 0u);
  BOOST_TEST(counters.single_source_by_bitmap > 0u);
  BOOST_TEST(counters.single_source_by_filter > 0u);
  BOOST_TEST(counters.single_source_by_key > 0u);
  BOOST_TEST(counters.by_all_columns > 0u);
  BOOST_TEST(counters.rows_from_index > 0u);
  BOOST_TEST(counters.offsets_read > 0u);
  BOOST_TEST(counters.compactions > 0u);
  BOOST_TEST(counters.schema_edits > 0u);
  BOOST_TEST(counters.limits_changed > 0u);
  BOOST_TEST(counters.snapshot_checks > 0u);
  BOOST_TEST(counters.named_snapshot_checks > 0u);
  BOOST_TEST(counters.cursors_finished > 0u);
  BOOST_TEST(counters.refused > 0u);
  BOOST_TEST(counters.transactions > 0u);
  BOOST_TEST(counters.bulk_loads > 0u);
  if (test.disk != DiskKind::kSimulated) return;
  BOOST_TEST(counters.table_copies > 0u);
  BOOST_TEST(counters.power_cuts > 0u);
  BOOST_TEST(counters.kills > 0u);
  BOOST_TEST(counters.interrupted_recoveries > 0u);
  BOOST_TEST(counters.replayed_operations > 0u);
}

BOOST_AUTO_TEST_SUITE(model)

BOOST_AUTO_TEST_CASE(CrashesOnTheSimulatedDisk) {
  RunSessions({.name = "CrashesOnTheSimulatedDisk", .operations = Operations() * 45 / 100});
}

BOOST_AUTO_TEST_CASE(FilesThroughPosix) {
  RunSessions({.name = "FilesThroughPosix",
               .disk = DiskKind::kPosix,
               .parent = InMemory(),
               .operations = Operations() * 25 / 100});
}

BOOST_AUTO_TEST_CASE(FilesThroughIoUring) {
  RunSessions({.name = "FilesThroughIoUring",
               .disk = DiskKind::kUring,
               .parent = InMemory(),
               .operations = Operations() * 25 / 100});
}

// Where syncs are real they take most of the time, so little is done.
BOOST_AUTO_TEST_CASE(FilesOnTheDisk) {
  RunSessions({.name = "FilesOnTheDisk",
               .disk = DiskKind::kUring,
               .operations = 1000,
               .session_operations = 1000});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
