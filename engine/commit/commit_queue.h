// Group commit. Writers queue; the first one leads: it takes a group from the queue, numbers,
// encodes, logs, applies and publishes it, wakes its members, and hands over to the writer that is
// first by then. The queue grows while the leader works, so one sync serves many writers.
//
// A leader whose group will be synced may wait for the writers of the group before
// (commit_delay.h).
//
// States of a request: queued -> in the leader's group -> done, or queued -> leads. The leader is
// the only one that touches the log and the active memstores; leadership is a flag, not a mutex, so
// no lock is held across its I/O.
//
// The highest level in a group decides how far it is logged before it is applied: kMemory not at
// all, kBuffered into the buffer (a timer writes it), kWritten to the operating system, kSynced to
// disk. The latter two also write what was buffered before.
//
// A batch that depends on stored data (complete_write.h) is at least kBuffered. Its writer reads
// files before it queues. The leader takes the requests of its group one after the other and
// completes each before the next. One whose files have changed since, by a flush, is left out, and
// its writer reads again; after three times the leader reads for it, in a group of its own. So
// everybody gets through.
//
// A transaction goes the same way, and so does a batch whose observers have read rows
// (row_checks.h): the leader asks whether rows that it depends on have changed. If so, it ends with
// kConflict.
//
// A batch that may make entries of unique indexes (unique_check.h) is refused by its writer, or
// completed by the leader unless another one has made such an entry since: then its writer looks
// again.
//
// What a batch depends on must be in the log or in store files first. If the leader finds that
// something is not, the batch is left out: its region logs everything from then on, and the writer
// flushes the region and queues again (engine/region/unlogged.h;
// docs/decisions/0009-reading-writes-flush-what-they-read.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "engine/commit/applier.h"
#include "engine/commit/commit_delay.h"
#include "engine/commit/complete_write.h"
#include "engine/commit/group_log.h"
#include "engine/commit/recent_entries.h"
#include "engine/commit/write_plan.h"
#include "engine/region/snapshots.h"
#include "engine/runtime/background.h"
#include "engine/runtime/health.h"
#include "engine/runtime/time_source.h"
#include "engine/source/read_resources.h"
#include "format/types.h"
#include "tandem/options.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The components that the queue uses; all outlive it.
struct CommitDependencies {
  GroupLog* log = nullptr;
  GroupApplier* applier = nullptr;
  SnapshotRegistry* snapshots = nullptr;
  TimeSource* time = nullptr;
  base::Clock* clock = nullptr;  ///< For how long a sync takes.
  int64_t delay_micros_max = CommitDelay::kMicrosMax;
  Health* health = nullptr;
  BackgroundJobs* jobs = nullptr;
  const RegionSet* regions = nullptr;
  /// What is needed to look for the holders of entries of unique indexes.
  std::function<ReadResources()> read_resources = {};
  /// Switches and flushes the memstores of the region. Called outside the queue.
  std::function<Status(Region*)> flush;
  /// Makes it certain what the manifest holds.
  std::function<Status()> settle_catalog = {};
  /// Called by the leader after each group: switches memstores, schedules what follows.
  std::function<void()> after_group;
};

/// What became of batches that depend on stored data.
struct CompletionCounts {
  uint64_t completed = 0;  ///< Or found to have nothing to write.
  uint64_t caught_up = 0;  ///< Of these, those that depend on a commit after their read of files,
  uint64_t caught_up_in_group = 0;  ///< of these, those that depend on their own group.
  uint64_t moved = 0;               ///< Read again: a flush came in between, or
  uint64_t entries_moved = 0;       ///< a row has got an entry that the batch makes too.
  uint64_t unlogged = 0;            ///< Had a region flushed, which they depend on.
  uint64_t alone = 0;               ///< Completed by a leader that read files.
};

/// Threads: any.
class CommitQueue {
 public:
  /// `last`: no sequence at or below it is assigned.
  CommitQueue(CommitDependencies dependencies, format::SequenceNumber last);

