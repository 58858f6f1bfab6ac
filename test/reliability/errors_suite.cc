// R6: an error at every operation of the disk, every call of the kernel and every completion of a
// ring, of every kind, once and for good. By hand also two of them in a run.
#include <array>
#include <atomic>
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

constexpr uint64_t kRuns = 20'000;
// Of one workload on one back end, by hand.
constexpr uint64_t kPairs = 400;
constexpr uint64_t kOneInSticky = 4;
// What only some operations can show strikes that much earlier, as it counts those alone.
constexpr uint64_t kShareOfSome = 3;
// So close to the first is every other second one.
constexpr uint64_t kNear = 4;

using Faults = std::vector<Fault>;

bool Happens(const FaultKind& kind, BackEnd back_end) {
  return kind.back_end == back_end || kind.back_end == BackEnd::kDisk;
}

/// Pairs of faults at random places.
class Pairs {
 public:
  Pairs(const Workload& workload, BackEnd back_end)
      : random_(base::NewSeededRandom(workload.seed * kBackEnds + static_cast<size_t>(back_end))) {
    FaultyFiles files(workload.seed, back_end);
    FaultRun run(workload, &files.disk(), &files.files());
    run.TakeSteps();
    for (const FaultKind& kind : FaultKinds()) {
      if (Happens(kind, back_end)) kinds_.push_back({&kind, files.CountFor(kind)});
    }
  }
  Faults Next() {
    const Fault first = NextFault();
    Fault second = NextFault();
    // What is tried again after the first one meets the second.
    if (Below(2) == 0) {
      second.kind = first.kind;
      second.at = first.at + Below(kNear);
    }
    return {first, second};
  }

 private:
  uint64_t Below(uint64_t limit) { return random_->Next64() % limit; }
  Fault NextFault() {
    const auto& [kind, count] = kinds_[Below(kinds_.size())];
    const uint64_t places = 1 + count / (Below(2) == 0 ? kShareOfSome : 1);
    return {.kind = kind, .at = 1 + Below(places), .sticky = Below(kOneInSticky) == 0};
  }

  const std::unique_ptr<base::RandomSource> random_;
  std::vector<std::pair<const FaultKind*, uint64_t>> kinds_;
};

class ErrorsSuite {
 public:
  explicit ErrorsSuite(const Plan& plan) : plan_(plan), source_(plan), timer_(plan.seconds) {}

  Report Run() {
    ShareWork([this](uint64_t item, size_t thread) { return Take(item, thread); });
    Report report;
    report.counts = {
        {"workloads", workloads_},           {"runs", runs_on_[0] + runs_on_[1] + runs_on_[2]},
        {"on simulated files", runs_on_[0]}, {"on POSIX calls", runs_on_[1]},
        {"on rings", runs_on_[2]},           {"with two faults", pairs_},
        {"that may not notice", passing_},   {"errors met", errors_}};
    base::MutexLock lock(mutex_);
    report.failures = std::move(failures_);
    return report;
  }

 private:
  using Find = std::optional<Finding> (ErrorsSuite::*)(const Workload&, BackEnd, size_t);

  bool by_hand() const { return plan_.seconds > 0; }
  uint64_t runs() const { return runs_on_[0] + runs_on_[1] + runs_on_[2]; }
  bool IsEnough() const { return by_hand() ? timer_.is_over() : runs() >= kRuns; }

  // By hand every other workload is a random one.
  bool Take(uint64_t item, size_t thread) {
    const bool is_between = by_hand() && plan_.only.empty() && item % 2 == 1;
    const uint64_t number = by_hand() && plan_.only.empty() ? item / 2 : item;
    const bool is_fixed = !is_between && source_.IsFixed(number);
    if (has_failed_ || (is_fixed ? timer_.is_over() : IsEnough())) return false;
    const auto workload = is_between ? source_.Between(number) : source_.At(number);
    if (!workload.has_value()) return false;
    ++workloads_;
    // By hand the places of random workloads are taken two at a time.
    const bool takes_pairs = by_hand() || !plan_.only.empty();
    const bool takes_each = is_fixed || !by_hand();
    for (const BackEnd back_end : {BackEnd::kDisk, BackEnd::kPosix, BackEnd::kRing}) {
      if (takes_each) Look(&ErrorsSuite::FindEach, *workload, back_end, thread);
      if (takes_pairs && back_end != BackEnd::kDisk) {
        Look(&ErrorsSuite::FindPair, *workload, back_end, thread);
      }
    }
    return true;
  }

