// Runs of scripts: one database after the other from one seed, and again from a file.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/status_macros.h"
#include "tools/generator/dice.h"
#include "tools/simulation/minimize.h"
#include "tools/stress/finding.h"
#include "tools/stress/generator.h"
#include "tools/stress/hangs.h"
#include "tools/stress/kept_files.h"
#include "tools/stress/session.h"
#include "tools/stress/stress.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using tools::Format;

constexpr uint64_t kStepsOfScript = 2000;
constexpr uint64_t kRowsOfSeed[] = {20, 60, 120, 250};
constexpr size_t kTriesMax = 3000;

std::string HashText(uint64_t hash) { return Format("{:016x}", hash); }

std::vector<std::pair<std::string, uint64_t>> Table(const SessionCounts& counts,
                                                    uint64_t databases) {
  return {{"databases", databases},
          {"steps", counts.steps},
          {"operations", counts.operations},
          {"checks", counts.checks},
          {"kills", counts.kills},
          {"power_cuts", counts.crashes},
          {"recoveries_cut", counts.recoveries_cut},
          {"faults_struck", counts.faults_struck},
          {"full_disks", counts.full_disks},
          {"resumed", counts.resumed},
          {"writes_failed", counts.writes_failed},
          {"index_changes", counts.index_changes},
          {"observer_changes", counts.observer_changes},
          {"observed_writes", counts.observed_writes},
          {"bulk_loads", counts.bulk_loads},
          {"truncations", counts.truncations},
          {"tables_dropped", counts.drops},
          {"tables_created", counts.creations},
          {"tables_renamed", counts.renames},
          {"named_snapshots", counts.named_snapshots},
          {"snapshots_dropped", counts.snapshot_drops},
          {"snapshots_checked", counts.snapshot_checks},
          {"changes_failed", counts.changes_failed}};
}

/// What is wrong, where, and how to see it again.
std::string FindingText(const Script& script, const SessionResult& result,
                        const std::string& file) {
  std::string text;
  if (result.step < script.steps.size()) {
    const Step& step = script.steps[result.step];
    text = Format("step {} of {}, line {} of {}:\n  {}\n", result.step + 1, script.steps.size(),
                  step.line, file, Print(step));
  } else {
    text = Format("before the first step of {}:\n", file);
  }
  return text + std::string(StatusCodeName(result.finding.code())) + ": " +
         std::string(result.finding.message()) + "\n";
}

/// A disk of this machine that is full says nothing about the database.
bool IsOfMachine(Mode mode, const SessionResult& result) {
  return mode == Mode::kPlain && result.finding.code() == StatusCode::kNoSpace;
}

/// A directory of its own for a replay on real files; it goes with its owner unless it is kept.
class ScratchDirectory {
 public:
  ScratchDirectory() = default;
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    if (!path_.empty()) RemoveTree(path_).Ignore("a directory of temporary files");
  }
  Status Make() {
    const char* const parent = std::getenv("TMPDIR");
    std::string path = std::string(parent == nullptr ? "/tmp" : parent) + "/tandem-replay-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) {
      return Status::IoError(path + ": no directory can be made there");
    }
    path_ = path;
    return {};
  }
  std::string Keep() { return std::exchange(path_, {}); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The watchdog over the steps of scripts of `file`.
std::unique_ptr<test::Watchdog> NewStepWatchdog(Mode mode, std::optional<int64_t> limit_micros,
                                                const std::string& file,
                                                const RunEnvironment& environment) {
  const bool is_real = mode == Mode::kPlain;
  return NewHangWatchdog(
      {.limit_micros = limit_micros.value_or(is_real ? kHangMicrosReal : kHangMicrosSimulated),
       .kept = Format("operations: {}\nagain: {} replay {}\n", file, environment.program, file)},
      environment);
}

/// What a replay runs with.
struct Means {
  const RunEnvironment& environment;
  test::Watchdog* watchdog = nullptr;
};

Result<SessionResult> RunAgain(const Script& script, const Means& means, std::string* kept_at) {
  SessionPlace place;
  place.is_interrupted = means.environment.is_interrupted;
  place.watchdog = means.watchdog;
  ScratchDirectory scratch;
  RETURN_IF_ERROR(scratch.Make());
  if (script.mode == Mode::kPlain) {
    place.directory = scratch.path() + "/db";
  } else {
    place.keep = scratch.path() + "/db";
  }
  auto result = RunScript(script, place);
  if (result.has_value() && !result->finding.ok() && kept_at != nullptr) {
    *kept_at = scratch.Keep() + "/db";
  }
  return result;
}

/// The shortest script that still shows a finding of the same code. Errors: of the harness.
Result<Script> Shrunk(Script script, const SessionResult& failed, const Means& means) {
  Status error;
  Script part = script;
  const auto fails = [&](const std::vector<Step>& steps) {
    if (!error.ok() || means.environment.is_interrupted()) return false;
    part.steps = steps;
    const auto again = RunAgain(part, means, nullptr);
    if (!again.has_value()) error = again.error();
    return again.has_value() && again->finding.code() == failed.finding.code();
  };
  script.steps.resize(std::min<size_t>(script.steps.size(), failed.step + 1));
  script.steps = test::Minimize(std::move(script.steps), fails, kTriesMax);
  if (!error.ok()) return error;
  return script;
}

}  // namespace

