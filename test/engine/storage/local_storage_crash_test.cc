// The local storage through crashes: at every operation of a workload and of the recovery after it,
// with nothing, everything or a random part of what was unsynced kept. What opens afterwards has
// all that was acknowledged as durable, a prefix of the log, and no file but its own.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/storage/storage.h"
#include "test/engine/storage/storage_workload.h"
#include "test/support/print.h"
#include "tools/simulation/simulated_disk.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

std::vector<CrashPolicy> Policies(uint64_t seed) {
  return {{.kept = CrashPolicy::Kept::kNone},
          {.kept = CrashPolicy::Kept::kAll},
          {.kept = CrashPolicy::Kept::kRandom, .seed = 3 * seed},
          {.kept = CrashPolicy::Kept::kRandom, .seed = 3 * seed + 1},
          {.kept = CrashPolicy::Kept::kRandom, .seed = 3 * seed + 2, .torn = false},
          // Sizes without their data show what removed files left, in reserved space too.
          {.kept = CrashPolicy::Kept::kRandom,
           .seed = 3 * seed,
           .unwritten = CrashPolicy::Unwritten::kStale,
           .fills_reserved = true}};
}

// What must hold of a disk after a crash: it opens, agrees with the model, works, closes, and opens
// again. Returns why not.
std::string Examine(SimulatedDisk* disk, const StorageModel& before, const OpenForTest& how) {
  OpenedForTest opened = OpenStorage(disk, kDatabasePath, how);
  std::string reason = before.Contradiction(opened, false);
  if (!reason.empty()) return reason;
  reason = ListingContradiction(disk, opened.storage->catalog());
  if (!reason.empty()) return reason;
  const Status closed = opened.storage->CloseCleanly();
  if (!closed.ok()) return "does not close: " + closed.ToString();
  opened.storage.reset();
  const OpenedForTest again = OpenStorage(disk, kDatabasePath, how);
  if (!again.was_closed) return "was not closed";
  // What recovery chose to keep it keeps for good.
  if (again.sequences != opened.sequences) return "another log after a clean close";
  return before.Contradiction(again, false);
}

// Runs the workload on a new database and calls `at_crash` before each operation.
void RunWithCrashes(const std::function<void(SimulatedDisk*, const StorageModel&)>& at_crash) {
  SimulatedDisk disk;
  StorageModel model;
  disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation == DiskOperation::kRead) return;
    at_crash(&disk, model);
  });
  OpenedForTest opened = OpenStorage(&disk, kDatabasePath);
  BOOST_TEST_REQUIRE(opened.status.ToString() == "OK");
  StorageWorkload workload(opened.storage.get(), &model);
  workload.Run();
  BOOST_TEST(workload.errors() == 0u);
  BOOST_TEST(opened.storage->CloseCleanly().ToString() == "OK");
  opened.storage.reset();
  opened = OpenStorage(&disk, kDatabasePath);
  BOOST_TEST(opened.was_closed);
  disk.control().SetHook(nullptr);
}

BOOST_AUTO_TEST_SUITE(LocalStorageCrashSuite)

BOOST_AUTO_TEST_CASE(ACrashAnywhereLosesNothingDurable) {
  uint64_t crashes = 0;
  RunWithCrashes([&](SimulatedDisk* disk, const StorageModel& model) {
    for (const CrashPolicy& policy : Policies(++crashes)) {
      const auto crashed = disk->CrashedCopy(policy);
      const std::string reason = Examine(crashed.get(), model, {.seed = 1000 + crashes});
      BOOST_TEST(reason == "", "crash " << crashes << " seed " << policy.seed << ": " << reason);
    }
  });
  BOOST_TEST(crashes > 90u);
}

BOOST_AUTO_TEST_CASE(ACrashInsideRecoveryIsOneMoreCrash) {
  uint64_t crashes = 0, nested = 0;
  RunWithCrashes([&](SimulatedDisk* disk, const StorageModel& model) {
    ++crashes;
    const CrashPolicy policy = Policies(crashes)[2 + crashes % 4];
    const auto crashed = disk->CrashedCopy(policy);
    uint64_t inner = 0;
    crashed->control().SetHook([&](const DiskEvent& event) {
      if (event.operation == DiskOperation::kRead) return;
      ++nested;
      if (++inner % Stride() != 0) return;
      const auto twice = crashed->CrashedCopy(Policies(crashes * 100 + inner)[inner % 6]);
      const std::string reason = Examine(twice.get(), model, {.seed = 5000 + inner});
      BOOST_TEST(reason == "", "crash " << crashes << " then " << inner << ": " << reason);
    });
    (void)OpenStorage(crashed.get(), kDatabasePath, {.seed = 4000 + crashes});
    crashed->control().SetHook(nullptr);
  });
  BOOST_TEST(nested > 1000u);
}

