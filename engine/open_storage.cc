// Opening a local database: everything is read before anything is written.
#include "base/status_macros.h"
#include "engine/local_files.h"
#include "engine/local_recovery.h"
#include "engine/local_storage.h"
#include "engine/storage.h"

namespace tandem::engine {
namespace {

Result<std::unique_ptr<base::Directory>> OpenDirectory(const OpenStorageOptions& options) {
  const bool create = options.create_if_missing && !options.read_only;
  ASSIGN_OR_RETURN(std::unique_ptr<base::Directory> directory,
                   options.file_system->OpenDirectory(options.path, create));
  if (options.read_only) return directory;
  RETURN_IF_ERROR(directory->Lock());
  if (create) RETURN_IF_ERROR(CreateDatabaseIfAbsent(directory.get(), options.random));
  return directory;
}

}  // namespace

Result<OpenedStorage> OpenLocalStorage(const OpenStorageOptions& options,
                                       const std::function<Status(const format::Catalog&)>& begin,
                                       const std::function<Status(const format::Frame&)>& visit) {
  ASSIGN_OR_RETURN(std::unique_ptr<base::Directory> directory, OpenDirectory(options));
  ASSIGN_OR_RETURN(RecoveredFiles files, options.read_only ? RecoverForReading(directory.get())
                                                           : RecoverForWriting(directory.get()));
  RETURN_IF_ERROR(begin(files.manifest.catalog));
  OpenedStorage opened;
  opened.was_closed = files.root.record.closed;
  ASSIGN_OR_RETURN(opened.replay,
                   wal::Replay(std::move(files.segments), files.manifest.catalog.database, visit));
  if (options.read_only) {
    opened.storage = std::make_unique<ReadOnlyStorage>(std::move(directory), std::move(files),
                                                       opened.replay.segments);
    return opened;
  }
  LocalStorage::Parts parts;
  parts.directory = std::move(directory);
  parts.random = options.random;
  parts.segment_bytes = options.segment_bytes;
  ASSIGN_OR_RETURN(opened.storage,
                   LocalStorage::Start(std::move(parts), std::move(files), opened.replay));
  return opened;
}

}  // namespace tandem::engine
