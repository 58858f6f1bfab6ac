// Random sessions on databases, compared with the reference model, on a simulated disk with power
// cuts and kills, and on real files through POSIX calls and io_uring.
//
//   TANDEM_SEED=N         the seed of the first database; random otherwise.
//   TANDEM_OPERATIONS=N   the number of operations over all cases; 90,000 by default.
//   TANDEM_QUICK=1        less than half of that.
#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "test/model/run.h"
#include "test/model/session.h"
#include "test/model/session_shrink.h"
#include "test/support/small_pages.h"

namespace tandem::test {
namespace {

constexpr uint64_t kOperationsOfSession = 10'000;
constexpr size_t kLinesMax = 40;  // Of a record that was cut down.

struct Beginning {
  Beginning() {
    UseSmallPages();
    std::cout << "seed: " << Seed() << std::endl;
  }
};
BOOST_GLOBAL_FIXTURE(Beginning);

struct Case {
  std::string name;
  DiskKind disk = DiskKind::kSimulated;
  std::string parent{};
  uint64_t operations = 0;
  uint64_t session_operations = kOperationsOfSession;  ///< At most. Fewer make more of them.
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

/// What sessions are there to meet and have not met so far, a line each.
std::vector<std::string> Missing(const Counters& counters, DiskKind disk) {
  std::vector<std::string> missing;
  const auto require = [&](bool is_met, std::string_view what) {
    if (!is_met) missing.emplace_back(what);
  };
  require(counters.deep_checks * 10 >= counters.checks, "deep checks, a tenth of all");
  require(counters.stale_hits > 0, "stale hits");
  require(counters.deletes_over_files > 0, "deletes over files");
  require(counters.rows_in_several_files > 0, "rows in several files");
  require(counters.absent_columns > 0, "absent columns");
  require(counters.past_reads > 0, "past reads");
  require(counters.wide_rows > 0, "wide rows");
  require(counters.overflow_values > 0, "overflow values");
  require(counters.rows_of_families > 0, "rows of families");
  require(counters.single_source_by_bitmap > 0, "single sources by bitmap");
  require(counters.single_source_by_filter > 0, "single sources by filter");
  require(counters.single_source_by_key > 0, "single sources by key");
  require(counters.by_all_columns > 0, "hits by all columns");
  require(counters.rows_from_index > 0, "rows from an index");
  require(counters.offsets_read > 0, "offsets");
  require(counters.compactions > 0, "compactions");
  require(counters.schema_edits > 0, "schema edits");
  require(counters.limits_changed > 0, "changed limits");
  require(counters.snapshot_checks > 0, "checks of snapshots");
  require(counters.named_snapshot_checks > 0, "checks of named snapshots");
  require(counters.cursors_finished > 0, "finished cursors");
  require(counters.refused > 0, "refused writes");
  require(counters.transactions > 0, "transactions");
  require(counters.bulk_loads > 0, "bulk loads");
  if (disk != DiskKind::kSimulated) return missing;
  require(counters.table_copies > 0, "copies of tables");
  require(counters.power_cuts > 0, "power cuts");
  require(counters.kills > 0, "kills");
  require(counters.interrupted_recoveries > 0, "interrupted recoveries");
  require(counters.replayed_operations > 0, "replayed operations");
  return missing;
}

/// Runs databases of consecutive seeds until the operations of the case have been made, and goes
/// on, up to six times as many, while something was not met: few sessions may all have missed it.
void RunSessions(const Case& test) {
  Counters counters;
  // A short run, such as that of one failing seed, need not meet everything.
  const bool meets_all = test.operations >= 3 * kOperationsOfSession;
  const auto goes_on = [&] {
    if (counters.operations < test.operations) return true;
    if (!meets_all || counters.operations >= 6 * test.operations) return false;
    const std::vector<std::string> missing = Missing(counters, test.disk);
    for (const std::string& what : missing) {
      std::cout << "note: " << test.name << " goes on after " << counters.operations
                << " operations: no " << what << std::endl;
    }
    return !missing.empty();
  };
  for (uint64_t seed = Seed(); goes_on(); ++seed) {
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
  if (!meets_all) return;
  for (const std::string& what : Missing(counters, test.disk)) {
    BOOST_ERROR("not met in " << counters.operations << " operations: " << what);
  }
}

BOOST_AUTO_TEST_SUITE(model)

BOOST_AUTO_TEST_CASE(CrashesOnTheSimulatedDisk) {
  RunSessions({.name = "CrashesOnTheSimulatedDisk", .operations = Operations() * 45 / 100});
}

BOOST_AUTO_TEST_CASE(FilesThroughPosix) {
  RunSessions({.name = "FilesThroughPosix",
               .disk = DiskKind::kPosix,
               .parent = InMemory(),
               .operations = Operations() * 25 / 100,
               .session_operations = kOperationsOfSession / 2});
}

BOOST_AUTO_TEST_CASE(FilesThroughIoUring) {
  RunSessions({.name = "FilesThroughIoUring",
               .disk = DiskKind::kUring,
               .parent = InMemory(),
               .operations = Operations() * 25 / 100,
               .session_operations = kOperationsOfSession / 2});
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
