// R8: a full disk at every budget. Reads go on, writes fail cleanly, and when space returns they go
// on without reopening.
#include <atomic>
#include <string>

#include "test/prove/fault_run.h"
#include "test/prove/shrink.h"
#include "test/prove/suites.h"
#include "test/prove/watchdog.h"
#include "test/prove/work_sharing.h"

namespace tandem::prove {
namespace {

using test::SimulatedDisk;

constexpr uint64_t kBudgets = 400;
// By hand: of a file system that gives out space in blocks of this size.
constexpr uint64_t kBlockBytes = 512;

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
  explicit SpaceSuite(const Plan& plan)
      : plan_(plan), workloads_(FixedWorkloads(plan.seed)), timer_(plan.seconds) {
    if (plan.only.empty()) return;
    std::erase_if(workloads_, [&](const Workload& w) { return w.name != plan.only; });
  }

  Report Run() {
    ShareWork([this](uint64_t item, size_t thread) { return Take(item, thread); });
    Report report;
    report.counts = {
        {"workloads", workloads_.size()}, {"budgets", budgets_}, {"steps without space", failed_}};
    report.failures = std::move(failures_);
    return report;
  }

 private:
  bool Take(uint64_t item, size_t thread) {
    if (item >= workloads_.size()) return false;
    const Workload& workload = workloads_[item];
    const uint64_t space = SpaceOf(workload);
    const uint64_t count = (kBudgets + workloads_.size() - 1) / workloads_.size();
    const uint64_t step = plan_.seconds > 0 ? kBlockBytes : std::max<uint64_t>(1, space / count);
    for (uint64_t budget = 0; budget < space && !has_failed_ && !timer_.is_over(); budget += step) {
      watchdog_.Begin(thread, [&workload, budget] {
        return std::to_string(budget) + " bytes: " + workload.Describe();
      });
      uint64_t failed = 0;
      const std::optional<Finding> finding = FindWithin(workload, budget, &failed);
      watchdog_.End(thread);
      ++budgets_;
      failed_ += failed;
      if (finding.has_value() && !has_failed_.exchange(true)) Fail(workload, *finding, step);
    }
    return !has_failed_ && !timer_.is_over();
  }

  void Fail(const Workload& workload, const Finding& finding, uint64_t step) {
    const auto find = [step](const Workload& smaller) -> std::optional<Finding> {
      const uint64_t space = SpaceOf(smaller);
      uint64_t failed = 0;
      for (uint64_t budget = 0; budget < space; budget += step) {
        std::optional<Finding> found = FindWithin(smaller, budget, &failed);
        if (found.has_value()) return found;
      }
      return std::nullopt;
    };
    const Shrunk shrunk = Shrink(workload, finding, {.find = find});
    base::MutexLock lock(mutex_);
    failures_.push_back(shrunk.Describe("space", plan_, workload));
  }

  const Plan& plan_;
  std::vector<Workload> workloads_;
  const Timer timer_;
  Watchdog watchdog_{"space"};
  std::atomic<bool> has_failed_ = false;
  std::atomic<uint64_t> budgets_ = 0, failed_ = 0;
  base::Mutex mutex_;
  std::vector<std::string> failures_ GUARDED_BY(mutex_);
};

}  // namespace

Report RunSpace(const Plan& plan) { return SpaceSuite(plan).Run(); }

}  // namespace tandem::prove
