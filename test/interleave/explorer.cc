// See explorer.h.
#include "test/interleave/explorer.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>

#include "test/support/test_random.h"

namespace tandem::test {
namespace {

// Schedules whose turns differ more often from the usual order are left to chance.
constexpr uint32_t kTurnsMax = 2;
// One stray run in so many systematic ones is too many.
constexpr uint64_t kStraysShare = 100;
// Every n-th random run is run again from its schedule, and must be the same to the last step.
constexpr uint64_t kReplayEvery = 20;
constexpr uint32_t kChangesMax = 5;

struct Running {
  const Scenario* scenario = nullptr;
  const Scheduler* scheduler = nullptr;
};
Running& TheRun() {
  static Running running;
  return running;
}

std::string Command(const std::string& name, const Schedule& schedule) {
  return "again with: TANDEM_SCHEDULE=" + Describe(schedule) +
         " build/test_interleave --run_test=" + name;
}

// The engine stops the process when it finds itself broken: say at least by which schedule.
void OnFatalSignal(int signal) {
  const Running& running = TheRun();
  if (running.scheduler != nullptr) {
    std::fprintf(stderr, "signal %d; %s\n  %s\n", signal,
                 Command(running.scenario->name, running.scheduler->schedule()).c_str(),
                 running.scheduler->Report().c_str());
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class Explorer {
 public:
  Explorer(const Scenario& scenario, const Budget& budget) : scenario_(scenario), budget_(budget) {}

  Exploration Explore() {
    const std::clock_t begin = std::clock();  // The processor's time: the machine may be shared.
    const char* given = std::getenv("TANDEM_SCHEDULE");
    if (given != nullptr) {
      RunGiven(given);
    } else {
      (void)Replay(scenario_, {});  // What a process makes once is made now, in no run that counts.
      RunSystematically();
      RunAtRandom();
    }
    result_.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::cout << scenario_.name << ": " << result_.Describe() << std::endl;
    return std::move(result_);
  }

 private:
  void RunGiven(const char* text) {
    Schedule schedule;
    if (!ParseSchedule(text, &schedule)) {
      result_.failure = std::string("TANDEM_SCHEDULE is no schedule: ") + text;
      return;
    }
    ++result_.random;
    const RunResult run = Replay(scenario_, schedule);
    result_.schedule = schedule;
    result_.failure = run.problem;
  }

  // By rising numbers of preemptions: what few of them show is found before what many do.
  void RunSystematically() {
    for (uint32_t preemptions = 0; preemptions <= budget_.preemptions_max; ++preemptions) {
      SystematicChooser chooser(preemptions, std::min(preemptions, kTurnsMax));
      do {
        if (result_.systematic >= budget_.systematic) return;
        ++result_.systematic;
        if (!Note(RunOnce(scenario_, &chooser))) return;
      } while (chooser.Advance());
      result_.strays += chooser.strays();
      if (result_.strays * kStraysShare > result_.systematic) {
        result_.failure =
            std::to_string(result_.strays) + " runs were no function of their choices";
        return;
      }
      result_.complete_preemptions = static_cast<int32_t>(preemptions);
    }
  }

  void RunAtRandom() {
    if (!result_.failure.empty()) return;
    TestRandom random(scenario_.name.c_str());
    while (result_.random < budget_.random) {
      ++result_.random;
      PriorityChooser chooser(random.Next(), usual_decisions_,
                              static_cast<uint32_t>(random.Below(kChangesMax + 1)));
      const RunResult run = RunOnce(scenario_, &chooser);
      if (!Note(run)) return;
      if (result_.random % kReplayEvery == 0 && !IsRepeatable(run)) return;
    }
  }

  bool IsRepeatable(const RunResult& run) {
    const RunResult again = Replay(scenario_, run.outcome.schedule);
    if (again.outcome.trace == run.outcome.trace) return true;
    result_.failure = "the same schedule made another run, of " +
                      std::to_string(again.outcome.decisions) + " decisions, not " +
                      std::to_string(run.outcome.decisions) + "; " +
                      Parting(run.outcome, again.outcome) + "\n  " +
                      Command(scenario_.name, run.outcome.schedule);
    return false;
  }

  // False: the run failed.
  bool Note(const RunResult& run) {
    if (run.outcome.schedule.empty()) usual_decisions_ = run.outcome.decisions;
    result_.decisions_max = std::max(result_.decisions_max, run.outcome.decisions);
    if (run.problem.empty()) return true;
    result_.failed_after = result_.systematic + result_.random;
    result_.schedule = ShrinkSchedule(scenario_, run.outcome.schedule);
    const RunResult shrunk = Replay(scenario_, result_.schedule);
    result_.failure = (shrunk.problem.empty() ? run.problem : shrunk.problem) +
                      "\n  cut down from " + std::to_string(run.outcome.schedule.size()) +
                      " choices to " + std::to_string(result_.schedule.size()) + "; " +
                      Command(scenario_.name, result_.schedule);
    return false;
  }

  const Scenario& scenario_;
  const Budget budget_;
  uint64_t usual_decisions_ = 100;  // Of the run in which every choice is the usual one.
  Exploration result_;
};

}  // namespace

RunResult RunOnce(const Scenario& scenario, Chooser* chooser) {
  RunResult result;
  std::string problem;
  Scheduler scheduler(chooser);
  TheRun() = {&scenario, &scheduler};
  const auto old_abort = std::signal(SIGABRT, OnFatalSignal);
  const auto old_fault = std::signal(SIGSEGV, OnFatalSignal);
  result.outcome = scheduler.Run([&] { problem = scenario.body(&scheduler); });
  std::signal(SIGABRT, old_abort);
  std::signal(SIGSEGV, old_fault);
  TheRun() = {};
  result.problem = result.outcome.failure.empty() ? problem : result.outcome.failure;
  return result;
}

RunResult Replay(const Scenario& scenario, const Schedule& schedule) {
  ScheduleChooser chooser(schedule);
  return RunOnce(scenario, &chooser);
}

Schedule ShrinkSchedule(const Scenario& scenario, Schedule schedule) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t i = schedule.size(); i-- > 0;) {
      Schedule without = schedule;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      const RunResult run = Replay(scenario, without);
      // What was chosen is what counts: a choice that became the usual one is none.
      if (run.problem.empty() || run.outcome.schedule.size() >= schedule.size()) continue;
      schedule = run.outcome.schedule;
      smaller = true;
      break;
    }
  }
  return schedule;
}

std::string Exploration::Describe() const {
  const uint64_t runs = systematic + random;
  std::string text =
      std::to_string(runs) + " schedules (" + std::to_string(systematic) + " systematic, ";
  text += complete_preemptions < 0
              ? std::string("no bound complete, ")
              : "complete up to " + std::to_string(complete_preemptions) + " preemptions, ";
  text +=
      std::to_string(random) + " random) of up to " + std::to_string(decisions_max) + " decisions";
  if (strays > 0) text += ", " + std::to_string(strays) + " strayed";
  if (seconds > 0) {
    text += ", " + std::to_string(static_cast<uint64_t>(static_cast<double>(runs) / seconds)) +
            " a second";
  }
  return text;
}

Exploration Explore(const Scenario& scenario, const Budget& budget) {
  Budget scaled = budget;
  scaled.systematic = Trials(budget.systematic);
  scaled.random = Trials(budget.random);
  return Explorer(scenario, scaled).Explore();
}

}  // namespace tandem::test
