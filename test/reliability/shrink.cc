// See shrink.h.
#include "test/reliability/shrink.h"

#include <algorithm>
#include <utility>

#include "test/reliability/work_sharing.h"
#include "tools/simulation/minimize.h"

namespace tandem::reliability {
namespace {

class Shrinker {
 public:
  explicit Shrinker(const ShrinkPlan& plan) : find_(plan.find), timer_(plan.seconds) {}

  Shrunk Run(const Workload& workload, const Finding& finding) {
    shrunk_.workload = workload;
    shrunk_.finding = finding;
    // A step that fails although nothing was done is no matter of what can be left out.
    if (finding.injected.empty()) return std::move(shrunk_);
    CutBehind();
    while (CutSteps() || CutOperations()) {
    }
    return std::move(shrunk_);
  }

 private:
  // What comes after the failure is not needed.
  void CutBehind() {
    Workload shorter = shrunk_.workload;
    const uint64_t taken = std::max<uint64_t>(1, shrunk_.finding.steps_taken);
    shorter.steps.resize(std::min<size_t>(shorter.steps.size(), taken));
    Fails(shorter);
  }

  bool CutSteps() {
    const std::vector<Step> whole = shrunk_.workload.steps;
    // Without its table a write says nothing.
    const auto tables = std::ranges::count(whole, Step::Kind::kCreateTable, &Step::kind);
    test::Minimize(whole, [&](const std::vector<Step>& part) {
      if (std::ranges::count(part, Step::Kind::kCreateTable, &Step::kind) < tables) return false;
      Workload without = shrunk_.workload;
      without.steps = part;
      return Fails(without);
    });
    return shrunk_.workload.steps.size() < whole.size();
  }

  bool CutOperations() {
    bool smaller = false;
    for (size_t i = 0; i < shrunk_.workload.steps.size(); ++i) {
      const auto whole = shrunk_.workload.steps[i].batch;
      test::Minimize(whole, [&](const auto& part) {
        if (part.empty()) return false;
        Workload without = shrunk_.workload;
        without.steps[i].batch = part;
        return Fails(without);
      });
      smaller |= shrunk_.workload.steps[i].batch.size() < whole.size();
    }
    return smaller;
  }

  // Takes it over if it does.
  bool Fails(const Workload& workload) {
    if (timer_.is_over()) return false;
    ++shrunk_.attempts;
    std::optional<Finding> finding = find_(workload);
    // A step that fails because another one was left out is another matter.
    if (!finding.has_value() || finding->injected.empty()) return false;
    shrunk_.workload = workload;
    shrunk_.finding = *std::move(finding);
    return true;
  }

  const std::function<std::optional<Finding>(const Workload&)> find_;
  const Timer timer_;
  Shrunk shrunk_;
};

}  // namespace

std::string Shrunk::Describe(std::string_view suite, const Plan& plan,
                             const Workload& whole) const {
  std::string text = finding.Describe(workload);
  text.append("\n  again: build/reliability ").append(suite);
  text.append(" --seed " + std::to_string(plan.seed) + " --only " + whole.name);
  // What only runs by hand do, only such a one shows again.
  if (plan.seconds > 0) text += " --seconds " + std::to_string(static_cast<uint64_t>(plan.seconds));
  return text;
}

Shrunk Shrink(const Workload& workload, const Finding& finding, const ShrinkPlan& plan) {
  return Shrinker(plan).Run(workload, finding);
}

}  // namespace tandem::reliability
