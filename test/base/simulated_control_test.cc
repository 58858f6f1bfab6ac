// The simulated disk under a test's control: errors, power, space, trace, hook, queues and threads.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "test/base/back_ends.h"
#include "test/support/print.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

using base::IoRequest;
using base::OpenMode;

constexpr CrashPolicy kLoseAll{.kept = CrashPolicy::Kept::kNone};
constexpr CrashPolicy kKeepAll{.kept = CrashPolicy::Kept::kAll};

// A disk with a directory and an empty durable file.
struct Machine {
  SimulatedDisk disk{7};
  std::unique_ptr<base::Directory> directory = *disk.OpenDirectory("/db", true);
  std::unique_ptr<base::File> file = *directory->Create("f");
  DiskControl& control = disk.control();

  Machine() { BOOST_REQUIRE((file->DataSync().ok() && directory->Sync().ok())); }
  std::string ContentAfter(const CrashPolicy& policy) {
    return *disk.CrashedCopy(policy)->Content("/db", "f");
  }
};

BOOST_AUTO_TEST_SUITE(SimulatedControlSuite)

BOOST_AUTO_TEST_CASE(TheChosenOperationFailsOnce) {
  Machine machine;
  machine.control.InjectFault({.at = 3, .status = Status::IoError("the third")});
  BOOST_TEST(machine.file->Write(0, "a").ok());
  BOOST_TEST(machine.directory->Sync().ok());
  BOOST_TEST(!machine.control.has_struck());
  BOOST_TEST(machine.directory->Create("g").error().message() == "the third");
  BOOST_TEST(machine.control.has_struck());
  BOOST_TEST(machine.directory->Create("g").has_value());
}

BOOST_AUTO_TEST_CASE(AStickyFaultFailsOnlyItsKinds) {
  Machine machine;
  machine.control.InjectFault({.operations = {DiskOperation::kWrite, DiskOperation::kRemove},
                               .at = 2,
                               .sticky = true,
                               .status = Status::NoSpace("full")});
  std::string buffer(1, ' ');
  BOOST_TEST(machine.file->Write(0, "a").ok());
  BOOST_TEST(machine.file->Read(0, buffer).has_value());
  BOOST_TEST(machine.file->Write(1, "b").code() == StatusCode::kNoSpace);
  BOOST_TEST(machine.directory->Remove("f").code() == StatusCode::kNoSpace);
  BOOST_TEST(machine.file->DataSync().ok());
  machine.control.ClearFaults();
  BOOST_TEST(machine.file->Write(1, "c").ok());
  BOOST_TEST(ReadAll(*machine.file) == "ac");
}

BOOST_AUTO_TEST_CASE(TwoFaultsStrikeInOneRun) {
  Machine machine;
  machine.control.InjectFault({.at = 1});
  machine.control.InjectFault({.at = 3});
  const bool expected[] = {false, true, false, true};
  for (bool is_ok : expected) BOOST_TEST(machine.directory->Sync().ok() == is_ok);
}

BOOST_AUTO_TEST_CASE(AFailedWriteLeavesNothingOrHalf) {
  Machine machine;
  machine.control.InjectFault({});
  BOOST_TEST(!machine.file->Write(0, "abcdef").ok());
  BOOST_TEST(ReadAll(*machine.file) == "");
  machine.control.InjectFault({.partly = true});
  BOOST_TEST(!machine.file->Write(0, "abcdef").ok());
  BOOST_TEST(ReadAll(*machine.file) == "abc");
}

BOOST_AUTO_TEST_CASE(WhatAFailedSyncLostNoLaterSyncSaves) {
  Machine machine;
  BOOST_TEST(machine.file->Write(0, "lost").ok());
  machine.control.InjectFault({.operations = {DiskOperation::kDataSync}});
  BOOST_TEST(!machine.file->DataSync().ok());
  BOOST_TEST(machine.file->Write(4, "kept").ok());
  BOOST_TEST(machine.file->DataSync().ok());
  BOOST_TEST(ReadAll(*machine.file) == "lostkept");
  const std::string expected = std::string(4, '\0') + "kept";
  BOOST_TEST(machine.ContentAfter(kLoseAll) == expected);
  BOOST_TEST(machine.ContentAfter(kKeepAll) == expected);
}

BOOST_AUTO_TEST_CASE(APartlyFailedSyncLeavesARandomHalf) {
  std::set<std::string> outcomes;
  Machine machine;
  for (int round = 0; round < 100; ++round) {
    BOOST_REQUIRE((machine.file->Truncate(0).ok() && machine.file->DataSync().ok()));
    BOOST_REQUIRE((machine.file->Write(0, "ab").ok() && machine.file->Write(0, "A").ok()));
    machine.control.InjectFault({.partly = true});
    BOOST_REQUIRE(!machine.file->DataSync().ok());
    outcomes.insert(machine.ContentAfter(kLoseAll));
  }
  for (const char* content : {"", "ab", "Ab"}) BOOST_TEST(outcomes.count(content) == 1u);
}

