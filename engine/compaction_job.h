// Compaction of a region: all its files become one run, of one file or of several with disjoint
// keys.
//
// Steps: the files of this moment are merged into new ones, which are synced; one catalog edit puts
// these in their place; one swap of the region's version shows them; the old files are deleted when
// the last reader lets go of them. Files that are flushed meanwhile stay behind the new ones.
#pragma once

#include <atomic>
#include <set>

#include "base/mutex.h"
#include "engine/region.h"
#include "engine/run_writer.h"
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
  /// Merges all files of the region into one run, whatever their number. Errors: kCancelled,
  /// kReadOnly, kCorruption, kIoError, kNoSpace, kUnsupported; the inputs stay then.
  Status Compact(Region& region) EXCLUDES(mutex_);
  /// Compact, when it is due by now. A region where it fails for anything but space or memory is
  /// left alone from then on.
  Status CompactIfDue(Region& region) EXCLUDES(mutex_);
  /// Ends merges that run, and those that begin later, with kCancelled.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

 private:
  Status CompactInTurn(Region& region);
  Result<FinishedRun> Merge(const Region& region, const RegionVersion& version);
  Status Install(Region& region, const RegionVersion& before, const FinishedRun& files);

  const FileWork work_;
  const uint32_t runs_max_;
  std::atomic<bool> cancelled_{false};  // Relaxed: a wish that is polled.
  mutable base::Mutex mutex_;
  std::set<format::RegionId> given_up_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
