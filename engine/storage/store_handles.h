// The handles on a store's files: any number of them over a bounded number of descriptors
// (base/file_pool.h), so that neither a database nor its readers are limited by `ulimit -n`.
//
// A file that is opened again must be the same file: its name can lead to another one when
// something else has changed the directory. So its size and the id in its header are compared
// before anything else is read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/file_pool.h"
#include "base/file_system.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any. Lifetime: the directory outlives it and every handle.
class StoreHandles {
 public:
  /// `files_open_max` is for store files alone: 2 or more.
  StoreHandles(base::Directory* directory, uint32_t files_open_max)
      : directory_(directory), pool_(base::FilePool::Make(files_open_max)) {}

  /// A handle on the store file `number`. `id` is the one that the catalog names; without it the
  /// file's own id is used. Errors: kNotFound, kIoError, kCorruption (no header, where `id` is not
  /// given). Its calls also return kCorruption when it was closed and another file now has its
  /// name, and kIoError when no file has.
  Result<std::unique_ptr<base::File>> Open(format::FileNumber number,
                                           std::optional<format::FileId> id);
  /// Closes a file that nobody reads, for a caller that needs a descriptor. False: there is none.
  bool CloseIdle() { return pool_->CloseIdle(); }
  base::FilePool::Counters counters() const { return pool_->counters(); }

 private:
  base::Directory* const directory_;
  const std::shared_ptr<base::FilePool> pool_;
};

}  // namespace tandem::engine
