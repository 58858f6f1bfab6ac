// Runs a script: the steps of a recorded run, on one thread, against a database whose disk, clock,
// randomness and background work are the session's own, so that the same script is the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tools/simulation/watchdog.h"
#include "tools/stress/script.h"

namespace tandem::stress {

/// What was done.
struct SessionCounts {
  uint64_t steps = 0, operations = 0, checks = 0, kills = 0, crashes = 0, recoveries_cut = 0;
  uint64_t faults_struck = 0, writes_failed = 0, full_disks = 0, resumed = 0;
  uint64_t index_changes = 0, observer_changes = 0, observed_writes = 0, bulk_loads = 0;
  uint64_t truncations = 0, drops = 0, creations = 0, renames = 0;
  uint64_t named_snapshots = 0, snapshot_drops = 0, snapshot_checks = 0;
  uint64_t changes_failed = 0;  ///< Of tables and named snapshots, by a fault or a power cut.
  void Add(const SessionCounts& other);
};

/// How a session ended.
struct SessionResult {
  Status finding;      ///< OK, or what is wrong with the database.
  uint64_t step = 0;   ///< Of the script, from 0, where it was found; `steps.size()` without one.
  uint64_t trace = 0;  ///< A hash over the disk's operations and the steps' results.
  bool interrupted = false;
  SessionCounts counts;
};

/// Where the database of a session lives.
struct SessionPlace {
  /// A directory on the real disk that does not exist; empty: a simulated disk.
  std::string directory = {};
  /// Where the files of a simulated disk are written when something is wrong; empty: nowhere.
  std::string keep = {};
  std::function<bool()> is_interrupted = {};  ///< Asked before each step; may be empty.
  test::Watchdog* watchdog = nullptr;         ///< Its slot 0 watches each step; may be null.
};

/// Errors: only those of the harness (the directory for the database cannot be written).
Result<SessionResult> RunScript(const Script& script, const SessionPlace& place);

}  // namespace tandem::stress
