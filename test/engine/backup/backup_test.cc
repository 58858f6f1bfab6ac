// Backups: incremental, verified, and never half, over errors and crashes at any operation and
// damage of any file.
#define BOOST_TEST_DYN_LINK
#include "engine/backup/backup.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/engine/copied_database.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr const char* kBackups = "backups";

struct World {
  explicit World(uint64_t seed = 1) : engine(seed), random(base::NewSeededRandom(5)) {
    BOOST_REQUIRE(engine.Open().ok());
    BOOST_REQUIRE(engine->CreateTable(SimpleTable(2)).ok());
  }
  // One more store file.
  void Grow(int first) {
    for (int i = first; i < first + 20; ++i) {
      const std::string key = "r" + std::to_string(1000 + i);
      BOOST_REQUIRE(engine.Put(key, "c", "v", Durability::kSynced).ok());
    }
    BOOST_REQUIRE(engine->Flush("t").ok());
    engine.executor.Drain();
  }
  engine::BackupTools Tools(SimulatedDisk* disk) {
    return {.file_system = disk, .random = random.get(), .clock = &engine.clock};
  }
  // The rows of backup `number` on `disk`, restored to a new directory; an error as "!text".
  std::string Restored(SimulatedDisk* disk, uint64_t number) {
    const std::string to = "restored" + std::to_string(++restored);
    const Status status = engine::RestoreBackup(Tools(disk), kBackups, to, number);
    if (!status.ok()) return "!" + status.ToString();
    CopiedDatabase copy(disk, to);
    return copy.Rows() + copy.Findings();
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names = *(*engine.disk.OpenDirectory(kBackups, false))->List();
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string NameOf(std::string_view prefix) {
    for (const std::string& name : Names()) {
      if (name.starts_with(prefix)) return name;
    }
    return {};
  }

  TestEngine engine;
  std::unique_ptr<base::RandomSource> random;
  int restored = 0;
};

BOOST_AUTO_TEST_SUITE(BackupSuite)

BOOST_AUTO_TEST_CASE(OnlyNewFilesAreCopied) {
  World world;
  world.Grow(0);
  world.Grow(20);
  const std::string first_rows = world.engine.Rows();
  const auto first = world.engine->Backup(kBackups);
  BOOST_REQUIRE(first.has_value());
  BOOST_TEST(first->number == 1u);
  BOOST_TEST(first->files == 3u);  // Two store files and a segment's header.
  BOOST_TEST(first->copied_files == 3u);
  BOOST_TEST(first->copied_bytes == first->bytes);
  world.Grow(40);
  const auto second = world.engine->Backup(kBackups);
  BOOST_REQUIRE(second.has_value());
  BOOST_TEST(second->files == 4u);
  BOOST_TEST(second->copied_files == 2u);
  BOOST_TEST(second->copied_bytes < second->bytes / 2);
  // Nothing changed: nothing is copied.
  const auto third = world.engine->Backup(kBackups);
  BOOST_REQUIRE(third.has_value());
  BOOST_TEST(third->copied_files == 0u);
  BOOST_TEST(world.Restored(&world.engine.disk, 1) == first_rows);
  BOOST_TEST(world.Restored(&world.engine.disk, 0) == world.engine.Rows());
  const auto list = engine::ListBackups(&world.engine.disk, kBackups);
  BOOST_REQUIRE(list.has_value());
  BOOST_TEST(list->size() == 3u);
  BOOST_TEST((*list)[1].bytes == second->bytes);
  BOOST_TEST((*list)[1].last_sequence == 60u);
  const auto report = engine::VerifyBackups(&world.engine.disk, kBackups);
  BOOST_REQUIRE(report.has_value());
  BOOST_TEST(report->files == 5u);
  BOOST_TEST(report->findings.empty());
}

BOOST_AUTO_TEST_CASE(WhatOldBackupsAloneNamedGoesWithThem) {
  World world;
  world.Grow(0);
  BOOST_TEST(world.engine->Backup(kBackups).has_value());
  world.Grow(20);
  BOOST_TEST(world.engine->Compact("t").ok());
  BOOST_TEST(world.engine->Backup(kBackups).has_value());
  const std::string rows = world.engine.Rows();
  BOOST_TEST(world.Names().size() == 6u);
  const auto* none = "holds no backup 1";
  BOOST_TEST(*engine::RemoveOldBackups(&world.engine.disk, kBackups, 2) == 0u);
  BOOST_TEST(*engine::RemoveOldBackups(&world.engine.disk, kBackups, 1) == 1u);
  BOOST_TEST(world.Names().size() == 3u);
  BOOST_TEST(world.Restored(&world.engine.disk, 2) == rows);
  BOOST_TEST(world.Restored(&world.engine.disk, 1).find(none) != std::string::npos);
  BOOST_TEST(engine::RemoveOldBackups(&world.engine.disk, kBackups, 0).error().code() ==
             StatusCode::kInvalidArgument);
}

BOOST_AUTO_TEST_CASE(ARestoredDatabaseGoesOnAndIsBackedUpAgain) {
  World world;
  world.Grow(0);
  BOOST_TEST(world.engine->Backup(kBackups).has_value());
  BOOST_TEST(world.Restored(&world.engine.disk, 1) == world.engine.Rows());
  CopiedDatabase copy(&world.engine.disk, "restored1");
  WriteBatch batch;
  batch.Put("t", "mine", "d", "c", "1");
  BOOST_TEST(copy->Write({}, batch).ok());
  BOOST_TEST(copy->Backup(kBackups).has_value());
  world.Grow(20);
  BOOST_TEST(world.engine->Backup(kBackups).has_value());
  // Both have made files of the same numbers since.
  BOOST_TEST(world.Restored(&world.engine.disk, 2) == copy.Rows());
  BOOST_TEST(world.Restored(&world.engine.disk, 3) == world.engine.Rows());
}

BOOST_AUTO_TEST_CASE(EveryFlippedByteIsFoundAndNamed) {
  World world;
  world.Grow(0);
  BOOST_TEST(world.engine.Put("logged", "c", "1", Durability::kSynced).ok());
  {
    // Through a reader, so that the log has rows.
    CopiedDatabase reader(&world.engine.disk, "db", true);
    BOOST_TEST(reader->Backup(kBackups).has_value());
  }
  const std::string rows = world.engine.Rows();
  uint64_t flips = 0;
  for (const std::string& name : world.Names()) {
    const std::string bytes = *world.engine.disk.Content(kBackups, name);
    for (size_t at = 0; at < bytes.size(); at += name.starts_with("store") ? 61 : 7) {
      const auto disk = world.engine.disk.CrashedCopy({.kept = CrashPolicy::Kept::kAll});
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      disk->SetContent(kBackups, name, damaged);
      const std::string found = world.Restored(disk.get(), 0);
      BOOST_TEST((found.starts_with("!Corruption: " + name + ": ") ||
                  found.starts_with("!Unsupported: " + name + ": ")),
                 name << " at " << at << ": " << found);
      BOOST_TEST(!engine::VerifyBackups(disk.get(), kBackups)->findings.empty());
      const std::string to = "restored" + std::to_string(world.restored);
      const auto left = disk->OpenDirectory(to, false);
      BOOST_TEST((!left.has_value() || (*left)->List()->empty()));
      ++flips;
    }
  }
  BOOST_TEST(flips > 100u);
  BOOST_TEST(world.Restored(&world.engine.disk, 0) == rows);
}

// The hashes alone, at every byte of a backup of a few kilobytes.
BOOST_AUTO_TEST_CASE(NoByteOfASmallBackupIsUnguarded) {
  World world;
  BOOST_TEST(world.engine.Put("row", "c", "v", Durability::kSynced).ok());
  BOOST_TEST(world.engine->Backup(kBackups).has_value());
  const std::string rows = world.engine.Rows();
  SimulatedDisk& disk = world.engine.disk;
  uint64_t flips = 0;
  for (const std::string& name : world.Names()) {
    const std::string bytes = *disk.Content(kBackups, name);
    for (size_t at = 0; at < bytes.size(); ++at, ++flips) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
      disk.SetContent(kBackups, name, damaged);
      const auto report = engine::VerifyBackups(&disk, kBackups);
      BOOST_TEST((!report.has_value() || !report->findings.empty()), name << " at " << at);
      const std::string to = "flipped" + std::to_string(flips);
      const Status status = engine::RestoreBackup(world.Tools(&disk), kBackups, to, /*number=*/0);
      BOOST_TEST(
          (status.code() == StatusCode::kCorruption || status.code() == StatusCode::kUnsupported),
          name << " at " << at << ": " << status);
      const auto left = disk.OpenDirectory(to, false);
      BOOST_TEST((!left.has_value() || (*left)->List()->empty()), name << " at " << at);
    }
    disk.SetContent(kBackups, name, bytes);
  }
  BOOST_TEST(flips > 2000u);
  BOOST_TEST(world.Restored(&disk, 0) == rows);
}

