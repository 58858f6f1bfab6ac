// One run of a workload on a disk that fails: every result on the way is correct or an error, and
// afterwards the database is what its history allows, after a power cut, and once the disk works
// again.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/reliability/finding.h"
#include "test/reliability/history.h"
#include "test/reliability/machine.h"
#include "test/reliability/merge_watch.h"
#include "test/reliability/runner.h"
#include "test/reliability/workload.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::reliability {

/// A workload whose steps may fail. Threads: one.
class FaultRun {
 public:
  /// `files` is the disk or lies over it; `guard` is around the calls of the engine until it is
  /// opened for an examination, and may be null. All outlive the run.
  FaultRun(const Workload& workload, test::SimulatedDisk* disk, base::FileSystem* files,
           CallGuard* guard = nullptr);

  /// Takes all steps, whatever fails; true when every answer was right or an allowed error.
  bool TakeSteps();
  /// What a power cut now leaves, on a disk that works. `seed` decides what survives.
  bool CheckAfterCrash(uint64_t seed);
  /// Lets go of the database and opens it again. Requires: the disk works.
  bool CheckAfterReopening();
  /// For a database whose trouble is over and that must go on as it is: steps that failed are taken
  /// again, and have to succeed.
  bool RepeatFailed();
  /// Kills the process; everything that was written is still there.
  bool CheckAfterKill();

  /// What steps and reads may answer beside success; by default any error of a disk.
  void Allow(std::vector<StatusCode> codes) { allowed_ = std::move(codes); }
  /// Reads have to succeed while the database is open.
  void RequireReads() { requires_reads_ = true; }
  /// Nothing may fail, so that nobody notices the trouble.
  void RequireSuccess() { requires_success_ = true; }
  /// Cells that flushes and merges drop are counted, and no merge begins without space. Requires:
  /// no step was taken.
  void WatchMerges();
  /// The disk reserves no space ahead. Then a power cut inside the birth of a database may leave a
  /// ROOT of old blocks, which looks the same as a foreign file, and which therefore stays;
  /// until the database has been opened once, missing bytes are taken to show as zeros.
  void ExpectNoReservations() { has_reservations_ = false; }
  const std::string& reason() const { return reason_; }
  uint64_t steps_taken() const { return steps_taken_; }
  uint64_t failed_count() const { return failed_.size(); }
  Machine& machine() { return machine_; }

 private:
  bool Take(const Step& step);
  bool CheckLive();
  bool Adopt();
  bool IsAllowed(const Status& status) const;
  bool Fail(const std::string& reason);
  std::string ExamineOn(base::FileSystem* files, bool killed);

  const Workload& workload_;
  test::SimulatedDisk& disk_;
  base::FileSystem& files_;
  Machine machine_;
  std::shared_ptr<MergeWatch> watch_;  // Null: nobody watches.
  History history_;
  Runner runner_;
  bool is_unknown_ = false;  // What the reopened database found has not been read yet.
  bool requires_reads_ = false, requires_success_ = false;
  bool has_reservations_ = true, has_opened_ = false;
  std::vector<StatusCode> allowed_ = {StatusCode::kIoError,     StatusCode::kNoSpace,
                                      StatusCode::kReadOnly,    StatusCode::kBusy,
                                      StatusCode::kUnavailable, StatusCode::kOutOfMemory};
  std::vector<Step> failed_;
  Status last_failure_;  // Of these.
  uint64_t steps_taken_ = 0;
  std::string reason_;
};

}  // namespace tandem::reliability
