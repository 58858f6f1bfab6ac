// A store as of one point in time, pinned so that it can be copied while it stays in use: its
// catalog and segments, and access to its files, which are not deleted meanwhile.
#pragma once

#include <memory>
#include <vector>

#include "base/file_system.h"
#include "engine/storage/catalog.h"
#include "format/root.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The files of a store, kept while this lives. Threads: any. Lifetime: the storage outlives it.
class PinnedFiles {
 public:
  /// `directory` is the store's and outlives it.
  explicit PinnedFiles(base::Directory* directory) : directory_(directory) {}
  PinnedFiles(const PinnedFiles&) = delete;
  PinnedFiles& operator=(const PinnedFiles&) = delete;
  virtual ~PinnedFiles() = default;
  /// Errors: kCorruption (the file does not exist), kIoError.
  virtual Result<std::unique_ptr<base::File>> OpenStoreFile(format::FileNumber number) = 0;
  virtual Result<std::unique_ptr<base::File>> OpenSegment(format::FileNumber number) = 0;
  /// Hard-links the store file into `to` under the same name. Errors: as base::Directory::Link;
  /// kUnsupported and kNotFound: it has to be copied.
  Status LinkStoreFile(format::FileNumber number, base::Directory* to);
  /// Whether `directory` is the store's or is inside it.
  Result<bool> Contain(base::Directory* directory);

 protected:
  base::Directory* directory() const { return directory_; }

 private:
  base::Directory* const directory_;
};

/// Every operation up to the point in time is in the files of the catalog or in the segments, and
/// none after it.
struct PinnedStore {
  format::Catalog catalog;
  std::vector<format::BoundFile> segments;  ///< The catalog's, each with where it ends.
  std::unique_ptr<PinnedFiles> files;
};

}  // namespace tandem::engine
