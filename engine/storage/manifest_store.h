// The owner of ROOT and the manifest of a local database: commits edits, gives out file numbers and
// replaces the manifest when it has grown or failed. States:
//   certain    the manifest that ROOT names holds exactly the committed edits.
//   in doubt   an edit or a new manifest failed for a reason that may pass; a crash may show it or
//              not. A new manifest comes before anything else, when it can; nothing is deleted.
//   refusing   another failure: nothing is committed any more; only a new process finds out what is
//              on disk.
#pragma once

#include <memory>
#include <vector>

#include "base/file_system.h"
#include "base/random.h"
#include "engine/storage/catalog.h"
#include "engine/storage/manifest.h"
#include "format/root.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time.
class ManifestStore {
 public:
  struct Dependencies {
    base::Directory* directory = nullptr;
    base::RandomSource* random = nullptr;
    std::unique_ptr<base::File> root_file;
    format::RootFile root;
    std::unique_ptr<base::File> manifest_file;
    format::ManifestContents manifest;
  };
  explicit ManifestStore(Dependencies dependencies);

  /// Makes the record that ROOT shows durable, then writes "open" to it, with numbers reserved: the
  /// first writes of an owner.
  Status MarkOpen();
  /// Continues the manifest when it was closed cleanly, otherwise begins a new one.
  Status BeginManifest(bool was_closed, format::LogMark log);

  /// Commits `edit`: syncs the directory when it adds files or segments, appends, syncs, applies.
  /// The counters only grow: a smaller one in the edit keeps its value. Errors: kInvalidArgument
  /// (it does not fit the catalog; nothing was written), kNoSpace, kIoError, kReadOnly (refusing).
  Status Commit(format::CatalogEdit edit, format::LogMark log);
  /// A number that was never given out. Errors: as Commit.
  Result<format::FileNumber> NextNumber(format::LogMark log);
  /// Writes "closed" to ROOT, binding the manifest and `segments`.
  Status Close(std::vector<format::BoundFile> segments, format::LogMark log);

  std::shared_ptr<const format::Catalog> catalog() const { return catalog_; }
  bool is_certain() const { return refusal_.ok() && !in_doubt_; }
  /// The manifest in use.
  format::FileNumber number() const { return root_.record.manifest.number; }

 private:
  Status Append(const format::CatalogEdit& edit, format::LogMark log);
  Status Replace(format::LogMark log);
  Status WriteAndPoint(format::LogMark log);
  Result<std::unique_ptr<format::ManifestWriter>> WriteNewManifest(format::LogMark log);
  Status EndDoubt(format::LogMark log);
  Status SyncDirectory();
  Status PointRoot(const format::RootRecord& record, bool both);
  Result<format::FileNumber> ManifestNumber();
  void ReplaceWhenGrown(format::LogMark log);
  void RemoveManifest(format::FileNumber number);
  bool TryRemove(format::FileNumber number);
  void RemoveStaleManifests();
  Status CheckNoneStale();
  Status Refuse(const Status& cause);

  base::Directory* const directory_;
  base::RandomSource* const random_;
  std::unique_ptr<base::File> root_file_;
  format::RootFile root_;
  std::unique_ptr<base::File> manifest_file_;  // Until BeginManifest.
  format::ManifestContents contents_;          // Until BeginManifest.
  std::unique_ptr<format::ManifestWriter> writer_;
  std::shared_ptr<const format::Catalog> catalog_;
  uint64_t next_number_ = 0;
  uint64_t reserved_end_ = 0;
  uint64_t replace_at_bytes_ = 0;
  std::vector<format::FileNumber> stale_manifests_;  // That may still exist.
  bool in_doubt_ = false;
  Status refusal_;
};

}  // namespace tandem::engine
