// The production queue over rings that misbehave: whatever a ring does, each request comes back
// once, with the bytes or the error that its file has for it.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/ring.h"
#include "test/base/back_ends.h"
#include "test/support/print.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

using base::IoRequest;
using Kind = base::IoRequest::Kind;

// A disk with an empty durable file and a queue over an emulated ring.
struct RingMachine {
  RingMachine(uint64_t seed, const RingHabits& habits, uint32_t depth = 8) : disk(seed) {
    disk.UseRings(habits);
    directory = *disk.OpenDirectory("/db", true);
    file = *directory->Create("f");
    BOOST_REQUIRE((file->DataSync().ok() && directory->Sync().ok()));
    queue = disk.NewQueue(depth);
  }
  std::string Durable() {
    return *disk.CrashedCopy({.kept = CrashPolicy::Kept::kNone})->Content("/db", "f");
  }

  SimulatedDisk disk;
  std::unique_ptr<base::Directory> directory;
  std::unique_ptr<base::File> file;
  std::unique_ptr<base::IoQueue> queue;
};

struct Operation {
  Operation(Kind kind, base::File* file, uint64_t offset, std::string content)
      : bytes(std::move(content)) {
    request.kind = kind;
    request.file = file;
    request.offset = offset;
  }
  IoRequest* Ready() {
    request.buffer = bytes;
    return &request;
  }

  std::string bytes;
  IoRequest request;
};

void Submit(base::IoQueue& queue, std::deque<Operation>& operations) {
  std::vector<IoRequest*> requests;
  for (Operation& operation : operations) requests.push_back(operation.Ready());
  queue.Submit(requests);
}

// All that come back; each must be one of those submitted, and no other twice.
size_t Drain(base::IoQueue& queue) {
  std::set<const IoRequest*> seen;
  while (const IoRequest* request = queue.Wait()) BOOST_REQUIRE(seen.insert(request).second);
  return seen.size();
}

RingHabits Harmless(uint64_t seed) {
  RingHabits habits;
  if (seed % 2 == 0) habits.completion_slots = 1 + seed % 7;
  if (seed % 3 == 0) habits.short_transfers = 900;
  if (seed % 5 == 0) habits.repeated_completions = 1000;
  if (seed % 7 == 0) habits.again = habits.interrupted = habits.cancelled = 250;
  if (seed % 11 == 0) habits.refused_enters = 700;
  if (seed % 4 == 0) habits.breaks_at_enter = static_cast<uint32_t>(1 + seed % 30);
  return habits;
}

BOOST_AUTO_TEST_SUITE(RingQueueSuite)