BOOST_AUTO_TEST_CASE(EachGenerationComesBackWhateverWasMergedSince) {
  World world;
  std::vector<std::string> rows;
  for (int generation = 0; generation < 8; ++generation) {
    world.Grow(10 * generation);
    WriteBatch batch;
    batch.DeleteRow("t", "r" + std::to_string(1000 + 7 * generation));
    batch.Put("t", "r1003", "d", "c", "generation " + std::to_string(generation));
    BOOST_TEST(world.engine.Write(batch).ok());
    if (generation % 2 == 1) BOOST_TEST(world.engine->Compact("t").ok());
    world.engine.executor.Drain();
    const auto made = world.engine->Backup(kBackups);
    BOOST_REQUIRE(made.has_value());
    if (generation > 0) BOOST_TEST(made->copied_files <= made->files);
    rows.push_back(world.engine.Rows());
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    BOOST_TEST(world.Restored(&world.engine.disk, i + 1) == rows[i], "generation " << i + 1);
  }
  BOOST_TEST(*engine::RemoveOldBackups(&world.engine.disk, kBackups, 3) == 5u);
  for (size_t i = 5; i < rows.size(); ++i) {
    BOOST_TEST(world.Restored(&world.engine.disk, i + 1) == rows[i], "generation " << i + 1);
  }
}

