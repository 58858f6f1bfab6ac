// R7: an allocation that fails, at every index, alone and with all others of the same call. Every
// call answers kOutOfMemory or succeeds, and the database is sound afterwards.
#include <atomic>
#include <string>

#include "test/prove/failing_allocations.h"
#include "test/prove/fault_run.h"
#include "test/prove/pausing_file_system.h"
#include "test/prove/shrink.h"
#include "test/prove/suites.h"
#include "test/prove/watchdog.h"
#include "test/prove/work_sharing.h"

namespace tandem::prove {
namespace {

using test::SimulatedDisk;

// Of each workload and kind of failure, in each CI run.
constexpr uint64_t kSamples = 2'500;
constexpr const char* kWorkloads[] = {"index-updates", "compaction", "table-creation"};

/// Lets one allocation fail inside the calls of an engine, or from it on to the end of its call.
class FailingCalls final : public CallGuard {
 public:
  FailingCalls(int64_t index, bool sticky) : index_(index), sticky_(sticky) {}

  void Begin() override {
    // What failed once for a whole call does so in no later one.
    if (has_struck_) return;
    AllocationFailureOfThisThread() = {.left = index_ - static_cast<int64_t>(count_),
                                       .sticky = sticky_};
  }
  void End() override {
    AllocationFailure& failure = AllocationFailureOfThisThread();
    has_struck_ = has_struck_ || failure.has_struck;
    count_ += failure.count;
    failure = AllocationFailure();
  }

  bool has_struck() const { return has_struck_; }
  uint64_t count() const { return count_; }

 private:
  const int64_t index_;
  const bool sticky_;
  uint64_t count_ = 0;
  bool has_struck_ = false;
};

std::optional<Finding> FindAt(const Workload& workload, int64_t index, bool sticky) {
  SimulatedDisk disk(workload.seed);
  PausingFileSystem files(&disk);
  FailingCalls calls(index, sticky);
  FaultRun run(workload, &disk, &files, &calls);
  run.Allow({StatusCode::kOutOfMemory, StatusCode::kReadOnly, StatusCode::kBusy});
  const bool holds =
      run.TakeSteps() && run.CheckAfterCrash(static_cast<uint64_t>(index)) && run.CheckAfterKill();
  if (holds) return std::nullopt;
  const std::string blow = "allocation " + std::to_string(index) + " fails" +
                           (sticky ? ", and all after it in its call" : "");
  return Finding{.reason = run.reason(), .blows = {blow}, .steps_taken = run.steps_taken()};
}

uint64_t AllocationsOf(const Workload& workload) {
  SimulatedDisk disk(workload.seed);
  PausingFileSystem files(&disk);
  FailingCalls calls(INT64_MAX, false);
  FaultRun run(workload, &disk, &files, &calls);
  run.TakeSteps();
  return calls.count();
}

class AllocationsSuite {
 public:
  explicit AllocationsSuite(const Plan& plan) : plan_(plan), timer_(plan.seconds) {
    for (Workload& workload : FixedWorkloads(plan.seed)) {
      for (const char* name : kWorkloads) {
        if (workload.name != name || (!plan.only.empty() && plan.only != name)) continue;
        workloads_.push_back(std::move(workload));
        break;
      }
    }
  }

  Report Run() {
    ShareWork([this](uint64_t item, size_t thread) { return Take(item, thread); });
    Report report;
    report.counts = {
        {"workloads", workloads_.size()}, {"allocations", allocations_}, {"runs", runs_}};
    report.failures = std::move(failures_);
    return report;
  }

 private:
  bool Take(uint64_t item, size_t thread) {
    if (item >= 2 * workloads_.size()) return false;
    const Workload& workload = workloads_[item / 2];
    const bool sticky = item % 2 == 0;
    const uint64_t count = AllocationsOf(workload);
    if (!sticky) allocations_ += count;
    const uint64_t step = plan_.seconds > 0 ? 1 : 1 + count / kSamples;
    // Which ones of them, the seed decides.
    for (uint64_t index = plan_.seed % step; index < count; index += step) {
      if (has_failed_ || timer_.is_over()) return false;
      watchdog_.Begin(thread, [&workload, index] {
        return "allocation " + std::to_string(index) + ": " + workload.Describe();
      });
      const auto finding = FindAt(workload, static_cast<int64_t>(index), sticky);
      watchdog_.End(thread);
      ++runs_;
      if (finding.has_value() && !has_failed_.exchange(true)) Fail(workload, *finding, sticky);
    }
    return true;
  }

  void Fail(const Workload& workload, const Finding& finding, bool sticky) {
    const auto find = [sticky](const Workload& smaller) -> std::optional<Finding> {
      const uint64_t count = AllocationsOf(smaller);
      for (uint64_t index = 0; index < count; ++index) {
        auto found = FindAt(smaller, static_cast<int64_t>(index), sticky);
        if (found.has_value()) return found;
      }
      return std::nullopt;
    };
    const Shrunk shrunk = Shrink(workload, finding, {.find = find});
    base::MutexLock lock(mutex_);
    failures_.push_back(shrunk.Describe("allocations", plan_, workload));
  }

  const Plan& plan_;
  std::vector<Workload> workloads_;
  const Timer timer_;
  Watchdog watchdog_{"allocations"};
  std::atomic<bool> has_failed_ = false;
  std::atomic<uint64_t> allocations_ = 0, runs_ = 0;
  base::Mutex mutex_;
  std::vector<std::string> failures_ GUARDED_BY(mutex_);
};

}  // namespace

Report RunAllocations(const Plan& plan) { return AllocationsSuite(plan).Run(); }

}  // namespace tandem::prove
