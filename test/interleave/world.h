// A database on the simulated disk whose callers and background jobs are scheduled threads, and
// calls on it that record their results.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/job_queue.h"
#include "engine/engine.h"
#include "test/interleave/history.h"
#include "test/interleave/scheduler.h"
#include "tools/simulation/manual_clock.h"
#include "tools/simulation/model.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {

/// Every job is a scheduled thread of its own. Time passes when no thread can run.
class ScheduledExecutor final : public base::Executor {
 public:
  ScheduledExecutor(Scheduler* scheduler, ManualClock* clock)
      : scheduler_(*scheduler), clock_(*clock) {}
  void ScheduleAfter(int64_t delay_micros, std::shared_ptr<base::Job> job) override;
  /// Waits for the jobs so far and those that they bring.
  void Drain() override;
  /// On the caller's thread; that of the job finds nothing to do.
  bool RunUrgent() override;
  /// Lets time pass until the next job with a delay is due. False: there is none.
  bool PassTime();
  /// Jobs whose time has not come are not run any more.
  void Drop() { queue_.DropDelayed(); }

 private:
  Scheduler& scheduler_;
  ManualClock& clock_;
  std::vector<ThreadId> jobs_;
  uint64_t job_count_ = 0;
  base::JobQueue queue_;
};

/// What writes that depend on others met (Statistics), summed over schedules.
struct CausesMet {
  uint64_t caught_up = 0, reread = 0, replanned = 0;
  uint64_t in_group = 0, in_memstore = 0, in_files = 0, in_range = 0;  ///< Conflicts.

  void Add(const Statistics& met);
};

class World;

/// What a scenario starts from and how it is checked.
struct WorldPlan {
  engine::Tuning tuning{};
  bool two_regions = false;   ///< Keys up to "m", and from "m" on.
  bool two_tables = false;    ///< "t" and "u".
  bool two_families = false;  ///< Tables have a family "e" as well.
  bool no_index = false;      ///< "by_c" is not there before CreateIndex.
  bool unique = false;        ///< "by_c" is unique, and two versions are kept.
  bool global = false;        ///< "by_c" is global, and two versions are kept.
  /// Whether "t" has the observer that WriteCounted is for, or gets it by SetObservers.
  enum class Observers : uint8_t { kNone, kSet, kSetLater };
  Observers observers = Observers::kNone;
  /// One of this many first syncs fails, or none: the scheduler picks. Calls may fail then, and
  /// the world ends with a power cut that takes what is not synced.
  uint32_t failing_syncs = 0;
  /// The world ends with such a power cut though no sync fails. Calls other than synced writes and
  /// flushes may then be as if they had not been.
  bool power_cut = false;
  /// Done by the thread that begins the first merge, before that reads anything; null: nothing.
  std::function<void(World&)> within_merge{};
  uint64_t seed = 1;
};

/// Tables have a family "d" and the index "by_c" over d:c; values are short texts. Reads are of the
/// table "t", those at snapshots of all. A row "u/a" is the row "a" of the table "u", and
/// "a:e" is the row "a", of which the column of the family "e" is written.
class World {
 public:
  World(const WorldPlan& plan, Scheduler* scheduler);
  ~World();

  using Thread = std::vector<std::function<void()>>;
  /// Runs threads of operations side by side with each other and with background jobs, exploring;
  /// returns when all are done.
  void Run(const std::vector<Thread>& threads);
  /// The end: waits for background jobs, reads everything, verifies, closes, opens again, reads
  /// again, and searches the order of all that was answered. What is wrong; empty: nothing.
  std::string Finish();
  void AddTo(CausesMet* causes) const;

  // Calls, for scheduled threads. `rows`: row and value of the column "c" (empty: the row is
  // deleted).
  using Rows = std::vector<std::pair<std::string, std::string>>;
  void Write(const Rows& rows, Durability durability = Durability::kWritten);
  /// Adds 1 to the column "n".
  void Increment(const std::string& row, Durability durability = Durability::kWritten);
  /// Appends the token to the column "l".
  void Append(const std::string& row, const std::string& token,
              Durability durability = Durability::kWritten);
  /// Deletes the newest version of the column "c".
  void DeleteCell(const std::string& row);
  /// Puts `value` into the column "c" if it is `expected` (empty: absent).
  void CheckAndPut(const std::string& row, const std::string& expected, const std::string& value);
  /// Puts what the column "c" of `from` has, with "+" after it, into that of `to`, by a transaction
  /// that reads both. On a conflict nothing happens.
  void CopyInTransaction(const std::string& from, const std::string& to,
                         Durability durability = Durability::kWritten);
  /// Puts "1" into the column "c" of the row if fewer than `few` rows have it there, by a
  /// transaction that counts them by the index and has its ranges checked. On a conflict nothing
  /// happens.
  void PutIfFewInTransaction(const std::string& row, uint64_t few = 2,
                             Durability durability = Durability::kWritten);
  /// Of any table.
  void Get(const std::string& row);
  /// Whether there is a table of this name.
  void LookFor(const std::string& table);
  /// The most threads that a read may use.
  void Scan(uint32_t threads = 1);
  /// The same, with the rows that begin with "a" and with "b" merged by the rest of their keys.
  void ScanMerged(uint32_t threads);
  /// Rows whose "c" is `value`, by the index.
  void Query(const std::string& value);
  void Count(const std::string& value);
  /// Takes a snapshot and reads at it: a scan, the index, and what other threads do between them.
  void TakeSnapshot();
  void ReadSnapshot(const std::string& value);
  void ReleaseSnapshot();
  void Flush(const std::string& table = "t");
  void Compact();
  /// At the row, which begins no region yet.
  void Split(const std::string& row);
  void MergeRegions();
  void CreateTable(const std::string& name);
  void DropTable(const std::string& name);
  void RenameTable(const std::string& from, const std::string& to);
  /// "t".
  void Truncate();
  /// The family "e" of "t". Nobody may write to it meanwhile or afterwards.
  void DropFamily();
  void Close();

