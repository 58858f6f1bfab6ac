// See crash_states.h.
#include "test/reliability/crash_states.h"

#include <algorithm>

#include "test/reliability/oracle.h"
#include "test/reliability/runner.h"

namespace tandem::reliability {
namespace {

using test::CrashPolicy;
using test::DiskEvent;
using test::DiskOperation;
using test::PendingEffect;
using test::SimulatedDisk;
using Kept = CrashPolicy::Kept;

constexpr size_t kDepthMax = 3;
constexpr uint64_t kRandomPolicies = 8;
constexpr size_t kShownEffects = 12;
// One state in this many is checked right after recovery.
constexpr uint64_t kKeptEvery = 4;

// What changes nothing leaves no other state than the operation before it.
bool Changes(const DiskEvent& event) {
  return event.operation != DiskOperation::kRead && event.operation != DiskOperation::kList &&
         event.operation != DiskOperation::kOpen;
}

std::string DescribeCrash(const SimulatedDisk& disk, const CrashPolicy& policy,
                          const std::string& where) {
  std::string text = "crash " + where + ", kept: " + test::Describe(policy);
  const std::vector<PendingEffect> effects = disk.PendingEffects();
  for (size_t i = 0; i < std::min(effects.size(), kShownEffects); ++i) {
    text += "\n    pending " + std::to_string(i) + ": " + test::Describe(effects[i]);
  }
  if (effects.size() > kShownEffects) {
    text += "\n    and " + std::to_string(effects.size() - kShownEffects) + " more";
  }
  return text;
}

// The last write that is pending, torn in several ways.
void AddTorn(const std::vector<PendingEffect>& effects, std::vector<CrashPolicy>* policies) {
  for (uint64_t at = effects.size(); at-- > 0;) {
    if (effects[at].kind != PendingEffect::Kind::kBytes) continue;
    for (const uint32_t unit : {512u, 16u}) {
      policies->push_back({.kept = Kept::kTorn, .at = at, .unit_bytes = unit, .units = 1});
      policies->push_back({.kept = Kept::kTorn, .at = at, .unit_bytes = unit, .units = ~1ull});
    }
    policies->push_back({.kept = Kept::kTornAmongAll, .at = at, .units = 0x5555'5555'5555'5555});
    return;
  }
}

}  // namespace

void CrashCounts::Add(const CrashCounts& other) {
  operations += other.operations;
  states += other.states;
  distinct += other.distinct;
  nested += other.nested;
}

std::optional<Finding> FindByCrash(const Workload& workload, const CrashSettings& settings) {
  CrashSettings simple = settings;
  simple.nest_every = 0;
  std::optional<Finding> finding = CrashEnumerator(workload, simple).Run();
  if (finding.has_value()) return finding;
  return CrashEnumerator(workload, settings).Run();
}

std::vector<CrashPolicy> CrashPolicies(const SimulatedDisk& disk, uint64_t seed) {
  // The one that keeps all comes first: it demands most.
  std::vector<CrashPolicy> policies = {{.kept = Kept::kAll}, {.kept = Kept::kNone}};
  const std::vector<PendingEffect> effects = disk.PendingEffects();
  for (uint64_t at = 0; at < effects.size(); ++at) {
    if (at > 0) policies.push_back({.kept = Kept::kPrefix, .at = at});
    policies.push_back({.kept = Kept::kOnly, .at = at});
    policies.push_back({.kept = Kept::kAllBut, .at = at});
  }
  AddTorn(effects, &policies);
  for (uint64_t i = 0; i < kRandomPolicies && effects.size() > 1; ++i) {
    policies.push_back({.kept = Kept::kRandom, .seed = seed * kRandomPolicies + i});
  }
  return policies;
}

// Inside a recovery a few choices have to do, or there would be no end.
std::vector<CrashPolicy> CrashEnumerator::PoliciesAt(const Place& place) {
  const uint64_t seed = workload_.seed * 1'000'000 + counts_.states;
  if (place.depth == 0) return CrashPolicies(*place.disk, seed);
  const uint64_t pending = place.disk->pending_count();
  if (pending == 0) return {{.kept = Kept::kAll}};
  const CrashPolicy random{.kept = Kept::kRandom, .seed = seed};
  if (place.depth == 1) {
    return {{.kept = Kept::kNone},
            {.kept = Kept::kAll},
            {.kept = Kept::kAllBut, .at = seed % pending},
            random};
  }
  const CrashPolicy all{.kept = Kept::kAll}, none{.kept = Kept::kNone};
  return {seed % 3 == 0 ? all : seed % 3 == 1 ? none : random};
}

/// What a machine's engine sees of a disk.
class CrashEnumerator::Surface {
 public:
  Surface(const CrashSettings& settings, SimulatedDisk* disk) : disk_(disk) {
    if (settings.over) over_ = settings.over(disk);
  }
  base::FileSystem* files() { return over_ != nullptr ? over_.get() : disk_; }

 private:
  SimulatedDisk* disk_;
  std::unique_ptr<base::FileSystem> over_;
};

// The ids that an engine draws differ from those of all before it on the same disk, and are the
// same at every crash of the same depth, so that states which differ in nothing else count once.
Machine::Setup CrashEnumerator::SetupOf(base::FileSystem* files, size_t depth) {
  return {.files = files,
          .tuning = workload_.tuning,
          .seed = workload_.seed * 10 + depth,
          .wall_micros = now_micros_};
}

std::optional<Finding> CrashEnumerator::Run() {
  SimulatedDisk disk(workload_.seed);
  history_.emplace(workload_);
  disk.control().SetHook([&](const DiskEvent& event) {
    if (!Changes(event)) return;
    ++counts_.operations;
    if (machine_ != nullptr) history_->UnderWay(machine_->clock().WallMicros());
    const std::string where =
        "before operation " + std::to_string(counts_.operations) + ", " + test::Describe(event);
    AtOperation({&disk, 0, false}, where);
  });
  TakeSteps(&disk);
  disk.control().SetHook(nullptr);
  return finding_;
}

void CrashEnumerator::TakeSteps(SimulatedDisk* disk) {
  Surface surface(settings_, disk);
  Machine machine(SetupOf(surface.files(), 0));
  machine_ = &machine;
  Runner runner(workload_, &machine, &*history_);
  for (const Step& step : workload_.steps) {
    if (finding_.has_value() || settings_.is_over()) break;
    ++steps_taken_;
    now_micros_ = machine.clock().WallMicros() + 1000;
    const Status status = runner.Take(step);
    now_micros_ = machine.clock().WallMicros() + 1000;
    if (!status.ok() && !finding_.has_value()) {
      finding_ = {"the step fails: " + status.ToString(), {}, steps_taken_};
    }
    AtOperation({disk, 0, false}, "after step " + std::to_string(steps_taken_));
  }
  disk->KillProcess();
  machine_ = nullptr;
}

bool CrashEnumerator::IsNew(const SimulatedDisk& crashed, bool killed) {
  const uint64_t key = crashed.ImageHash() + history_->demand() * 0x9e37'79b9'7f4a'7c15;
  if (!killed) return seen_.insert(key).second;
  seen_.insert(key);
  return seen_.insert(~key).second;
}

void CrashEnumerator::AtOperation(const Place& place, const std::string& where) {
  if (finding_.has_value() || settings_.is_over()) return;
  for (const CrashPolicy& policy : PoliciesAt(place)) {
    // Of the first crashes the one that keeps all is the end of the process alone: what was not
    // durable is not after it, and a recovery has to make it so.
    const bool killed = policy.kept == Kept::kAll && (place.depth == 0 || place.killed);
    const bool is_kill = killed && place.depth == 0;
    const auto crashed = is_kill ? place.disk->KilledCopy() : place.disk->CrashedCopy(policy);
    ++counts_.states;
    if (!IsNew(*crashed, killed)) continue;
    ++counts_.distinct;
    if (place.depth > 0) ++counts_.nested;
    std::string reason = Recover({crashed.get(), place.depth + 1, killed});
    if (!reason.empty() && !finding_.has_value()) finding_ = {std::move(reason), {}, steps_taken_};
    if (!finding_.has_value()) continue;
    finding_->injected.insert(finding_->injected.begin(),
                              DescribeCrash(*place.disk, policy, where));
    return;
  }
}

std::string CrashEnumerator::Recover(const Place& place) {
  Surface surface(settings_, place.disk);
  Machine machine(SetupOf(surface.files(), place.depth));
  const bool nests = place.depth < kDepthMax && settings_.nest_every > 0 &&
                     counts_.distinct % settings_.nest_every == 0;
  uint64_t operation = 0;
  if (nests) {
    place.disk->control().SetHook([&](const DiskEvent& event) {
      if (!Changes(event)) return;
      const std::string where = "inside recovery " + std::to_string(place.depth) +
                                ", before its operation " + std::to_string(++operation) + ", " +
                                test::Describe(event);
      AtOperation(place, where);
    });
  }
  const Status status = machine.Open();
  place.disk->control().SetHook(nullptr);
  std::string reason;
  if (finding_.has_value()) {
    // Found deeper inside.
  } else if (!status.ok()) {
    reason = "does not open: " + status.ToString();
  } else {
    if (counts_.distinct % kKeptEvery == 0) reason = CheckKept(place.disk, &machine);
    const Expectation expectation{
        .workload = &workload_, .history = &*history_, .killed = place.killed};
    if (reason.empty()) reason = Examine(&machine, expectation);
  }
  place.disk->KillProcess();  // Nobody waits for a clean end.
  return reason;
}

// What a recovery kept it keeps for good: one more power cut right after it takes nothing.
std::string CrashEnumerator::CheckKept(SimulatedDisk* disk, Machine* machine) {
  const auto crashed = disk->CrashedCopy({.kept = Kept::kNone});
  Surface surface(settings_, crashed.get());
  Machine again(SetupOf(surface.files(), kDepthMax + 1));
  const Status status = again.Open();
  if (!status.ok()) return "does not open once more: " + status.ToString();
  const Result<Content> first = ReadContent(&machine->engine(), workload_.tables);
  const Result<Content> second = ReadContent(&again.engine(), workload_.tables);
  std::string reason;
  if (!first.has_value()) reason = first.error().ToString();
  if (!second.has_value()) reason = second.error().ToString();
  for (size_t i = 0; reason.empty() && i < workload_.tables.size(); ++i) {
    const std::string& table = workload_.tables[i].name;
    const bool exists = first->contains(table);
    if (exists == second->contains(table) && (!exists || first->at(table) == second->at(table))) {
      continue;
    }
    reason = "what recovery kept of " + table + " is gone after a power cut right after it";
  }
  crashed->KillProcess();
  return reason;
}

}  // namespace tandem::reliability
