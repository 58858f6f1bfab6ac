// Named snapshots that are open for reading. A region at one is a version that is made of exactly
// the files that the catalog names for it, without memstores. These hold every operation up to the
// snapshot's sequence and no later one, so a read is as fast as one of the present.
//
// Files are opened when a read first needs their region. A snapshot may be dropped while it is
// open: its files stay on disk until the last pin of it is gone, even if tables and other snapshots
// let go of them meanwhile. Views keep a pin, so a cursor does.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/call_gate.h"
#include "base/mutex.h"
#include "base/shared_map.h"
#include "engine/region/region_set.h"
#include "engine/region/store_files.h"
#include "engine/region/view.h"
#include "engine/storage/catalog.h"
#include "format/cell/visibility.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A named snapshot as it was when it was opened. Threads: any.
class OpenNamedSnapshot {
 public:
  /// `files` and `regions` outlive Release. Requires: `catalog` has a snapshot of the name.
  OpenNamedSnapshot(const format::Catalog& catalog, const std::string& name, StoreFiles* files,
                    const RegionSet* regions);

  const format::SnapshotRecord& record() const { return record_; }
  /// Whether it is the snapshot of this record of a catalog, and not another one of its name:
  /// catalogs share their records.
  bool Is(const format::SnapshotRecord& record) const { return &record_ == &record; }
  format::ReadPoint point() const {
    return {.sequence = record_.sequence, .now_micros = record_.now_micros};
  }
  /// The table of that name at the snapshot; nullptr: it had none. Its regions are there to be
  /// chosen by key; what they hold is what VersionOf returns.
  std::shared_ptr<const Table> Find(std::string_view name) EXCLUDES(mutex_);
  /// Requires: `region` is of a table that Find returned. Errors: those of StoreFiles::Open.
  Result<std::shared_ptr<const RegionVersion>> VersionOf(const Region& region) EXCLUDES(mutex_);
  /// Releases tables and files. Nothing may be read from then on.
  void Release() EXCLUDES(mutex_);

 private:
  Result<std::shared_ptr<const RegionVersion>> Open(const Region& region) const;

  const std::shared_ptr<const std::pair<const std::string, format::SnapshotRecord>> entry_;
  const format::SnapshotRecord& record_;  // In the entry.
  const base::SharedMap<format::FileNumber, format::FileRecord> file_records_;
  StoreFiles* const files_;
  const RegionSet* const regions_;
  base::Mutex mutex_;
  std::map<std::string, std::shared_ptr<const Table>, std::less<>> tables_ GUARDED_BY(mutex_);
  std::map<format::RegionId, std::shared_ptr<const RegionVersion>> versions_ GUARDED_BY(mutex_);
};

/// Threads: any. Held by shared_ptr: pins keep it alive.
class NamedSnapshots : public std::enable_shared_from_this<NamedSnapshots> {
 public:
  /// Both outlive End.
  NamedSnapshots(StoreFiles* files, const RegionSet* regions) : files_(files), regions_(regions) {}

  /// Keeps a snapshot open, and its files on disk.
  class Pin {
   public:
    /// Of nothing; see NamedSnapshots::Open.
    explicit Pin(std::shared_ptr<NamedSnapshots> snapshots) : snapshots_(std::move(snapshots)) {}
    ~Pin();
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    OpenNamedSnapshot& snapshot() const { return *snapshot_; }

   private:
    friend class NamedSnapshots;
    const std::shared_ptr<NamedSnapshots> snapshots_;
    std::shared_ptr<OpenNamedSnapshot> snapshot_;  // Set once, before others see the pin.
  };
  /// Opens a snapshot of `catalog`, which has one of the name. Requires: before End. The caller
  /// looks whether it was dropped meanwhile.
  std::shared_ptr<const Pin> Open(const format::Catalog& catalog, const std::string& name)
      EXCLUDES(mutex_);
  /// The snapshot of this record of the catalog was dropped, and `hold` has its files. True: it is
  /// open, and the last pin ends the hold. Allocates nothing.
  bool Dropped(const format::SnapshotRecord& record, StoreFiles::Hold hold) EXCLUDES(mutex_);

  /// Releases everything, and waits for releases that are under way. Pins may live on.
  void End() EXCLUDES(mutex_);

 private:
  /// One for each name and creation; all who open it share it.
  struct Listed {
    std::shared_ptr<OpenNamedSnapshot> snapshot;
    uint64_t pins = 0;
    std::optional<StoreFiles::Hold> hold = {};  ///< Of its files, if it was dropped.
  };

  void Release(const OpenNamedSnapshot& snapshot) EXCLUDES(mutex_);
  void Close(const Listed& listed);

  StoreFiles* const files_;
  const RegionSet* const regions_;
  Gate releases_;
  mutable base::Mutex mutex_;
  std::list<Listed> open_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