BOOST_AUTO_TEST_CASE(ATruncatedOrMissingFileIsRefusedByName) {
  World world;
  world.Grow(0);
  BOOST_TEST(world.engine->Backup(kBackups).has_value());
  const std::string name = world.NameOf("store-");
  const std::string bytes = *world.engine.disk.Content(kBackups, name);
  world.engine.disk.SetContent(kBackups, name, bytes.substr(0, 1000));
  const std::string size = std::to_string(bytes.size());
  BOOST_TEST(world.Restored(&world.engine.disk, 0) ==
             "!Corruption: " + name + ": offset 1000: bytes of file: expected " + size +
                 ", found 1000");
  BOOST_TEST(world.engine.disk.RemoveDurably(kBackups, name).ok());
  BOOST_TEST(world.Restored(&world.engine.disk, 0) ==
             "!Corruption: " + name + ": the backup names this file, but it does not exist");
  // The next backup makes good what it can see.
  world.engine.disk.SetContent(kBackups, name, bytes.substr(0, 1000));
  BOOST_TEST(world.engine->Backup(kBackups)->copied_files == 1u);
  BOOST_TEST(world.Restored(&world.engine.disk, 1) == world.engine.Rows());
}

BOOST_AUTO_TEST_CASE(ADamagedRecordIsNeitherPassedOverNorSweptAfter) {
  World world;
  world.Grow(0);
  BOOST_TEST(world.engine->Backup(kBackups).has_value());
  world.Grow(20);
  BOOST_TEST(world.engine->Backup(kBackups).has_value());
  const std::string record = *world.engine.disk.Content(kBackups, "backup-2");
  world.engine.disk.SetContent(kBackups, "backup-2", record.substr(0, 100));
  BOOST_TEST(world.Restored(&world.engine.disk, 0).starts_with("!Corruption: backup-2: "));
  const auto removed = engine::RemoveOldBackups(&world.engine.disk, kBackups, 1);
  BOOST_TEST(removed.error().code() == StatusCode::kCorruption);
  const size_t names = world.Names().size();
  BOOST_TEST(world.engine->Backup(kBackups)->number == 3u);
  BOOST_TEST(world.Names().size() == names + 1);
  world.engine.disk.SetContent(kBackups, "backup-2", record);
  BOOST_TEST(world.Restored(&world.engine.disk, 2) == world.engine.Rows());
}

BOOST_AUTO_TEST_CASE(OtherDirectoriesAreRefused) {
  World world;
  world.Grow(0);
  world.engine.disk.SetContent("notes", "letter.txt", "x");
  BOOST_TEST(world.engine->Backup("notes").status().ToString() ==
             "InvalidArgument: 'notes' holds 'letter.txt', which is no part of a backup; name a "
             "directory of its own");
  BOOST_TEST(world.engine->Checkpoint("copy").ok());
  BOOST_TEST(world.engine->Backup("copy").status().ToString() ==
             "InvalidArgument: 'copy' holds a database; expected a directory of backups");
  BOOST_TEST(world.engine->Backup("db").status().code() == StatusCode::kBusy);
  // Nor is a name believed that is spelled as none is made.
  world.engine.disk.SetContent("odd", "backup-01", "x");
  BOOST_TEST(world.engine->Backup("odd").status().code() == StatusCode::kInvalidArgument);
  BOOST_TEST(world.engine->Backup(kBackups).has_value());
  const auto locked = world.engine.disk.OpenDirectory(kBackups, false);
  BOOST_TEST((*locked)->Lock().ok());
  BOOST_TEST(world.engine->Backup(kBackups).status().code() == StatusCode::kBusy);
  World other(/*seed=*/2);
  other.Grow(0);
  for (const std::string& name : world.Names()) {
    other.engine.disk.SetContent(kBackups, name, *world.engine.disk.Content(kBackups, name));
  }
  BOOST_TEST(other.engine->Backup(kBackups).status().ToString() ==
             "InvalidArgument: backup-1 is a backup of another database; name another directory");
  BOOST_TEST(engine::ListBackups(&other.engine.disk, "db").status().code() ==
             StatusCode::kInvalidArgument);
  BOOST_TEST(engine::ListBackups(&other.engine.disk, "nowhere").status().code() ==
             StatusCode::kNotFound);
}

