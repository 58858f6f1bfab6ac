// Merging two neighbouring regions into one. No row and no index entry is written: the region takes
// over the files of both (engine/jobs/joined_files.h), and their memstores.
//
// A region knows one sequence up to which its operations are in files. After a crash, those above
// it are replayed. So both regions must have flushed the same operations when they become one:
//
// Steps (a crash may come after each):
//   1. Both regions log everything from now on and are flushed, while writers go on.
//   2. The commit leader gives them one empty memstore, which both write into from then on, in one
//      step between two groups. What each had before is flushed: all up to that moment is in files.
//   3. One catalog edit removes both regions and adds the one. Writers go on. After a crash the log
//      is replayed into it.
//   4. The commit leader puts it into the table, with the memstore that both share.
//
// Small neighbours are merged in the background, where the border between them was made by an
// automatic split: the catalog knows it (RegionRecord::start_by_size). A border that was asked for
// stays. A region is split when it passes region_bytes_max, and merged when together with a
// neighbour it has less than a quarter of it; so neither follows the other unless most rows go.
//
// What fails before step 4 leaves both regions as they were, each with a memstore of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/commit/applier.h"
#include "engine/commit/commit_queue.h"
#include "engine/jobs/compactor.h"
#include "engine/jobs/flush.h"
#include "engine/region/region_set.h"
#include "engine/runtime/health.h"
#include "engine/runtime/monitor.h"
#include "engine/storage/catalog_editor.h"
#include "tandem/database.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class RegionMerger {
 public:
  /// All outlive it.
  struct Dependencies {
    RegionSet* regions = nullptr;
    CatalogEditor* editor = nullptr;
    CommitQueue* queue = nullptr;
    GroupApplier* applier = nullptr;
    Flusher* flusher = nullptr;
    Compactor* compactor = nullptr;
    Health* health = nullptr;
    Monitor* monitor = nullptr;
    uint64_t region_bytes_max = 0;  ///< A larger region is split.
    uint32_t runs_max = 0;          ///< Of an idle region.
    /// Flushes the region and waits for it.
    std::function<Status(Region&)> flush;
    /// Flushes the memstores that wait. Requires: the caller has the region's flush turn.
    std::function<Status(Region&)> flush_in_turn;
    /// Makes all files of the region one run, and waits for it.
    std::function<Status(const std::shared_ptr<Region>&)> compact;
    /// Makes what a new region needs for its background work.
    std::function<void(Region&)> prepare;
    /// The region has another memstore that takes writes. Threads: the commit leader.
    std::function<void(Region&)> memstore_changed;
    /// Schedules the background work of a region.
    std::function<void(Region&)> begin;
    /// Schedules what found the turns of a region taken that was not merged.
    std::function<void(Region&)> resume;
  };
  explicit RegionMerger(Dependencies dependencies) : deps_(std::move(dependencies)) {}

  /// See Database::MergeRegions. Errors: those of it.
  Result<RegionMergeResult> Merge(std::string_view table, const RegionMergeOptions& options);
  /// Whether the region and a neighbour are to be merged without being asked: their border was made
  /// because a region was too large, and together they have become small.
  bool IsDue(const Region& region) const { return FindDue(region).has_value(); }
  /// Merges them. Errors: as Merge.
  Status MergeIfDue(const Region& region);

 private:
  struct Work;
  std::optional<format::RegionId> FindDue(const Region& region) const;

  Status MergeThem(Work* work);
  Result<bool> MergeInTurn(Work* work);
  Result<bool> MergeSharing(Work* work);
  static Result<bool> Join(Work* work, size_t runs_max);
  Status Commit(Work* work);
  void Exchange(Work* work);

  const Dependencies deps_;
};

}  // namespace tandem::engine
