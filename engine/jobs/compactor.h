// Compaction of a region: adjacent runs become one run, of one file or of several with disjoint
// keys. compaction/pick decides which runs; a manual compaction takes all of them.
//
// Steps: the files of these runs are merged into new ones, which are synced; one catalog edit
// replaces the old files; one swap of the region's version publishes the new ones; the old files
// are deleted when their last reader releases them. Files flushed meanwhile stay after the new
// ones.
//
// Before a merge begins, the disk is asked for room (engine/runtime/merge_space.h). A due merge
// that gets none waits, and a smaller one is made if there is one; by hand it is an error.
//
// Files of which every cell has expired go by an edit of the catalog alone: as if each had been
// merged, with nothing left to write (compaction/expired.h).
//
// While a merge runs, its thread makes smaller ones that come due, above it in its region or in
// other regions (engine/region/running_merges.h).
//
// A close cancels large merges, so that it is prompt, and completes small ones, so that many short
// sessions do not leave many files.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "compaction/pick.h"
#include "engine/jobs/index_builder.h"
#include "engine/jobs/run_writer.h"
#include "engine/region/expiry.h"
#include "engine/region/region.h"
#include "engine/region/region_runs.h"
#include "engine/region/running_merges.h"
#include "engine/runtime/merge_pace.h"
#include "engine/runtime/merge_space.h"
#include "engine/runtime/running_jobs.h"
#include "format/types.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class Compactor {
 public:
  /// All outlive it.
  struct Dependencies {
    FileWork work;
    uint32_t runs_max = 8;       ///< Of an idle region (compaction::MergePolicy).
    uint64_t space_reserve = 0;  ///< See MergeSpace.
    IndexBuilder* builder = nullptr;
    MergePace* pace = nullptr;
    /// A merge of the region was made while another one waited.
    std::function<void(Region&)> merged_between;
  };
  explicit Compactor(const Dependencies& dependencies)
      : work_(dependencies.work),
        policy_{.runs_max = dependencies.runs_max},
        builder_(dependencies.builder),
        pace_(dependencies.pace),
        merged_between_(dependencies.merged_between),
        space_([files = work_.files] { return files->FreeSpace(); }, dependencies.space_reserve) {}

  /// Whether runs of the region should be merged, of those above the ones that are being merged.
  bool IsDue(const Region& region) const EXCLUDES(mutex_);
  /// A merge of the region is due, and its task scheduled: merges that run may make it. May throw
  /// std::bad_alloc.
  void Offer(Region& region) { running_.Offer(region); }
  /// Whether it has more runs than an idle region may have.
  bool IsBehind(const Region& region) const {
    return RunCount(*region.version()) > policy_.runs_max;
  }
  /// Merges all files of the region into one run, in several steps if there are more runs than one
  /// merge takes. Cancels a due merge of the region that is running, since this one includes it.
  /// Errors: kCancelled (also when the region is retired meanwhile), kReadOnly, kCorruption,
  /// kIoError, kNoSpace (also before a step that the disk has no room for: how many bytes are
  /// needed and free), kUnsupported; the inputs of the failed step then stay.
  Status Compact(Region& region) EXCLUDES(mutex_);
  /// Runs due merges until none is left and calls `merged` after each. Errors: kBusy at once when
  /// another thread is compacting the region, since a flush may need this one; as Compact. After
  /// kNoSpace Region::lacks_space says whether the merge was not begun; the message log was told
  /// when that was first so. A region where a merge fails permanently (base/passing.h) is left
  /// alone from then on.
  Status CompactIfDue(Region& region, const std::function<void()>& merged) EXCLUDES(mutex_);
  /// Lets go of files of which every cell has expired, without reading them, and calls `dropped` if
  /// there were some. Errors: kBusy when the region is being compacted; kCancelled, kReadOnly,
  /// kIoError, kNoSpace; the files then stay.
  Status DropExpired(Region& region, const std::function<void()>& dropped) EXCLUDES(mutex_);
  /// In how many microseconds to call DropExpired; nullopt: no file will expire by time alone.
  std::optional<int64_t> ExpiresIn(const Region& region) const;
  /// Ends a due merge of the region that is running and keeps merges of it away while the result
  /// lives. Waits for one that was asked for by hand.
  RegionJobLock Pause(Region& region);
  /// Ends a merge that is running. Requires: the region is retired. Allocates nothing.
  void EndMergesOf(const Region& region) { running_.EndAllOf(region); }
  /// For a close, before Cancel: cancels running and later merges unless they are due and small;
  /// then runs the due merges of `regions`, at most kCloseBytes of inputs together. Returns the
  /// first error; the other regions are merged all the same.
  Status FinishSmallMerges(const std::vector<std::shared_ptr<Region>>& regions) EXCLUDES(mutex_);
  /// Whether the region has a file that RewriteBroken would rewrite.
  bool HasBroken(const Region& region) EXCLUDES(mutex_) { return FindBroken(region).has_value(); }
  /// Adds indexes to files that are older than they are, and rewrites runs from their rows that
  /// have a file with a broken section, or with cells of a family that was dropped since: one after
  /// the other. A file that regions share gets its indexes by the first of them. Ends early when a
  /// merge is due, and has rewritten one then. Errors: kBusy when the region is being compacted,
  /// which may do it, or one that shares a file with it; those of CompactIfDue. A file that cannot
  /// be rewritten is left alone from then on.
  Status RewriteBroken(Region& region) EXCLUDES(mutex_);
  /// Whether HasBroken or the missing overlaps of other regions may have changed since the last
  /// call: files that they share were rewritten, or cannot get their indexes together.
  bool TakeSharedChanged() { return shared_changed_.exchange(false, std::memory_order_relaxed); }
  /// Running and later merges end with kCancelled.
  void Cancel() { running_.Close(0); }

  /// Total inputs of the merges of a close, in bytes: a short read on any disk.
  static constexpr uint64_t kCloseBytes = 4 << 20;

 private:
  Status FinishLocked(Region& region, uint64_t* budget) EXCLUDES(mutex_);
  static void RecordOutcome(Region& region, const Status& status);
  Status StopRetryingUnlessTransient(Region& region, const Status& status) EXCLUDES(mutex_);
  Status CompactDueLocked(Region& region, bool* is_refused) EXCLUDES(mutex_);
  using Claim = std::shared_ptr<MergeSpace::Claim>;
  // The files [first, end) of a version: whole, adjacent runs.
  struct Inputs {
    RegionVersion version;
    size_t first = 0, end = 0;
    Claim space = nullptr;  // For what their merge writes; it is there when that begins.
    // Newer files are not held, so that those which others replace meanwhile can go.
    void Take(const RegionRuns& runs, compaction::RunRange range) {
      first = runs.firsts[range.first];
      end = runs.firsts[range.end];
      version.files.resize(end);
    }
    std::span<const FileSlice> slices() const {
      return std::span(version.files).subspan(first, end - first);
    }
  };
  static std::vector<format::StoreFile*> OlderSharingKeys(const Inputs& inputs);
  std::optional<Inputs> Pick(const Region& region, const compaction::MergePolicy& policy) const;
  Result<Claim> ClaimFor(Region& region, Region::Rewriting why, uint64_t bytes);
  Status CompactLocked(Region& region, bool* is_refused);
  Expiry FindExpired(const Region& region) const;
  Status DropExpiredLocked(Region& region);
  Status LetGo(Region& region, std::vector<FileSlice>* gone);
  Status CompactInputs(Region& region, Inputs inputs, MergeKind kind,
                       RunningMerge* within = nullptr) EXCLUDES(mutex_);
  void GiveWay(RunningMerge* merge, uint64_t read_bytes) EXCLUDES(mutex_);
  Status MergeWithin(RunningMerge* merge, Region& region) EXCLUDES(mutex_);
  Result<uint64_t> CompactWithin(RunningMerge* merge, Region& region,
                                 const compaction::MergePolicy& policy) EXCLUDES(mutex_);
  std::optional<FileSlice> FindBroken(const Region& region) EXCLUDES(mutex_);
  bool GetsIndexes(const format::StoreFile& file, const format::TableRecord& table) const
      EXCLUDES(mutex_);
  bool IsRewrittenHere(const Region& region, const FileSlice& slice,
                       const format::TableRecord& table) const EXCLUDES(mutex_);
  static std::optional<Inputs> RunWith(const Region& region, const FileSlice& slice);
  Status RewriteLocked(Region& region) EXCLUDES(mutex_);
  Status Rewrite(Region& region, const FileSlice& slice) EXCLUDES(mutex_);
  Status AddIndexes(Region& region, const FileSlice& slice) EXCLUDES(mutex_);
  Status RewriteRun(Region& region, const FileSlice& slice) EXCLUDES(mutex_);
  using Record = std::shared_ptr<const format::TableRecord>;
  // What a merge looks at, and what it reports, on its way.
  struct MergeControl {
    RunningMerge* running = nullptr;
    JobProgress* progress = nullptr;
  };
  Result<bool> IsPaced(const RunningMerge& running) const;
  Result<WrittenRun> MergeSkippingBrokenSections(const Region& region, const Inputs& inputs,
                                                 const Record& table, const MergeControl& control);
  static format::SequenceNumber LastLimitsBefore(const RegionVersion& version, size_t end,
                                                 const format::TableRecord& table);
  Result<WrittenRun> Merge(const Region& region, const Inputs& inputs, const Record& table,
                           const MergeControl& control);
  Status InstallOrRetire(Region& region, const Inputs& inputs, const FinishedRun& files,
                         const format::TableRecord& table, bool* is_outdated);
  static std::vector<FileSlice> LastReferences(const format::Catalog& catalog, const Region& region,
                                               std::span<const FileSlice> slices);
  void ReferencesWent(std::span<const FileSlice> slices, std::span<const FileSlice> last);
  Status Install(Region& region, const Inputs& inputs, const FinishedRun& files,
                 const format::TableRecord& table, bool* is_outdated);

  const FileWork work_;
  const compaction::MergePolicy policy_;
  IndexBuilder* const builder_;
  MergePace* const pace_;
  const std::function<void(Region&)> merged_between_;
  MergeSpace space_;
  RunningMerges running_;
  std::atomic<bool> shared_changed_{false};  // Relaxed: a hint.
  mutable base::Mutex mutex_;
  std::set<format::RegionId> given_up_ GUARDED_BY(mutex_);
  std::set<format::FileNumber> not_rewritten_ GUARDED_BY(mutex_);
  std::set<format::FileNumber> not_copied_ GUARDED_BY(mutex_);  // They need a merge instead.
};

}  // namespace tandem::engine