// Every backup that is listed must be whole, and those acknowledged must be listed.
void Examine(World* world, SimulatedDisk* disk, uint64_t acknowledged,
             const std::vector<std::string>& rows, const std::string& where) {
  const auto list = engine::ListBackups(disk, kBackups);
  const uint64_t newest = list.has_value() && !list->empty() ? list->back().number : 0;
  BOOST_TEST(newest >= acknowledged, where);
  BOOST_TEST(newest < rows.size(), where);
  for (uint64_t number = 1; number <= newest; ++number) {
    BOOST_TEST(world->Restored(disk, number) == rows[number], where << " backup " << number);
  }
  if (!list.has_value()) return;
  BOOST_TEST(engine::VerifyBackups(disk, kBackups)->findings.empty(), where);
}

BOOST_AUTO_TEST_CASE(ACrashAnywhereLeavesWholeBackups) {
  World world;
  world.Grow(0);
  uint64_t crashes = 0, acknowledged = 0;
  std::vector<std::string> rows = {""};
  for (int round = 0; round < 2; ++round) {
    world.Grow(20 + 20 * round);
    rows.push_back(world.engine.Rows());
    world.engine.disk.control().SetHook([&](const DiskEvent& event) {
      if (event.operation == DiskOperation::kRead) return;
      ++crashes;
      for (uint64_t seed = 0; seed < 3; ++seed) {
        const CrashPolicy policy{
            .kept = seed == 0 ? CrashPolicy::Kept::kNone : CrashPolicy::Kept::kRandom,
            .seed = crashes * 10 + seed};
        const std::string where = "crash " + std::to_string(crashes) + "." + std::to_string(seed);
        const auto crashed = world.engine.disk.CrashedCopy(policy);
        Examine(&world, crashed.get(), acknowledged, rows, where);
        // The next backup cleans up whatever was left, and is whole.
        CopiedDatabase source(crashed.get(), "db");
        const auto next = source->Backup(kBackups);
        BOOST_TEST(next.status().ToString() == "OK", where);
        if (!next.has_value()) continue;
        BOOST_TEST(world.Restored(crashed.get(), 0) == source.Rows(), where);
        BOOST_TEST(engine::RemoveOldBackups(crashed.get(), kBackups, 1).has_value(), where);
        const uint64_t left = (*crashed->OpenDirectory(kBackups, false))->List()->size();
        BOOST_TEST(left == next->files + 1, where);
      }
    });
    BOOST_TEST(world.engine->Backup(kBackups).status().ToString() == "OK");
    world.engine.disk.control().SetHook(nullptr);
    ++acknowledged;
  }
  BOOST_TEST(crashes > 40u);
}

BOOST_AUTO_TEST_CASE(AnErrorAnywhereLeavesNothing) {
  for (const bool sticky : {false, true}) {
    for (uint64_t at = 1;; ++at) {
      World world;
      world.Grow(0);
      BOOST_REQUIRE(world.engine->Backup(kBackups).has_value());
      const std::vector<std::string> names = world.Names();
      const std::vector<std::string> rows = {"", world.engine.Rows(), world.engine.Rows()};
      BOOST_REQUIRE(world.engine->Compact("t").ok());
      CopiedDatabase reader(&world.engine.disk, "db", true);
      world.engine.disk.control().InjectFault({.at = at, .sticky = sticky, .partly = at % 2 == 0});
      const auto made = reader->Backup(kBackups);
      const bool struck = world.engine.disk.control().has_struck();
      world.engine.disk.control().ClearFaults();
      const std::string where = "operation " + std::to_string(at);
      if (!struck) break;
      // A failure after the record leaves the backup in place.
      if (!made.has_value() && engine::ListBackups(&world.engine.disk, kBackups)->size() == 1) {
        BOOST_TEST((world.Names() == names || world.NameOf("unfinished-") != ""), where);
      }
      Examine(&world, &world.engine.disk, made.has_value() ? 2 : 1, rows, where);
      const auto crashed =
          world.engine.disk.CrashedCopy({.kept = CrashPolicy::Kept::kRandom, .seed = at});
      Examine(&world, crashed.get(), made.has_value() ? 2 : 1, rows, where + " and a crash");
      BOOST_TEST(reader->Backup(kBackups).has_value(), where);
      BOOST_REQUIRE(at < 1000u);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
