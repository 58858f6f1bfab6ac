// The session that runs a script: its state and what its source files share. session.cc has the
// work and the checks, session_changes.cc the changes of tables, session_lives.cc how lives begin
// and end and how the disk goes bad.
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
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "engine/engine.h"
#include "tools/generator/generator.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"
#include "tools/simulation/simulated_disk.h"
#include "tools/stress/comparison.h"
#include "tools/stress/journal.h"
#include "tools/stress/schema.h"
#include "tools/stress/session.h"

namespace tandem::stress {

/// Threads: one.
class Session {
 public:
  Session(const Script& script, const SessionPlace& place);
  ~Session();

  Result<SessionResult> Run();

 private:
  /// What a table of the script is in the database.
  struct Place {
    bool exists = true, renamed = false, observed = false;
    bool operator==(const Place&) const = default;
  };
  using Places = std::map<std::string, Place>;
  struct HeldSnapshot {
    Snapshot snapshot;
    test::Model model;
    Places places;
    /// Tables whose rows were removed since: it reads them with the indexes of then.
    std::set<std::string> former = {};
  };
  /// A snapshot that has a name: it stays through reopens and crashes.
  struct NamedSnapshot {
    std::string name;
    test::Model model;
    Places places;
    bool in_doubt = false;  ///< Its creation, or its drop, failed.
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
  Status CheckNotFound(const Status& status, const Step& step);
  Status CheckRefused(const Status& status, const Step& step);
  Status Flush(const std::string& table);
  Status Check(const Step& step);
  Status Verify();

  // Changes of tables and of named snapshots. One that fails leaves the database as it was, but a
  // crash may show it: until one comes the table, or the snapshot, is in doubt.
  Status Change(const Step& step);
  Status ChangeIndex(const Step& step);
  Status Observe(const std::string& table);
  Status Load(const Step& step);
  Status Empty(const Step& step);
  Status Create(const std::string& table);
  Status Rename(const std::string& table);
  Status NameSnapshot();
  Status DropSnapshot(uint64_t number);
  /// Of a change of `table`: counts it, or notes what is in doubt.
  Status Changed(const Status& status, const std::string& table, uint64_t* count);
  void TakeIndexes(const std::string& table,
                   const std::function<void(std::vector<IndexOptions>*)>& change);
  /// The tables, their indexes and observers, and the named snapshots are what they have to be.
  /// `after_crash`: takes over what is there of those in doubt.
  Status CheckSchema(bool after_crash);
  Status CheckTableSchema(const DatabaseInfo& info, test::TablePlan* plan, bool after_crash);
  Status CheckNamedSnapshots(bool after_crash);

  test::TablePlan& PlanOf(const std::string& table);
  std::string NameOf(const std::string& table) const { return NameAt(places_, table); }
  static std::string NameAt(const Places& places, const std::string& table);
  bool exists(const std::string& table) const { return places_.at(table).exists; }
  /// One that exists.
  const char* LoggedTable() const { return exists(kSouth) ? kSouth : kNorth; }
  std::vector<test::ModelOperation> InDatabase(std::vector<test::ModelOperation> operations) const;
  void NoteFlushed(const std::string& table);
  Status CheckAt(const Moment& moment, const Places& places, const Step& step);

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
  std::vector<NamedSnapshot> named_, absent_;  // absent_: their creation failed.
  uint64_t named_count_ = 0;                   // Of all times: no name is used again.
  Places places_;
  std::set<std::string> doubts_;  // Tables.
  int64_t now_ = 0, last_timestamp_ = 0;
  bool power_fails_ = false, faulty_ = false, space_short_ = false;
  SessionResult result_;
};

}  // namespace tandem::stress