  void Look(Find find, const Workload& workload, BackEnd back_end, size_t thread) {
    const auto on_back_end = [&](const Workload& some) {
      return (this->*find)(WorkloadFor(some, back_end), back_end, thread);
    };
    const std::optional<Finding> finding = on_back_end(workload);
    if (!finding.has_value() || has_failed_.exchange(true)) return;
    const Shrunk shrunk = Shrink(workload, *finding, {.find = on_back_end});
    base::MutexLock lock(mutex_);
    failures_.push_back(shrunk.Describe("errors", plan_, workload));
  }

  // Every kind of error at every operation, until no more operations are left to fail. In CI one
  // that happens once at every fifth operation, one that stays at the operation before it.
  std::optional<Finding> FindEach(const Workload& workload, BackEnd back_end, size_t thread) {
    for (const FaultKind& kind : FaultKinds()) {
      if (kind.back_end != back_end || (kind.is_for_pairs && !by_hand())) continue;
      for (const bool sticky : {false, true}) {
        const uint64_t step = by_hand() ? 1 : 5;
        Fault fault{.kind = &kind, .sticky = sticky};
        if (sticky) fault.at += step - 1;
        for (bool has_struck = true; has_struck && !timer_.is_over(); fault.at += step) {
          auto finding = Try(workload, back_end, {fault}, thread, &has_struck);
          if (finding.has_value()) return finding;
        }
      }
    }
    return std::nullopt;
  }

  std::optional<Finding> FindPair(const Workload& workload, BackEnd back_end, size_t thread) {
    Pairs pairs(workload, back_end);
    bool has_struck = false;
    for (uint64_t i = 0; i < kPairs && !timer_.is_over(); ++i, ++pairs_) {
      auto finding = Try(workload, back_end, pairs.Next(), thread, &has_struck);
      if (finding.has_value()) return finding;
    }
    return std::nullopt;
  }

  std::optional<Finding> Try(const Workload& workload, BackEnd back_end, const Faults& faults,
                             size_t thread, bool* has_struck) {
    std::vector<std::string> injected = {std::string("on ") + BackEndName(back_end)};
    for (const Fault& fault : faults) injected.push_back(fault.Describe());
    watchdog_.Begin(thread, [&workload, &injected] {
      std::string text;
      for (const std::string& fault : injected) text += fault + ": ";
      return text + workload.Describe();
    });
    std::optional<Finding> finding = RunWith(workload, back_end, faults, has_struck);
    watchdog_.End(thread);
    if (finding.has_value()) finding->injected = injected;
    return finding;
  }

  std::optional<Finding> RunWith(const Workload& workload, BackEnd back_end, const Faults& faults,
                                 bool* has_struck) {
    FaultyFiles files(workload.seed, back_end);
    FaultRun run(workload, &files.disk(), &files.files());
    bool passes = true;
    for (const Fault& fault : faults) {
      files.Inject(fault);
      passes = passes && fault.passes();
    }
    if (passes) run.RequireSuccess();
    bool holds = run.TakeSteps();
    *has_struck = files.has_struck();
    holds = holds && run.CheckAfterCrash(faults[0].at);
    files.ClearFaults();
    holds = holds && run.CheckAfterReopening();
    ++runs_on_[static_cast<size_t>(back_end)];
    passing_ += passes ? 1 : 0;
    errors_ += run.failed_count();
    if (!holds) return Finding{.reason = run.reason(), .steps_taken = run.steps_taken()};
    if (files.open_count() == 0) return std::nullopt;
    return Finding{.reason = std::to_string(files.open_count()) + " descriptors stay open",
                   .steps_taken = run.steps_taken()};
  }

  const Plan& plan_;
  const WorkloadSource source_;
  const Timer timer_;
  Watchdog watchdog_{"errors"};
  std::atomic<bool> has_failed_ = false;
  std::array<std::atomic<uint64_t>, kBackEnds> runs_on_{};
  std::atomic<uint64_t> workloads_ = 0, pairs_ = 0, passing_ = 0, errors_ = 0;
  base::Mutex mutex_;
  std::vector<std::string> failures_ GUARDED_BY(mutex_);
};

}  // namespace

Report RunErrors(const Plan& plan) { return ErrorsSuite(plan).Run(); }

}  // namespace tandem::reliability
