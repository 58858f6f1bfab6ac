// What was asked of a database and what it acknowledged, and from that what a crash may leave.
//
// Batches form two lanes by their tables: those that are never written at Durability::kMemory, and
// those that are. Of the first lane a crash leaves a prefix of the acknowledged batches, not
// shorter than what was made durable, and after all of them perhaps batches that were attempted
// and never acknowledged, each as a whole. Of the second it leaves a prefix, and after that of the
// batches that are logged a prefix again. Tables whose creation was acknowledged exist.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "test/reliability/content.h"
#include "test/reliability/workload.h"
#include "tools/simulation/model.h"

namespace tandem::reliability {

/// Threads: one; const calls from any while nobody writes.
class History {
 public:
  explicit History(const Workload& workload);

  // What happens, in order. A write is announced first; one that is never acknowledged may show
  // after the next crash or not.
  void Created(const std::string& table) { created_.push_back(table); }
  void Writing(const Step& step, int64_t now_micros);
  /// As a batch that deletes all rows of the table, and is synced. Unless it is truncated, it may
  /// be gone from now on, until it is Created again. Requires: the table is in the first lane.
  void Removing(const std::string& table, bool is_truncated);
  /// As a batch that deletes the cells of the family, and is synced. Requires: as Removing.
  void DroppingFamily(const std::string& table, const std::string& family);
  /// As a batch that cuts what is beyond the limits, and is synced. Requires: as Removing.
  void Altering(const std::string& table, const FamilyOptions& family);
  /// The named snapshot may be there from now on, with that content; once it was created, it is.
  void CreatingSnapshot(const std::string& name, const Content& content);
  void SnapshotCreated(const std::string& name);
  /// It may be gone from now on; once it was dropped, it is.
  void DroppingSnapshot(const std::string& name);
  void SnapshotDropped(const std::string& name);
  /// The write that was announced last has that time.
  void Wrote(int64_t now_micros) {
    lanes_[current_].open.back().micros = now_micros;
    takes_time_ = false;
  }
  /// The same, unless it has its time: a write that waits takes it afterwards.
  void UnderWay(int64_t now_micros) {
    if (takes_time_ && !lanes_[current_].open.empty())
      lanes_[current_].open.back().micros = now_micros;
  }
  void Acknowledged();
  /// Everything that changed `table` is durable; an empty name: any table.
  void Flushed(const std::string& table);
  void Closed();

  /// The reason why a database opened after a crash cannot hold `content`; empty when it can.
  /// `killed`: only the process ended, so that what was handed to the system survived.
  std::string Contradiction(const Content& content, bool killed) const;
  /// The same for its named snapshots.
  std::string SnapshotContradiction(const std::map<std::string, Content>& found) const;
  /// The same for a database that goes on without a crash: it holds what it acknowledged.
  std::string LiveContradiction(const Content& content) const;
  /// Takes what was found after a crash for durable. Requires: no contradiction.
  void Recovered(const Content& content);
  /// Where the rows do not tell whether a family was altered before a crash, its options do.
  void Found(const std::vector<TableInfo>& tables);

  /// Equal as long as the same must survive.
  uint64_t demand() const;
  /// Batches acknowledged so far.
  uint64_t acknowledged_count() const;

 private:
  struct Batch {
    std::vector<test::ModelOperation> operations;
    Durability durability = Durability::kWritten;
    int64_t micros = 0;
    /// A deletion that reads was tried before it: from then on a region may log everything, also
    /// when the deletion failed.
    bool follows_deletion = false;
    std::string emptied = {};                   ///< A table that loses all rows, or
    std::string family = {};                    ///< the cells of this family, or
    std::optional<FamilyOptions> altered = {};  ///< whose family of that name becomes this one.
    /// Whether anything is surely written, so that its durability says something of those before.
    bool surely_writes() const;
    bool is_logged() const;
    bool SurelyChanges(const std::string& table) const;
  };
  struct State {
    test::Model model;
    std::string text;
    Batch last;  ///< That led to it.
  };
  struct Lane {
    std::vector<std::string> tables;
    std::vector<State> states;       ///< After each acknowledged batch; the first before all.
    size_t synced = 0, written = 0;  ///< States that survive a power cut, and a kill, at least.
    /// The same for the logged batches alone. In the first lane that is all.
    size_t logged_synced = 0, logged_written = 0;
    std::vector<Batch> open;  ///< Attempted after the last acknowledged one.
    bool tried_deletion = false;

    std::string TextOfModel(const test::Model& model) const;
    std::string TextOf(const Content& content) const;
    State After(const State& state, const Batch& batch) const;
    /// The state that `text` shows, among those that may be there.
    std::optional<State> Find(const std::string& text, bool killed) const;
    std::optional<State> FindMixed(const std::string& text, bool killed) const;
    /// The same where a batch after a deletion is taken for logged, or for what it asked for.
    std::optional<State> FindMixed(const std::string& text, bool killed, bool all_logged) const;
    std::optional<State> FindOpen(const State& last, const std::string& text) const;
  };
  struct NamedSnapshot {
    std::vector<Content> contents;  ///< That it may have; one of the attempts to create it.
    bool is_sure = false;           ///< It is there, with the last of them.
  };
  std::string MissingTable(const Content& content) const;

  std::vector<Lane> lanes_;  // All logged, not all logged.
  size_t current_ = 0;       // The lane of the write that was announced last.
  bool takes_time_ = false;  ///< The last write, until it has its time.
  std::vector<std::string> created_;
  std::map<std::string, NamedSnapshot> snapshots_;
  uint64_t snapshot_events_ = 0;
};

}  // namespace tandem::reliability
