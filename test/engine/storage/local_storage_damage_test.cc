// Damage to the files of a local database that was closed cleanly: whatever is cut, changed, added,
// removed, swapped or rolled back is reported, or leaves everything as it was.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "engine/storage/storage.h"
#include "test/engine/storage/storage_workload.h"
#include "test/support/print.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

using Files = std::map<std::string, std::string>;

// The files of a database, taken after a clean close and put on other disks.
Files TakeFiles(SimulatedDisk* disk) {
  Files files;
  const auto directory = *disk->OpenDirectory(kDatabasePath, false);
  const std::vector<std::string> names = *directory->List();
  for (const std::string& name : names) files[name] = *disk->Content(kDatabasePath, name);
  return files;
}

struct ClosedDatabase {
  StorageModel model;
  Files files;    // Closed for the last time.
  Files earlier;  // Closed once before.

  explicit ClosedDatabase(uint64_t seed = 1) {
    SimulatedDisk disk;
    for (int life = 0; life < 2; ++life) {
      OpenedForTest opened =
          OpenStorage(&disk, kDatabasePath, {.seed = seed + static_cast<uint64_t>(life)});
      BOOST_TEST_REQUIRE(opened.status.ToString() == "OK");
      StorageWorkload workload(opened.storage.get(), &model);
      if (life == 0) CommitTableAndFile(&workload);
      BOOST_TEST(workload.RunOnce().ToString() == "OK");
      BOOST_TEST(opened.storage->RollLog().ToString() == "OK");
      BOOST_TEST(workload.RunOnce().ToString() == "OK");
      BOOST_TEST(opened.storage->CloseCleanly().ToString() == "OK");
      opened.storage.reset();
      earlier = std::move(files);
      files = TakeFiles(&disk);
    }
  }
  static void CommitTableAndFile(StorageWorkload* workload) {
    BOOST_TEST(workload->CommitTable().ToString() == "OK");
    BOOST_TEST(workload->FlushToNewFile().ToString() == "OK");
  }

  // Opens a database of `changed` files, to read or to write. Empty when the damage was reported or
  // when there is none.
  std::string Silent(const Files& changed, bool read_only) const {
    SimulatedDisk disk;
    for (const auto& [name, bytes] : changed) disk.SetContent(kDatabasePath, name, bytes);
    const OpenedForTest opened =
        OpenStorage(&disk, kDatabasePath, {.create = true, .read_only = read_only});
    const StatusCode code = opened.status.code();
    if (code == StatusCode::kCorruption || code == StatusCode::kUnsupported) return "";
    if (code == StatusCode::kNotFound && !changed.contains("ROOT")) return "";
    return model.Contradiction(opened, true);
  }
};

BOOST_AUTO_TEST_SUITE(LocalStorageDamageSuite)

BOOST_AUTO_TEST_CASE(TheUnchangedDatabaseIsWhole) {
  const ClosedDatabase closed;
  BOOST_TEST(closed.files.size() >= 6u);
  BOOST_TEST(closed.Silent(closed.files, true) == "");
  BOOST_TEST(closed.Silent(closed.files, false) == "");
}

BOOST_AUTO_TEST_CASE(NoCutIsSilent) {
  const ClosedDatabase closed;
  for (const auto& [name, bytes] : closed.files) {
    if (name.starts_with("store-")) continue;  // Their bytes are judged where they are read.
    for (size_t length = 0; length < bytes.size(); ++length) {
      Files changed = closed.files;
      changed[name].resize(length);
      const std::string reason = closed.Silent(changed, length % 7 != 0);
      BOOST_TEST(reason == "", name << " cut to " << length << ": " << reason);
    }
  }
}

BOOST_AUTO_TEST_CASE(NoFlipIsSilent) {
  const ClosedDatabase closed;
  for (const auto& [name, bytes] : closed.files) {
    if (name.starts_with("store-")) continue;
    for (size_t at = 0; at < bytes.size(); ++at) {
      Files changed = closed.files;
      changed[name][at] ^= static_cast<char>(1 << at % 8);
      const std::string reason = closed.Silent(changed, at % 7 != 0);
      BOOST_TEST(reason == "", name << " flipped at " << at << ": " << reason);
    }
  }
}

BOOST_AUTO_TEST_CASE(NoAddedByteIsSilent) {
  const ClosedDatabase closed;
  for (const auto& [name, bytes] : closed.files) {
    if (name.starts_with("store-")) continue;
    for (const std::string& tail :
         {std::string(1, '\0'), std::string(4096, '\0'), std::string("garbage"), bytes}) {
      Files changed = closed.files;
      changed[name] += tail;
      SimulatedDisk disk;
      for (const auto& [n, b] : changed) disk.SetContent(kDatabasePath, n, b);
      const OpenedForTest opened = OpenStorage(&disk, kDatabasePath, {.read_only = true});
      BOOST_TEST((opened.status.code() == StatusCode::kCorruption), name);
    }
  }
}

