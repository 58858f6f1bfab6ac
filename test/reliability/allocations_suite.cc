// R7: an allocation that fails, at every index, alone and with all others of the same call or
// background job; by hand of all fixed workloads, then of random ones. Every call answers
// kOutOfMemory or succeeds, no job ends the process, and the database is sound afterwards.
#include <algorithm>
#include <atomic>
#include <iterator>
#include <string>

#include "base/random.h"
#include "test/allocations/allocations.h"
#include "test/reliability/fault_run.h"
#include "test/reliability/pausing_file_system.h"
#include "test/reliability/shrink.h"
#include "test/reliability/suites.h"
#include "test/reliability/watchdog.h"
#include "test/reliability/work_sharing.h"
#include "test/reliability/workload_source.h"

namespace tandem::reliability {
namespace {

using test::SimulatedDisk;

// Of each workload and kind of failure, in each CI run.
constexpr uint64_t kSamples = 1'250;
// By hand all of them, in this many passes over all workloads; then this many of each random one.
constexpr uint64_t kPasses = 32;
constexpr uint64_t kRandomSamples = 8;
constexpr std::string_view kWorkloads[] = {"index-updates",      "compaction", "table-creation",
                                           "background-flushes", "splits",     "merges-of-regions"};

/// Lets one allocation fail inside the calls and jobs of an engine, or from it on to the end of its
/// call or job.
class FailingCalls final : public CallGuard {
 public:
  FailingCalls(int64_t index, bool sticky) : index_(index), sticky_(sticky) {}

  void Begin() override {
    // What failed once for a whole call does so in no later one.
    if (has_struck_) return;
    test::ThisThreadsAllocations() = {.left = index_ - static_cast<int64_t>(count_),
                                      .sticky = sticky_};
  }
  void End() override {
    test::Allocations& allocations = test::ThisThreadsAllocations();
    has_struck_ = has_struck_ || allocations.has_failed;
    count_ += allocations.tried;
    allocations = {};
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
  const std::string fault = "allocation " + std::to_string(index) + " fails" +
                            (sticky ? ", and all after it in its call" : "");
  return Finding{.reason = run.reason(), .injected = {fault}, .steps_taken = run.steps_taken()};
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
  explicit AllocationsSuite(const Plan& plan) : plan_(plan), source_(plan), timer_(plan.seconds) {
    for (uint64_t i = 0; i < source_.fixed_count(); ++i) {
      Workload workload = *source_.At(i);
      const bool is_of_ci = std::count(std::begin(kWorkloads), std::end(kWorkloads), workload.name);
      if (by_hand() || is_of_ci || !plan.only.empty()) workloads_.push_back(std::move(workload));
    }
  }

  Report Run() {
    for (const Workload& workload : workloads_) counts_.push_back(AllocationsOf(workload));
    for (const uint64_t count : counts_) allocations_ += count;
    ShareWork([this](uint64_t item, size_t thread) { return Take(item, thread); });
    Report report;
    report.counts = {{"workloads", workloads_.size()},
                     {"allocations", allocations_},
                     {"runs", runs_},
                     {"of random workloads", random_}};
    base::MutexLock lock(mutex_);
    report.failures = std::move(failures_);
    return report;
  }

 private:
  bool by_hand() const { return plan_.seconds > 0; }

  // By hand every other item is a random workload.
  bool Take(uint64_t item, size_t thread) {
    if (!by_hand() || !plan_.only.empty()) return TakeSome(item, thread);
    return item % 2 == 0 ? TakeSome(item / 2, thread)
                         : TakeRandom(source_.Between(item / 2), thread);
  }

  bool TakeSome(uint64_t item, size_t thread) {
    const uint64_t kinds = 2 * workloads_.size();
    const uint64_t passes = by_hand() ? kPasses : 1;
    if (item >= kinds * passes) return by_hand() && TakeRandom(source_.At(item), thread);
    const Workload& workload = workloads_[item % kinds / 2];
    const uint64_t count = counts_[item % kinds / 2];
    const uint64_t step = by_hand() ? kPasses : 1 + count / kSamples;
    // Which ones of them come first, the seed decides.
    for (uint64_t index = (plan_.seed + item / kinds) % step; index < count; index += step) {
      if (!Try(workload, index, item % 2 == 0, thread)) return false;
    }
    return true;
  }

  bool TakeRandom(const std::optional<Workload>& workload, size_t thread) {
    if (!workload.has_value()) return false;
    const uint64_t count = AllocationsOf(*workload);
    const auto random = base::NewSeededRandom(workload->seed);
    for (uint64_t i = 0; i < kRandomSamples; ++i, ++random_) {
      if (!Try(*workload, random->Next64() % count, i % 2 == 0, thread)) return false;
    }
    return true;
  }

  // Whether to continue.
  bool Try(const Workload& workload, uint64_t index, bool sticky, size_t thread) {
    if (has_failed_ || timer_.is_over()) return false;
    watchdog_.Begin(thread, [&workload, index] {
      return "allocation " + std::to_string(index) + ": " + workload.Describe();
    });
    const auto finding = FindAt(workload, static_cast<int64_t>(index), sticky);
    watchdog_.End(thread);
    ++runs_;
    if (!finding.has_value()) return true;
    if (!has_failed_.exchange(true)) Fail(workload, *finding, sticky);
    return false;
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
  const WorkloadSource source_;
  const Timer timer_;
  std::vector<Workload> workloads_;
  std::vector<uint64_t> counts_;  // Allocations of each.
  Watchdog watchdog_{"allocations"};
  std::atomic<bool> has_failed_ = false;
  uint64_t allocations_ = 0;
  std::atomic<uint64_t> runs_ = 0, random_ = 0;
  base::Mutex mutex_;
  std::vector<std::string> failures_ GUARDED_BY(mutex_);
};

}  // namespace

Report RunAllocations(const Plan& plan) { return AllocationsSuite(plan).Run(); }

}  // namespace tandem::reliability