Result<Outcome> RunSimulated(const Setup& setup, const RunEnvironment& environment) {
  if (setup.keep_going) {
    return Status::InvalidArgument(
        "--keep-going needs a run of several threads: others begin a database of their own");
  }
  RETURN_IF_ERROR(MakeEmptyDirectory(setup.directory));
  const Mode mode = setup.kind == Kind::kCrash    ? Mode::kCrash
                    : setup.kind == Kind::kFaults ? Mode::kFaults
                                                  : Mode::kPlain;
  const std::string file = setup.directory + "/operations";
  const int64_t end = environment.clock->MonotonicMicros() + setup.duration_micros;
  const auto watchdog = NewStepWatchdog(mode, setup.hang_limit_micros, file, environment);
  SessionCounts counts;
  uint64_t databases = 0, trace = 0;
  Outcome outcome;
  while (true) {
    const uint64_t left = setup.operations == 0 ? kStepsOfScript : setup.operations - counts.steps;
    const uint64_t seed = databases == 0 ? setup.seed : test::Mix(setup.seed, databases) >> 1;
    const Script script =
        NewScript(mode, seed, setup.rows != 0 ? setup.rows : kRowsOfSeed[seed % 4],
                  std::min(left, kStepsOfScript));
    RETURN_IF_ERROR(WriteText(file, Print(script)));
    SessionPlace place;
    place.is_interrupted = [&] {
      return environment.is_interrupted() || environment.clock->MonotonicMicros() >= end;
    };
    (mode == Mode::kPlain ? place.directory : place.keep) = setup.directory + "/db";
    place.watchdog = watchdog.get();
    RETURN_IF_ERROR(RemoveTree(setup.directory + "/db"));
    ASSIGN_OR_RETURN(const SessionResult result, RunScript(script, place));
    counts.Add(result.counts);
    ++databases;
    trace = test::Mix(trace, result.trace);
    if (IsOfMachine(mode, result)) return result.finding;
    if (!result.finding.ok()) {
      outcome.finding = FindingText(script, result, file) +
                        Format(
                            "database: {}/db\nagain: {} replay {}\nshorter: {} replay {} "
                            "--shrink\n",
                            setup.directory, environment.program, file, environment.program, file);
    }
    outcome.interrupted = environment.is_interrupted();
    const bool is_done = setup.operations != 0 && counts.steps >= setup.operations;
    const bool is_late = environment.clock->MonotonicMicros() >= end;
    if (!outcome.finding.empty() || outcome.interrupted || is_done || is_late) break;
  }
  outcome.counts = Table(counts, databases);
  outcome.trace = HashText(trace);
  return outcome;
}

Result<Outcome> Replay(const Again& again, const RunEnvironment& environment) {
  const std::string& file = again.file;
  ASSIGN_OR_RETURN(const std::string text, ReadText(file));
  const auto parsed = ParseScript(text);
  if (!parsed.has_value()) return In(file, parsed.error());
  const auto watchdog = NewStepWatchdog(parsed->mode, again.hang_limit_micros, file, environment);
  const Means means{environment, watchdog.get()};
  std::string kept_at;
  ASSIGN_OR_RETURN(const SessionResult result, RunAgain(*parsed, means, &kept_at));
  Outcome outcome;
  outcome.counts = Table(result.counts, 1);
  outcome.interrupted = result.interrupted;
  // As the run that wrote the file prints it, where that was its only database.
  outcome.trace = HashText(test::Mix(0, result.trace));
  if (IsOfMachine(parsed->mode, result)) return result.finding;
  if (result.finding.ok()) return outcome;
  outcome.finding = FindingText(*parsed, result, file) + "database: " + kept_at + "\n";
  if (!again.shrink) return outcome;
  ASSIGN_OR_RETURN(const Script shorter, Shrunk(*parsed, result, means));
  const std::string to = file + ".shrunk";
  RETURN_IF_ERROR(WriteText(to, Print(shorter)));
  outcome.interrupted = environment.is_interrupted();
  outcome.finding +=
      Format("shrunk: {} of {} steps are left in {}\nagain: {} replay {}\n", shorter.steps.size(),
             parsed->steps.size(), to, environment.program, to);
  return outcome;
}

}  // namespace tandem::stress
