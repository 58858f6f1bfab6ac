// Adds indexes to a store file from before they were made: copies it with their sections
// (store_file/indexed_copy.h) and puts the copy in its place.
//
// Steps: the turns of all regions that have a part of the file are taken; the copy is written and
// synced; one catalog edit replaces the file in each of these regions, in the same run and with the
// same ordinals; their versions are swapped; the old file is deleted when its last reader releases
// it. Overlaps of the file are built again: its new index needs bitmaps of its own.
//
// A build has no state but the files: after a crash the copy is an orphan, and the file is copied
// again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "engine/jobs/run_writer.h"
#include "engine/region/region.h"
#include "engine/region/region_set.h"
#include "engine/runtime/rate_limit.h"
#include "engine/runtime/running_jobs.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class IndexBuilder {
 public:
  /// All outlive it.
  struct Dependencies {
    FileWork work;
    RegionSet* regions = nullptr;
    base::Clock* clock = nullptr;
    /// Of all copies together; 0: no limit. It does not hold while a region that has a part of the
    /// file has more runs than `runs_max`.
    uint64_t bytes_per_second = 0;
    uint32_t runs_max = 8;  ///< Of an idle region (compaction::MergePolicy).
    /// The compaction turn of a region that shares a file is free again.
    std::function<void(Region&)> turn_ended;
  };
  explicit IndexBuilder(const Dependencies& dependencies)
      : deps_(dependencies), limit_(deps_.clock, deps_.bytes_per_second) {}

  /// Whether `region` is the first of its table that has rows of the file.
  bool IsFirstWith(const Region& region, const format::StoreFile& file) const;
  /// Replaces the file of `slice` by a copy with the indexes that the table has now, and returns
  /// the size of the copy in bytes. Requires: the caller has the region's compaction turn;
  /// format::CanCopyWithIndexes. Errors: kBusy when a region that shares the file is being
  /// compacted, split or merged, or a thread waits to do so; kCancelled when `cancelled` is set,
  /// the region retires or the table loses an index; kOverBudget when the entries need more memory
  /// than a merge may take; kReadOnly, kCorruption, kIoError, kNoSpace. The file then stays. Adds
  /// to `progress` the bytes of the file that were copied, and calls `give_way` on its way, which
  /// may merge newer files of the region.
  Result<uint64_t> AddIndexes(Region& region, const FileSlice& slice,
                              const std::atomic<bool>& cancelled, JobProgress* progress,
                              const std::function<void()>& give_way) EXCLUDES(mutex_);
  /// Another `bytes` of files from before an index were rewritten.
  void CountRewritten(uint64_t bytes, uint64_t micros) EXCLUDES(mutex_);

  /// The bytes of the file that its copy has read; 0: it is not being copied.
  uint64_t CopiedBytes(format::FileNumber file) const EXCLUDES(mutex_);
  /// Bytes of files that were rewritten a second, since the open; 0: none were.
  uint64_t BytesPerSecond() const EXCLUDES(mutex_);

 private:
  using Sharers = std::vector<std::shared_ptr<Region>>;
  class Turns;
  struct Addition;

  Sharers SharersOf(const Region& region, const format::StoreFile& file) const;
  Status AddInTurn(Addition* addition) EXCLUDES(mutex_);
  Status WriteCopy(Addition* addition) EXCLUDES(mutex_);
  Status Passed(const Addition& addition, uint64_t bytes) EXCLUDES(mutex_);
  static Status CheckWanted(const Addition& addition);
  bool HoldsUpMerges(const Addition& addition) const;
  static bool AreAllThatRefer(const Addition& addition, const format::Catalog& catalog);
  Status Install(const Addition& addition);

  const Dependencies deps_;
  RateLimit limit_;
  mutable base::Mutex mutex_;
  std::map<format::FileNumber, uint64_t> copied_bytes_ GUARDED_BY(mutex_);  // Of running copies.
  uint64_t rewritten_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t rewriting_micros_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tandem::engine
