// Flush: the oldest waiting memstore of a region becomes a store file.
//
// Steps, each of which a crash may follow:
//   1. The log is synced up to the memstore's last operation, so that no file makes a later write
//      durable before an earlier one.
//   2. The rows that somebody may still see are written to a new file, which is synced.
//   3. One catalog edit adds the file to its region and raises the region's flushed_through.
//   4. One swap of the region's version puts the file in the memstore's place.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/mutex.h"
#include "engine/catalog_editor.h"
#include "engine/commit_queue.h"
#include "engine/health.h"
#include "engine/region.h"
#include "engine/snapshot_registry.h"
#include "engine/store_files.h"
#include "format/catalog.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What flush and compaction write files with; all outlive them.
struct FileWork {
  StoreFiles* files = nullptr;
  CatalogEditor* editor = nullptr;
  SnapshotRegistry* snapshots = nullptr;
  Health* health = nullptr;
  format::DatabaseId database;
  uint32_t section_alignment = 4096;
};

/// A finished file, as the catalog and as readers know it.
struct FinishedFile {
  format::FileRecord record;
  std::shared_ptr<LiveFile> file;
};

/// Threads: any.
class Flusher {
 public:
  /// `queue` outlives this.
  Flusher(FileWork work, CommitQueue* queue) : work_(work), queue_(queue) {}

  /// Flushes every waiting memstore of the region, oldest first, after those that somebody else is
  /// flushing; calls `flushed` after each. Errors: kReadOnly, kNoSpace, kIoError, ...; what was not
  /// flushed still waits.
  Status Flush(Region& region, const std::function<void()>& flushed);
  /// As Flush, but leaves the work to whoever is flushing the region already.
  Status FlushUnlessBusy(Region& region, const std::function<void()>& flushed);

 private:
  using Output = std::optional<FinishedFile>;  // nullopt: no row was left to write.

  Status FlushWaiting(Region& region, const std::function<void()>& flushed);
  Result<bool> FlushOldest(Region& region);
  Result<Output> WriteFile(const Region& region, const RegionVersion& version,
                           const Memstore& memstore);
  Result<Output> FinishedBefore(const Region& region, const RegionVersion& version);
  Status Install(Region& region, const Memstore& memstore, const Output& output);

  const FileWork work_;
  CommitQueue* queue_;
  base::Mutex mutex_;
  /// Files of memstores whose catalog edit found the disk full: the next attempt needs only the
  /// edit.
  std::map<const Memstore*, Output> finished_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