BOOST_AUTO_TEST_CASE(NoMissingFileIsSilent) {
  const ClosedDatabase closed;
  for (const auto& [name, bytes] : closed.files) {
    Files changed = closed.files;
    changed.erase(name);
    for (const bool read_only : {false, true}) {
      SimulatedDisk disk;
      for (const auto& [n, b] : changed) disk.SetContent(kDatabasePath, n, b);
      const OpenedForTest opened = OpenStorage(&disk, kDatabasePath, {.read_only = read_only});
      BOOST_TEST((opened.status.code() == StatusCode::kCorruption), name);
    }
  }
}

BOOST_AUTO_TEST_CASE(NoSwapIsSilent) {
  const ClosedDatabase closed;
  for (const auto& [a, bytes_a] : closed.files) {
    for (const auto& [b, bytes_b] : closed.files) {
      if (a == b || a.starts_with("store-") || b.starts_with("store-")) continue;
      Files changed = closed.files;
      std::swap(changed[a], changed[b]);
      BOOST_TEST(closed.Silent(changed, true) == "", a << " and " << b << " swapped");
      changed = closed.files;
      changed[a] = bytes_b;
      BOOST_TEST(closed.Silent(changed, true) == "", b << " in place of " << a);
    }
  }
}

BOOST_AUTO_TEST_CASE(NoFileOfAnEarlierCloseIsSilent) {
  const ClosedDatabase closed;
  for (const auto& [name, bytes] : closed.earlier) {
    if (closed.files.contains(name) && closed.files.at(name) == bytes) continue;
    Files changed = closed.files;
    changed[name] = bytes;
    BOOST_TEST(closed.Silent(changed, true) == "", name << " rolled back, to read");
    BOOST_TEST(closed.Silent(changed, false) == "", name << " rolled back, to write");
  }
}

BOOST_AUTO_TEST_CASE(NoFileOfATwinIsSilent) {
  const ClosedDatabase closed(1), twin(100);
  for (const auto& [name, bytes] : twin.files) {
    if (name.starts_with("store-")) continue;
    Files changed = closed.files;
    changed[name] = bytes;
    BOOST_TEST(closed.Silent(changed, true) == "", name << " of a twin");
  }
}

BOOST_AUTO_TEST_CASE(ClosedBesideSomethingNewerIsToldAndKept) {
  const ClosedDatabase closed;
  for (const std::string name : {"log-9999", "manifest-9999"}) {
    Files changed = closed.files;
    changed[name] = "anything";
    BOOST_TEST(closed.Silent(changed, false) == "");
    SimulatedDisk disk;
    for (const auto& [n, b] : changed) disk.SetContent(kDatabasePath, n, b);
    BOOST_TEST((OpenStorage(&disk, kDatabasePath).status.code() == StatusCode::kCorruption));
    BOOST_TEST(*disk.Content(kDatabasePath, name) == "anything");
  }
}

BOOST_AUTO_TEST_CASE(AnOpenManifestThatLostItsSegmentsIsTold) {
  StorageModel model;
  SimulatedDisk disk;
  OpenedForTest opened = OpenStorage(&disk, kDatabasePath, {});
  BOOST_TEST_REQUIRE(opened.status.ToString() == "OK");
  StorageWorkload workload(opened.storage.get(), &model);
  BOOST_TEST(workload.CommitTable().ToString() == "OK");
  BOOST_TEST(workload.RunOnce().ToString() == "OK");
  disk.KillProcess();
  opened.storage.reset();
  const Files files = TakeFiles(&disk);
  // The header and the first frame, which names neither a table nor a segment.
  constexpr size_t kCreationBytes = 224;
  size_t manifests = 0;
  for (const auto& [name, bytes] : files) {
    if (!name.starts_with("manifest-")) continue;
    ++manifests;
    BOOST_TEST_REQUIRE(bytes.size() > kCreationBytes);
    for (const bool read_only : {true, false}) {
      SimulatedDisk cut;
      for (const auto& [n, b] : files) cut.SetContent(kDatabasePath, n, b);
      cut.SetContent(kDatabasePath, name, std::string_view(bytes).substr(0, kCreationBytes));
      const Status status = OpenStorage(&cut, kDatabasePath, {.read_only = read_only}).status;
      BOOST_TEST((status.code() == StatusCode::kCorruption), status.ToString());
      BOOST_TEST(status.message().find("the manifest has lost its end") != std::string::npos);
    }
  }
  BOOST_TEST(manifests == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
