// What the simulated disk shows where bytes were lost: unwritten blocks after a crash, and files
// whose sync failed in each of the five ways.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "base/random.h"
#include "test/base/back_ends.h"
#include "test/support/print.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

using base::OpenMode;
using Kept = CrashPolicy::Kept;
using Unwritten = CrashPolicy::Unwritten;

constexpr CrashPolicy kLoseAll{.kept = Kept::kNone};
// Of one write beyond the end of a file, the growth alone.
constexpr CrashPolicy kSizeAlone{.kept = Kept::kPrefix, .at = 1};

// A directory with an empty durable file "f".
struct Machine {
  SimulatedDisk disk;
  std::unique_ptr<base::Directory> directory = *disk.OpenDirectory("/db", true);
  std::unique_ptr<base::File> file = Durable("f", "");

  std::unique_ptr<base::File> Durable(const std::string& name, std::string_view content) {
    auto made = *directory->Create(name);
    BOOST_REQUIRE((made->Write(0, content).ok() && made->DataSync().ok()));
    BOOST_REQUIRE(directory->Sync().ok());
    return made;
  }
  void RemoveForGood(const std::string& name) {
    BOOST_REQUIRE((directory->Remove(name).ok() && directory->Sync().ok()));
  }
  std::string After(CrashPolicy policy, Unwritten unwritten = Unwritten::kUsual) {
    policy.unwritten = unwritten;
    return *disk.CrashedCopy(policy)->Content("/db", "f");
  }
  void FailNextSync(SyncFailure failure, bool partly = false) {
    disk.control().InjectFault({.operations = {DiskOperation::kDataSync},
                                .partly = partly,
                                .status = Status::IoError("lost"),
                                .sync_failure = failure});
  }
};

BOOST_AUTO_TEST_SUITE(SimulatedLossSuite)

