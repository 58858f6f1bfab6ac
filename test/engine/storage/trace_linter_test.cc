// The trace linter finds planted mistakes at the operation that makes them, without any crash, and
// has nothing to say about the engine as it is.
#define BOOST_TEST_DYN_LINK
#include "tools/simulation/trace_linter.h"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "test/engine/storage/storage_workload.h"
#include "test/support/forgetful_file_system.h"
#include "test/support/print.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

// A database with a table, a store file and a log, and what the linter says from then on.
struct Scene {
  SimulatedDisk disk;
  std::vector<std::string> violations;
  StorageModel model;
  OpenedForTest opened;
  std::unique_ptr<base::Directory> directory;

  explicit Scene(const Forgotten& forgotten = {}) : file_system(&disk, forgotten) {
    disk.control().SetViolationHandler(
        [this](const std::string& violation) { violations.push_back(violation); });
    opened = OpenStorage(&file_system, kDatabasePath);
    BOOST_TEST_REQUIRE(opened.status.ToString() == "OK");
    directory = *disk.OpenDirectory(kDatabasePath, false);
  }
  void Work() {
    StorageWorkload workload(opened.storage.get(), &model);
    BOOST_TEST_REQUIRE(workload.CommitTable().ToString() == "OK");
    BOOST_TEST_REQUIRE(workload.FlushToNewFile().ToString() == "OK");
    BOOST_TEST_REQUIRE(workload.Log(3, true).ToString() == "OK");
  }
  // The newest file whose name begins so.
  std::string Newest(const std::string& prefix) {
    std::string newest;
    uint64_t largest = 0;
    for (const std::string& name : *directory->List()) {
      if (!name.starts_with(prefix)) continue;
      const uint64_t number = std::stoull(name.substr(prefix.size()));
      if (number < largest) continue;
      largest = number;
      newest = name;
    }
    return newest;
  }
  // The store file that the catalog names first.
  std::string LiveStore() {
    return engine::StoreFileName(opened.storage->catalog().files.begin()->first);
  }
  // The segment that the catalog names first, which is the current one here.
  std::string LiveLog() {
    return engine::SegmentName(opened.storage->catalog().segments.back().number);
  }
  std::unique_ptr<base::File> Open(const std::string& name) {
    return *directory->Open(name, base::OpenMode::kReadWrite);
  }
  // "L2 L1": the rules broken, in order.
  std::string Rules() const {
    std::string rules;
    for (const std::string& violation : violations) {
      rules += (rules.empty() ? "" : " ") + violation.substr(0, 2);
    }
    return rules;
  }

  ForgetfulFileSystem file_system;
};

BOOST_AUTO_TEST_SUITE(TraceLinterSuite)

BOOST_AUTO_TEST_CASE(TheStorageKeepsAllRules) {
  Scene scene;
  StorageWorkload workload(scene.opened.storage.get(), &scene.model);
  workload.Run();
  BOOST_TEST(workload.errors() == 0u);
  BOOST_TEST(scene.opened.storage->CloseCleanly().ToString() == "OK");
  BOOST_TEST(scene.Rules() == "");
}

BOOST_AUTO_TEST_CASE(AForgottenSyncOfAStoreFileIsFound) {
  Scene scene({.synced_prefix = "store-"});
  BOOST_TEST(scene.Rules() == "");
  scene.Work();
  BOOST_TEST_REQUIRE(!scene.violations.empty());
  BOOST_TEST(scene.violations[0].starts_with("L6: 'manifest-"), scene.violations[0]);
  BOOST_TEST(scene.violations[0].ends_with(" has bytes that are not durable"));
}

BOOST_AUTO_TEST_CASE(AForgottenSyncOfTheDirectoryIsFound) {
  Scene scene;
  // Born in order, then reopened by a forgetful program.
  BOOST_TEST(scene.opened.storage->CloseCleanly().ToString() == "OK");
  scene.opened.storage.reset();
  ForgetfulFileSystem forgetful(&scene.disk, {.directory_syncs = true});
  scene.opened = OpenStorage(&forgetful, kDatabasePath);
  BOOST_TEST_REQUIRE(!scene.violations.empty());
  BOOST_TEST(scene.violations[0].starts_with("L6: "), scene.violations[0]);
  BOOST_TEST(scene.violations[0].ends_with(" has no durable name"));
}

BOOST_AUTO_TEST_CASE(RemovingWhatTheDurableManifestNamesIsFound) {
  for (const char* const kind : {"manifest-", "store-", "log-"}) {
    Scene scene;
    scene.Work();
    const std::string live = kind[0] == 's'   ? scene.LiveStore()
                             : kind[0] == 'l' ? scene.LiveLog()
                                              : scene.Newest(kind);
    BOOST_TEST(scene.directory->Remove(live).ok());
    BOOST_TEST(scene.Rules() == "L5", live);
  }
}

