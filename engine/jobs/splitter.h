// Splitting a region in two at a key. No row and no index entry is written: both halves refer to
// the same store files, each to the rows on its side. Postings are ordinals, so the bound that cuts
// the rows of a file cuts its indexes as well.
//
// Steps (a crash may come after each):
//   1. The region logs everything from now on and is flushed. So what stays in its memstores is in
//      the log, and the halves may flush it one after the other.
//   2. One catalog edit removes the region and adds the halves. Writers go on. After a crash the
//      log is replayed into the halves, each operation by its key.
//   3. The commit leader puts the halves into the table, in one step between two groups. They share
//      the memstores that the region had, and each flushes its part.
//
// Later merges make the halves physical; a file goes when no region refers to it any more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/commit/applier.h"
#include "engine/commit/commit_queue.h"
#include "engine/jobs/compactor.h"
#include "engine/jobs/flush.h"
#include "engine/jobs/split_point.h"
#include "engine/region/region_set.h"
#include "engine/runtime/health.h"
#include "engine/runtime/monitor.h"
#include "engine/storage/catalog_editor.h"
#include "tandem/database.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class Splitter {
 public:
  using Halves = std::span<const std::shared_ptr<Region>>;
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
    /// Its middle live row; nullopt: live rows cannot be counted.
    std::function<Result<std::optional<std::string>>(const Region&)> live_middle;
    /// Flushes the region and waits for it.
    std::function<Status(Region&)> flush;
    /// Makes what a new region needs for its background work.
    std::function<void(Region&)> prepare;
    /// The halves are in the region's place. Threads: the commit leader.
    std::function<void(Region&, Halves)> replaced;
    /// Schedules the background work of a half.
    std::function<void(Region&)> begin;
    /// Schedules what found the turns of a region taken that was not split.
    std::function<void(Region&)> resume;
  };
  explicit Splitter(Dependencies dependencies) : deps_(std::move(dependencies)) {}

  /// See Database::Split. Errors: those of it.
  Result<SplitResult> Split(std::string_view table, const SplitOptions& options) {
    return Split(table, options, Cause::kAsked);
  }
  /// Splits the region at its middle row. Errors: as Split; kNotFound if it was split meanwhile.
  Status SplitInMiddle(const Region& region);

 private:
  struct Cut;

  // Why a region is split.
  enum class Cause : uint8_t { kAsked, kSize };
  Result<SplitResult> Split(std::string_view table, const SplitOptions& options, Cause cause);
  Status FindKey(const Region& region, SplitResult* result) const;
  Status Divide(const std::shared_ptr<Region>& region, Cause cause, SplitResult* result);
  Status Commit(Cut* cut);
  void Exchange(Cut* cut);

  const Dependencies deps_;
};

}  // namespace tandem::engine
