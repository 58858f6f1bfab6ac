// R8: a full disk at many budgets; by hand at every block of all fixed workloads, at every byte of
// one, and at random budgets of random workloads. Reads go on, writes fail cleanly, no merge begins
// without room for its output, and when space returns writes go on without reopening.
#include <algorithm>
#include <atomic>
#include <random>
#include <string>

#include "base/random.h"
#include "test/reliability/fault_run.h"
#include "test/reliability/faulty_files.h"
#include "test/reliability/shrink.h"
#include "test/reliability/suites.h"
#include "test/reliability/watchdog.h"
#include "test/reliability/work_sharing.h"
#include "test/reliability/workload_source.h"

namespace tandem::reliability {
namespace {

using test::SimulatedDisk;

constexpr uint64_t kBudgets = 400;
// By hand: of a file system that gives out space in blocks of this size.
constexpr uint64_t kBlockBytes = 512;
// By hand: every byte of one workload that takes at most this many, in items of this many budgets.
constexpr uint64_t kEveryByteMax = 64 << 10;
constexpr uint64_t kBytesTogether = 256;
constexpr uint64_t kRandomBudgets = 16;
// How many budgets are tried to see whether a workload that was cut down still fails.
constexpr uint64_t kShrinkBudgets = 512;

// A disk that fills up. Where the file system reserves no space ahead, as many do not, also a write
// into the log finds none.
class FillingFiles {
 public:
  FillingFiles(uint64_t seed, bool reserves)
      : files_(seed, reserves ? BackEnd::kDisk : BackEnd::kPosix) {
    if (!reserves) files_.Inject({.kind = &kUnknown, .sticky = true});
  }
  SimulatedDisk& disk() { return files_.disk(); }
  base::FileSystem& files() { return files_.files(); }

 private:
  static inline const FaultKind kUnknown{
      .name = "no reservations",
      .back_end = BackEnd::kPosix,
      .fault = CallFault{.calls = {EmulatedCall::kPreallocate, EmulatedCall::kExtend},
                         .error = EOPNOTSUPP}};
  FaultyFiles files_;
};

// The most that a workload takes of a disk without a limit.
uint64_t SpaceOf(const Workload& workload, bool reserves) {
  FillingFiles files(workload.seed, reserves);
  SimulatedDisk& disk = files.disk();
  uint64_t most = 0;
  disk.control().SetHook([&](const test::DiskEvent&) { most = std::max(most, disk.used_bytes()); });
  FaultRun run(workload, &disk, &files.files());
  run.TakeSteps();
  disk.control().SetHook(nullptr);
  return std::max(most, disk.used_bytes());
}

struct Budget {
  uint64_t bytes = 0;
  bool reserves = true;

  std::string Describe() const {
    return "the disk takes " + std::to_string(bytes) + " bytes" +
           (reserves ? "" : " and reserves none ahead");
  }
};

std::optional<Finding> FindWithin(const Workload& workload, const Budget& budget,
                                  uint64_t* failed) {
  FillingFiles files(workload.seed, budget.reserves);
  SimulatedDisk& disk = files.disk();
  disk.control().SetSpaceBudget(budget.bytes);
  FaultRun run(workload, &disk, &files.files());
  run.Allow({StatusCode::kNoSpace});
  run.RequireReads();
  run.WatchMerges();
  if (!budget.reserves) run.ExpectNoReservations();
  bool holds = run.TakeSteps() && run.CheckAfterCrash(budget.bytes);
  *failed += run.failed_count();
  disk.control().SetSpaceBudget(std::nullopt);
  // What waited for space in the background is tried again after a while.
  run.machine().clock().Advance(10'000'000);
  holds = holds && run.RepeatFailed() && run.CheckAfterCrash(budget.bytes) && run.CheckAfterKill();
  if (holds) return std::nullopt;
  return Finding{
      .reason = run.reason(), .injected = {budget.Describe()}, .steps_taken = run.steps_taken()};
}

class SpaceSuite {
 public:
  explicit SpaceSuite(const Plan& plan) : plan_(plan), source_(plan), timer_(plan.seconds) {
    for (uint64_t i = 0; i < source_.fixed_count(); ++i) {
      for (const bool reserves : {true, false}) {
        const Workload workload = *source_.At(i);
        const uint64_t space = SpaceOf(workload, reserves);
        jobs_.push_back({workload, reserves, 0, space, StepFor(space)});
      }
    }
    if (!by_hand()) return;
    AddEveryByteOfOne();
    // In no order, so that a run that ends early has seen something of everything.
    std::shuffle(jobs_.begin(), jobs_.end(), std::mt19937_64(plan.seed));
  }