// Mistakes of one operation each, by the rule that they break.
BOOST_AUTO_TEST_CASE(EachMistakeBreaksItsRule) {
  struct Mistake {
    std::string rule;
    std::function<void(Scene&)> make;
  };
  const Mistake mistakes[] = {
      {"L1", [](Scene& scene) { BOOST_TEST(scene.Open(scene.LiveLog())->Write(40, "?!").ok()); }},
      {"L2", [](Scene& scene) { BOOST_TEST(scene.Open(scene.LiveStore())->Truncate(8).ok()); }},
      {"L2",
       [](Scene& scene) {
         const auto file = scene.Open(scene.LiveStore());
         BOOST_TEST(file->Write(*file->Size(), "more").ok());
       }},
      {"L3",
       [](Scene& scene) {
         BOOST_TEST(scene.directory->Create("store-999").has_value());
         BOOST_TEST(scene.directory->Remove("store-999").ok());
         BOOST_TEST(scene.directory->Create("store-999").has_value());
       }},
      {"L4",
       [](Scene& scene) {
         const auto file = *scene.directory->Create("store-999");
         std::string buffer(10, ' ');
         BOOST_TEST((file->Write(0, "abc").ok() && file->Write(5, "xyz").ok()));
         BOOST_TEST(*file->Read(0, buffer) == 8u);
       }},
      // The zeros of an extension are as good as written; those of a truncation are not.
      {"",
       [](Scene& scene) {
         const auto file = *scene.directory->Create("log-999");
         std::string buffer(10, ' ');
         BOOST_TEST((file->Extend(8).ok() && *file->Read(0, buffer) == 8u));
         BOOST_TEST((file->Write(2, "abc").ok() && *file->Read(0, buffer) == 8u));
       }},
      {"L4",
       [](Scene& scene) {
         const auto file = *scene.directory->Create("log-999");
         std::string buffer(10, ' ');
         BOOST_TEST((file->Extend(8).ok() && file->Truncate(2).ok() && file->Truncate(4).ok()));
         BOOST_TEST(*file->Read(0, buffer) == 4u);
       }},
      {"L7",
       [](Scene& scene) {
         const auto file = *scene.directory->Create("log-999");
         BOOST_TEST(file->Write(0, "lost").ok());
         scene.disk.control().InjectFault({});
         BOOST_TEST(!file->DataSync().ok());
         BOOST_TEST(file->DataSync().ok());
       }},
  };
  for (const Mistake& mistake : mistakes) {
    Scene scene;
    scene.Work();
    BOOST_TEST(scene.Rules() == "");
    mistake.make(scene);
    BOOST_TEST(scene.Rules() == mistake.rule);
  }
}

// Frames of manifests that the linter reads while n edits are committed.
uint64_t FramesRead(int n) {
  auto linter = std::make_unique<TraceLinter>();
  const TraceLinter& watching = *linter;
  SimulatedDisk disk(1, std::move(linter));
  const OpenedForTest opened = OpenStorage(&disk, kDatabasePath);
  BOOST_TEST_REQUIRE(opened.status.ToString() == "OK");
  for (int i = 0; i < n; ++i) BOOST_TEST_REQUIRE(opened.storage->CommitEdits(1, {}).ok());
  return watching.frames_read();
}

BOOST_AUTO_TEST_CASE(AManifestIsReadOnWhereItWasReadTo) {
  for (const int n : {50, 16 * 50}) {
    const uint64_t frames = FramesRead(n);
    BOOST_TEST(frames >= static_cast<uint64_t>(n));
    BOOST_TEST(frames <= static_cast<uint64_t>(n) + 20);
  }
}

// What was read already and is written again counts too.
BOOST_AUTO_TEST_CASE(AManifestThatIsWrittenAgainIsReadAgain) {
  Scene scene;
  scene.Work();
  const std::string manifest = scene.Newest("manifest-");
  const auto file = scene.Open(manifest);
  // Its last frame, which names the segment, is gone: nothing says any more that it is needed.
  const uint64_t size = *file->Size();
  BOOST_TEST_REQUIRE((file->Truncate(200).ok() && file->DataSync().ok()));
  const size_t before = scene.violations.size();
  BOOST_TEST(scene.directory->Remove(scene.LiveStore()).ok());
  BOOST_TEST(scene.violations.size() == before, "of " << size << " bytes: " << scene.Rules());
}

// What is no mistake: the same bytes again, other files, and a disk whose files a test changed.
BOOST_AUTO_TEST_CASE(WhatIsAllowedIsNotReported) {
  Scene scene;
  scene.Work();
  const auto log = scene.Open(scene.LiveLog());
  std::string head(40, ' ');
  BOOST_TEST(*log->Read(0, head) == 40u);
  BOOST_TEST(log->Write(0, head).ok());
  const auto lost = *scene.directory->Create("log-999");
  BOOST_TEST(lost->Write(0, "lost").ok());
  scene.disk.control().InjectFault({});
  BOOST_TEST(!lost->DataSync().ok());
  BOOST_TEST((lost->Write(0, "lost").ok() && lost->DataSync().ok()));
  BOOST_TEST(scene.directory->Create("notes").has_value());
  BOOST_TEST(scene.directory->Remove("notes").ok());
  BOOST_TEST(scene.directory->Create("notes").has_value());
  BOOST_TEST(scene.Rules() == "");
  scene.disk.SetContent(kDatabasePath, "store-998", "planted");
  BOOST_TEST(scene.directory->Remove(scene.LiveStore()).ok());
  BOOST_TEST(scene.Rules() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
