// The store files of an open database: they are created, opened, given to versions and, when no
// version and no reader needs them any more, deleted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "engine/region/view.h"
#include "engine/runtime/health.h"
#include "engine/storage/catalog.h"
#include "engine/storage/storage.h"
#include "format/block/block_cache.h"
#include "store_file/writer.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What the catalog records of a finished file of `table`.
format::FileRecord RecordOf(format::FileNumber number, const format::FileId& id,
                            format::TableId table, const format::StoreFileSummary& summary);

/// Threads: any. Lifetime: outlives every LiveFile it opened.
class StoreFiles {
 public:
  /// All outlive this. `account` (may be null) counts what is kept of files.
  StoreFiles(Storage* storage, Health* health, uint64_t cache_bytes, base::MemoryAccount* account)
      : storage_(storage),
        health_(health),
        database_(storage->catalog().database),
        cache_(cache_bytes, account) {}

  /// Who hears of sections that are found broken. Requires: no file is read yet, and `sink`
  /// outlives every read.
  void set_broken_sink(format::StoreFile::BrokenSink sink) { broken_sink_ = std::move(sink); }

  Result<NewFile> Create() { return storage_->CreateFile(); }
  /// Errors: kCorruption when the file is not what the record says.
  Result<std::shared_ptr<LiveFile>> Open(const format::FileRecord& record);
  /// Deletes a file that no catalog edit ever named.
  void Discard(format::FileNumber number);
  /// The catalog does not name `file` any more: it is deleted when its last reader lets go.
  static void Retire(LiveFile& file);

  format::BlockCache* cache() { return &cache_; }
  uint64_t cache_size_bytes() const { return cache_.size_bytes(); }

 private:
  Storage* storage_;
  Health* health_;
  const format::DatabaseId database_;
  format::BlockCache cache_;
  format::StoreFile::BrokenSink broken_sink_;
};

}  // namespace tandem::engine
