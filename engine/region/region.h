// A region: a key range of a table, its memstores and its files. Readers see one immutable
// RegionVersion, which is replaced as a whole (rule 24).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_account.h"
#include "base/mutex.h"
#include "engine/region/unlogged.h"
#include "engine/region/view.h"
#include "engine/runtime/background.h"
#include "engine/storage/catalog.h"
#include "format/schema.h"
#include "memstore/memstore.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What is done for a region in the background; engine/maintenance.h says when.
struct RegionTasks {
  using Work = std::function<void()>;
  /// As BackgroundTask.
  RegionTasks(BackgroundJobs* jobs, Work flush_work, Work merge_work, Work overlaps_work,
              Work resize_work)
      : flush(jobs, base::Priority::kHigh, std::move(flush_work)),
        merge(jobs, base::Priority::kLow, std::move(merge_work)),
        overlaps(jobs, base::Priority::kMiddle, std::move(overlaps_work)),
        resize(jobs, base::Priority::kLow, std::move(resize_work)) {}

  BackgroundTask flush;
  BackgroundTask merge;  // And rewrite damaged files.
  // Queries are faster after it, so it does not wait for merges; it gives way to flushes.
  BackgroundTask overlaps;
  BackgroundTask resize;  // Splits the region, or merges it with a neighbour.
};

/// Threads: any, unless said otherwise.
class Region : public std::enable_shared_from_this<Region> {
 public:
  /// An empty region; files are added by Update. `account` (may be null) counts its memstores and
  /// outlives them.
  Region(const format::RegionRecord& record, std::shared_ptr<const format::TableRecord> table,
         base::MemoryAccount* account = nullptr, uint32_t chain_cells_max = kChainCellsMax);

