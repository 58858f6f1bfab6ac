// The session that runs a script: its state and what its two source files share. session.cc has the
// work and the checks, session_lives.cc how lives begin and end and how the disk goes bad.
//
// States of a session: up (a database is open), failing (up, and errors are allowed: a fault was
// injected, the power is about to fail or space is short), down (a recovery failed because the
// power failed in it; nothing but crash and kill does anything). Step by step:
// 1. A step runs; its Status is OK, a Mismatch, or an error of the database.
// 2. An error is a finding unless the session is failing and the code is one that a bad disk gives.
// 3. What a failed write left open is in the journal until a recovery decides it, or until a later
//    write succeeds, which says that it left nothing.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "engine/engine.h"
#include "tools/generator/generator.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"
#include "tools/simulation/simulated_disk.h"
#include "tools/stress/journal.h"
#include "tools/stress/session.h"

namespace tandem::stress {

/// Threads: one.
class Session {
 public:
  Session(const Script& script, const SessionPlace& place);
  ~Session();

  Result<SessionResult> Run();

 private:
  struct HeldSnapshot {
    Snapshot snapshot;
    test::Model model;
  };

  Status RunStep(const Step& step);
  bool IsAllowed(const Status& status) const;
  bool is_failing() const { return power_fails_ || faulty_ || space_short_; }

  void BeginStep();

  // Work.
  /// One of those that rows have.
  const std::string& KeyOf(const Step& step) const;
  Status Split(const Step& step);
  Status MergeRegions(const Step& step);
  Status Write(const Step& step, bool expected);
  Status Acknowledge(const Step& step);
  Status CheckRefused(const Status& status, const Step& step);
  Status Flush(const std::string& table);
  Status Check(const Step& step);
  Status Verify();

  // Lives.
  Status Start();
  Status Open();
  Status LearnTime();
  Status Reopen();
  Status Crash(const Step& step);
  Status OpenAgain(bool killed, uint64_t power_off_at);
  Status Recover(bool killed);
  Status CheckAll();
  void LetGo();

  // A bad disk.
  void Inject(const Step& step);
  Status Heal();
  Status Resume();

  void Note(std::string_view text);
  void NoteDisk();
  int64_t now() { return now_ = std::max(now_, clock_.WallMicros()); }
  Journal& JournalOf(const Step& step) {
    return step.durability == Durability::kMemory ? *loose_ : *logged_;
  }

  const Script& script_;
  const SessionPlace& place_;
  std::vector<test::TablePlan> tables_;
  test::ManualClock clock_;
  std::unique_ptr<base::RandomSource> random_;
  std::unique_ptr<test::SimulatedDisk> simulated_;
  std::unique_ptr<base::FileSystem> real_;
  std::string path_;
  std::unique_ptr<test::InlineExecutor> executor_;  // Outlives the engine.
  std::unique_ptr<engine::Engine> engine_;
  test::Model model_;
  std::unique_ptr<Journal> logged_, loose_;
  std::deque<HeldSnapshot> snapshots_;
  int64_t now_ = 0, last_timestamp_ = 0;
  bool power_fails_ = false, faulty_ = false, space_short_ = false;
  SessionResult result_;
};

}  // namespace tandem::stress
