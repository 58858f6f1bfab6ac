// Every state that a crash can leave of a workload: at each operation of the disk the choices of
// what survives, and inside the recovery from each state the same again, three crashes deep. Each
// distinct state is opened and examined.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "test/reliability/finding.h"
#include "test/reliability/history.h"
#include "test/reliability/machine.h"
#include "test/reliability/workload.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::reliability {

struct CrashCounts {
  uint64_t operations = 0;  ///< Of the workload, at which it was crashed.
  uint64_t states = 0;      ///< Crashes, of any depth.
  uint64_t distinct = 0;    ///< Those whose state, or what it must hold, was not seen before.
  uint64_t nested = 0;      ///< Of the distinct ones, those inside a recovery.

  void Add(const CrashCounts& other);
};

struct CrashSettings {
  /// One distinct state in this many is crashed again while it recovers; 0: none.
  uint64_t nest_every = 8;
  /// Asked before each state; no more are examined once it says so.
  std::function<bool()> is_over = [] { return false; };
  /// Puts a file system over the disk, for a test that plants a bug; empty: none.
  std::function<std::unique_ptr<base::FileSystem>(test::SimulatedDisk*)> over = {};
};

/// What a crash finds of a workload, without nested ones if that is enough to find something.
std::optional<Finding> FindByCrash(const Workload& workload, const CrashSettings& settings);

/// What may survive of what is pending on `disk`, the simplest choices first.
std::vector<test::CrashPolicy> CrashPolicies(const test::SimulatedDisk& disk, uint64_t seed);

/// Threads: one.
class CrashEnumerator {
 public:
  /// Both outlive it.
  CrashEnumerator(const Workload& workload, const CrashSettings& settings)
      : workload_(workload), settings_(settings) {}

  /// Takes all steps and examines the states; ends at the first that does not hold.
  std::optional<Finding> Run();
  const CrashCounts& counts() const { return counts_; }

 private:
  struct Place {
    test::SimulatedDisk* disk;
    size_t depth;  ///< Crashes before this one.
    bool killed;   ///< None of them lost anything that was written.
  };
  class Surface;

  void TakeSteps(test::SimulatedDisk* disk);
  void AtOperation(const Place& place, const std::string& where);
  bool IsNew(const test::SimulatedDisk& crashed, bool killed);
  std::string Recover(const Place& place);
  std::string CheckKept(test::SimulatedDisk* disk, Machine* machine);
  std::vector<test::CrashPolicy> PoliciesAt(const Place& place);
  Machine::Setup SetupOf(base::FileSystem* files, size_t depth);

  const Workload& workload_;
  const CrashSettings& settings_;
  std::optional<History> history_;
  Machine* machine_ = nullptr;  // That takes the steps.
  int64_t now_micros_ = kFirstMicros;
  uint64_t steps_taken_ = 0;
  std::unordered_set<uint64_t> seen_;
  CrashCounts counts_;
  std::optional<Finding> finding_;
};

}  // namespace tandem::reliability
