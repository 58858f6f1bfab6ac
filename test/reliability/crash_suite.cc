// R1: the states that a crash can leave. All fixed workloads, then random ones until there are
// enough distinct states or the time is up. A failure is shrunk to fewer steps.
#include <atomic>
#include <string>

#include "base/clock.h"
#include "test/reliability/crash_states.h"
#include "test/reliability/shrink.h"
#include "test/reliability/suites.h"
#include "test/reliability/work_sharing.h"
#include "test/reliability/workload_source.h"

namespace tandem::reliability {
namespace {

constexpr uint64_t kStates = 60'000;

class CrashSuite {
 public:
  explicit CrashSuite(const Plan& plan) : plan_(plan), source_(plan), timer_(plan.seconds) {}

  Report Run() {
    ShareWork([this](uint64_t item, size_t) { return Take(item); });
    base::MutexLock lock(mutex_);
    Report report;
    report.counts = {{"workloads", workloads_},
                     {"operations", counts_.operations},
                     {"states", counts_.states},
                     {"distinct", counts_.distinct},
                     {"nested", counts_.nested}};
    report.failures = std::move(failures_);
    return report;
  }

 private:
  // Whether there is more to do.
  bool Take(uint64_t item) {
    const bool is_fixed = source_.IsFixed(item);
    if (has_failed_ || (is_fixed ? timer_.is_over() : IsEnough())) return false;
    const std::optional<Workload> found = source_.At(item);
    if (!found.has_value()) return false;
    const Workload& workload = *found;
    CrashSettings settings;
    settings.is_over = [this] { return has_failed_ || timer_.is_over(); };
    CrashEnumerator enumerator(workload, settings);
    const std::optional<Finding> finding = enumerator.Run();
    base::MutexLock lock(mutex_);
    ++workloads_;
    counts_.Add(enumerator.counts());
    distinct_ = counts_.distinct;
    if (finding.has_value() && !has_failed_.exchange(true)) Fail(workload, *finding);
    return true;
  }

  bool IsEnough() const { return plan_.seconds > 0 ? timer_.is_over() : distinct_ >= kStates; }

  void Fail(const Workload& workload, const Finding& finding) REQUIRES(mutex_) {
    const Shrunk shrunk = Shrink(workload, finding, {.find = [](const Workload& smaller) {
                                   return FindByCrash(smaller, CrashSettings());
                                 }});
    failures_.push_back(shrunk.Describe("crash", plan_, workload));
  }

  const Plan& plan_;
  const WorkloadSource source_;
  const Timer timer_;
  std::atomic<bool> has_failed_ = false;
  std::atomic<uint64_t> distinct_ = 0;
  base::Mutex mutex_;
  uint64_t workloads_ GUARDED_BY(mutex_) = 0;
  CrashCounts counts_ GUARDED_BY(mutex_);
  std::vector<std::string> failures_ GUARDED_BY(mutex_);
};

}  // namespace

Report RunCrash(const Plan& plan) { return CrashSuite(plan).Run(); }

}  // namespace tandem::reliability
