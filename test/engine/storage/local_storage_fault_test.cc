// The local storage on a disk that fails or fills up: each operation in turn, once or from then on.
// Callers get errors, nothing acknowledged is lost by a later crash, and a full disk is over
// when there is space again.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "test/engine/storage/storage_workload.h"
#include "test/support/print.h"
#include "test/support/test_random.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

const std::vector<DiskOperation> kChanges = {
    DiskOperation::kWrite,  DiskOperation::kTruncate,     DiskOperation::kPreallocate,
    DiskOperation::kExtend, DiskOperation::kDataSync,     DiskOperation::kCreate,
    DiskOperation::kRemove, DiskOperation::kDirectorySync};

// A database with its workload half way between two opens.
struct Scene {
  SimulatedDisk disk;
  StorageModel model;
  OpenedForTest opened;

  void Open() {
    opened = OpenStorage(&disk, kDatabasePath);
    BOOST_TEST_REQUIRE(opened.status.ToString() == "OK");
  }
  StorageWorkload Work() { return StorageWorkload(opened.storage.get(), &model); }
};

// Crashes a copy of `disk` and says what does not hold of it.
std::string ExamineCrash(const SimulatedDisk& disk, const StorageModel& model,
                         const CrashPolicy& policy) {
  const auto crashed = disk.CrashedCopy(policy);
  const OpenedForTest opened = OpenStorage(crashed.get(), kDatabasePath, {.seed = policy.seed});
  const std::string reason = model.Contradiction(opened, false);
  return reason.empty() ? ListingContradiction(crashed.get(), opened.storage->catalog()) : reason;
}

std::string ExamineCrashes(const SimulatedDisk& disk, const StorageModel& model, uint64_t seed) {
  for (const auto kept :
       {CrashPolicy::Kept::kNone, CrashPolicy::Kept::kAll, CrashPolicy::Kept::kRandom}) {
    const std::string reason = ExamineCrash(disk, model, {.kept = kept, .seed = seed});
    if (!reason.empty()) return reason;
  }
  return "";
}

BOOST_AUTO_TEST_SUITE(LocalStorageFaultSuite)

BOOST_AUTO_TEST_CASE(AnErrorAnywhereLosesNothingAcknowledged) {
  for (const bool sticky : {false, true}) {
    for (const bool partly : {false, true}) {
      for (uint64_t at = 1;; at += Stride()) {
        Scene scene;
        scene.Open();
        scene.disk.control().InjectFault(
            {.operations = kChanges, .at = at, .sticky = sticky, .partly = partly});
        StorageWorkload workload = scene.Work();
        workload.Run();
        if (!scene.disk.control().has_struck()) break;
        {
          const std::string reason = ExamineCrashes(scene.disk, scene.model, at);
          BOOST_TEST(reason == "", "operation " << at << (sticky ? " sticky" : "")
                                                << (partly ? " partly" : "") << ": " << reason);
        }
        BOOST_TEST_REQUIRE(at < 1000u);
      }
    }
  }
}

// A caller that continues after the error: what later calls return must hold as well.
void GoOnAfterAnError(SyncFailure sync_failure) {
  for (uint64_t at = 1;; at += Stride()) {
    Scene scene;
    scene.Open();
    scene.disk.control().InjectFault(
        {.operations = kChanges, .at = at, .partly = at % 2 == 0, .sync_failure = sync_failure});
    scene.Work().Run();
    if (!scene.disk.control().has_struck()) break;
    if (at % 3 != 0) scene.disk.Evict(at);
    scene.Work().Run();
    {
      const std::string reason = ExamineCrashes(scene.disk, scene.model, at);
      BOOST_TEST(reason == "", "operation " << at << ": " << reason);
    }
    const Status closed = scene.opened.storage->CloseCleanly();
    scene.opened.storage.reset();
    scene.opened = OpenStorage(&scene.disk, kDatabasePath);
    BOOST_TEST(scene.model.Contradiction(scene.opened, closed.ok()) == "", "operation " << at);
    BOOST_TEST(scene.opened.was_closed == closed.ok());
  }
}

BOOST_AUTO_TEST_CASE(WhatIsAcknowledgedAfterAnErrorHoldsToo) {
  for (const SyncFailure failure :
       {SyncFailure::kCleanButLost, SyncFailure::kReverted, SyncFailure::kOncePerHandle}) {
    GoOnAfterAnError(failure);
  }
}

BOOST_AUTO_TEST_CASE(AFailedSyncOfTheLogIsNeverRetried) {
  Scene scene;
  scene.Open();
  BOOST_TEST(scene.Work().RunOnce().ToString() == "OK");
  scene.disk.control().InjectFault({.operations = {DiskOperation::kDataSync}});
  BOOST_TEST((scene.Work().RunOnce().code() == StatusCode::kIoError));
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST((scene.opened.storage->WriteLog().code() == StatusCode::kIoError));
    BOOST_TEST((scene.opened.storage->SyncLog().code() == StatusCode::kIoError));
    BOOST_TEST(!scene.opened.storage->RollLog().ok());
  }
  BOOST_TEST(!scene.opened.storage->CloseCleanly().ok());
  BOOST_TEST(ExamineCrashes(scene.disk, scene.model, 1) == "");
}

