// kill: processes that write are killed at random moments, some while they recover. Whatever was
// acknowledged as written is there, batches are whole, and indexes equal their rows.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "test/reliability/process_life.h"
#include "test/reliability/rounds.h"
#include "test/reliability/trial_workers.h"
#include "test/support/temporary_directory.h"

namespace tandem::reliability {
namespace {

constexpr uint64_t kCyclesPerDatabase = 25;
constexpr uint64_t kDatabases = 20;

/// One database through its lives.
class KillTrial {
 public:
  KillTrial(const Plan& plan, uint64_t number)
      : directory_(plan.directory),
        plan_{.seed = plan.seed * 1000 + number,
              .path = directory_.Path("db"),
              .uring = number % 2 == 0},
        random_(base::NewSeededRandom(plan_.seed)),
        model_(plan_.seed) {}

  TrialResult Run() {
    TrialResult result;
    for (uint64_t cycle = 0; cycle < kCyclesPerDatabase; ++cycle) {
      progress_->Reset(model_.counts());
      EndLife();
      if (progress_->wrong[0] == '\0') Check();
      if (progress_->wrong[0] != '\0') return Failed(cycle);
    }
    result.figures = {kCyclesPerDatabase, acknowledged_, early_};
    return result;
  }

 private:
  uint64_t Below(uint64_t limit) { return random_->Next64() % limit; }

  void EndLife() {
    const pid_t process = ForkBound();
    if (process == 0) {
      Live(plan_, model_.counts(), progress_.get());
      _exit(0);
    }
    const bool early = Below(4) == 0;
    early_ += early ? 1 : 0;
    if (!early) WaitUntilOpen(process);
    clock_->SleepMicros(static_cast<int64_t>(Below(early ? 4'000 : 50'000)));
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  void WaitUntilOpen(pid_t process) {
    while (!progress_->is_open && progress_->wrong[0] == '\0' && !HasEnded(process)) {
      clock_->SleepMicros(200);
    }
  }
  void Check() {
    for (size_t writer = 0; writer < kLifeWriters; ++writer) {
      acknowledged_ += progress_->written[writer] - model_.counts()[writer];
    }
    const bool dies = Below(2) == 0;
    const pid_t process = ForkBound();
    if (process == 0) {
      CheckLife(plan_, model_, dies, progress_.get());
      _exit(0);
    }
    waitpid(process, nullptr, 0);
    if (!progress_->checked) progress_->Tell("the process that checks died");
    LifeCounts counts{};
    for (size_t writer = 0; writer < kLifeWriters; ++writer) {
      counts[writer] = progress_->found[writer];
    }
    model_.AdvanceTo(counts);
  }
  TrialResult Failed(uint64_t cycle) {
    const std::string kept = directory_.path() + ".failed";
    std::error_code ignored;
    std::filesystem::rename(directory_.path(), kept, ignored);
    return {Outcome::kWrong, "cycle " + std::to_string(cycle) +
                                 (plan_.uring ? ", io_uring: " : ", posix: ") + progress_->wrong +
                                 "\n  kept in " + kept};
  }

  test::TemporaryDirectory directory_;
  LifePlan plan_;
  std::unique_ptr<base::RandomSource> random_;
  std::unique_ptr<base::Clock> clock_ = base::NewSystemClock();
  LifeModel model_;
  SharedProgress progress_;
  uint64_t acknowledged_ = 0, early_ = 0;
};

}  // namespace

Report RunKill(const Plan& plan) {
  const TrialRun run = RunTrials(
      {.count = plan.seconds > 0 ? ~uint32_t{0} : kDatabases,
       .seconds = plan.seconds,
       .hang_seconds = 120},
      [&](uint64_t number) { return KillTrial(plan, number).Run(); },
      [](uint64_t number) { return "database " + std::to_string(number); });
  Report report;
  report.counts = {{"databases", run.ran},
                   {"kills", run.figures[0]},
                   {"acknowledged batches", run.figures[1]},
                   {"kills while opening", run.figures[2]}};
  for (const std::string& note : run.notes) {
    report.failures.push_back(note + "\n  reliability kill --seed " + std::to_string(plan.seed));
  }
  return report;
}

}  // namespace tandem::reliability
