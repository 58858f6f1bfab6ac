// R6: an error at every operation of the disk, of every kind, once and for good.
#include <atomic>
#include <string>

#include "test/prove/fault_run.h"
#include "test/prove/shrink.h"
#include "test/prove/suites.h"
#include "test/prove/watchdog.h"
#include "test/prove/work_sharing.h"

namespace tandem::prove {
namespace {

using test::DiskFault;
using test::DiskOperation;
using test::SimulatedDisk;
using test::SyncFailure;

constexpr uint64_t kRuns = 20'000;

struct FaultKind {
  const char* name;
  DiskFault fault;
};

Status Injected(StatusCode code) {
  return code == StatusCode::kNoSpace ? Status::NoSpace("injected: no space left on the disk")
                                      : Status::IoError("injected: the disk answers with an error");
}

std::vector<FaultKind> FaultKinds() {
  const std::vector<DiskOperation> growing = {DiskOperation::kWrite, DiskOperation::kPreallocate,
                                              DiskOperation::kCreate, DiskOperation::kDataSync};
  const std::vector<DiskOperation> opening = {DiskOperation::kOpen, DiskOperation::kCreate};
  const std::vector<DiskOperation> syncing = {DiskOperation::kDataSync};
  return {
      {"EIO", {.status = Injected(StatusCode::kIoError)}},
      {"EIO after a part", {.partly = true, .status = Injected(StatusCode::kIoError)}},
      {"ENOSPC", {.operations = growing, .status = Injected(StatusCode::kNoSpace)}},
      {"ENOSPC after a part",
       {.operations = growing, .partly = true, .status = Injected(StatusCode::kNoSpace)}},
      {"EMFILE",
       {.operations = opening, .status = Status::IoError("injected: too many open files")}},
      {"a sync that reverts", {.operations = syncing, .sync_failure = SyncFailure::kReverted}},
      {"a sync that fails once a handle",
       {.operations = syncing, .sync_failure = SyncFailure::kOncePerHandle}},
  };
}

std::string Describe(const FaultKind& kind, const DiskFault& fault) {
  std::string text = kind.name;
  text += fault.sticky ? ", from operation " : ", at operation ";
  text += std::to_string(fault.at);
  if (!fault.operations.empty()) text += " of those that can fail so";
  return text + (fault.sticky ? " on" : "");
}

class ErrorsSuite {
 public:
  explicit ErrorsSuite(const Plan& plan)
      : plan_(plan), fixed_(FixedWorkloads(plan.seed)), timer_(plan.seconds) {}

  Report Run() {
    ShareWork([this](uint64_t item, size_t thread) { return Take(item, thread); });
    Report report;
    report.counts = {{"workloads", workloads_}, {"runs", runs_}, {"errors met", errors_}};
    report.failures = std::move(failures_);
    return report;
  }

 private:
  bool IsEnough() const {
    return plan_.seconds > 0 ? timer_.is_over() : runs_ >= kRuns || !plan_.only.empty();
  }

  bool Take(uint64_t item, size_t thread) {
    const bool is_fixed = item < fixed_.size();
    if (has_failed_ || (is_fixed ? timer_.is_over() : IsEnough())) return false;
    const Workload workload =
        is_fixed ? fixed_[item] : RandomWorkload(plan_.seed * 1'000'000 + item);
    if (!plan_.only.empty() && workload.name != plan_.only) return is_fixed;
    const std::optional<Finding> finding = Find(workload, thread);
    ++workloads_;
    if (!finding.has_value() || has_failed_.exchange(true)) return true;
    const Shrunk shrunk =
        Shrink(workload, *finding,
               {.find = [this, thread](const Workload& smaller) { return Find(smaller, thread); }});
    base::MutexLock lock(mutex_);
    failures_.push_back(shrunk.Describe("errors", plan_, workload));
    return true;
  }

  // Every kind of error at every operation, until no more operations are left to fail.
  std::optional<Finding> Find(const Workload& workload, size_t thread) {
    for (const FaultKind& kind : kinds_) {
      for (const bool sticky : {false, true}) {
        DiskFault fault = kind.fault;
        fault.sticky = sticky;
        for (bool has_struck = true; has_struck && !timer_.is_over(); ++fault.at) {
          watchdog_.Begin(thread, [&workload, text = Describe(kind, fault)] {
            return text + ": " + workload.Describe();
          });
          std::optional<Finding> finding = RunWith(workload, fault, &has_struck);
          watchdog_.End(thread);
          if (!finding.has_value()) continue;
          finding->blows = {Describe(kind, fault)};
          return finding;
        }
      }
    }
    return std::nullopt;
  }

  std::optional<Finding> RunWith(const Workload& workload, const DiskFault& fault,
                                 bool* has_struck) {
    SimulatedDisk disk(workload.seed);
    // Both back ends: reads of several blocks go through queues, here those of the production over
    // rings that cut them short, reorder and refuse.
    if (fault.at % 2 == 1) disk.UseRings();
    disk.control().InjectFault(fault);
    FaultRun run(workload, &disk, &disk);
    bool holds = run.TakeSteps();
    *has_struck = disk.control().has_struck();
    holds = holds && run.CheckAfterCrash(fault.at);
    disk.control().ClearFaults();
    holds = holds && run.CheckAfterReopening();
    ++runs_;
    errors_ += run.failed_count();
    if (holds) return std::nullopt;
    return Finding{.reason = run.reason(), .steps_taken = run.steps_taken()};
  }

  const Plan& plan_;
  const std::vector<Workload> fixed_;
  const std::vector<FaultKind> kinds_ = FaultKinds();
  const Timer timer_;
  Watchdog watchdog_{"errors"};
  std::atomic<bool> has_failed_ = false;
  std::atomic<uint64_t> workloads_ = 0, runs_ = 0, errors_ = 0;
  base::Mutex mutex_;
  std::vector<std::string> failures_ GUARDED_BY(mutex_);
};

}  // namespace

Report RunErrors(const Plan& plan) { return ErrorsSuite(plan).Run(); }

}  // namespace tandem::prove
