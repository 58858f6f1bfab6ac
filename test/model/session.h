// The random life of one database: writes of every kind, flushes, compactions, snapshots and
// cursors that outlive them, clean reopens, kills and power cuts, and between them comparisons with
// the model.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/model/checker.h"
#include "test/model/counters.h"
#include "test/model/generator.h"
#include "test/model/journal.h"
#include "test/model/store.h"
#include "test/support/model.h"

namespace tandem::test {

struct SessionPlan {
  DiskKind disk = DiskKind::kSimulated;
  std::string parent{};  ///< Of the directory on a real disk; empty: the usual one.
  uint64_t seed = 1;
  uint64_t rows = 500;          ///< Keys of each table.
  uint64_t operations = 10000;  ///< After which it ends.
};

class Session {
 public:
  Session(const SessionPlan& plan, Counters* counters);
  ~Session();

  /// Throws Failure when the engine and the model disagree; step() says where.
  void Run();
  uint64_t step() const { return step_; }
  /// Why the disk is not of the kind that was asked for; empty when it is.
  const std::string& fallback_reason() const { return store_.fallback_reason(); }

 private:
  struct HeldSnapshot {
    Snapshot snapshot;
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
  struct Batch {
    std::vector<ModelOperation> operations;
    WriteOptions options;
    bool unlogged = false;
  };

  // What a step may do.
  void Step();
  void Work();
  void Maintain();
  void Hold();
  void AdvanceCursor();
  void Check();
  void EndLife();

  // Writing. An error is a failure of the disk, or of the engine.
  Batch NewBatch();
  Status Write(const Batch& batch);
  void Acknowledge(const Batch& batch, JournalBatch entry);
  void WriteBad();
  void WriteFiller(const TablePlan& plan);
  Status Flush(const std::string& table);

  // Checking.
  void Deepen(const TablePlan& plan);
  bool IsDeep(const TablePlan& plan);
  void CheckEverything();
  void Verify();

  // Lives.
  void Create();
  void LearnTime();
  void Reopen();
  void CrashRepeatedly();
  void Crash();
  void RunUntilPowerFails();
  void OpenAfterCrash(bool* killed);
  void Recover(bool killed);
  void LetGo();

  Moment Now();
  int64_t now();
  Journal& JournalOf(const Batch& batch) { return batch.unlogged ? *unlogged_ : *logged_; }

  const SessionPlan plan_;
  Counters& counters_;
  Dice dice_;
  Store store_;
  Checker checker_;
  std::vector<TablePlan> tables_;
  Model model_;
  std::unique_ptr<Journal> logged_, unlogged_;
  std::vector<HeldSnapshot> snapshots_;
  std::vector<HeldCursor> cursors_;
  int64_t now_micros_ = 0;      ///< The engine's time, which never goes back.
  int64_t last_timestamp_ = 0;  ///< The last one that the engine assigned.
  uint64_t step_ = 0;
  uint64_t written_ = 0;     ///< Operations.
  uint64_t next_check_ = 0;  ///< By written_.
};

}  // namespace tandem::test