  Report Run() {
    ShareWork([this](uint64_t item, size_t thread) { return Take(item, thread); });
    Report report;
    report.counts = {{"workloads", workloads_},
                     {"budgets", budgets_},
                     {"of every byte of one", bytes_},
                     {"of random workloads", random_},
                     {"steps without space", failed_}};
    base::MutexLock lock(mutex_);
    report.failures = std::move(failures_);
    return report;
  }

 private:
  // Budgets of a workload in a row.
  struct Job {
    Workload workload;
    bool reserves = true;
    uint64_t from = 0, to = 0, step = 1;
    bool is_every_byte = false;
  };

  bool by_hand() const { return plan_.seconds > 0; }
  uint64_t StepFor(uint64_t space) const {
    if (by_hand()) return kBlockBytes;
    const uint64_t count = (kBudgets + source_.fixed_count() - 1) / source_.fixed_count();
    return std::max<uint64_t>(1, space / count);
  }

  // The seed chooses it among those that a run by hand gets through.
  void AddEveryByteOfOne() {
    std::vector<const Job*> small;
    for (const Job& job : jobs_) {
      if (job.to <= kEveryByteMax || !plan_.only.empty()) small.push_back(&job);
    }
    if (small.empty()) return;
    const Job one = *small[plan_.seed % small.size()];
    for (uint64_t from = 0; from < one.to; from += kBytesTogether) {
      const uint64_t to = std::min(one.to, from + kBytesTogether);
      jobs_.push_back({one.workload, one.reserves, from, to, 1, true});
    }
  }

  // By hand every other item is a random workload.
  bool Take(uint64_t item, size_t thread) {
    if (!by_hand() || !plan_.only.empty()) return TakeSome(item, thread);
    return item % 2 == 0 ? TakeSome(item / 2, thread)
                         : TakeRandom(source_.Between(item / 2), thread);
  }

  bool TakeSome(uint64_t item, size_t thread) {
    if (has_failed_ || timer_.is_over()) return false;
    if (item < jobs_.size()) {
      const Job& job = jobs_[item];
      workloads_ += job.is_every_byte || !job.reserves ? 0 : 1;
      for (uint64_t bytes = job.from; bytes < job.to; bytes += job.step) {
        if (!Try(job.workload, {bytes, job.reserves}, thread)) return false;
        bytes_ += job.is_every_byte ? 1 : 0;
      }
      return true;
    }
    return by_hand() && TakeRandom(source_.At(item), thread);
  }

  bool TakeRandom(const std::optional<Workload>& workload, size_t thread) {
    if (!workload.has_value()) return false;
    ++workloads_;
    const auto random = base::NewSeededRandom(workload->seed);
    for (const bool reserves : {true, false}) {
      const uint64_t space = SpaceOf(*workload, reserves);
      for (uint64_t i = 0; i < kRandomBudgets; ++i, ++random_) {
        if (!Try(*workload, {random->Next64() % space, reserves}, thread)) return false;
      }
    }
    return true;
  }

  // Whether to continue.
  bool Try(const Workload& workload, const Budget& budget, size_t thread) {
    if (has_failed_ || timer_.is_over()) return false;
    watchdog_.Begin(thread,
                    [&workload, budget] { return budget.Describe() + ": " + workload.Describe(); });
    uint64_t failed = 0;
    const std::optional<Finding> finding = FindWithin(workload, budget, &failed);
    watchdog_.End(thread);
    ++budgets_;
    failed_ += failed;
    if (!finding.has_value()) return true;
    if (!has_failed_.exchange(true)) Fail(workload, *finding, budget);
    return false;
  }

  void Fail(const Workload& workload, const Finding& finding, const Budget& budget) {
    // What is smaller fails with less space, if it still does.
    const auto find = [budget](const Workload& smaller) -> std::optional<Finding> {
      const uint64_t space = std::min(SpaceOf(smaller, budget.reserves), budget.bytes + 1);
      uint64_t failed = 0;
      for (uint64_t back = 0; back < kShrinkBudgets && back < space; ++back) {
        std::optional<Finding> found =
            FindWithin(smaller, {space - 1 - back, budget.reserves}, &failed);
        if (found.has_value()) return found;
      }
      return std::nullopt;
    };
    const Shrunk shrunk = Shrink(workload, finding, {.find = find});
    base::MutexLock lock(mutex_);
    failures_.push_back(shrunk.Describe("space", plan_, workload));
  }

  const Plan& plan_;
  const WorkloadSource source_;
  const Timer timer_;
  std::vector<Job> jobs_;
  Watchdog watchdog_{"space"};
  std::atomic<bool> has_failed_ = false;
  std::atomic<uint64_t> workloads_ = 0, budgets_ = 0, bytes_ = 0, random_ = 0, failed_ = 0;
  base::Mutex mutex_;
  std::vector<std::string> failures_ GUARDED_BY(mutex_);
};

}  // namespace

Report RunSpace(const Plan& plan) { return SpaceSuite(plan).Run(); }

}  // namespace tandem::reliability
