// The store files of an open database: creates and opens them, and deletes them when no version and
// no reader needs them.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "engine/region/view.h"
#include "engine/runtime/health.h"
#include "engine/storage/catalog.h"
#include "engine/storage/storage.h"
#include "format/block/block_cache.h"
#include "store_file/writer.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The catalog record of a finished file of `table`.
format::FileRecord RecordOf(format::FileNumber number, const format::FileId& id,
                            format::TableId table, const format::StoreFileSummary& summary);

class StoredFile;  // The LiveFile of a StoreFiles.

/// Threads: any. Lifetime: outlives every LiveFile it opened.
class StoreFiles {
 public:
  /// See format::BlockCache.
  struct CacheSize {
    uint64_t budget_bytes = 0, lent_bytes = 0;
  };
  /// All outlive this. `account` (may be null) counts the memory kept for files.
  StoreFiles(Storage* storage, Health* health, const CacheSize& cache, base::MemoryAccount* account)
      : storage_(storage),
        health_(health),
        database_(storage->catalog().database),
        cache_(cache.budget_bytes, account, cache.lent_bytes) {}

  /// Sets the callback for sections that are found broken. Requires: no file has been read yet, and
  /// `sink` outlives every read.
  void set_broken_sink(format::StoreFile::BrokenSink sink) { broken_sink_ = std::move(sink); }

  Result<NewFile> Create() { return storage_->CreateFile(); }
  /// See Storage::FreeSpace.
  Result<uint64_t> FreeSpace() { return storage_->FreeSpace(); }
  /// Errors: kCorruption if the file does not match the record.
  Result<std::shared_ptr<LiveFile>> Open(const format::FileRecord& record);
  /// The same with `file`, which OpenFile of the storage returned for it, and its ends, which may
  /// be null.
  Result<std::shared_ptr<LiveFile>> Open(const format::FileRecord& record,
                                         std::unique_ptr<base::File> file,
                                         const format::FileEnds* ends);
  /// The same; a file that is open already is not opened again.
  Result<std::shared_ptr<LiveFile>> OpenOnce(const format::FileRecord& record);
  /// Deletes a file that the catalog does not name: one that was never added, or a retired one.
  /// One that is held goes with the hold.
  void Discard(format::FileNumber number) EXCLUDES(mutex_);
  /// Requires: the catalog no longer names `file`. It is deleted when its last reader releases it.
  static void Retire(LiveFile& file);
  /// Requires: the catalog no longer names the file. It is deleted now, or when its last reader
  /// releases it.
  void RetireOrDiscard(format::FileNumber number) EXCLUDES(mutex_);

  /// Files that readers may open though the catalog no longer names them. True: the file was to be
  /// deleted, which the end of the hold does.
  using HeldFiles = std::map<format::FileNumber, bool>;
  using Hold = std::list<HeldFiles>::iterator;
  /// No file of the one element of `files` is deleted until EndHold. Allocates nothing.
  Hold BeginHold(std::list<HeldFiles> files) EXCLUDES(mutex_);
  void EndHold(Hold hold) EXCLUDES(mutex_);

  /// The files that were retired, or are to be deleted, and still have a reader.
  std::set<format::FileNumber> Retired() const EXCLUDES(mutex_);

  format::BlockCache* cache() { return &cache_; }
  uint64_t cache_size_bytes() const { return cache_.size_bytes(); }

 private:
  std::shared_ptr<LiveFile> List(const std::shared_ptr<StoredFile>& file) EXCLUDES(mutex_);
  std::shared_ptr<LiveFile> FindOpen(format::FileNumber number) const EXCLUDES(mutex_);
  bool LeaveToHold(format::FileNumber number) EXCLUDES(mutex_);

  Storage* storage_;
  Health* health_;
  const format::DatabaseId database_;
  format::BlockCache cache_;
  format::TableRecords tables_;
  format::StoreFile::BrokenSink broken_sink_;

  friend class StoredFile;
  mutable base::Mutex mutex_;
  struct OpenFile {
    const StoredFile* file = nullptr;
    std::weak_ptr<StoredFile> shared = {};
  };
  std::map<format::FileNumber, OpenFile> open_ GUARDED_BY(mutex_);
  std::list<HeldFiles> held_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
