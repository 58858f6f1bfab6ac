// Compaction of a region: all its files become one run, of one file or of several with disjoint
// keys.
//
// Steps: the files of this moment are merged into new ones, which are synced; one catalog edit puts
// these in their place; one swap of the region's version shows them; the old files are deleted when
// the last reader lets go of them. Files that are flushed meanwhile stay behind the new ones.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "base/mutex.h"
#include "engine/jobs/run_writer.h"
#include "engine/region/region.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class Compactor {
 public:
  /// `runs_max`: a region with this many runs is due.
  Compactor(FileWork work, uint32_t runs_max) : work_(work), runs_max_(runs_max) {}

  /// Whether the region has so many runs, two or more, that it should be compacted.
  bool IsDue(const Region& region) const EXCLUDES(mutex_);
  /// Merges all files of the region into one run, whatever their number. A merge that was due and
  /// runs is ended: this one does its work and more. Errors: kCancelled, kReadOnly, kCorruption,
  /// kIoError, kNoSpace, kUnsupported; the inputs stay then.
  Status Compact(Region& region) EXCLUDES(mutex_);
  /// Compact, as long as it is due, unless somebody does it already, who then sees that it is due
  /// again: no thread waits that a flush may need. A region where it fails for a reason that does
  /// not pass (base/passing.h) is left alone from then on.
  Status CompactIfDue(Region& region) EXCLUDES(mutex_);
  /// Whether the caller is to try CompactIfDue again later, since nobody else is: until
  /// ReleaseRetry.
  bool ClaimRetry(const Region& region) EXCLUDES(mutex_);
  void ReleaseRetry(const Region& region) EXCLUDES(mutex_);
  /// Writes every run anew that has a file with a broken section, each alone, from its rows.
  /// Errors: kBusy when the region is being compacted, which may do it; as Compact. A file with
  /// which it fails for good is left alone from then on.
  Status RewriteBroken(Region& region) EXCLUDES(mutex_);
  /// Ends merges that run, and those that begin later, with kCancelled.
  void Cancel() EXCLUDES(mutex_);

 private:
  using Wish = std::atomic<bool>;  // To end a merge. Relaxed: it is polled.

  // Those who wait to merge all of a region; a merge that was only due gives way to them.
  struct Waiting {
    uint32_t callers = 0;
    Wish end_due_merge{false};
  };

  Status GiveUpUnlessItMayPass(const Region& region, const Status& status) EXCLUDES(mutex_);
  const Wish& Wait(const Region& region, int change) EXCLUDES(mutex_);
  Status CompactDueInTurn(Region& region) EXCLUDES(mutex_);
  // The files [first, end) of a version: whole runs that follow one another.
  struct Inputs {
    RegionVersion version;
    size_t first = 0, end = 0;
    std::span<const FileSlice> slices() const {
      return std::span(version.files).subspan(first, end - first);
    }
  };
  Status CompactInTurn(Region& region, const Wish& cancelled);
  Status CompactInputs(Region& region, const Inputs& inputs, const Wish& cancelled);
  std::optional<Inputs> FindBroken(const Region& region) EXCLUDES(mutex_);
  Status RewriteInTurn(Region& region);
  Result<FinishedRun> MergeBesideDamage(const Region& region, const Inputs& inputs,
                                        const Wish& cancelled);
  Result<FinishedRun> Merge(const Region& region, const Inputs& inputs, const Wish& cancelled);
  Status InstallOrRetire(Region& region, const Inputs& inputs, const FinishedRun& files);
  Status Install(Region& region, const Inputs& inputs, const FinishedRun& files);

  const FileWork work_;
  const uint32_t runs_max_;
  Wish cancelled_{false};
  mutable base::Mutex mutex_;
  std::map<format::RegionId, Waiting> waiting_ GUARDED_BY(mutex_);  // Entries stay.
  std::set<format::RegionId> given_up_ GUARDED_BY(mutex_);
  std::set<format::RegionId> tried_again_ GUARDED_BY(mutex_);  // Soon: somebody has claimed it.
  std::set<format::FileNumber> not_rewritten_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