BOOST_AUTO_TEST_CASE(AFailedDirectorySyncMayBeRepeated) {
  Machine machine;
  BOOST_TEST(machine.directory->Create("g").has_value());
  machine.control.InjectFault({});
  BOOST_TEST(!machine.directory->Sync().ok());
  BOOST_TEST(!machine.disk.CrashedCopy(kLoseAll)->Content("/db", "g").has_value());
  BOOST_TEST(machine.directory->Sync().ok());
  BOOST_TEST(machine.disk.CrashedCopy(kLoseAll)->Content("/db", "g").has_value());
}

BOOST_AUTO_TEST_CASE(WithoutPowerNothingHappensUntilTheCrash) {
  Machine machine;
  machine.control.PowerOffAt(2);
  BOOST_TEST(machine.file->Write(0, "first").ok());
  BOOST_TEST(machine.file->DataSync().code() == StatusCode::kIoError);
  BOOST_TEST(machine.file->Write(0, "never").code() == StatusCode::kIoError);
  BOOST_TEST(machine.directory->Remove("f").code() == StatusCode::kIoError);
  // The sync did not happen, so its bytes are pending and not lost.
  BOOST_TEST(machine.ContentAfter(kLoseAll) == "");
  BOOST_TEST(machine.ContentAfter(kKeepAll) == "first");
  machine.disk.Crash(kKeepAll);
  const auto directory = *machine.disk.OpenDirectory("/db", false);
  const auto file = *directory->Open("f", OpenMode::kReadWrite);
  BOOST_TEST(file->Write(5, " life").ok());
  BOOST_TEST(ReadAll(*file) == "first life");
}

BOOST_AUTO_TEST_CASE(SpaceRunsOutAndComesBack) {
  Machine machine;
  BOOST_TEST(*machine.directory->FreeSpace() > 1'000'000'000u);
  machine.control.SetSpaceBudget(100);
  BOOST_TEST(machine.file->Write(0, std::string(60, 'a')).ok());
  BOOST_TEST(*machine.directory->FreeSpace() == 40u);
  auto other = *machine.directory->Create("g");
  BOOST_TEST(other->Write(0, std::string(50, 'b')).code() == StatusCode::kNoSpace);
  BOOST_TEST(ReadAll(*other) == std::string(40, 'b'));
  BOOST_TEST(machine.file->Write(0, std::string(60, 'c')).ok());
  BOOST_TEST(other->Preallocate(41).code() == StatusCode::kNoSpace);
  BOOST_TEST(machine.directory->Remove("g").ok());
  BOOST_TEST(*machine.directory->FreeSpace() == 0u);
  other.reset();
  BOOST_TEST(*machine.directory->FreeSpace() == 40u);
  machine.control.SetSpaceBudget(10);
  BOOST_TEST(*machine.directory->FreeSpace() == 0u);
  machine.control.SetSpaceBudget(std::nullopt);
  BOOST_TEST(machine.file->Write(60, "more").ok());
}

BOOST_AUTO_TEST_CASE(ReservedSpaceIsTakenAndUsable) {
  Machine machine;
  machine.control.SetSpaceBudget(100);
  BOOST_TEST(machine.file->Preallocate(80).ok());
  BOOST_TEST(*machine.file->Size() == 0u);
  BOOST_TEST(*machine.directory->FreeSpace() == 20u);
  const auto other = *machine.directory->Create("g");
  BOOST_TEST(other->Write(0, std::string(20, 'x')).ok());
  BOOST_TEST(machine.file->Write(0, std::string(80, 'y')).ok());
  BOOST_TEST(machine.file->Write(80, "z").code() == StatusCode::kNoSpace);
}

BOOST_AUTO_TEST_CASE(TheTraceListsOperationsInOrder) {
  Machine machine;
  machine.control.SetTracing(true);
  std::string buffer(10, ' ');
  BOOST_TEST(machine.file->Write(4, "data").ok());
  BOOST_TEST(machine.file->Read(2, buffer).has_value());
  BOOST_TEST(machine.file->DataSync().ok());
  BOOST_TEST(machine.directory->Sync().ok());
  const std::vector<DiskEvent> trace = machine.control.TakeTrace();
  BOOST_REQUIRE(trace.size() == 4u);
  BOOST_TEST(Describe(trace[0]) == "write f at 4, 4 bytes");
  BOOST_TEST(Describe(trace[1]) == "read f at 2, 10 bytes");
  BOOST_TEST(Describe(trace[2]) == "sync f");
  BOOST_TEST(Describe(trace[3]) == "directory sync /db");
  BOOST_TEST(machine.control.TakeTrace().empty());
  machine.control.SetTracing(false);
  BOOST_TEST(machine.file->DataSync().ok());
  BOOST_TEST(machine.control.TakeTrace().empty());
}

BOOST_AUTO_TEST_CASE(ASyncCoversOnlyWhatWasWrittenBeforeItBegan) {
  Machine machine;
  BOOST_TEST(machine.file->Write(0, "before").ok());
  machine.control.SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kDataSync) return;
    BOOST_TEST(machine.file->Write(6, " during").ok());
  });
  BOOST_TEST(machine.file->DataSync().ok());
  machine.control.SetHook({});
  BOOST_TEST(machine.ContentAfter(kLoseAll) == "before");
  BOOST_TEST(machine.file->DataSync().ok());
  BOOST_TEST(machine.ContentAfter(kLoseAll) == "before during");
}

