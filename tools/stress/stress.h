// What `tandem stress` and `tandem replay` do, apart from the command line.
//
// Files of a run in its directory: db/ the database, expected the expected state of a run of many
// threads (see expected.h), operations what was done: of a simulated or single-threaded run a
// script that replay runs again, of threads a log to read; after a finding of threads found/, the
// database before it was closed; report what the last child of a run with kills said.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "tandem/status.h"
#include "tools/stress/script.h"

namespace tandem::stress {

enum class Kind : uint8_t { kThreads, kKill, kPlain, kCrash, kFaults };

struct Setup {
  Kind kind = Kind::kThreads;
  std::string directory;
  uint32_t threads = 4;
  int64_t duration_micros = 60'000'000;
  uint64_t operations = 0;  ///< Ends it too; 0: the time alone does.
  uint64_t seed = 1;
  uint64_t rows = 0;  ///< 0: what suits the kind.
  bool keep_going = false;
  bool is_child = false;  ///< Of a run of kKill: works until it is killed.
  /// How long one operation may take before the run ends as hanging; 0: for ever, nullopt: as long
  /// as suits the kind.
  std::optional<int64_t> hang_limit_micros = {};
};

/// Everything that a run needs from outside.
struct RunEnvironment {
  base::Clock* clock = nullptr;
  std::function<bool()> is_interrupted;
  std::string program;  ///< For the commands that are suggested.
  /// Ends the process with a report: an operation does not come back. Called on another thread.
  std::function<void(const std::string&)> end_hanging = {};
};

struct Outcome {
  std::string finding = {};  ///< Several lines; empty: nothing is wrong.
  bool interrupted = false;
  std::vector<std::pair<std::string, uint64_t>> counts = {};
  std::string trace = {};  ///< A hash over a run that can be repeated; empty: of no such run.
};

/// The command that does the same again.
std::string ReproCommand(const Setup& setup, const std::string& program);

/// Errors, here and below: of the harness alone. kAlreadyExists (the directory is in use),
/// kInvalidArgument, kIoError.
Result<Outcome> RunSimulated(const Setup& setup, const RunEnvironment& environment);
Result<Outcome> RunThreads(const Setup& setup, const RunEnvironment& environment);
Result<Outcome> RunKills(const Setup& setup, const RunEnvironment& environment);

struct Again {
  std::string file;
  bool shrink = false;
  std::optional<int64_t> hang_limit_micros = {};  ///< Of each step; as in Setup.
};
/// Runs the script of a file again; with `shrink` makes a list of steps that cannot be made shorter
/// and writes it to FILE.shrunk. Errors: kNotFound, kInvalidArgument (with the line), kIoError.
Result<Outcome> Replay(const Again& again, const RunEnvironment& environment);

}  // namespace tandem::stress
