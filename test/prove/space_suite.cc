// R8: a full disk at many budgets; by hand at every block of all fixed workloads, at every byte of
// one, and at random budgets of random workloads. Reads go on, writes fail cleanly, and when space
// returns they go on without reopening.
#include <atomic>
#include <string>

#include "base/random.h"
#include "test/prove/fault_run.h"
#include "test/prove/shrink.h"
#include "test/prove/suites.h"
#include "test/prove/watchdog.h"
#include "test/prove/work_sharing.h"
#include "test/prove/workload_source.h"

namespace tandem::prove {
namespace {

using test::SimulatedDisk;

constexpr uint64_t kBudgets = 400;
// By hand: of a file system that gives out space in blocks of this size.
constexpr uint64_t kBlockBytes = 512;
// By hand: every byte of one workload that takes at most so many, so many budgets an item of work.
constexpr uint64_t kEveryByteMax = 64 << 10;
constexpr uint64_t kBytesTogether = 256;
constexpr uint64_t kRandomBudgets = 32;
// How many budgets are tried to see whether a workload that was cut down still fails.
constexpr uint64_t kShrinkBudgets = 512;

// The most that a workload takes of a disk without a limit.
uint64_t SpaceOf(const Workload& workload) {
  SimulatedDisk disk(workload.seed);
  uint64_t most = 0;
  disk.control().SetHook([&](const test::DiskEvent&) { most = std::max(most, disk.used_bytes()); });
  FaultRun run(workload, &disk, &disk);
  run.TakeSteps();
  disk.control().SetHook(nullptr);
  return std::max(most, disk.used_bytes());
}

std::optional<Finding> FindWithin(const Workload& workload, uint64_t budget, uint64_t* failed) {
  SimulatedDisk disk(workload.seed);
  disk.control().SetSpaceBudget(budget);
  FaultRun run(workload, &disk, &disk);
  run.Allow({StatusCode::kNoSpace});
  run.RequireReads();
  bool holds = run.TakeSteps() && run.CheckAfterCrash(budget);
  *failed += run.failed_count();
  disk.control().SetSpaceBudget(std::nullopt);
  // What waited for space in the background is tried again after a while.
  run.machine().clock().Advance(10'000'000);
  holds = holds && run.RepeatFailed() && run.CheckAfterCrash(budget) && run.CheckAfterKill();
  if (holds) return std::nullopt;
  return Finding{.reason = run.reason(),
                 .blows = {"the disk takes " + std::to_string(budget) + " bytes"},
                 .steps_taken = run.steps_taken()};
}

class SpaceSuite {
 public:
  explicit SpaceSuite(const Plan& plan) : plan_(plan), source_(plan), timer_(plan.seconds) {
    for (uint64_t i = 0; i < source_.fixed_count(); ++i) {
      const Workload workload = *source_.At(i);
      const uint64_t space = SpaceOf(workload);
      const uint64_t step = StepFor(space);
      jobs_.push_back({.workload = workload, .to = space, .step = step});
    }
    if (by_hand()) AddEveryByteOfOne();
  }

  Report Run() {
    ShareWork([this](uint64_t item, size_t thread) { return Take(item, thread); });
    Report report;
    report.counts = {{"workloads", workloads_},
                     {"budgets", budgets_},
                     {"of every byte of one", bytes_},
                     {"of random workloads", random_},
                     {"steps without space", failed_}};
    report.failures = std::move(failures_);
    return report;
  }

 private:
  // Budgets of a workload in a row.
  struct Job {
    Workload workload;
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
      jobs_.push_back({.workload = one.workload,
                       .from = from,
                       .to = std::min(one.to, from + kBytesTogether),
                       .is_every_byte = true});
    }
  }

  bool Take(uint64_t item, size_t thread) {
    if (has_failed_ || timer_.is_over()) return false;
    if (item < jobs_.size()) {
      const Job& job = jobs_[item];
      workloads_ += job.is_every_byte ? 0 : 1;
      for (uint64_t budget = job.from; budget < job.to; budget += job.step) {
        if (!Try(job.workload, budget, thread)) return false;
        bytes_ += job.is_every_byte ? 1 : 0;
      }
      return true;
    }
    return by_hand() && TakeRandom(item, thread);
  }

  bool TakeRandom(uint64_t item, size_t thread) {
    const std::optional<Workload> workload = source_.At(item);
    if (!workload.has_value()) return false;
    ++workloads_;
    const uint64_t space = SpaceOf(*workload);
    const auto random = base::NewSeededRandom(workload->seed);
    for (uint64_t i = 0; i < kRandomBudgets; ++i, ++random_) {
      if (!Try(*workload, random->Next64() % space, thread)) return false;
    }
    return true;
  }

  // Whether to go on.
  bool Try(const Workload& workload, uint64_t budget, size_t thread) {
    if (has_failed_ || timer_.is_over()) return false;
    watchdog_.Begin(thread, [&workload, budget] {
      return std::to_string(budget) + " bytes: " + workload.Describe();
    });
    uint64_t failed = 0;
    const std::optional<Finding> finding = FindWithin(workload, budget, &failed);
    watchdog_.End(thread);
    ++budgets_;
    failed_ += failed;
    if (!finding.has_value()) return true;
    if (!has_failed_.exchange(true)) Fail(workload, *finding, budget);
    return false;
  }

  void Fail(const Workload& workload, const Finding& finding, uint64_t budget) {
    // What is smaller fails with less space, if it still does.
    const auto find = [budget](const Workload& smaller) -> std::optional<Finding> {
      const uint64_t space = std::min(SpaceOf(smaller), budget + 1);
      uint64_t failed = 0;
      for (uint64_t back = 0; back < kShrinkBudgets && back < space; ++back) {
        std::optional<Finding> found = FindWithin(smaller, space - 1 - back, &failed);
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

}  // namespace tandem::prove
