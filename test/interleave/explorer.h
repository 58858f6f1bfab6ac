// Runs a scenario under many schedules: first systematically, then at random. A failing schedule
// is cut down to the choices that it needs, and printed with the command that runs it again.
//
//   TANDEM_SCHEDULE=LIST  runs that schedule alone: "index:thread" of each choice that is not the
//                         usual one, divided by commas, or "usual".
//   TANDEM_SEED=N         where the random schedules begin; random otherwise.
//   TANDEM_TRIALS=N       N times the usual number of schedules.
//   TANDEM_QUICK=1        an eighth of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "test/interleave/choosers.h"
#include "test/interleave/scheduler.h"

namespace tandem::test {

/// Something to run under every schedule. The body runs as thread 0 of a scheduler of its own,
/// turns exploring on where it matters, and returns what went wrong; empty: nothing.
struct Scenario {
  std::string name;  ///< Of the test case, for the command.
  std::function<std::string(Scheduler*)> body;
};

struct Budget {
  uint64_t systematic = 0;  ///< Schedules at most, over all numbers of preemptions.
  uint64_t random = 0;
  uint32_t preemptions_max = 2;
};

struct RunResult {
  Outcome outcome;
  std::string problem;  ///< Empty: the run is good.
};

/// One run. The problem is the body's or, where the run did not end, the scheduler's.
RunResult RunOnce(const Scenario& scenario, Chooser* chooser);
RunResult Replay(const Scenario& scenario, const Schedule& schedule);
/// A schedule that fails, too, without the choices that it does not need.
Schedule ShrinkSchedule(const Scenario& scenario, Schedule schedule);

struct Exploration {
  uint64_t systematic = 0, random = 0;
  uint64_t strays = 0;                ///< Systematic runs that were no function of their choices.
  int32_t complete_preemptions = -1;  ///< All schedules with up to this many were run; -1: none.
  uint64_t decisions_max = 0;
  double seconds = 0;         ///< Of the processor.
  std::string failure;        ///< With schedule and command; empty: every run was good.
  Schedule schedule;          ///< Of the failure, cut down.
  uint64_t failed_after = 0;  ///< The failing run was the n-th.
  std::string Describe() const;
};

/// Explores until something fails or the budget is used. Prints one line.
Exploration Explore(const Scenario& scenario, const Budget& budget);

}  // namespace tandem::test
