// See fault_run.h.
#include "test/reliability/fault_run.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "test/reliability/oracle.h"

namespace tandem::reliability {
namespace {

using test::CrashPolicy;
using test::SimulatedDisk;

constexpr int64_t kLaterMicros = 10'000'000;

Machine::Setup SetupOf(const Workload& workload, base::FileSystem* files, uint64_t life,
                       CallGuard* guard = nullptr) {
  return {.files = files,
          .tuning = workload.tuning,
          .seed = workload.seed * 10 + life,
          .wall_micros = kFirstMicros + static_cast<int64_t>(life) * kLaterMicros,
          .guard = guard};
}

}  // namespace

FaultRun::FaultRun(const Workload& workload, SimulatedDisk* disk, base::FileSystem* files,
                   CallGuard* guard)
    : workload_(workload),
      disk_(*disk),
      files_(*files),
      machine_(SetupOf(workload, files, 0, guard)),
      history_(workload),
      runner_(workload, &machine_, &history_) {}

bool FaultRun::Fail(const std::string& reason) {
  if (reason_.empty()) reason_ = reason;
  return false;
}

// A table that could not be created is not found, and one that was and could not say so exists.
bool FaultRun::IsAllowed(const Status& status) const {
  const StatusCode code = status.code();
  if (requires_success_) return status.ok();
  return status.ok() || code == StatusCode::kNotFound || code == StatusCode::kAlreadyExists ||
         std::count(allowed_.begin(), allowed_.end(), code) > 0;
}

void FaultRun::WatchMerges() {
  watch_ = std::make_shared<MergeWatch>(&disk_);
  machine_.Hear(watch_);
}

bool FaultRun::TakeSteps() {
  for (const Step& step : workload_.steps) {
    ++steps_taken_;
    if (!Take(step)) return false;
  }
  return true;
}

bool FaultRun::Take(const Step& step) {
  const bool was_open = machine_.is_open();
  Status status = was_open ? Status() : machine_.Open();
  if (status.ok()) {
    has_opened_ = true;
    // What an earlier life left is known before anything is added to it.
    if (!was_open) is_unknown_ = steps_taken_ > 1;
    if (!Adopt()) return false;
    if (!is_unknown_) status = runner_.Take(step);
  }
  // A close that cannot end well ends all the same, and says so.
  const bool closed_uncleanly = !requires_success_ && step.kind == Step::Kind::kReopen &&
                                !machine_.is_open() && status.code() == StatusCode::kIoError;
  if (!IsAllowed(status) && !closed_uncleanly) {
    return Fail("step " + std::to_string(steps_taken_) + " answers " + status.ToString());
  }
  if (!status.ok() || is_unknown_) {
    failed_.push_back(step);
    last_failure_ = status;
  }
  return CheckLive();
}

// A database that was opened after an unclean end shows a state that is allowed, and keeps it.
bool FaultRun::Adopt() {
  if (!is_unknown_) return true;
  const Result<Content> content = ReadContent(&machine_.engine(), workload_.tables);
  if (!content.has_value()) {
    return IsAllowed(content.status()) || Fail("a read answers " + content.status().ToString());
  }
  const std::string reason = history_.Contradiction(*content, false);
  if (!reason.empty()) return Fail("opened again: " + reason);
  history_.Recovered(*content);
  history_.Found(machine_.engine().Info().tables);
  is_unknown_ = false;
  return true;
}

bool FaultRun::CheckLive() {
  if (watch_ != nullptr && !watch_->reason().empty()) return Fail(watch_->reason());
  if (!machine_.is_open() || is_unknown_) return true;
  const Result<Content> content = ReadContent(&machine_.engine(), workload_.tables);
  const std::string where = "after step " + std::to_string(steps_taken_) + ": ";
  if (!content.has_value()) {
    if (!requires_reads_ && IsAllowed(content.status())) return true;
    return Fail(where + "a read answers " + content.status().ToString());
  }
  std::string reason = history_.LiveContradiction(*content);
  const auto snapshots = ReadSnapshots(&machine_.engine(), workload_.tables);
  if (!snapshots.has_value()) {
    if (!requires_reads_ && IsAllowed(snapshots.status())) return true;
    return Fail(where + "a read of a snapshot answers " + snapshots.status().ToString());
  }
  if (reason.empty()) reason = history_.SnapshotContradiction(*snapshots);
  return reason.empty() || Fail(where + reason);
}

std::string FaultRun::ExamineOn(base::FileSystem* files, bool killed) {
  Machine again(SetupOf(workload_, files, 1));
  const Status status = again.Open();
  if (!status.ok()) return "does not open: " + status.ToString();
  return Examine(&again, {.workload = &workload_, .history = &history_, .killed = killed});
}

bool FaultRun::CheckAfterCrash(uint64_t seed) {
  constexpr CrashPolicy::Kept kKept[] = {CrashPolicy::Kept::kNone, CrashPolicy::Kept::kAll,
                                         CrashPolicy::Kept::kRandom};
  CrashPolicy policy{.kept = kKept[seed % 3], .seed = seed};
  if (!has_reservations_ && !has_opened_) policy.unwritten = CrashPolicy::Unwritten::kZeros;
  const auto crashed = disk_.CrashedCopy(policy);
  const std::string reason = ExamineOn(crashed.get(), false);
  return reason.empty() || Fail("after a power cut: " + reason);
}

bool FaultRun::CheckAfterReopening() {
  machine_.LetGo();
  const std::string reason = ExamineOn(&files_, false);
  return reason.empty() || Fail("opened on a disk that works again: " + reason);
}

bool FaultRun::RepeatFailed() {
  for (const Step& step : std::exchange(failed_, {})) {
    if (!Take(step)) return false;
    if (failed_.empty()) continue;
    // Steps are repeated after later ones that went through: a unique value that one of these took
    // out may be back.
    const bool is_duplicate = last_failure_.code() == StatusCode::kAlreadyExists &&
                              last_failure_.message().find("unique index") != std::string::npos;
    if (is_duplicate) {
      failed_.clear();
      continue;
    }
    return Fail("still fails when the trouble is over: " + step.Describe() + " answers " +
                last_failure_.ToString());
  }
  return true;
}

bool FaultRun::CheckAfterKill() {
  disk_.KillProcess();
  machine_.LetGo();
  const std::string reason = ExamineOn(&files_, true);
  return reason.empty() || Fail("after a kill: " + reason);
}

}  // namespace tandem::reliability
