// A database directory being built from files of another: a checkpoint or a restored backup. It
// is a database only after the last step:
// 1. The directory is made; it must not exist before.
// 2. Store files and log segments are added, by link or as copies that are synced.
// 3. A new manifest with the whole catalog is written and synced, and all names are synced.
// 4. ROOT is written, closed and binding manifest and segments, and synced; then its name.
// A crash before the end of 4 leaves a directory without a valid ROOT, which does not open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/random.h"
#include "engine/storage/catalog.h"
#include "format/root.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Copies the first `size_bytes` of `from` to `to`, an empty file, syncs it, and returns the
/// XXH3-128 of what was copied. Errors: kCorruption naming file and offset (`from` is shorter),
/// kIoError, kNoSpace.
Result<format::Hash128> CopyFile(base::File* from, uint64_t size_bytes, base::File* to);

/// Creates the directory of a copy. Errors: kAlreadyExists (with what to do about what is there),
/// kNotFound (no parent), kIoError, kNoSpace.
Result<std::unique_ptr<base::Directory>> CreateCopyDirectory(base::FileSystem* file_system,
                                                             const std::string& path);

/// Threads: one at a time. Lifetime: the file system outlives it.
class StagedDatabase {
 public:
  /// Step 1. Errors: those of CreateCopyDirectory.
  static Result<std::unique_ptr<StagedDatabase>> Begin(base::FileSystem* file_system,
                                                       const std::string& path);
  /// Removes what it made, unless it is finished.
  ~StagedDatabase();
  StagedDatabase(const StagedDatabase&) = delete;
  StagedDatabase& operator=(const StagedDatabase&) = delete;

  base::Directory* directory() { return directory_.get(); }
  /// The caller is about to create `name` in the directory; it is removed if the draft is.
  void Expect(const std::string& name) { names_.push_back(name); }
  /// Step 2, a copy of the first `size_bytes` of `from`; returns its hash. Errors: as CopyFile.
  Result<format::Hash128> AddCopy(const std::string& name, base::File* from, uint64_t size_bytes);
  /// Steps 3 and 4. `segments`: those of the catalog, with their ends. Errors: kIoError, kNoSpace,
  /// kUnsupported (the catalog passes a frame's size).
  Status Finish(const format::Catalog& catalog, const std::vector<format::BoundFile>& segments,
                base::RandomSource* random);

 private:
  StagedDatabase(base::FileSystem* file_system, std::string path,
                 std::unique_ptr<base::Directory> directory)
      : file_system_(file_system), path_(std::move(path)), directory_(std::move(directory)) {}
  Result<format::BoundFile> WriteManifest(const format::Catalog& catalog, format::FileNumber number,
                                          const std::vector<format::BoundFile>& segments,
                                          base::RandomSource* random);

  base::FileSystem* const file_system_;
  const std::string path_;
  std::unique_ptr<base::Directory> directory_;
  std::vector<std::string> names_;  // That were made, or may have been.
  bool finished_ = false;
};

}  // namespace tandem::engine
