// See shrink.h.
#include "test/prove/shrink.h"

#include <algorithm>
#include <utility>

#include "test/prove/work_sharing.h"

namespace tandem::prove {
namespace {

class Shrinker {
 public:
  explicit Shrinker(const ShrinkPlan& plan) : settings_(plan.settings), timer_(plan.seconds) {}

  Shrunk Run(const Workload& workload, const Finding& finding) {
    shrunk_.workload = workload;
    shrunk_.finding = finding;
    if (finding.crashes.empty()) return std::move(shrunk_);
    const auto stop = settings_.is_over;
    settings_.is_over = [this, stop] { return timer_.is_over() || stop(); };
    CutBehind();
    FindSimplest();
    for (bool smaller = true; smaller && !timer_.is_over();) smaller = CutOne();
    return std::move(shrunk_);
  }

 private:
  // Whether one crash is enough for it.
  void FindSimplest() {
    const uint64_t nest_every = std::exchange(settings_.nest_every, 0);
    if (!Fails(shrunk_.workload)) settings_.nest_every = nest_every;
  }

  // What comes behind the failure is not needed.
  void CutBehind() {
    Workload shorter = shrunk_.workload;
    shorter.steps.resize(std::min<size_t>(shorter.steps.size(), shrunk_.finding.steps_taken));
    Fails(shorter);
  }

  bool CutOne() {
    for (size_t i = shrunk_.workload.steps.size(); i-- > 0;) {
      Workload without = shrunk_.workload;
      without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(i));
      if (Fails(without)) return true;
    }
    for (size_t i = 0; i < shrunk_.workload.steps.size(); ++i) {
      for (size_t j = 0; shrunk_.workload.steps[i].batch.size() > 1; ++j) {
        if (j == shrunk_.workload.steps[i].batch.size()) break;
        Workload without = shrunk_.workload;
        auto& batch = without.steps[i].batch;
        batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(j));
        if (Fails(without)) return true;
      }
    }
    return false;
  }

  // Takes it over if it does.
  bool Fails(const Workload& workload) {
    if (timer_.is_over()) return false;
    ++shrunk_.attempts;
    CrashEnumerator enumerator(workload, settings_);
    std::optional<Finding> finding = enumerator.Run();
    // Steps that fail because another one is left out are no crash's fault.
    if (!finding.has_value() || finding->crashes.empty()) return false;
    shrunk_.workload = workload;
    shrunk_.finding = *std::move(finding);
    return true;
  }

  CrashSettings settings_;
  const Timer timer_;
  Shrunk shrunk_;
};

}  // namespace

Shrunk Shrink(const Workload& workload, const Finding& finding, const ShrinkPlan& plan) {
  return Shrinker(plan).Run(workload, finding);
}

}  // namespace tandem::prove