BOOST_AUTO_TEST_CASE(ThreeCrashesInARowAreNoWorse) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SimulatedDisk disk(seed);
    const auto random = base::NewSeededRandom(seed);
    StorageModel model;
    for (int life = 0; life < 3; ++life) {
      disk.control().PowerOffAt(random->Next64() % 60 + 1);
      OpenedForTest opened = OpenStorage(&disk, kDatabasePath, {.seed = random->Next64()});
      if (opened.status.ok()) {
        disk.control().PowerOn();
        const std::string reason = model.Contradiction(opened, false);
        BOOST_TEST(reason == "", "seed " << seed << ": " << reason);
        model.Recovered(opened);
        disk.control().PowerOffAt(random->Next64() % 60 + 1);
        StorageWorkload(opened.storage.get(), &model).Run();
      }
      opened.storage.reset();
      disk.Crash({.kept = CrashPolicy::Kept::kRandom, .seed = random->Next64()});
    }
    const std::string reason = Examine(&disk, model, {.seed = random->Next64()});
    BOOST_TEST(reason == "", "seed " << seed << ": " << reason);
  }
}

BOOST_AUTO_TEST_CASE(NoNameIsEverCreatedTwice) {
  // Numbers name files for good, over crashes too; the birth of the database apart.
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SimulatedDisk disk(seed);
    const auto random = base::NewSeededRandom(seed);
    StorageModel model;
    { BOOST_TEST(OpenStorage(&disk, kDatabasePath).status.ToString() == "OK"); }
    disk.KillProcess();
    std::multiset<std::string> created;
    disk.control().SetHook([&](const DiskEvent& event) {
      if (event.operation == DiskOperation::kCreate) created.insert(event.name);
    });
    for (int life = 0; life < 5; ++life) {
      disk.control().PowerOffAt(random->Next64() % 40 + 1);
      OpenedForTest opened = OpenStorage(&disk, kDatabasePath, {.seed = random->Next64()});
      if (opened.storage != nullptr) StorageWorkload(opened.storage.get(), &model).Run();
      opened.storage.reset();
      disk.Crash({.kept = CrashPolicy::Kept::kRandom, .seed = random->Next64()});
    }
    for (const std::string& name : created) BOOST_TEST(created.count(name) == 1u, name);
  }
}

BOOST_AUTO_TEST_CASE(ACrashedCreationLeavesNothingOrAnEmptyDatabase) {
  SimulatedDisk disk;
  uint64_t crashes = 0;
  disk.control().SetHook([&](const DiskEvent&) {
    for (const CrashPolicy& policy : Policies(++crashes)) {
      const auto crashed = disk.CrashedCopy(policy);
      const auto untouched = disk.CrashedCopy(policy);
      const OpenedForTest found =
          OpenStorage(untouched.get(), kDatabasePath, {.create = false, .read_only = true});
      const StatusCode code = found.status.code();
      BOOST_TEST((code == StatusCode::kOk || code == StatusCode::kNotFound),
                 found.status.ToString());
      OpenedForTest made = OpenStorage(crashed.get(), kDatabasePath, {.seed = 77});
      BOOST_TEST(made.status.ToString() == "OK", "crash " << crashes);
      BOOST_TEST(made.catalog.tables.empty());
      StorageModel model;
      BOOST_TEST(StorageWorkload(made.storage.get(), &model).RunOnce().ToString() == "OK");
    }
  });
  { BOOST_TEST(OpenStorage(&disk, kDatabasePath).status.ToString() == "OK"); }
  disk.control().SetHook(nullptr);
  BOOST_TEST(crashes > 15u);
}

BOOST_AUTO_TEST_CASE(AFileThatGrewWithoutItsBytesIsNoDatabaseOfSomebodyElse) {
  SimulatedDisk disk;
  uint64_t crashes = 0;
  disk.control().SetHook([&](const DiskEvent&) {
    for (uint64_t at = 0; at < disk.pending_count(); ++at) {
      const auto crashed = disk.CrashedCopy({.kept = CrashPolicy::Kept::kAllBut,
                                             .at = at,
                                             .unwritten = CrashPolicy::Unwritten::kGarbage});
      const OpenedForTest made = OpenStorage(crashed.get(), kDatabasePath, {.seed = 77});
      ++crashes;
      BOOST_TEST(made.status.ToString() == "OK", "crash " << crashes);
    }
  });
  { BOOST_TEST(OpenStorage(&disk, kDatabasePath).status.ToString() == "OK"); }
  disk.control().SetHook(nullptr);
  BOOST_TEST(crashes > 15u);
}

BOOST_AUTO_TEST_CASE(AKilledProcessLosesNothingWritten) {
  SimulatedDisk disk;
  StorageModel model;
  OpenedForTest opened = OpenStorage(&disk, kDatabasePath);
  StorageWorkload(opened.storage.get(), &model).Run();
  disk.KillProcess();
  opened.storage.reset();
  opened = OpenStorage(&disk, kDatabasePath);
  BOOST_TEST(model.Contradiction(opened, true) == "");
  // What was replayed from memory is durable once the storage is open.
  opened.storage.reset();
  disk.Crash({.kept = CrashPolicy::Kept::kNone});
  opened = OpenStorage(&disk, kDatabasePath);
  BOOST_TEST(model.Contradiction(opened, true) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