  format::RegionId id() const { return id_; }
  /// The record of its table as it is now.
  std::shared_ptr<const format::TableRecord> table() const EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    return table_;
  }
  void SetTable(std::shared_ptr<const format::TableRecord> table) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    table_.swap(table);
  }
  format::TableId table_id() const { return table_id_; }
  const std::string& start_key() const { return start_key_; }
  const std::string& end_key() const { return end_key_; }
  /// See RegionRecord.
  bool start_by_size() const { return start_by_size_; }

  /// The current version, pinned. A reader that meets one of a retired region finds the table
  /// again.
  std::shared_ptr<const RegionVersion> version() const EXCLUDES(mutex_);
  /// Applies `change` to a copy of the version, drops the overlaps of files that are gone, and
  /// installs the copy. `change` does no I/O.
  void Update(const std::function<void(RegionVersion*)>& change) EXCLUDES(mutex_);

  /// The memstore that takes writes. Threads: the commit leader.
  Memstore* active() { return active_.get(); }
  /// Replaces it with an empty memstore for the present record of the table, so that the old one
  /// waits for its flush. Does nothing if it is shared with another region, or empty and for that
  /// record. Returns whether one waits now that did not. Threads: the commit leader.
  bool SwitchMemstore() EXCLUDES(mutex_);
  /// From now on both regions add their operations to one memstore, which is not switched until
  /// EndSharing, or until both retire. What they had waits for its flush. Requires: neither shares
  /// one. Threads: the commit leader. If it throws, neither does.
  void ShareMemstore(Region& other) EXCLUDES(mutex_);
  /// Each has a memstore of its own again. The shared one waits for its flush in both. Threads: the
  /// commit leader. If it throws, the database must take no more writes.
  void EndSharing(Region& other) EXCLUDES(mutex_);
  /// Whether SwitchMemstore would do nothing. Threads: the commit leader.
  bool shares_memstore() const { return shares_memstore_; }
  /// Takes over what `files` hold, and the memstore that `left` and `right` share, which are the
  /// parts of this region. Requires: no other thread sees this region; nothing else is in their
  /// memstores. Threads: the commit leader.
  void Unite(const Region& left, const Region& right, std::vector<FileSlice> files)
      EXCLUDES(mutex_);
  /// Takes over what `files` hold and what the memstores of `former`, a version of the region that
  /// this one is a part of, hold of its keys. Those memstores wait for their flush. Requires: no
  /// other thread sees this region. Threads: the commit leader.
  void Inherit(const RegionVersion& former, std::vector<FileSlice> files) EXCLUDES(mutex_);
  /// Gives up all rows: other regions have taken them over, or its table was dropped. From now on
  /// the region stays empty. Threads: the commit leader.
  void Retire() EXCLUDES(mutex_) { Retire(PrepareRetirement()); }
  /// What a retired region has.
  struct Retirement {
    std::shared_ptr<Memstore> memstore;
    std::shared_ptr<const RegionVersion> version;
  };
  Retirement PrepareRetirement() const EXCLUDES(mutex_);
  /// The same with what was prepared. Allocates nothing.
  void Retire(Retirement prepared) EXCLUDES(mutex_);
  bool is_retired() const EXCLUDES(mutex_) { return version()->is_retired; }
  /// Bytes by which the active memstore has grown since the last call; may be negative after a
  /// switch. Threads: the commit leader.
  int64_t TakeGrowth();
  /// Operations that it took since it was made. Threads: CountWrites by the commit leader.
  uint64_t writes() const { return writes_.load(std::memory_order_relaxed); }
  void CountWrites(uint64_t count) { writes_.store(writes() + count, std::memory_order_relaxed); }
  /// Reads that looked at it since it was made. Reads at the same moment may count as one: exact
  /// counts would make the threads that read wait for each other.
  uint64_t reads() const { return reads_.load(std::memory_order_relaxed); }
  void CountRead() { reads_.store(reads() + 1, std::memory_order_relaxed); }
  /// The operations in memstores that are in no log. Threads: see Unlogged.
  Unlogged& unlogged() { return unlogged_; }

  /// Memstores that wait for their flush.
  size_t waiting_memstores() const EXCLUDES(mutex_);
  /// The oldest operation that no file holds; kSequenceMax when all are in files.
  format::SequenceNumber oldest_unflushed() const EXCLUDES(mutex_);

  /// Whether the last merge of its runs failed. Callers should then not wait for the next.
  bool merges_fail() const { return merges_fail_.load(std::memory_order_relaxed); }
  void SetMergesFail(bool fail) { merges_fail_.store(fail, std::memory_order_relaxed); }

  /// Why files of the region are written again.
  enum class Rewriting : uint8_t { kDueMerge, kRepair };
  /// Whether the disk had too little space for the last one that was to begin.
  bool lacks_space(Rewriting why) const { return space_flag(why).load(std::memory_order_relaxed); }
  bool lacks_space() const {
    return lacks_space(Rewriting::kDueMerge) || lacks_space(Rewriting::kRepair);
  }
  /// Returns what it was before.
  bool SetLacksSpace(Rewriting why, bool lacks) {
    return space_flag(why).exchange(lacks, std::memory_order_relaxed);
  }

  /// Every operation up to this sequence is in files. Raised together with the version that has
  /// them.
  format::SequenceNumber flushed_through() const EXCLUDES(mutex_);
  void RaiseFlushedThrough(format::SequenceNumber sequence) EXCLUDES(mutex_);

  /// Called once, before other threads see the region.
  void SetTasks(std::unique_ptr<RegionTasks> tasks) { tasks_ = std::move(tasks); }
  /// Requires: SetTasks was called.
  RegionTasks& tasks() { return *tasks_; }

  /// "region 3 of table 'x'", for messages.
  std::string Describe() const;

  /// A region does each kind of work at most once at a time.
  enum class Work : uint8_t { kFlush, kCompaction, kOverlaps };
  static constexpr size_t kWorks = 3;
  /// Waits until no other thread does this work, then begins it.
  void Begin(Work work) EXCLUDES(mutex_);
  /// Returns false if another thread does this work.
  bool TryBegin(Work work) EXCLUDES(mutex_);
  void End(Work work) EXCLUDES(mutex_);
  /// Whether a thread waits in Begin for this work.
  bool IsAwaited(Work work) const EXCLUDES(mutex_);

 private:
  void SwitchTo(std::shared_ptr<Memstore> next) EXCLUDES(mutex_);
  std::atomic<bool>& space_flag(Rewriting why) { return lacks_space_[static_cast<size_t>(why)]; }
  const std::atomic<bool>& space_flag(Rewriting why) const {
    return lacks_space_[static_cast<size_t>(why)];
  }
  bool& busy(Work work) REQUIRES(mutex_) { return busy_[static_cast<size_t>(work)]; }

  const format::RegionId id_;
  const format::TableId table_id_;
  const std::string start_key_, end_key_;
  const bool start_by_size_;
  base::MemoryAccount* const account_;
  const uint32_t chain_cells_max_;
  std::unique_ptr<RegionTasks> tasks_;
  // The commit leader's.
  std::shared_ptr<Memstore> active_;  // Also the version's last memstore.
  uint64_t counted_bytes_ = 0;        // Of the active memstore, as TakeGrowth saw it.
  bool shares_memstore_ = false;      // The active one, with a neighbour.
  Unlogged unlogged_;

  std::atomic<bool> merges_fail_{false};            // Relaxed: it orders nothing.
  std::array<std::atomic<bool>, 2> lacks_space_{};  // Relaxed, likewise.
  std::atomic<uint64_t> writes_{0}, reads_{0};      // Relaxed: counters that order nothing.

  mutable base::Mutex mutex_;
  base::CondVar turn_;
  std::shared_ptr<const format::TableRecord> table_ GUARDED_BY(mutex_);
  std::shared_ptr<const RegionVersion> version_ GUARDED_BY(mutex_);
  format::SequenceNumber flushed_through_ GUARDED_BY(mutex_);
  std::array<bool, kWorks> busy_ GUARDED_BY(mutex_) = {};
  std::array<uint32_t, kWorks> waiting_ GUARDED_BY(mutex_) = {};  // Threads in Begin.
};

/// Begins a kind of work, and ends it at the end of the scope.
class RegionJobLock {
 public:
  RegionJobLock(Region& region, Region::Work work) : region_(region), work_(work) {
    region_.Begin(work_);
  }
  ~RegionJobLock() { region_.End(work_); }
  RegionJobLock(const RegionJobLock&) = delete;
  RegionJobLock& operator=(const RegionJobLock&) = delete;

 private:
  Region& region_;
  const Region::Work work_;
};

/// kNotFound "region 3 of table 'x' is gone already".
Status Gone(const Region& region);

/// The numbers of the version's files, ascending.
std::vector<format::FileNumber> FileNumbers(const RegionVersion& version);

/// The catalog record of the region at `version`.
format::RegionRecord RecordOf(const Region& region, const RegionVersion& version,
                              format::SequenceNumber flushed_through);

}  // namespace tandem::engine
