// What a reader pins: the versions of the regions it reads and the point in time it sees. A
// RegionVersion is immutable; flush and compaction publish a new one that swaps memstore, files and
// everything derived from them at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "engine/region/flushed_rows.h"
#include "engine/region/overlaps.h"
#include "format/cell/visibility.h"
#include "format/schema.h"
#include "format/types.h"
#include "memstore/memstore.h"
#include "store_file/store_file.h"

namespace tandem::engine {

/// A store file that deletes itself from the storage when it is obsolete and its last reader has
/// released it. Threads: any.
class LiveFile {
 public:
  virtual ~LiveFile() = default;
  virtual format::StoreFile& store() const = 0;

  /// What the flush recorded about its rows, kept until the overlaps with older files are built or
  /// given up; null if there is no record.
  std::shared_ptr<const FlushedRows> record() const EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    return record_;
  }
  void KeepRecord(std::shared_ptr<const FlushedRows> record) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    record_.swap(record);
  }
  void DropRecord() EXCLUDES(mutex_) { KeepRecord(nullptr); }

  /// What readers derived from the file and others that share rows with it, for later readers.
  class Derived {
   public:
    virtual ~Derived() = default;
  };
  /// What is kept; null: nothing is.
  std::shared_ptr<Derived> derived() const EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    return derived_;
  }
  /// Keeps it, unless another reader kept one meanwhile. Returns what is kept.
  std::shared_ptr<Derived> KeepDerived(std::shared_ptr<Derived> derived) EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    if (derived_ == nullptr) derived_ = std::move(derived);
    return derived_;
  }

 private:
  mutable base::Mutex mutex_;
  std::shared_ptr<const FlushedRows> record_ GUARDED_BY(mutex_);
  std::shared_ptr<Derived> derived_ GUARDED_BY(mutex_);
};

/// The rows [low, high) of a file in a region.
struct FileSlice {
  std::shared_ptr<LiveFile> file;
  uint32_t low = 0, high = 0;
  uint32_t run = 0;
};

struct RegionVersion {
  format::RegionId id;
  std::string start_key, end_key;
  /// The region was split or merged, so that its rows are in other regions of its table now, or its
  /// table was dropped.
  bool is_retired = false;
  std::vector<FileSlice> files;                            ///< Oldest first, by sequence.
  std::vector<std::shared_ptr<const Memstore>> memstores;  ///< Oldest first; the last takes writes.
  std::shared_ptr<const Overlaps> overlaps;                ///< Of `files`; null: none is built.
  /// The largest sequence of a memstore whose rows are in files now. Of two versions that hold a
  /// row, of one region or of regions that were split or merged, the files show the same of it
  /// where this is the same.
  format::SequenceNumber changed_through;

  /// Whether the row is in the region's range. Memstores and files may hold rows of other regions.
  bool MayHold(std::string_view row) const {
    return row >= start_key && (end_key.empty() || row < end_key);
  }
};

/// The version without its memstores, for long work: it pins no memory that a flush could free.
inline RegionVersion WithoutMemstores(RegionVersion version) {
  version.memstores.clear();
  return version;
}

/// One region of a table at one point in time, for reading a row.
struct RegionView {
  std::shared_ptr<const format::TableRecord> table;
  std::shared_ptr<const RegionVersion> region;
  format::ReadPoint point;
  std::shared_ptr<const void> registration = nullptr;  ///< As of TableView; may be null.
};

/// One table at one point in time. Taken in the order of rule 25: the sequence is registered first,
/// then the versions are pinned, then `point.now_micros` is read.
struct TableView {
  std::shared_ptr<const format::TableRecord> table;
  std::vector<std::shared_ptr<const RegionVersion>>
      regions;  ///< By start key; they tile the key space.
  format::ReadPoint point;
  /// Keeps the sequence registered, and the engine aware of an open reader, while the view lives.
  std::shared_ptr<const void> registration;

  /// The region that holds `row`. Requires: it is among `regions`.
  RegionView RegionOf(std::string_view row) const;
};

}  // namespace tandem::engine