  /// Commits the plan's batch and returns when it has reached its level and is visible. If a table
  /// was dropped, truncated, renamed or got another record since the batch was planned, commits
  /// nothing and sets `plan->is_stale`: its names may mean something else now. Errors: kReadOnly,
  /// kNoSpace (nothing was written), kIoError, kOutOfMemory; those of CompleteWrite and of a flush.
  Status Commit(WritePlan* plan, Durability durability);
  /// Runs `task`, a callable that returns a Status, as a group of its own: everything before it is
  /// applied, and nothing commits while it runs. Allocates nothing and throws nothing: what `task`
  /// throws for want of memory is kOutOfMemory.
  template <typename Task>
  Status RunAlone(Task&& task) {
    // A function that refers to the task has no copy of it to allocate.
    const std::function<Status()> by_reference = std::ref(task);
    return SubmitAlone(by_reference);
  }
  /// An edit that removes rows failed: a crash may show it or not. Nothing is committed before that
  /// is settled, for a crash could take it back. Threads: the commit leader.
  void NoteDoubt() { catalog_in_doubt_ = true; }
  /// A sequence for rows that come in files: no operation of the log has it. Threads: the commit
  /// leader.
  format::SequenceNumber TakeSequence() {
    return format::SequenceNumber(last_sequence_.fetch_add(1, std::memory_order_acq_rel) + 1);
  }
  /// Makes every logged operation up to `sequence` durable. Others commit meanwhile.
  Status SyncThrough(format::SequenceNumber sequence);
  /// Writes what is buffered to the operating system.
  Status WriteBuffered();

  CompletionCounts completion_counts() const EXCLUDES(counts_mutex_) {
    base::MutexLock lock(counts_mutex_);
    return counts_;
  }
  /// The last sequence that was assigned.
  format::SequenceNumber last_sequence() const {
    return format::SequenceNumber(last_sequence_.load(std::memory_order_acquire));
  }

 private:
  struct Request;
  /// The requests that are committed together, linked by Request::next.
  struct Group {
    Request* first = nullptr;
    Request* last = nullptr;
    uint32_t requests = 0;
    uint32_t batches = 0;
    uint64_t bytes = 0;
    Durability durability = Durability::kMemory;
    Request* last_reader = nullptr;  ///< The last one that depends on stored data; may be null.
  };

  Status SubmitAlone(const std::function<Status()>& task);
  Status CommitReader(WritePlan* plan, Durability durability);
  Status Read(WritePlan* plan, const CompletionPoint* alone = nullptr);
  Status ReadForUnique(WritePlan* plan, const CompletionPoint* alone);
  Status Submit(Request* request);
  bool Enqueue(Request* request) EXCLUDES(mutex_);
  Group TakeGroup() EXCLUDES(mutex_);
  void AwaitWriters() REQUIRES(mutex_);
  void NoteGroup(const Group& group) EXCLUDES(mutex_);
  Status Lead(const Group& group);
  static void Finish(const Group& group, const Status& status);
  void HandOver() EXCLUDES(mutex_);

  Status CommitGroup(const Group& group);
  Status SettleCatalog();
  Result<LogGroup> Encode(const Group& group);
  Status Complete(Request* request, const CompletionPoint& point);
  static Result<Completion> CompleteRows(const CompletionPoint& point, WritePlan* plan);
  Result<Completion> CompleteChecked(const CompletionPoint& point, WritePlan* plan);
  void Count(const Completion& completion, bool reads_alone) EXCLUDES(counts_mutex_);
  static Durability LevelOf(const Group& group);
  static void NoteUnlogged(const Group& group, const LogGroup& frame);
  Status LogFrame(LogGroup* frame, Durability durability);
  Status Sync();
  Status Apply(const LogGroup& frame);
  void WriteBufferedInBackground();

  const CommitDependencies deps_;
  std::atomic<uint64_t> last_sequence_;  // Stored by the leader.
  bool catalog_in_doubt_ = false;        // The leader's, as
  RecentEntries recent_entries_;         // of unique indexes,
  int64_t sync_micros_ = 0;              // of its group.
  BackgroundTask buffered_write_;

  mutable base::Mutex counts_mutex_;
  CompletionCounts counts_ GUARDED_BY(counts_mutex_);

  base::Mutex mutex_;
  Request* queue_first_ GUARDED_BY(mutex_) = nullptr;
  Request* queue_last_ GUARDED_BY(mutex_) = nullptr;
  uint32_t queued_ GUARDED_BY(mutex_) = 0;
  bool leading_ GUARDED_BY(mutex_) = false;  // There is a leader.
  CommitDelay delay_ GUARDED_BY(mutex_);
  base::CondVar all_queued_;  // Signalled when the writers that the leader waits for have queued.
};

}  // namespace tandem::engine
