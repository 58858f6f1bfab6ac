// A run with kills: this process makes the database, then starts itself again and again as a child
// that works on it, and kills each child at a random moment. A child begins with the comparison of
// what the one before left; this process ends with it.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "tools/generator/dice.h"
#include "tools/stress/kept_files.h"
#include "tools/stress/threads_run.h"
#include "tools/tandem/format_text.h"

extern "C" char** environ;

namespace tandem::stress {
namespace {

using tools::Format;

constexpr int64_t kMillisecond = 1000;
constexpr int64_t kPollMicros = 5 * kMillisecond;
// Of a child that lived for so long and then did nothing for so long: it may hang.
constexpr int64_t kLifeMicrosLong = 1000 * kMillisecond, kStillMicros = 500 * kMillisecond;
constexpr int kExitFinding = 8;

/// How a child ended by itself.
struct ChildEnd {
  bool ended = false;
  int status = 0;
};

class KillRun {
 public:
  KillRun(const Setup& setup, const RunEnvironment& environment)
      : setup_(setup),
        environment_(environment),
        dice_(setup.seed),
        report_(setup.directory + "/report") {}

  Result<Outcome> Run();

 private:
  /// From the start of the child, or from its first operation after the recovery.
  struct Life {
    int64_t micros = 0;
    bool from_work = false;
  };

  Result<pid_t> Start();
  /// Waits until the life is over or the child has ended. One that stands still after a long life,
  /// or has not begun to work, is left to its watchdog, which distinguishes a hang from a slow
  /// machine.
  ChildEnd Watch(pid_t child, const Life& life);
  /// Grows while a child works.
  uint64_t Progress() const;
  /// What a child that ended by itself says about the database. Errors: the child failed otherwise.
  Result<std::string> FindingOf(int status);
  /// How long the next child lives: short enough, now and then, to die while it recovers.
  Life NextLife();
  bool is_watched() const { return setup_.hang_limit_micros != 0; }
  Result<Outcome> Finish(const std::string& finding);

  const Setup& setup_;
  const RunEnvironment& environment_;
  test::Dice dice_;
  const std::string report_;
  std::unique_ptr<Expected> expected_;  // The same memory as the child's.
  uint64_t kills_ = 0;
};

Result<pid_t> KillRun::Start() {
  std::vector<std::string> words = {"tandem",         "stress",
                                    setup_.directory, "--child",
                                    "--duration",     "1h",
                                    "--seed",         std::to_string(dice_.Below(1'000'000'000)),
                                    "--threads",      std::to_string(setup_.threads)};
  if (setup_.hang_limit_micros.has_value()) {
    words.push_back(Format("--hang-limit={}ms", *setup_.hang_limit_micros / kMillisecond));
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, report_.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own: Ctrl-C is for this process, which ends the child in its way.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = -1;
  const int error =
      posix_spawn(&child, "/proc/self/exe", &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return child;
  return Status::IoError(Format("starting a child: {}", std::strerror(error)));
}

ChildEnd KillRun::Watch(pid_t child, const Life& life) {
  int64_t now = environment_.clock->MonotonicMicros();
  int64_t begin = now, moved = now;
  bool has_begun = !life.from_work;
  uint64_t progress = Progress();
  ChildEnd result;
  while (!environment_.is_interrupted()) {
    if (waitpid(child, &result.status, WNOHANG) == child) {
      result.ended = true;
      return result;
    }
    now = environment_.clock->MonotonicMicros();
    const uint64_t progress_before = std::exchange(progress, Progress());
    if (progress != progress_before) {
      moved = now;
      if (!std::exchange(has_begun, true)) begin = now;
    }
    const int64_t left = begin + life.micros - now;
    const bool may_hang = life.micros >= kLifeMicrosLong && now - moved >= kStillMicros;
    if (has_begun && left <= 0 && !(may_hang && is_watched())) break;
    environment_.clock->SleepMicros(left > 0 ? std::min(left, kPollMicros) : kPollMicros);
  }
  return result;
}

uint64_t KillRun::Progress() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < static_cast<size_t>(Count::kCounts); ++i) {
    sum += expected_->count(static_cast<Count>(i));
  }
  return sum;
}

Result<std::string> KillRun::FindingOf(int status) {
  if (WIFSIGNALED(status)) {
    return Format("the process of the database ended by itself: {}\n", strsignal(WTERMSIG(status)));
  }
  if (WEXITSTATUS(status) == kExitFinding) return ReadText(report_);
  return Status::IoError(
      Format("the child ended by itself with exit code {}", WEXITSTATUS(status)));
}

KillRun::Life KillRun::NextLife() {
  const uint64_t choice = dice_.Below(10);
  const uint64_t most = choice < 3 ? 60 : choice < 8 ? 600 : 3000;
  const int64_t micros = (5 + static_cast<int64_t>(dice_.Below(most))) * kMillisecond;
  return {.micros = micros, .from_work = choice >= 5 && is_watched()};
}

Result<Outcome> KillRun::Run() {
  {
    ASSIGN_OR_RETURN(const auto site, setup_.keep_going ? Site::Open(setup_, environment_)
                                                        : Site::Create(setup_, environment_));
  }
  ASSIGN_OR_RETURN(expected_, Expected::Open(setup_.directory + "/expected"));
  const int64_t end = environment_.clock->MonotonicMicros() + setup_.duration_micros;
  while (environment_.clock->MonotonicMicros() < end && !environment_.is_interrupted()) {
    if (setup_.operations != 0 && kills_ >= setup_.operations) break;
    ASSIGN_OR_RETURN(const pid_t child, Start());
    ChildEnd ended = Watch(child, NextLife());
    if (!ended.ended) {
      kill(child, SIGKILL);
      waitpid(child, &ended.status, 0);
      // It may have found something between the last look and the kill.
      ended.ended = WIFEXITED(ended.status);
    }
    if (ended.ended) {
      ASSIGN_OR_RETURN(const std::string finding, FindingOf(ended.status));
      return Finish(finding);
    }
    ++kills_;
  }
  return Finish("");
}

Result<Outcome> KillRun::Finish(const std::string& finding) {
  ASSIGN_OR_RETURN(const auto site, Site::Open(setup_, environment_));
  Outcome outcome;
  outcome.finding = finding;
  if (finding.empty()) {
    Status status = site->OpenDatabase(setup_.seed);
    if (status.ok()) status = Recover(site->stressed());
    if (status.ok()) status = CheckDeep(site->stressed());
    if (status.ok()) status = site->Reopen(setup_.seed + 1);
    if (status.ok()) status = site->Close();
    if (status.code() == StatusCode::kNoSpace) return status;
    if (!status.ok()) outcome.finding = site->FindingText(status);
  }
  outcome.interrupted = environment_.is_interrupted();
  outcome.counts = site->Counts();
  outcome.counts.emplace_back("kills", kills_);
  return outcome;
}

}  // namespace

Result<Outcome> RunKills(const Setup& setup, const RunEnvironment& environment) {
  return KillRun(setup, environment).Run();
}

}  // namespace tandem::stress