  // Calls of world_calls.cc.
  /// Adds the index "by_c" to "t".
  void CreateIndex();
  void DropIndex();
  enum class Order : uint8_t { kRising, kAny };
  /// Puts rows into "t" by a bulk load: it begins, and all are there at its Commit.
  void Load(const Rows& rows, Order order = Order::kRising);
  /// Of all tables.
  void CreateSnapshot(const std::string& name);
  /// As TakeSnapshot: what is read is what the tables held when it was created.
  void OpenSnapshot(const std::string& name);
  void DropSnapshot(const std::string& name);
  /// Before the threads run: "t" as files in the directory "export", and the database in
  /// "checkpoint".
  void Export();
  void Checkpoint();
  /// Adds what was exported to "t".
  void Attach();
  /// The table "t" of the checkpoint, as the table "u".
  void Restore();
  /// Copies "t" to a table under other row keys, compares the two while writes wait, and drops the
  /// copy.
  void CopyTable();
  /// Writes rows of "t" whose observer adds 1 to the column "c" of the row "n", which it reads
  /// before. On a conflict nothing happens. Without the observer it is not counted.
  void WriteCounted(const Rows& rows);
  void SetObservers();
  /// Of the sequence "ids", which CreateSequence makes. None comes twice, whatever happens, and
  /// later calls get larger ones. Where it was dropped meanwhile no id is taken.
  void CreateSequence();
  void DropSequence();
  void TakeIds(uint64_t count);

  engine::Engine& engine() { return *engine_; }
  ScheduledExecutor& executor() { return executor_; }

 private:
  /// The observations at one snapshot: what a scan, or a query for a value, gave.
  struct Seen {
    std::string table;
    std::optional<std::string> value;
    std::optional<std::vector<ModelRow>> rows;  ///< Nothing: there is no such table.
  };
  struct Held {
    std::optional<Snapshot> snapshot;
    std::shared_ptr<std::vector<Seen>> seen;
  };
  /// Notes begin and end of a call.
  class Call;
  class MergeListener;

  void Open();
  void InjectFault();
  void EndWithPowerCut();
  void CheckAll();
  void ReadNamedSnapshots();
  /// Every store file is one that the catalog names. Requires: nobody reads, and no job is under
  /// way.
  void CheckFiles();
  bool MayBeLost(Durability durability) const {
    return plan_.power_cut && durability != Durability::kSynced;
  }
  /// Whether a call may answer so because of the fault.
  bool IsExcused(const Status& status);
  std::vector<ModelRow> AllVersions(const std::string& table);
  std::vector<ModelRow> Collect(Result<Cursor> cursor, const std::string& context);
  void Expect(const Status& status, const std::string& context);
  void Problem(const std::string& what);
  /// Later than all before it.
  uint64_t NextMoment() { return ++moments_; }

  WorldPlan plan_;
  Scheduler& scheduler_;
  SimulatedDisk disk_;
  ManualClock clock_;
  std::unique_ptr<base::RandomSource> random_;
  ScheduledExecutor executor_;
  std::unique_ptr<engine::Engine> engine_;
  ModelState start_;              // Before the threads run.
  std::vector<ModelRow> copied_;  // Of the model, by Export or Checkpoint.
  bool recording_ = false;
  uint64_t moments_ = 0;
  History history_;
  std::vector<std::pair<uint64_t, uint64_t>> closes_;  // Moments: Close began and ended.
  std::map<ThreadId, Held> held_;                      // By the thread that took the snapshot.
  std::set<std::string> snapshot_names_;               // That were ever created.
  std::set<uint64_t> ids_;                     // That were taken since the sequence was created.
  bool has_ids_ = false, ids_may_go_ = false;  // It was created; the scenario drops it.
  std::string problems_;
};

}  // namespace tandem::test
