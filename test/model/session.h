// The random life of one database: writes of every kind, flushes, compactions, snapshots and
// cursors that outlive them, clean reopens, kills and power cuts, and between them comparisons with
// the model. What it does is recorded as it goes, and a record is run again by the same code.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/model/checker.h"
#include "test/model/counters.h"
#include "test/model/journal.h"
#include "test/model/run_trace.h"
#include "test/model/session_action.h"
#include "test/model/store.h"
#include "tools/generator/generator.h"
#include "tools/simulation/model.h"

namespace tandem::test {

struct SessionPlan {
  DiskKind disk = DiskKind::kSimulated;
  std::string parent{};  ///< Of the directory on a real disk; empty: the usual one.
  uint64_t seed = 1;
  uint64_t rows = 500;          ///< Keys of each table.
  uint64_t operations = 10000;  ///< After which it ends.
  RunTrace* trace = nullptr;    ///< Of everything that happens; may be null.
};

class Session {
 public:
  Session(const SessionPlan& plan, Counters* counters);
  ~Session();

  /// Throws Failure when the engine and the model disagree; step() says where.
  void Run();
  /// Does what another session of the same plan did, or some of it, in place of Run.
  void Replay(const std::vector<SessionAction>& actions);
  /// What was done so far, the action that failed included.
  const std::vector<SessionAction>& record() const { return record_; }
  uint64_t step() const { return step_; }
  /// Why the disk is not of the kind that was asked for; empty when it is.
  const std::string& fallback_reason() const { return store_.fallback_reason(); }

 private:
  struct HeldSnapshot {
    Snapshot snapshot;
    Model model;
    int64_t now_micros;
    /// Tables whose rows were removed since: it reads them with the indexes of then.
    std::set<std::string> former = {};
  };
  /// A snapshot that has a name: it stays through reopens and crashes.
  struct NamedSnapshot {
    std::string name;
    Model model;
    int64_t now_micros;
  };
  /// A cursor with the rows that it has still to give.
  struct HeldCursor {
    Cursor cursor;
    std::vector<ModelRow> rows;
    size_t next = 0;
    std::string context;
  };

  // Choosing what to do. `dice_` decides, and what the database is like by then.
  void Step();
  void Work();
  void Maintain();
  void Hold();
  void Check();
  void Deepen(const TablePlan& plan);
  void Crash();
  void WriteFiller(const TablePlan& plan);
  void WriteBad();
  SessionAction NewBatch();
  std::vector<SessionAction> NewWorkUntilPowerFails();

  // Doing it; see session_actions.cc. `own_dice_` decides; it is reseeded for each action.
  void Do(SessionAction action);
  void Perform(const SessionAction& action);
  void PerformMore(const SessionAction& action);
  void NoteIn(RunTrace* trace);
  /// An error is a failure of the disk, or of the engine.
  Status Apply(const SessionAction& action);
  std::optional<std::string> DuplicatesAfter(const JournalBatch& entry) const;
  Status ApplyInTransaction(const SessionAction& action);
  Status Write(SessionAction action);
  void Acknowledge(const SessionAction& action, JournalBatch entry);
  void RefuseBad(const SessionAction& action);
  Status Empty(const SessionAction& action);
  Status ChangeIndexes(const SessionAction& action);
  Status RenewFamily(const SessionAction& action);
  Status AlterFamily(const SessionAction& action);
  void TakeFamilies(const DatabaseInfo& info, TablePlan* plan);
  void ApplyIndexes(TablePlan* plan, const std::function<void(std::vector<IndexOptions>*)>& change);
  void TakeIndexes(const DatabaseInfo& info);
  Status Flush(const std::string& table);
  Status CopyTable(const std::string& table);
  Status Split(const SessionAction& action);
  Status MergeRegions(const SessionAction& action);
  void TakeSnapshot();
  void CreateSnapshot();
  void OpenCursor(const TablePlan& plan);
  void AdvanceCursor();
  void CheckTable(const TablePlan& plan);
  void CheckSnapshot(const TablePlan& plan);
  void CheckNamedSnapshot(const TablePlan& plan);
  bool IsDeep(const TablePlan& plan);
  void CheckEverything();
  void Verify();
  /// The checks after the last action.
  void Finish();

  // Lives.
  void Create();
  void LearnTime();
  void SetClock();
  void BringClockBack();
  void Reopen();
  void LiveWithoutFunctions();
  void EndByCrash(const SessionAction& action);
  void RunUntilPowerFails(const std::vector<SessionAction>& actions);
  void OpenAfterCrash(bool* killed);
  void Recover(bool killed);
  void LetGo();

  Moment Now();
  int64_t now();
  const TablePlan& PlanOf(const std::string& table) const;
  /// Of the table whose batches need not be logged.
  bool IsUnlogged(const SessionAction& action) const {
    return !action.batch.empty() && PlanOf(action.batch.front().table).unlogged;
  }
  Journal& JournalOf(const SessionAction& action) {
    return IsUnlogged(action) ? *unlogged_ : *logged_;
  }

  const SessionPlan plan_;
  Counters& counters_;
  Dice dice_, own_dice_;
  Store store_;
  Checker checker_;
  std::vector<SessionAction> record_;
  std::vector<TablePlan> tables_;
  Model model_;
  std::unique_ptr<Journal> logged_, unlogged_;
  std::string indexes_in_doubt_;  ///< The table whose indexes were changed when the power failed.
  std::vector<HeldSnapshot> snapshots_;
  std::vector<NamedSnapshot> named_snapshots_;
  uint64_t named_ = 0;  ///< Named snapshots so far.
  std::vector<HeldCursor> cursors_;
  int64_t now_micros_ = 0;               ///< The engine's time, which never goes back.
  uint64_t copies_ = 0;                  ///< Directories of exports.
  std::optional<int64_t> begun_micros_;  ///< When the current bulk load began.
  bool is_clock_ahead_ = false;  ///< Too far to be believed: the engine's time does not go on.
  int64_t last_timestamp_ = 0;   ///< The last one that the engine assigned.
  uint64_t step_ = 0;
  uint64_t written_ = 0;             ///< Operations.
  uint64_t next_check_ = 0;          ///< By written_.
  int64_t next_advance_micros_ = 0;  ///< Before the next action.
};

}  // namespace tandem::test