// Every commit's manifest write and sync fails once: the edit fails, a new manifest follows, and
// the edit never comes back once another was acknowledged.
BOOST_AUTO_TEST_CASE(AFailedManifestIsReplaced) {
  for (const DiskOperation operation : {DiskOperation::kWrite, DiskOperation::kDataSync}) {
    for (const bool partly : {false, true}) {
      for (const StatusCode code : {StatusCode::kIoError, StatusCode::kNoSpace}) {
        Scene scene;
        scene.Open();
        BOOST_TEST(scene.Work().RunOnce().ToString() == "OK");
        const auto commit = [&] { return scene.opened.storage->CommitEdits(1, {}); };
        scene.disk.control().InjectFault(
            {.operations = {operation}, .partly = partly, .status = Status(code, "injected")});
        scene.disk.control().SetTracing(true);
        BOOST_TEST((commit().code() == code));
        bool replaced = false;
        for (const DiskEvent& event : scene.disk.control().TakeTrace()) {
          replaced |= event.operation == DiskOperation::kCreate;
        }
        BOOST_TEST(replaced);
        BOOST_TEST(commit().ToString() == "OK");
        BOOST_TEST(scene.Work().RunOnce().ToString() == "OK");
        BOOST_TEST(ExamineCrashes(scene.disk, scene.model, 2) == "");
        BOOST_TEST(scene.opened.storage->CloseCleanly().ToString() == "OK");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(NothingIsDeletedWhileTheManifestIsInDoubt) {
  Scene scene;
  scene.Open();
  const auto file = *scene.opened.storage->CreateFile();
  const std::string name = engine::StoreFileName(file.number);
  // The commit fails and no new manifest can be made, for lack of space.
  scene.disk.control().InjectFault(
      {.operations = {DiskOperation::kWrite}, .sticky = true, .status = Status::NoSpace("full")});
  BOOST_TEST((scene.opened.storage->CommitEdits(1, {}).code() == StatusCode::kNoSpace));
  BOOST_TEST(scene.opened.storage->DeleteFile(file.number).ToString() == "OK");
  BOOST_TEST(scene.disk.Content(kDatabasePath, name).has_value());
  scene.disk.control().ClearFaults();
  BOOST_TEST(scene.opened.storage->CommitEdits(1, {}).ToString() == "OK");
  BOOST_TEST(!scene.disk.Content(kDatabasePath, name).has_value());
}

BOOST_AUTO_TEST_CASE(AFullDiskIsOverWhenThereIsSpace) {
  for (uint64_t at = 1;; ++at) {
    Scene scene;
    scene.Open();
    scene.disk.control().InjectFault(
        {.operations = {DiskOperation::kWrite, DiskOperation::kCreate, DiskOperation::kPreallocate},
         .at = at,
         .sticky = true,
         .partly = at % 2 == 0,
         .status = Status::NoSpace("full")});
    scene.Work().Run();
    if (!scene.disk.control().has_struck()) break;
    {
      const std::string reason = ExamineCrashes(scene.disk, scene.model, at);
      BOOST_TEST(reason == "", "operation " << at << ": " << reason);
    }
    scene.disk.control().ClearFaults();
    BOOST_TEST(scene.Work().RunOnce().ToString() == "OK", "operation " << at);
    {
      const std::string reason = ExamineCrashes(scene.disk, scene.model, at);
      BOOST_TEST(reason == "", "operation " << at << ": " << reason);
    }
    BOOST_TEST(scene.opened.storage->CloseCleanly().ToString() == "OK");
    scene.opened.storage.reset();
    scene.opened = OpenStorage(&scene.disk, kDatabasePath);
    BOOST_TEST(scene.model.Contradiction(scene.opened, true) == "", "operation " << at);
  }
}

BOOST_AUTO_TEST_CASE(EveryBudgetOfSpaceIsSurvived) {
  for (uint64_t budget = 0; budget < 1'500'000; budget += 3001) {
    Scene scene;
    scene.Open();
    scene.disk.control().SetSpaceBudget(scene.disk.used_bytes() + budget);
    scene.Work().Run();
    const std::string before = ExamineCrashes(scene.disk, scene.model, budget);
    BOOST_TEST(before == "", "budget " << budget << ": " << before);
    scene.disk.control().SetSpaceBudget(std::nullopt);
    BOOST_TEST(scene.Work().RunOnce().ToString() == "OK", "budget " << budget);
    const std::string after = ExamineCrashes(scene.disk, scene.model, budget);
    BOOST_TEST(after == "", "budget " << budget << ": " << after);
  }
}

// An open that fails is followed by one that does not, and then by a power cut: a sync that failed
// in the first must not be taken for done by the second.
BOOST_AUTO_TEST_CASE(AnErrorWhileOpeningIsOnlyThat) {
  for (const bool was_closed : {false, true}) {
    for (uint64_t at = 1;; ++at) {
      Scene scene;
      scene.Open();
      BOOST_TEST(scene.Work().CommitTable().ToString() == "OK");
      BOOST_TEST(scene.Work().FlushToNewFile().ToString() == "OK");
      if (was_closed) {
        BOOST_TEST(scene.opened.storage->CloseCleanly().ToString() == "OK");
        scene.opened.storage.reset();
        scene.Open();
      }
      BOOST_TEST(scene.Work().RunOnce().ToString() == "OK");
      BOOST_TEST(scene.Work().Log(3, false).ToString() == "OK");
      scene.opened.storage.reset();
      scene.disk.KillProcess();
      scene.disk.control().InjectFault({.at = at, .partly = at % 3 == 0});
      OpenedForTest opened = OpenStorage(&scene.disk, kDatabasePath, {.seed = at});
      if (!scene.disk.control().has_struck()) break;
      BOOST_TEST((opened.status.ok() || opened.status.code() == StatusCode::kIoError),
                 opened.status.ToString());
      opened.storage.reset();
      uint64_t step = 0;
      scene.disk.control().SetHook([&](const DiskEvent& event) {
        // ROOT has two places to tear, so it gets more chances.
        for (int chance = event.name == "ROOT" ? 16 : 1; chance > 0; --chance) {
          const CrashPolicy policy{.kept = CrashPolicy::Kept::kRandom, .seed = at * 1000 + ++step};
          const std::string inside = ExamineCrash(scene.disk, scene.model, policy);
          BOOST_TEST(inside == "", "operation " << at << " seed " << policy.seed << ": " << inside);
        }
      });
      opened = OpenStorage(&scene.disk, kDatabasePath, {.seed = at + 1});
      scene.disk.control().SetHook(nullptr);
      std::string reason = scene.model.Contradiction(opened, true);
      BOOST_TEST(reason == "", "operation " << at << ": " << reason);
      reason = ExamineCrashes(scene.disk, scene.model, at);
      BOOST_TEST(reason == "", "operation " << at << ": " << reason);
    }
  }
}

// What a failed creation left is seen and may be nowhere on the disk: the next open relies on none
// of it.
BOOST_AUTO_TEST_CASE(AnErrorWhileCreatingIsOnlyThat) {
  for (uint64_t at = 1;; ++at) {
    Scene scene;
    scene.disk.control().InjectFault({.at = at});
    const Status failed = OpenStorage(&scene.disk, kDatabasePath).status;
    if (!scene.disk.control().has_struck()) break;
    BOOST_TEST((failed.ok() || failed.code() == StatusCode::kIoError), failed.ToString());
    scene.disk.control().ClearFaults();
    scene.Open();
    BOOST_TEST(scene.Work().RunOnce().ToString() == "OK", "operation " << at);
    const std::string reason = ExamineCrashes(scene.disk, scene.model, at);
    BOOST_TEST(reason == "", "operation " << at << ": " << reason);
  }
}

// The manifest that a full disk kept from being written has a larger number than the one that ROOT
// names when it is closed; its name must not come back.
BOOST_AUTO_TEST_CASE(AManifestThatWasGivenUpStaysAway) {
  for (uint64_t at : {2, 3}) {
    Scene scene;
    scene.Open();
    BOOST_TEST_REQUIRE(scene.Work().CommitTable().ToString() == "OK");
    engine::Storage& storage = *scene.opened.storage;
    format::CatalogEdit edit;
    edit.put_tables.push_back(storage.catalog().tables.begin()->second);
    edit.put_tables[0].families[0].options.name = std::string(255, 'f');
    edit.put_tables.resize(100, edit.put_tables[0]);
    bool has_struck = false;
    for (int i = 0; i < 200 && !has_struck; ++i) {
      scene.disk.control().InjectFault(
          {.operations = {DiskOperation::kWrite}, .at = at, .status = Status::NoSpace("injected")});
      BOOST_TEST_REQUIRE(storage.CommitEdits(storage.catalog().epoch, edit).ToString() == "OK");
      has_struck = scene.disk.control().has_struck();
      scene.disk.control().ClearFaults();
    }
    BOOST_TEST_REQUIRE(has_struck);
    BOOST_TEST_REQUIRE(storage.CloseCleanly().ToString() == "OK");
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      const auto crashed =
          scene.disk.CrashedCopy({.kept = CrashPolicy::Kept::kRandom, .seed = seed});
      const OpenedForTest opened = OpenStorage(crashed.get(), kDatabasePath, {.seed = seed});
      BOOST_TEST(opened.status.ToString() == "OK");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
