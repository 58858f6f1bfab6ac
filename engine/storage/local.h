// Storage in one directory of one process: combines the manifest store, the log and the store
// files, for calls from any thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/mutex.h"
#include "engine/storage/local_log.h"
#include "engine/storage/local_recovery.h"
#include "engine/storage/manifest_store.h"
#include "engine/storage/storage.h"
#include "engine/storage/store_handles.h"

namespace tandem::engine {

/// Whether the catalog names the segment.
bool HasSegment(const format::Catalog& catalog, format::FileNumber number);

class LocalStorage : public Storage {
 public:
  struct Dependencies {
    std::unique_ptr<base::Directory> directory;  ///< Locked.
    base::RandomSource* random = nullptr;
    uint64_t segment_bytes = 0;
    size_t former_segments_max = 0;
    uint32_t store_files_open_max = 0;
  };
  /// Takes over what was recovered and replayed. Writes nothing before Start.
  LocalStorage(Dependencies dependencies, RecoveredFiles files, const wal::ReplayReport& replay);

  Status Start(const StorageStart& start) override;
  Result<NewFile> CreateFile() override;
  Result<std::unique_ptr<base::File>> OpenFile(format::FileNumber number) override;
  void AppendLog(const format::Frame& frame) override;
  Status WriteLog() override;
  Status SyncLog() override;
  Status SyncWrittenLog() override;
  Status PrepareRoll() override;
  bool is_log_extension_due() const override;
  void ExtendLog() override;
  Status RollLog() override;
  uint64_t log_bytes() const override;
  uint64_t segment_bytes() const override;
  format::FileNumber current_segment() const override;
  Status CommitEdits(uint64_t epoch, const format::CatalogEdit& edit) override;
  format::Catalog catalog() const override;
  Status DeleteFile(format::FileNumber number) override;
  Result<PinnedStore> PinStore() override;
  FileCounters file_counters() const override;
  ReaderCounters reader_counters() override;
  Result<std::vector<ListedFile>> ListFiles() override;
  Result<uint64_t> FreeSpace() override { return directory_->FreeSpace(); }
  Status CloseCleanly() override;

 private:
  class Hold;
  /// The right to use manifest_ and pending_deletes_, which is held across I/O; mutex_ is not.
  class Turn {
   public:
    explicit Turn(LocalStorage* storage);
    ~Turn();

   private:
    LocalStorage* const storage_;
  };

  /// What the open found, for Start.
  struct Found {
    bool was_closed = false;
    format::LogMark durable;  ///< Of the log, as the manifest says.
    std::vector<LocalFile> listing;
    wal::ReplayReport replay;
  };
  /// What the first segment of our own replaces.
  struct Replacement {
    std::vector<format::FileNumber> old;
    std::optional<format::SegmentRecord> rewritten;  ///< nullopt: none of their frames is needed.
    format::CatalogCounters counters;
  };

  Status TakeOver(const Found& found);
  Status TrimSegments(const Found& found);
  void RemoveOrphans(const std::vector<LocalFile>& listing);
  Status BeginOwnSegment(const Found& found, const StorageStart& start);
  Status RewriteSegments(const wal::ReplayReport& replay, const StorageStart& start);
  Result<wal::SegmentEnd> WriteRewritten(const wal::SegmentSpec& spec,
                                         const wal::ReplayReport& replay,
                                         const StorageStart& start);
  void KeepOldSegments(const wal::ReplayReport& replay);
  Result<format::FileNumber> NextNumber(format::LogMark mark);
  Status AddSegment(const format::SegmentRecord& record, format::LogMark mark);
  Status CommitInTurn(const format::CatalogEdit& edit, format::LogMark mark);
  Status CheckOwner() const;
  void Publish();
  Status RemoveFile(format::FileNumber number);
  bool IsHeldByReader(format::FileNumber number);
  void RemovePending();
  void EndHold();
  std::shared_ptr<const format::Catalog> shared_catalog() const;

  const std::unique_ptr<base::Directory> directory_;
  StoreHandles handles_;
  base::RandomSource* const random_;
  const size_t former_segments_max_;
  std::unique_ptr<const Found> found_;  // Until Start.
  ManifestStore manifest_;              // By the holder of the turn.
  // For a certain manifest, the end of a hold, or a reader's end. By the holder of the turn.
  std::vector<format::FileNumber> pending_deletes_;
  uint64_t holds_ = 0;  // Pinned stores; above 0 nothing is deleted. By the holder of the turn.
  Replacement replacement_;  // Until the first segment of our own.
  LocalLog log_;             // By the caller of the log methods; see there.

  mutable base::Mutex mutex_;
  base::CondVar turn_free_;
  bool turn_taken_ GUARDED_BY(mutex_) = false;
  std::shared_ptr<const format::Catalog> catalog_ GUARDED_BY(mutex_);
};

/// A storage that only reads. The files of the catalog stay while it lives: it holds a shared lock
/// on them, which a writer in another process checks before it removes a file.
class ReadOnlyStorage : public Storage {
 public:
  struct Dependencies {
    std::unique_ptr<base::Directory> directory;
    /// Taken before the catalog was read. Null where the file system has no such locks: then a file
    /// that a writer removes can be read only while it is open.
    std::unique_ptr<base::SharedLock> lock;
    uint32_t store_files_open_max = 0;
  };
  ReadOnlyStorage(Dependencies dependencies, RecoveredFiles files,
                  std::vector<format::BoundFile> segments)
      : directory_(std::move(dependencies.directory)),
        lock_(std::move(dependencies.lock)),
        handles_(directory_.get(), dependencies.store_files_open_max),
        files_(std::move(files)),
        segments_(std::move(segments)) {}

  Result<NewFile> CreateFile() override;
  Result<std::unique_ptr<base::File>> OpenFile(format::FileNumber number) override;
  void AppendLog(const format::Frame&) override {}
  Status WriteLog() override;
  Status SyncLog() override;
  Status SyncWrittenLog() override;
  Status PrepareRoll() override;
  bool is_log_extension_due() const override { return false; }
  void ExtendLog() override {}
  Status RollLog() override;
  uint64_t log_bytes() const override { return 0; }
  uint64_t segment_bytes() const override { return 0; }
  format::FileNumber current_segment() const override { return {}; }
  Status CommitEdits(uint64_t epoch, const format::CatalogEdit& edit) override;
  format::Catalog catalog() const override { return files_.manifest.catalog; }
  Status DeleteFile(format::FileNumber number) override;
  /// The store as of the open, with what the log held then.
  Result<PinnedStore> PinStore() override;
  FileCounters file_counters() const override {
    const base::FilePool::Counters handles = handles_.counters();
    return {.open = handles.open, .reopened = handles.reopened};
  }
  Result<std::vector<ListedFile>> ListFiles() override;
  Status CloseCleanly() override { return {}; }

 private:
  class Held;

  const std::unique_ptr<base::Directory> directory_;
  const std::unique_ptr<base::SharedLock> lock_;
  StoreHandles handles_;
  const RecoveredFiles files_;
  const std::vector<format::BoundFile> segments_;  // With the ends that replay found.
};

}  // namespace tandem::engine
