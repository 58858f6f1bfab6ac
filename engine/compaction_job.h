// Compaction of a region: all its files become one.
//
// Steps: the files of this moment are merged into a new one, which is synced; one catalog edit puts
// it in their place; one swap of the region's version shows it; the old files are deleted when the
// last reader lets go of them. Files that are flushed meanwhile stay behind the new one.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <set>

#include "base/mutex.h"
#include "engine/flush.h"
#include "engine/region.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class Compactor {
 public:
  /// `runs_max`: a region with this many runs is due.
  Compactor(FileWork work, uint32_t runs_max) : work_(work), runs_max_(runs_max) {}

  /// Whether the region has so many runs that it should be compacted.
  bool IsDue(const Region& region) const EXCLUDES(mutex_);
  /// Merges all files of the region into one, whatever their number. Errors: kUnsupported when a
  /// row passes kRowBytesMax (the inputs stay), kCancelled, kReadOnly, kCorruption, kIoError,
  /// kNoSpace.
  Status Compact(Region& region) EXCLUDES(mutex_);
  /// Compact, when it is due by now. A region where it fails for anything but space or memory is
  /// left alone from then on.
  Status CompactIfDue(Region& region) EXCLUDES(mutex_);
  /// Ends merges that run, and those that begin later, with kCancelled.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }

 private:
  using Output = std::optional<FinishedFile>;  // nullopt: no row survived.

  Status CompactInTurn(Region& region);
  Result<Output> Merge(const Region& region, const RegionVersion& version);
  Status Install(Region& region, const RegionVersion& before, const Output& output);

  const FileWork work_;
  const uint32_t runs_max_;
  std::atomic<bool> cancelled_{false};  // Relaxed: a wish that is polled.
  mutable base::Mutex mutex_;
  std::set<format::RegionId> given_up_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