BOOST_AUTO_TEST_CASE(ASizeWithoutItsBytesShowsZerosGarbageOrOldBlocks) {
  Machine machine;
  machine.Durable("old", std::string(6000, 'O'));
  machine.RemoveForGood("old");
  BOOST_REQUIRE(machine.file->Write(0, std::string(5000, 'n')).ok());
  BOOST_TEST((machine.After(kSizeAlone) == std::string(5000, '\0')));
  BOOST_TEST((machine.After(kSizeAlone, Unwritten::kZeros) == std::string(5000, '\0')));
  const std::string garbage = machine.After(kSizeAlone, Unwritten::kGarbage);
  BOOST_TEST(garbage.size() == 5000u);
  BOOST_TEST(std::set<char>(garbage.begin(), garbage.end()).size() > 200u);
  const std::string stale = machine.After(kSizeAlone, Unwritten::kStale);
  BOOST_TEST((stale.substr(0, 1904) == std::string(1904, 'O')));
  BOOST_TEST(stale.size() == 5000u);
  BOOST_TEST(stale.find('n') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(OldBlocksMostlyComeBackWhereTheyStood) {
  Machine machine;
  std::string old;
  for (char letter = 'A'; letter < 'E'; ++letter) old += std::string(kBlockBytes, letter);
  machine.Durable("old", old);
  machine.RemoveForGood("old");
  BOOST_REQUIRE(machine.file->Write(0, std::string(old.size(), 'n')).ok());
  int in_place = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    CrashPolicy policy = kSizeAlone;
    policy.seed = seed;
    const std::string content = machine.After(policy, Unwritten::kStale);
    for (size_t at = 0; at < old.size(); at += kBlockBytes) {
      BOOST_REQUIRE((content.substr(at, kBlockBytes) == std::string(kBlockBytes, content[at])));
      in_place += content[at] == old[at];
    }
  }
  BOOST_TEST(in_place > 280);
  BOOST_TEST(in_place < 390);
}

BOOST_AUTO_TEST_CASE(OnlyBlocksThatWereNeverWrittenAreFilled) {
  Machine machine;
  BOOST_REQUIRE((machine.file->Write(0, "durable").ok() && machine.file->DataSync().ok()));
  BOOST_REQUIRE(machine.file->Write(7, std::string(8000, 'n')).ok());
  const std::string grown = machine.After(kSizeAlone, Unwritten::kGarbage);
  BOOST_TEST((grown.substr(0, 4096) == "durable" + std::string(4089, '\0')));
  BOOST_TEST((grown.substr(4096) != std::string(3911, '\0')));
  // A write into durable bytes that is lost leaves these.
  BOOST_REQUIRE((machine.file->DataSync().ok() && machine.file->Write(5000, "over").ok()));
  CrashPolicy lost{.kept = Kept::kNone, .seed = 3};
  BOOST_TEST((machine.After(lost, Unwritten::kGarbage) == "durable" + std::string(8000, 'n')));
}

BOOST_AUTO_TEST_CASE(WhatWasSkippedOverStaysZero) {
  Machine machine;
  BOOST_REQUIRE(machine.file->Write(20'000, "end").ok());
  const std::string grown = machine.After(kSizeAlone, Unwritten::kGarbage);
  BOOST_TEST((grown.substr(0, 20'000) == std::string(20'000, '\0')));
  BOOST_TEST((grown.substr(20'000) != std::string(3, '\0')));
}

BOOST_AUTO_TEST_CASE(ReservedBlocksAreZerosUnlessTheDiskBreaksEvenThat) {
  Machine machine;
  BOOST_REQUIRE((machine.file->Preallocate(8192).ok() && machine.file->DataSync().ok()));
  BOOST_REQUIRE(machine.file->Write(0, std::string(12'288, 'n')).ok());
  CrashPolicy policy = kSizeAlone;
  const std::string usual = machine.After(policy, Unwritten::kGarbage);
  BOOST_TEST((usual.substr(0, 8192) == std::string(8192, '\0')));
  BOOST_TEST((usual.substr(8192) != std::string(4096, '\0')));
  policy.fills_reserved = true;
  const std::string hostile = machine.After(policy, Unwritten::kGarbage);
  BOOST_TEST((hostile.substr(0, 4096) != std::string(4096, '\0')));
}

BOOST_AUTO_TEST_CASE(ARandomCrashShowsEachKindAndOneSeedRepeats) {
  Machine machine;
  machine.Durable("old", std::string(4096, 'O'));
  machine.RemoveForGood("old");
  BOOST_REQUIRE(machine.file->Write(0, std::string(100, 'n')).ok());
  std::set<char> kinds;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const CrashPolicy policy{.kept = Kept::kRandom, .seed = seed};
    const std::string content = machine.After(policy);
    BOOST_REQUIRE((content == machine.After(policy)));
    if (content.empty()) continue;
    const bool is_one_letter = content == std::string(100, content[0]);
    kinds.insert(is_one_letter ? content[0] : '?');
  }
  BOOST_TEST((kinds == std::set<char>{'n', 'O', '\0', '?'}));
}

BOOST_AUTO_TEST_CASE(AFileThatACrashLostLeavesItsBlocksToTheNext) {
  Machine machine;
  const auto unnamed = *machine.directory->Create("unnamed");
  BOOST_REQUIRE(unnamed->Write(0, std::string(50, 'U')).ok());
  machine.disk.Crash(kLoseAll);
  machine.directory = *machine.disk.OpenDirectory("/db", false);
  machine.file = *machine.directory->Open("f", OpenMode::kReadWrite);
  BOOST_REQUIRE(machine.file->Write(0, std::string(50, 'n')).ok());
  BOOST_TEST(machine.After(kSizeAlone, Unwritten::kStale) == std::string(50, 'U'));
}

BOOST_AUTO_TEST_CASE(LostPagesStayVisibleUntilTheyAreEvicted) {
  Machine machine;
  BOOST_REQUIRE(machine.file->Write(0, std::string(40'960, 'o')).ok());
  BOOST_REQUIRE(machine.file->DataSync().ok());
  const std::string written(40'960, 'n');
  BOOST_REQUIRE(machine.file->Write(0, written).ok());
  machine.FailNextSync(SyncFailure::kCleanButLost);
  BOOST_TEST(machine.file->DataSync().message() == "lost");
  BOOST_TEST(machine.file->DataSync().ok());
  BOOST_TEST((ReadAll(*machine.file) == written));
  // A page that is written again is dirty, and stays.
  BOOST_TEST(machine.file->Write(4096, "again").ok());
  machine.disk.Evict(1);
  const std::string evicted = ReadAll(*machine.file);
  size_t old_pages = 0;
  for (size_t page = 0; page < written.size(); page += 4096) {
    const char letter = evicted[page + 100];
    BOOST_TEST((letter == 'o' || letter == 'n'));
    BOOST_TEST((evicted.substr(page + 5, 4091) == std::string(4091, letter)));
    old_pages += letter == 'o';
  }
  BOOST_TEST((old_pages > 1 && old_pages < 9));
  BOOST_TEST(evicted.substr(4096, 6) == "againn");
  for (uint64_t seed = 2; seed < 20; ++seed) machine.disk.Evict(seed);
  BOOST_TEST((ReadAll(*machine.file) == std::string(4096, 'o') + "again" + std::string(4091, 'n') +
                                            std::string(32'768, 'o')));
}

BOOST_AUTO_TEST_CASE(ARevertingFileSystemShowsTheOldBytesAtOnce) {
  Machine machine;
  BOOST_REQUIRE((machine.file->Write(0, "old").ok() && machine.file->DataSync().ok()));
  BOOST_REQUIRE(machine.file->Write(1, "lost").ok());
  machine.FailNextSync(SyncFailure::kReverted);
  BOOST_TEST(!machine.file->DataSync().ok());
  BOOST_TEST(ReadAll(*machine.file) == "old");
  BOOST_TEST(*machine.file->Size() == 3u);
  BOOST_TEST(machine.After({.kept = Kept::kAll}) == "old");
}

BOOST_AUTO_TEST_CASE(ALateErrorComesAtTheNextSyncOrNever) {
  Machine machine;
  BOOST_REQUIRE(machine.file->Write(0, "lost").ok());
  machine.FailNextSync(SyncFailure::kLate);
  BOOST_TEST(machine.file->DataSync().ok());
  BOOST_TEST(machine.After({.kept = Kept::kAll}) == "");
  const auto other = *machine.directory->Open("f", OpenMode::kReadWrite);
  BOOST_TEST(other->DataSync().message() == "lost");
  BOOST_TEST(machine.file->DataSync().ok());

  machine.FailNextSync(SyncFailure::kLate);
  BOOST_TEST(other->DataSync().ok());
  machine.file.reset();
  machine.file = *machine.directory->Open("f", OpenMode::kReadWrite);
  // Another handle was open all the time.
  BOOST_TEST(!machine.file->DataSync().ok());
}

BOOST_AUTO_TEST_CASE(NobodyLearnsOfALateErrorOnceTheFileIsClosed) {
  Machine machine;
  machine.FailNextSync(SyncFailure::kLate);
  BOOST_TEST(machine.file->DataSync().ok());
  machine.file.reset();
  machine.file = *machine.directory->Open("f", OpenMode::kReadWrite);
  BOOST_TEST(machine.file->DataSync().ok());
}

BOOST_AUTO_TEST_CASE(EachOpenHandleLearnsOfTheErrorOnce) {
  Machine machine;
  const auto second = *machine.directory->Open("f", OpenMode::kReadWrite);
  BOOST_REQUIRE(machine.file->Write(0, "lost").ok());
  machine.FailNextSync(SyncFailure::kOncePerHandle);
  BOOST_TEST(!machine.file->DataSync().ok());
  const auto later = *machine.directory->Open("f", OpenMode::kReadWrite);
  BOOST_TEST(machine.file->DataSync().ok());
  BOOST_TEST(second->DataSync().message() == "lost");
  BOOST_TEST(second->DataSync().ok());
  BOOST_TEST(later->DataSync().ok());
  BOOST_TEST(ReadAll(*machine.file) == "lost");
  BOOST_TEST(machine.After({.kept = Kept::kAll}) == "");
}

BOOST_AUTO_TEST_CASE(ALiarKeepsNothingAndSaysSoToNobody) {
  Machine machine;
  BOOST_REQUIRE(machine.file->Write(0, "cached").ok());
  machine.FailNextSync(SyncFailure::kLiar);
  BOOST_TEST(machine.file->DataSync().ok());
  BOOST_TEST(machine.After(kLoseAll) == "");
  BOOST_TEST(machine.file->DataSync().ok());
  BOOST_TEST(machine.After(kLoseAll) == "cached");
  BOOST_REQUIRE(machine.directory->Create("g").has_value());
  machine.disk.control().InjectFault({.sync_failure = SyncFailure::kLiar});
  BOOST_TEST(machine.directory->Sync().ok());
  BOOST_TEST(!machine.disk.CrashedCopy(kLoseAll)->Content("/db", "g").has_value());
}

BOOST_AUTO_TEST_CASE(APartlyFailedSyncKeepsAPartInEachWay) {
  for (const SyncFailure failure : {SyncFailure::kCleanButLost, SyncFailure::kReverted,
                                    SyncFailure::kLate, SyncFailure::kOncePerHandle}) {
    std::set<std::string> durable;
    for (int round = 0; round < 60; ++round) {
      SimulatedDisk disk(static_cast<uint64_t>(round));
      const auto file = *(*disk.OpenDirectory("/db", true))->Create("f");
      disk.SetContent("/db", "f", "oo");
      BOOST_REQUIRE((file->Write(0, "A").ok() && file->Write(1, "B").ok()));
      disk.control().InjectFault({.partly = true, .sync_failure = failure});
      BOOST_TEST(file->DataSync().ok() == IsSilent(failure));
      const std::string kept = *disk.CrashedCopy(kLoseAll)->Content("/db", "f");
      durable.insert(kept);
      BOOST_TEST(ReadAll(*file) == (failure == SyncFailure::kReverted ? kept : "AB"));
    }
    BOOST_TEST((durable == std::set<std::string>{"oo", "Ao", "oB", "AB"}));
  }
}

// Against one flag for each byte.
BOOST_AUTO_TEST_CASE(ByteRangesAgreeWithAPlainSet) {
  const auto random = base::NewSeededRandom(5);
  for (int round = 0; round < 50; ++round) {
    ByteRanges extents;
    std::set<uint64_t> plain;
    for (int step = 0; step < 40; ++step) {
      const uint64_t begin = random->Next64() % 60;
      const uint64_t end = begin + random->Next64() % 12;
      const bool adds = random->Next64() % 3 != 0;
      adds ? extents.Add(begin, end) : extents.Remove(begin, end);
      for (uint64_t at = begin; at < end; ++at)
        adds ? (void)plain.insert(at) : (void)plain.erase(at);
      uint64_t count = 0, previous_end = 0;
      for (const auto& [from, to] : extents.ranges()) {
        BOOST_REQUIRE((from < to && (count == 0 || from > previous_end)));
        for (uint64_t at = from; at < to; ++at, ++count) BOOST_REQUIRE(plain.count(at) == 1u);
        previous_end = to;
      }
      BOOST_REQUIRE(count == plain.size());
      const uint64_t low = random->Next64() % 60, high = low + random->Next64() % 20;
      uint64_t within = 0, outside = 0;
      for (const auto& [from, to] : extents.Within(low, high)) within += to - from;
      for (const auto& [from, to] : extents.Outside(low, high)) outside += to - from;
      const auto expected =
          static_cast<uint64_t>(std::distance(plain.lower_bound(low), plain.lower_bound(high)));
      BOOST_REQUIRE(within == expected);
      BOOST_REQUIRE(outside == high - low - expected);
      BOOST_REQUIRE(extents.Covers(low, high) == (outside == 0));
      BOOST_REQUIRE(extents.Touches(low, high) == (within != 0));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