BOOST_AUTO_TEST_CASE(HarmlessHabitsNeverChangeAnOutcome) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      const auto random = base::NewSeededRandom(seed);
      RingMachine machine(seed, Harmless(seed), static_cast<uint32_t>(1 + seed % 9));
      std::string expected(40'000, '\0');
      random->Fill(expected);
      std::deque<Operation> writes;
      for (size_t at = 0; at < expected.size();) {
        const size_t size = std::min(expected.size() - at, size_t{1} + random->Next64() % 4000);
        writes.emplace_back(Kind::kWrite, machine.file.get(), at, expected.substr(at, size));
        at += size;
      }
      Submit(*machine.queue, writes);
      BOOST_REQUIRE(Drain(*machine.queue) == writes.size());
      for (const Operation& write : writes) {
        BOOST_REQUIRE(write.request.status.ToString() == "OK");
        BOOST_REQUIRE(write.request.transferred == write.bytes.size());
      }
      BOOST_REQUIRE((ReadAll(*machine.file) == expected));
      std::deque<Operation> reads;
      for (int i = 0; i < 30; ++i) {
        const std::string buffer(1 + random->Next64() % 6000, ' ');
        reads.emplace_back(Kind::kRead, machine.file.get(), random->Next64() % 41'000, buffer);
      }
      reads.emplace_back(Kind::kDataSync, machine.file.get(), 0, "");
      Submit(*machine.queue, reads);
      BOOST_REQUIRE(Drain(*machine.queue) == reads.size());
      for (const Operation& read : reads) {
        BOOST_REQUIRE(read.request.status.ToString() == "OK");
        const size_t from = std::min<size_t>(read.request.offset, expected.size());
        const std::string want = expected.substr(from, read.bytes.size());
        BOOST_REQUIRE(read.request.transferred == want.size());
        BOOST_REQUIRE((read.bytes.substr(0, want.size()) == want));
      }
      BOOST_REQUIRE((machine.Durable() == expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(AnErrorConcernsItsRequestAlone) {
  int failed = 0, full = 0, fine = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    RingHabits habits;
    habits.io_errors = 100;
    habits.no_space = 100;
    RingMachine machine(seed, habits);
    std::deque<Operation> writes;
    for (uint64_t i = 0; i < 20; ++i) {
      writes.emplace_back(Kind::kWrite, machine.file.get(), i * 1000, std::string(1000, 'w'));
    }
    Submit(*machine.queue, writes);
    BOOST_REQUIRE(Drain(*machine.queue) == 20u);
    for (const Operation& write : writes) {
      const IoRequest& request = write.request;
      fine += request.status.ok();
      full += request.status.code() == StatusCode::kNoSpace;
      failed += request.status.code() == StatusCode::kIoError;
      if (!request.status.ok()) {
        BOOST_TEST(request.status.message().starts_with("cannot write at offset "));
        BOOST_TEST(request.transferred < 1000u);
        continue;
      }
      std::string there(1000, ' ');
      BOOST_REQUIRE(*machine.file->Read(request.offset, there) == 1000u);
      BOOST_REQUIRE(there == write.bytes);
    }
  }
  BOOST_TEST((failed > 50 && full > 50 && fine > 500));
}

BOOST_AUTO_TEST_CASE(InjectedErrorsArriveThroughTheRing) {
  RingMachine machine(1, {});
  machine.disk.control().InjectFault(
      {.operations = {DiskOperation::kDataSync}, .status = Status::IoError("injected")});
  std::deque<Operation> syncs;
  syncs.emplace_back(Kind::kDataSync, machine.file.get(), 0, "");
  Submit(*machine.queue, syncs);
  BOOST_TEST(Drain(*machine.queue) == 1u);
  BOOST_TEST(syncs[0].request.status.ToString() == "IoError: cannot sync 'f': Input/output error");
  machine.disk.control().SetSpaceBudget(10);
  std::deque<Operation> writes;
  writes.emplace_back(Kind::kWrite, machine.file.get(), 0, std::string(100, 'w'));
  Submit(*machine.queue, writes);
  BOOST_TEST(Drain(*machine.queue) == 1u);
  BOOST_TEST((writes[0].request.status.code() == StatusCode::kNoSpace));
}

BOOST_AUTO_TEST_CASE(ASyncCoversOnlyWhatHadCompletedWhenItWasTaken) {
  int uncovered = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RingMachine machine(seed, {});
    BOOST_REQUIRE(machine.file->Write(0, "before").ok());
    std::deque<Operation> operations;
    operations.emplace_back(Kind::kWrite, machine.file.get(), 6, " beside");
    operations.emplace_back(Kind::kDataSync, machine.file.get(), 0, "");
    Submit(*machine.queue, operations);
    BOOST_REQUIRE(Drain(*machine.queue) == 2u);
    BOOST_TEST(machine.Durable().starts_with("before"));
    uncovered += machine.Durable() == "before";
  }
  // Here and there the ring takes or completes the write before the sync.
  BOOST_TEST(uncovered > 20);
}

// Reads eight bytes, five times, while `fault` is in force; how many fail. All others are right.
int FailedReads(const RingFault& fault) {
  RingHabits habits;
  habits.faults = std::make_shared<RingFaults>();
  RingMachine machine(1, habits);
  BOOST_REQUIRE(machine.file->Write(0, "abcdefgh").ok());
  habits.faults->Inject(fault);
  int failed = 0;
  for (int i = 0; i < 5; ++i) {
    std::deque<Operation> reads;
    reads.emplace_back(Kind::kRead, machine.file.get(), 0, std::string(8, ' '));
    Submit(*machine.queue, reads);
    BOOST_REQUIRE(Drain(*machine.queue) == 1u);
    failed += !reads[0].request.status.ok();
    if (reads[0].request.status.ok()) BOOST_TEST(reads[0].bytes == "abcdefgh");
  }
  BOOST_TEST(habits.faults->has_struck());
  BOOST_TEST(habits.faults->count(fault.of) > 0u);
  habits.faults->Clear();
  return failed;
}

BOOST_AUTO_TEST_CASE(AChosenCompletionOrEnterFails) {
  using Of = RingFault::Of;
  BOOST_TEST(FailedReads({.of = Of::kCompletion, .at = 1, .error = EIO}) == 1);
  BOOST_TEST(FailedReads({.of = Of::kCompletion, .at = 1, .sticky = true, .error = EIO}) == 5);
  for (const bool sticky : {false, true}) {
    for (const int error : {EAGAIN, EINTR, ECANCELED, 0}) {
      BOOST_TEST(FailedReads({.of = Of::kCompletion, .at = 2, .sticky = sticky, .error = error}) ==
                 0);
    }
    for (const int error : {EAGAIN, EINTR, EBUSY, ENOMEM, EIO}) {
      BOOST_TEST(FailedReads({.of = Of::kEnter, .at = 2, .sticky = sticky, .error = error}) == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(ABufferThatChangesInFlightIsReported) {
  for (const bool over_ring : {false, true}) {
    SimulatedDisk disk(4);
    const auto file = *(*disk.OpenDirectory("/db", true))->Create("f");
    if (over_ring) disk.UseRings();
    std::vector<std::string> violations;
    disk.control().SetViolationHandler(
        [&](const std::string& violation) { violations.push_back(violation); });
    int reported = 0;
    for (int round = 0; round < 40; ++round) {
      const auto queue = disk.NewQueue(4);
      std::deque<Operation> writes;
      writes.emplace_back(Kind::kWrite, file.get(), 0, "content");
      Submit(*queue, writes);
      writes[0].bytes[3] = static_cast<char>('0' + round);
      BOOST_REQUIRE(Drain(*queue) == 1u);
      reported += !violations.empty();
      violations.clear();
    }
    // Over the ring the write may have been done when Submit returned.
    BOOST_TEST(reported >= (over_ring ? 10 : 40));
  }
}

// A ring that answers what a test says, in the order of submission.
class ScriptedRing final : public base::Ring {
 public:
  explicit ScriptedRing(std::vector<int> results) : results_(results.begin(), results.end()) {}

  bool Takes(const base::File&) const override { return true; }
  bool Push(const base::RingOperation& operation) override {
    pushed_.push_back(operation.user_data);
    return true;
  }
  int Enter(unsigned) override {
    const int count = static_cast<int>(pushed_.size());
    for (const uint64_t user_data : pushed_) {
      const int result = results_.front();
      if (results_.size() > 1) results_.pop_front();
      completions_.push_back({user_data, result});
    }
    pushed_.clear();
    return count;
  }
  int Await() override { return 0; }
  bool Reap(base::RingCompletion* completion) override {
    if (completions_.empty()) return false;
    *completion = completions_.front();
    completions_.pop_front();
    return true;
  }

 private:
  std::deque<int> results_;  // The last one is for all further operations.
  std::vector<uint64_t> pushed_;
  std::deque<base::RingCompletion> completions_;
};

// The outcome of one write of "0123456789" over a ring with those answers.
std::string OutcomeOf(std::vector<int> results) {
  SimulatedDisk disk;
  const auto file = *(*disk.OpenDirectory("/db", true))->Create("f");
  const auto queue = base::NewRingQueue(std::make_unique<ScriptedRing>(std::move(results)), 1);
  std::deque<Operation> writes;
  writes.emplace_back(Kind::kWrite, file.get(), 50, "0123456789");
  Submit(*queue, writes);
  BOOST_REQUIRE(Drain(*queue) == 1u);
  return writes[0].request.status.ToString() + ", " + std::to_string(writes[0].request.transferred);
}

BOOST_AUTO_TEST_CASE(EachAnswerOfARingIsUnderstood) {
  BOOST_TEST(OutcomeOf({10}) == "OK, 10");
  BOOST_TEST(OutcomeOf({1, -EINTR, 8, -EAGAIN, -ECANCELED, 1}) == "OK, 10");
  BOOST_TEST(OutcomeOf({4, -ENOSPC}) ==
             "NoSpace: cannot write at offset 54 of 'f': No space left on device, 4");
  BOOST_TEST(OutcomeOf({0}) == "IoError: cannot write at offset 50 of 'f': Input/output error, 0");
  // More than there was to write would count bytes that nobody wrote.
  BOOST_TEST(OutcomeOf({4, 7}) ==
             "IoError: cannot write at offset 54 of 'f': Input/output error, 4");
  // Refused for ever: the file's own call does it.
  BOOST_TEST(OutcomeOf({-EAGAIN}) == "OK, 10");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
