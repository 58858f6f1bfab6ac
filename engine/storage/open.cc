// Opening a local database: everything is read, and nothing is written.
#include <algorithm>

#include "base/clock.h"
#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/local.h"
#include "engine/storage/local_recovery.h"
#include "engine/storage/storage.h"

namespace tandem::engine {
namespace {

constexpr int kSameToBelieve = 3;

// How long a reader retries while a writer keeps changing the database. The limit is not the number
// of attempts: how many a writer can spoil depends on the speed of both. Most readers fail once;
// after repeated failures a reader waits longer and longer, so that its attempts do not fall into
// step with the writer's changes and leave it the processor.
class Patience {
 public:
  explicit Patience(base::Clock* clock)
      : clock_(clock), begin_(clock == nullptr ? 0 : clock->MonotonicMicros()) {}

  // Waits for the next attempt; false: it was the last one.
  bool Wait() {
    ++attempts_;
    if (attempts_ < kAttemptsMin) return true;
    if (clock_ == nullptr || Waited() >= kPatienceMicros) return false;
    clock_->SleepMicros(pause_);
    pause_ = std::min(2 * pause_, kPauseMaxMicros);
    return true;
  }
  int attempts() const { return attempts_; }
  int64_t Waited() const { return clock_ == nullptr ? 0 : clock_->MonotonicMicros() - begin_; }

 private:
  static constexpr int kAttemptsMin = 10;
  static constexpr int64_t kPatienceMicros = 8'000'000, kPauseMaxMicros = 50'000;

  base::Clock* const clock_;
  const int64_t begin_;
  int attempts_ = 0;
  int64_t pause_ = 100;
};

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

// Null where there are no such locks, and where there is no ROOT, which the next step reports.
Result<std::unique_ptr<base::SharedLock>> LockForReading(base::Directory* directory) {
  auto lock = directory->LockShared(kRootName);
  if (lock) return lock;
  const StatusCode code = lock.error().code();
  const bool goes_on = code == StatusCode::kUnsupported || code == StatusCode::kNotFound;
  return goes_on ? std::unique_ptr<base::SharedLock>() : std::move(lock);
}

// The lock comes first: what is read under it names no file that a writer removes afterwards.
Result<OpenedStorage> OpenForReadingOnce(const OpenStorageOptions& options, const Begin& begin,
                                         const Visit& visit) {
  ReadOnlyStorage::Dependencies dependencies;
  dependencies.store_files_open_max = options.store_files_open_max;
  ASSIGN_OR_RETURN(dependencies.directory, OpenDirectory(options));
  ASSIGN_OR_RETURN(dependencies.lock, LockForReading(dependencies.directory.get()));
  ASSIGN_OR_RETURN(RecoveredFiles files, RecoverForReading(dependencies.directory.get()));
  if (dependencies.lock != nullptr) {
    RETURN_IF_ERROR(dependencies.lock->Lower(NumbersNamed(files.manifest.catalog)));
  }
  RETURN_IF_ERROR(begin(files.manifest.catalog));
  OpenedStorage opened;
  opened.was_closed = files.root.record.closed;
  ASSIGN_OR_RETURN(opened.replay, wal::Replay(files.segments, files.manifest.catalog.database,
                                              SegmentsOf(dependencies.directory.get()), visit));
  opened.storage = std::make_unique<ReadOnlyStorage>(std::move(dependencies), std::move(files),
                                                     opened.replay.segments);
  return opened;
}

// A reader cannot tell a database that changes between its reads from a damaged one: a file removed
// after its name was read, a log with rows of a table that is newer than the manifest, half of a
// frame. But damage stays the same, and none of these does: the writer has moved on by the next
// attempt. So only an error that is the same kSameToBelieve times in a row is damage.
Result<OpenedStorage> OpenForReading(const OpenStorageOptions& options, const Begin& begin,
                                     const Visit& visit) {
  std::string found_before;
  int same = 0;
  Patience patience(options.clock);
  do {
    Result<OpenedStorage> opened = OpenForReadingOnce(options, begin, visit);
    if (opened || opened.error().code() != StatusCode::kCorruption) return opened;
    same = opened.error().message() == found_before ? same + 1 : 1;
    if (same == kSameToBelieve) return opened;
    found_before = opened.error().message();
  } while (patience.Wait());
  return Status::Busy(
      "the database changed under each of " + std::to_string(patience.attempts()) +
      " attempts to open it for reading, in " + std::to_string(patience.Waited() / 1000) +
      " ms; try again when its writer is less busy; the last time: " + found_before);
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
  ASSIGN_OR_RETURN(opened.replay, wal::Replay(files.segments, files.manifest.catalog.database,
                                              SegmentsOf(directory.get()), visit));
  opened.storage = std::make_unique<LocalStorage>(
      LocalStorage::Dependencies{.directory = std::move(directory),
                                 .random = options.random,
                                 .segment_bytes = options.segment_bytes,
                                 .former_segments_max = options.former_segments_max,
                                 .store_files_open_max = options.store_files_open_max},
      std::move(files), opened.replay);
  return opened;
}

}  // namespace tandem::engine