BOOST_AUTO_TEST_CASE(TheHookMayCrashTheMachine) {
  Machine machine;
  machine.control.SetHook([&](const DiskEvent&) { machine.disk.Crash(kKeepAll); });
  BOOST_TEST(machine.file->Write(0, "never").code() == StatusCode::kIoError);
  machine.control.SetHook({});
  BOOST_TEST(*machine.disk.Content("/db", "f") == "");
}

std::vector<uint64_t> CompletionOrder(uint64_t seed) {
  SimulatedDisk disk(seed);
  const auto file = *(*disk.OpenDirectory("/db", true))->Create("f");
  BOOST_REQUIRE(file->Write(0, std::string(20, 'x')).ok());
  std::vector<std::string> buffers(20, " ");
  std::vector<IoRequest> requests(20);
  std::vector<IoRequest*> pointers;
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].file = file.get();
    requests[i].offset = i;
    requests[i].buffer = buffers[i];
    requests[i].tag = i;
    pointers.push_back(&requests[i]);
  }
  const auto queue = disk.NewQueue(8);
  queue->Submit(pointers);
  std::vector<uint64_t> order;
  while (const IoRequest* request = queue->Wait()) {
    BOOST_REQUIRE(request->status.ok());
    BOOST_REQUIRE(request->buffer[0] == 'x');
    order.push_back(request->tag);
  }
  return order;
}

BOOST_AUTO_TEST_CASE(QueuesCompleteInAnOrderOfTheSeed) {
  BOOST_TEST((CompletionOrder(1) == CompletionOrder(1)));
  BOOST_TEST((CompletionOrder(1) != CompletionOrder(2)));
  BOOST_TEST(CompletionOrder(1).size() == 20u);
  // No request comes back before the depth has room for it.
  BOOST_TEST(CompletionOrder(3)[0] < 8u);
}

BOOST_AUTO_TEST_CASE(ABufferHoldsGarbageUntilItsReadIsDone) {
  Machine machine;
  BOOST_TEST(machine.file->Write(0, "data").ok());
  std::string buffer = "stale";
  IoRequest request;
  request.file = machine.file.get();
  request.buffer = buffer;
  IoRequest* requests[] = {&request};
  const auto queue = machine.disk.NewQueue(1);
  queue->Submit(requests);
  BOOST_TEST((buffer != "stale" && buffer.substr(0, 4) != "data"));
  BOOST_TEST(queue->Wait() == &request);
  BOOST_TEST(buffer.substr(0, 4) == "data");
  BOOST_TEST(request.transferred == 4u);
}

BOOST_AUTO_TEST_CASE(AQueuedSyncCoversWhatWasWrittenWhenItWasSubmitted) {
  Machine machine;
  BOOST_TEST(machine.file->Write(0, "before").ok());
  IoRequest sync;
  sync.kind = IoRequest::Kind::kDataSync;
  sync.file = machine.file.get();
  IoRequest* requests[] = {&sync};
  const auto queue = machine.disk.NewQueue(4);
  queue->Submit(requests);
  BOOST_TEST(machine.file->Write(6, " after").ok());
  BOOST_TEST(queue->Wait()->status.ok());
  BOOST_TEST(machine.ContentAfter(kLoseAll) == "before");
}

BOOST_AUTO_TEST_CASE(ThreadsMayShareTheDisk) {
  SimulatedDisk disk;
  // Both are there before the crash, which may come before a thread has run at all.
  const auto directory = *disk.OpenDirectory("/db", true);
  const auto a = *directory->Create("a");
  const auto b = *directory->Create("b");
  const auto work = [&](base::File* file) {
    std::string buffer(100, ' ');
    for (int i = 0; i < 500; ++i) {
      file->Write(i, "x").Ignore("the crash may come first");
      file->Read(0, buffer).status().Ignore("the crash may come first");
      file->DataSync().Ignore("the crash may come first");
      directory->Sync().Ignore("the crash may come first");
    }
  };
  std::thread first(work, a.get()), second(work, b.get());
  std::thread observer([&] {
    for (uint64_t seed = 0; seed < 50; ++seed) {
      disk.CrashedCopy({.kept = CrashPolicy::Kept::kRandom, .seed = seed});
    }
    disk.Crash({.kept = CrashPolicy::Kept::kRandom, .seed = 50});
  });
  first.join();
  second.join();
  observer.join();
  BOOST_TEST(disk.used_bytes() <= 1000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
