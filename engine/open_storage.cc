// Opening a local database: everything is read before anything is written.
#include "base/status_macros.h"
#include "engine/local_files.h"
#include "engine/local_recovery.h"
#include "engine/local_storage.h"
#include "engine/storage.h"

namespace tandem::engine {
namespace {

// A writer makes a change that a reader can stumble over a few times a second at most; one attempt
// takes far less.
constexpr int kAttemptsMax = 100;
constexpr int kSameToBelieve = 3;

Result<std::unique_ptr<base::Directory>> OpenDirectory(const OpenStorageOptions& options) {
  const bool create = options.create_if_missing && !options.read_only;
  ASSIGN_OR_RETURN(std::unique_ptr<base::Directory> directory,
                   options.file_system->OpenDirectory(options.path, create));
  if (options.read_only) return directory;
  RETURN_IF_ERROR(directory->Lock());
  if (create) RETURN_IF_ERROR(CreateDatabaseIfAbsent(directory.get(), options.random));
  return directory;
}

using Begin = std::function<Status(const format::Catalog&)>;
using Visit = std::function<Status(const format::Frame&)>;

Result<OpenedStorage> OpenForReadingOnce(const OpenStorageOptions& options, const Begin& begin,
                                         const Visit& visit, OpenFiles* held) {
  ASSIGN_OR_RETURN(std::unique_ptr<base::Directory> directory, OpenDirectory(options));
  ASSIGN_OR_RETURN(RecoveredFiles files, RecoverForReading(directory.get(), held));
  RETURN_IF_ERROR(begin(files.manifest.catalog));
  OpenedStorage opened;
  opened.was_closed = files.root.record.closed;
  ASSIGN_OR_RETURN(opened.replay,
                   wal::Replay(std::move(files.segments), files.manifest.catalog.database, visit));
  opened.storage = std::make_unique<ReadOnlyStorage>(std::move(directory), std::move(files),
                                                     opened.replay.segments);
  return opened;
}

// What a reader sees of a database that changes between its reads cannot be told from damage: a
// file that went after its name was read, a log with rows of a table that is newer than the
// manifest was, half of a frame. But damage stays as it is, and none of these does: the writer has
// gone on by the time of the next attempt. So only what is found the same a number of times in a
// row is damage.
Result<OpenedStorage> OpenForReading(const OpenStorageOptions& options, const Begin& begin,
                                     const Visit& visit) {
  OpenFiles held;
  std::string found_before;
  int same = 0;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    Result<OpenedStorage> opened = OpenForReadingOnce(options, begin, visit, &held);
    if (opened || opened.error().code() != StatusCode::kCorruption) return opened;
    same = opened.error().message() == found_before ? same + 1 : 1;
    if (same == kSameToBelieve) return opened;
    found_before = opened.error().message();
  }
  return Status::Busy("the database changed " + std::to_string(kAttemptsMax) +
                      " times while it was opened to read; the last time: " + found_before);
}

}  // namespace

Result<OpenedStorage> OpenLocalStorage(const OpenStorageOptions& options, const Begin& begin,
                                       const Visit& visit) {
  if (options.read_only) return OpenForReading(options, begin, visit);
  ASSIGN_OR_RETURN(std::unique_ptr<base::Directory> directory, OpenDirectory(options));
  ASSIGN_OR_RETURN(RecoveredFiles files, RecoverForWriting(directory.get()));
  RETURN_IF_ERROR(begin(files.manifest.catalog));
  OpenedStorage opened;
  opened.was_closed = files.root.record.closed;
  ASSIGN_OR_RETURN(opened.replay,
                   wal::Replay(std::move(files.segments), files.manifest.catalog.database, visit));
  LocalStorage::Parts parts;
  parts.directory = std::move(directory);
  parts.random = options.random;
  parts.segment_bytes = options.segment_bytes;
  ASSIGN_OR_RETURN(opened.storage,
                   LocalStorage::Start(std::move(parts), std::move(files), opened.replay));
  return opened;
}

}  // namespace tandem::engine
