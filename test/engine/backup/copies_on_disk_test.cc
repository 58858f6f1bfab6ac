// Checkpoints and backups on real files: beside threads that write, flush and merge, across file
// systems, where something is in the way, and killed at any time.
#define BOOST_TEST_DYN_LINK
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tandem/backup.h"
#include "test/engine/backup/numbered_rows.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Database> Opened(const std::string& path, bool read_only = false) {
  auto opened = OpenNumbered(path, read_only);
  BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
  return *std::move(opened);
}

/// Threads that write their numbered batches, and one that flushes and merges, until it ends.
class Writers {
 public:
  Writers(Database* database, int count) : database_(*database) {
    for (int writer = 0; writer < count; ++writer) {
      threads_.emplace_back([this, writer] {
        for (uint64_t number = 0; !stop_; ++number) {
          if (WriteNumbered(&database_, writer, number).ok()) acknowledged_[writer] = number + 1;
        }
      });
    }
    threads_.emplace_back([this] {
      for (int round = 1; !stop_; ++round) {
        (void)(round % 3 == 0 ? database_.Compact("t") : database_.Flush("t")).ok();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }
  ~Writers() { Stop(); }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  uint64_t acknowledged(int writer) const { return acknowledged_[writer]; }

 private:
  Database& database_;
  std::atomic<bool> stop_{false};
  std::array<std::atomic<uint64_t>, kWritersMax> acknowledged_{};
  std::vector<std::thread> threads_;
};

constexpr int kWriters = 3;
using Counts = std::array<uint64_t, kWriters>;

Counts Acknowledged(const Writers& writers) {
  Counts counts;
  for (int writer = 0; writer < kWriters; ++writer) counts[writer] = writers.acknowledged(writer);
  return counts;
}

/// The copy at `path` holds a prefix of each writer's batches, between those counts, and is sound.
void CheckCopy(const std::string& path, const Counts& least, const Counts& most) {
  const auto copy = Opened(path, /*read_only=*/true);
  for (int writer = 0; writer < kWriters; ++writer) {
    const uint64_t count = CountNumbered(copy.get(), writer);
    BOOST_TEST(count >= least[writer], path << " writer " << writer);
    // One batch may have been committed and not acknowledged yet.
    BOOST_TEST(count <= most[writer] + 1, path << " writer " << writer);
  }
  BOOST_TEST(FindingsOf(copy.get()) == "");
}

uint64_t LinksOfStores(const std::string& path) {
  uint64_t most = 0;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (!entry.path().filename().string().starts_with("store-")) continue;
    most = std::max<uint64_t>(most, fs::hard_link_count(entry.path()));
  }
  return most;
}

void Fill(const std::string& path, uint64_t batches) {
  const auto database = Opened(path);
  for (uint64_t i = 0; i < batches; ++i) BOOST_REQUIRE(WriteNumbered(database.get(), 0, i).ok());
  BOOST_REQUIRE(database->Flush("t").ok());
  BOOST_REQUIRE(database->Close().ok());
}

/// Runs `work` in a process of its own and kills that after `delay`. What it wrote to its pipe.
std::string KilledAfter(std::chrono::microseconds delay, const std::function<void(int)>& work) {
  int ends[2];
  BOOST_REQUIRE_EQUAL(pipe(ends), 0);
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    close(ends[0]);
    work(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  char byte = 0;
  BOOST_REQUIRE_EQUAL(read(ends[0], &byte, 1), 1);  // It has begun.
  std::this_thread::sleep_for(delay);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  return text;
}

void Say(int pipe, const std::string& text) {
  if (write(pipe, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(1);
}

BOOST_AUTO_TEST_SUITE(CopiesOnDiskSuite)

BOOST_AUTO_TEST_CASE(ACheckpointHoldsAPrefixOfEachWriter) {
  const TemporaryDirectory place;
  const auto database = Opened(place.Path("db"));
  Writers writers(database.get(), kWriters);
  const size_t rounds = Trials(8);
  std::vector<std::pair<Counts, Counts>> bounds;
  for (size_t i = 0; i < rounds; ++i) {
    const Counts least = Acknowledged(writers);
    const Status status = database->Checkpoint(place.Path("copy" + std::to_string(i)));
    BOOST_REQUIRE_MESSAGE(status.ok(), status.ToString());
    bounds.emplace_back(least, Acknowledged(writers));
  }
  writers.Stop();
  for (size_t i = 0; i < rounds; ++i) {
    CheckCopy(place.Path("copy" + std::to_string(i)), bounds[i].first, bounds[i].second);
  }
  BOOST_TEST(FindingsOf(database.get()) == "");
}

BOOST_AUTO_TEST_CASE(ABackupHoldsAPrefixOfEachWriter) {
  const TemporaryDirectory place;
  const auto database = Opened(place.Path("db"));
  const std::string backups = place.Path("backups");
  Writers writers(database.get(), kWriters);
  const size_t rounds = Trials(6);
  std::vector<std::pair<Counts, Counts>> bounds;
  for (size_t i = 0; i < rounds; ++i) {
    const Counts least = Acknowledged(writers);
    const auto made = database->Backup(backups);
    BOOST_REQUIRE_MESSAGE(made.has_value(), made.status().ToString());
    BOOST_TEST(made->number == i + 1);
    bounds.emplace_back(least, Acknowledged(writers));
  }
  writers.Stop();
  for (size_t i = 0; i < rounds; ++i) {
    const std::string path = place.Path("restored" + std::to_string(i));
    const Status status = RestoreBackup(backups, path, i + 1);
    BOOST_REQUIRE_MESSAGE(status.ok(), status.ToString());
    CheckCopy(path, bounds[i].first, bounds[i].second);
  }
  BOOST_TEST(VerifyBackups(backups)->findings.empty());
}

BOOST_AUTO_TEST_CASE(AnotherFileSystemGetsCopies) {
  const TemporaryDirectory place;
  Fill(place.Path("db"), 50);
  const auto database = Opened(place.Path("db"));
  BOOST_REQUIRE(database->Checkpoint(place.Path("near")).ok());
  BOOST_TEST(LinksOfStores(place.Path("near")) == 2u);
  struct stat here {
  }, there{};
  const bool is_other = stat(place.path().c_str(), &here) == 0 && stat("/dev/shm", &there) == 0 &&
                        here.st_dev != there.st_dev && access("/dev/shm", W_OK) == 0;
  if (!is_other) {
    std::puts("skipped: /dev/shm is no other file system here");
    return;
  }
  const TemporaryDirectory far("/dev/shm");
  const Status status = database->Checkpoint(far.Path("far"));
  BOOST_REQUIRE_MESSAGE(status.ok(), status.ToString());
  BOOST_TEST(LinksOfStores(far.Path("far")) == 1u);
  const auto copy = Opened(far.Path("far"));
  BOOST_TEST(CountNumbered(copy.get(), 0) == 50u);
  BOOST_TEST(FindingsOf(copy.get()) == "");
  // Both are written to from now on.
  BOOST_TEST(WriteNumbered(copy.get(), 0, 50).ok());
  BOOST_TEST(CountNumbered(database.get(), 0) == 50u);
}

BOOST_AUTO_TEST_CASE(WhatStandsInTheWayIsLeftAlone) {
  const TemporaryDirectory place;
  Fill(place.Path("db"), 5);
  const auto database = Opened(place.Path("db"));
  std::ofstream(place.Path("file")) << "mine";
  fs::create_directory(place.Path("empty"));
  fs::create_symlink(place.Path("nowhere"), place.Path("dangling"));
  fs::create_directory_symlink(place.Path("empty"), place.Path("link"));
  for (const char* name : {"file", "empty", "dangling", "link", "db"}) {
    BOOST_TEST(database->Checkpoint(place.Path(name)).code() == StatusCode::kAlreadyExists, name);
  }
  BOOST_TEST(fs::file_size(place.Path("file")) == 4u);
  BOOST_TEST(fs::is_empty(place.Path("empty")));
  BOOST_TEST(!fs::exists(place.Path("nowhere")));
  const std::string inside = place.Path("db") + "/copy", around = place.Path("db") + "/../db/copy";
  for (const std::string& path : {inside, around}) {
    BOOST_TEST(database->Checkpoint(path).code() == StatusCode::kInvalidArgument, path);
    BOOST_TEST(!fs::exists(inside));
    BOOST_TEST(database->Backup(path).status().code() == StatusCode::kInvalidArgument, path);
  }
  BOOST_TEST(database->Checkpoint(place.Path("none/copy")).code() == StatusCode::kNotFound);
  BOOST_TEST(FindingsOf(database.get()) == "");
}

BOOST_AUTO_TEST_CASE(ADatabaseThatCannotBeWrittenToIsCopied) {
  const TemporaryDirectory place;
  Fill(place.Path("db"), 20);
  const std::string path = place.Path("mounted");
  fs::create_directory(path);
  const bool is_mounted =
      mount(place.Path("db").c_str(), path.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
      mount(nullptr, path.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  // Without the right to mount, permissions have to do.
  if (!is_mounted) fs::permissions(place.Path("db"), fs::perms::owner_read | fs::perms::owner_exec);
  {
    const auto database = Opened(is_mounted ? path : place.Path("db"), /*read_only=*/true);
    // A link from a read-only mount is refused by the kernel as one to another disk.
    BOOST_TEST(database->Checkpoint(place.Path("copy")).ToString() == "OK");
    BOOST_TEST(database->Backup(place.Path("backups")).has_value());
    if (is_mounted) {
      const Status status = database->Checkpoint(path + "/copy");
      BOOST_TEST(status.code() == StatusCode::kIoError, status);
    }
  }
  if (is_mounted) {
    umount2(path.c_str(), MNT_DETACH);
  } else {
    fs::permissions(place.Path("db"), fs::perms::owner_all);
  }
  BOOST_TEST(RestoreBackup(place.Path("backups"), place.Path("restored")).ok());
  for (const char* name : {"copy", "restored"}) {
    const auto copy = Opened(place.Path(name));
    BOOST_TEST(CountNumbered(copy.get(), 0) == 20u);
  }
}

BOOST_AUTO_TEST_CASE(AKilledCheckpointIsWholeOrDoesNotOpen) {
  TestRandom random("CopiesOnDiskSuite/KilledCheckpoint");
  const TemporaryDirectory place;
  Fill(place.Path("db"), 300);
  uint64_t whole = 0, half = 0;
  for (size_t trial = 0; trial < Trials(12); ++trial) {
    const std::string copies = place.Path("copies" + std::to_string(trial));
    fs::create_directory(copies);
    KilledAfter(std::chrono::microseconds(random.Below(30'000)), [&](int pipe) {
      const auto database = OpenNumbered(place.Path("db"));
      Say(pipe, "!");
      for (int i = 0; database && i < 500; ++i) {
        if (!(*database)->Checkpoint(copies + "/" + std::to_string(i)).ok()) break;
      }
    });
    for (const auto& entry : fs::directory_iterator(copies)) {
      const auto copy = OpenNumbered(entry.path(), /*read_only=*/true);
      if (!copy) {
        ++half;
        const bool is_refused = copy.error().code() == StatusCode::kNotFound ||
                                copy.error().code() == StatusCode::kCorruption;
        BOOST_TEST(is_refused, copy.status().ToString());
        continue;
      }
      ++whole;
      BOOST_TEST(CountNumbered(copy->get(), 0) == 300u);
      BOOST_TEST(FindingsOf(copy->get()) == "");
    }
    fs::remove_all(copies);
  }
  BOOST_TEST_MESSAGE(whole << " whole, " << half << " half");
  BOOST_TEST(whole + half > 0u);
}

BOOST_AUTO_TEST_CASE(AKilledBackupLeavesEarlierOnesWhole) {
  TestRandom random("CopiesOnDiskSuite/KilledBackup");
  const TemporaryDirectory place;
  const std::string backups = place.Path("backups");
  std::vector<uint64_t> counts;  // Of the batches, by the number of the backup - 1.
  uint64_t restored = 0;
  for (size_t trial = 0; trial < Trials(8); ++trial) {
    const std::string said =
        KilledAfter(std::chrono::microseconds(random.Below(60'000)), [&](int pipe) {
          const auto database = OpenNumbered(place.Path("db"));
          if (!database) _exit(1);
          uint64_t number = CountNumbered(database->get(), 0);
          for (bool begun = false;; begun = true) {
            for (int i = 0; i < 20; ++i, ++number) {
              if (!WriteNumbered(database->get(), 0, number, Durability::kSynced).ok()) _exit(1);
            }
            if (number % 3 == 0 && !(*database)->Compact("t").ok()) _exit(1);
            const auto made = (*database)->Backup(backups);
            if (!made) _exit(1);
            if (!begun) Say(pipe, "!");
            Say(pipe, std::to_string(made->number) + " " + std::to_string(number) + "\n");
          }
        });
    std::istringstream lines(said);
    for (uint64_t backup = 0, count = 0; lines >> backup >> count;) {
      counts.resize(std::max<size_t>(counts.size(), backup));
      counts[backup - 1] = count;
    }
    if (!fs::exists(backups)) continue;
    const auto list = ListBackups(backups);
    BOOST_REQUIRE_MESSAGE(list.has_value(), list.status().ToString());
    BOOST_TEST(VerifyBackups(backups).has_value());
    std::set<uint64_t> listed;
    for (const BackupInfo& info : *list) listed.insert(info.number);
    for (uint64_t number = 1; number <= counts.size(); ++number) {
      if (counts[number - 1] == 0) continue;  // It was never acknowledged.
      BOOST_TEST(listed.contains(number), number);
    }
    // The newest and one other.
    for (const uint64_t number : {list->back().number, 1 + random.Below(list->back().number)}) {
      if (!listed.contains(number)) continue;
      const std::string path = place.Path("restored" + std::to_string(++restored));
      const Status status = RestoreBackup(backups, path, number);
      BOOST_REQUIRE_MESSAGE(status.ok(), status.ToString());
      const auto copy = Opened(path);
      const uint64_t count = CountNumbered(copy.get(), 0);
      const bool is_told = number <= counts.size() && counts[number - 1] != 0;
      if (is_told) BOOST_TEST(count == counts[number - 1], "backup " << number);
      BOOST_TEST(FindingsOf(copy.get()) == "");
    }
  }
  BOOST_TEST(restored > 0u);
}

BOOST_AUTO_TEST_CASE(OfTwoBackupsAtOnceOneIsRefusedOrWaitsItsTurn) {
  const TemporaryDirectory place;
  const std::string backups = place.Path("backups");
  Fill(place.Path("db"), 300);
  const auto writer = Opened(place.Path("db")), reader = Opened(place.Path("db"), true);
  std::atomic<uint64_t> made{0}, busy{0}, failed{0};
  std::vector<std::thread> threads;
  for (Database* database : {writer.get(), writer.get(), reader.get()}) {
    threads.emplace_back([&, database] {
      for (int i = 0; i < 10; ++i) {
        const auto backup = database->Backup(backups);
        const bool is_busy = backup.status().code() == StatusCode::kBusy;
        ++(backup.has_value() ? made : is_busy ? busy : failed);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST_MESSAGE(made << " made, " << busy << " refused");
  BOOST_TEST(failed == 0u);
  BOOST_TEST(made > 0u);
  BOOST_TEST(ListBackups(backups)->size() == made);
  BOOST_TEST(VerifyBackups(backups)->findings.empty());
  BOOST_TEST(RestoreBackup(backups, place.Path("restored")).ok());
  BOOST_TEST(CountNumbered(Opened(place.Path("restored")).get(), 0) == 300u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
