// The seam below the engine: one log, one manifest and the files they cover, reached through five
// verbs (create a file, open a file, the log, commit catalog edits, delete a file). Above it nobody
// renames, lists or knows a path.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "engine/storage/catalog.h"
#include "engine/storage/pinned_store.h"
#include "format/frame.h"
#include "format/types.h"
#include "tandem/status.h"
#include "wal/log.h"

namespace tandem::engine {

/// A new file of the store: its number (reserved in the manifest before it is given out), its id
/// and the handle.
struct NewFile {
  format::FileNumber number;
  format::FileId id;
  std::unique_ptr<base::File> file;
};

/// What the engine knows of a log when its storage begins to write.
struct StorageStart {
  /// Whether the frame holds an operation that is in no store file. Empty: every frame does.
  std::function<bool(const format::Frame&)> is_needed = {};
  /// At least the counters that the log proves; the catalog takes them when it drops segments.
  format::CatalogCounters counters = {};
  /// Receives a line for the message log. Empty: the line is dropped.
  std::function<void(const std::string&)> log = {};
};

/// A file in the directory of a store, for reports of space.
struct ListedFile {
  enum class Role : uint8_t {
    kRoot,
    kManifest,
    kSegment,   ///< The catalog names it.
    kPrepared,  ///< A segment for the next roll.
    kStore,     ///< The catalog names it.
    kHeld,      ///< To be deleted when a copy is made, or a reader in another process is gone.
    kUnnamed,   ///< Any other file of the engine.
    kForeign,
  };
  Role role{};
  std::string name;
  format::FileNumber number = {};  ///< Of kSegment, kStore, kHeld; of others it may be 0.
  uint64_t size_bytes = 0;
  uint64_t used_bytes = 0;  ///< Of a segment: up to the end of its last frame.
};

/// Threads: log calls by one at a time (the commit leader); SyncWrittenLog, PrepareRoll, ExtendLog
/// and everything else from any thread.
class Storage {
 public:
  virtual ~Storage() = default;

  /// The first writes after an open for writing: what was replayed becomes durable, ROOT says open,
  /// files that nothing names are removed, a new segment is begun. When more than
  /// OpenStorageOptions::former_segments_max segments were replayed, the frames that are still
  /// needed are copied into one segment that replaces them; without space for it they stay.
  /// Requires: called once, before anything else but OpenFile and catalog(). Errors: kIoError,
  /// kNoSpace.
  virtual Status Start(const StorageStart&) { return {}; }

  // Verb 1: create. The name is not durable before the next CommitEdits that adds the file.
  virtual Result<NewFile> CreateFile() = 0;
  // Verb 2: open a store file for reading. Errors: kCorruption when a file that the catalog names
  // does not exist, kNotFound for any other.
  // The file shares a bounded number of descriptors with the others: it may be closed while it is
  // not read, and is then opened again for the next read, with its size and id checked. So its
  // calls can also return the errors of opening.
  virtual Result<std::unique_ptr<base::File>> OpenFile(format::FileNumber number) = 0;

  // Verb 3: the log. Append buffers; Write hands over to the operating system; Sync makes durable;
  // SyncWritten makes durable what was written before it began, beside the other calls.
  // Roll seals the segment (written, synced, exact length) and starts one that the manifest knows.
  // PrepareRoll creates the file of the next segment ahead, beside the other calls; when it fails,
  // the roll tries again.
  // ExtendLog makes the segment longer than its frames, beside the other calls, so that a sync of
  // frames has no size to make durable.
  // The frame's predecessor and durable mark are filled in here. A full disk, or a new segment that
  // cannot be begun for a reason that may pass (base/passing.h), fails the group since the last
  // Write; later groups succeed once it has passed. Any other failed write or sync fails every
  // later call (kIoError, kReadOnly).
  virtual void AppendLog(const format::Frame& frame) = 0;
  virtual Status WriteLog() = 0;
  virtual Status SyncLog() = 0;
  virtual Status SyncWrittenLog() = 0;
  virtual Status PrepareRoll() = 0;
  virtual bool is_log_extension_due() const = 0;
  virtual void ExtendLog() = 0;
  virtual Status RollLog() = 0;
  virtual uint64_t log_bytes() const = 0;      ///< In all segments that are still needed.
  virtual uint64_t segment_bytes() const = 0;  ///< In the last one.
  virtual format::FileNumber current_segment() const = 0;

  // Verb 4: commit catalog edits under an expected epoch: appended, synced (with the directory
  // first, so that every file the edit adds has a durable name), then applied to catalog().
  // Counters only grow: one that is smaller in the edit than in the catalog keeps its value; a
  // larger next_file_number reserves the numbers below it. Files of segments that the edit removes
  // are deleted here. After an error the manifest is replaced by a new one before anything else is
  // committed; when that fails too, the storage refuses all further commits, unless the failure may
  // pass (base/passing.h). Errors: kConflict (epoch), kInvalidArgument (the edit does not fit the
  // catalog), kIoError, kNoSpace, kReadOnly.
  virtual Status CommitEdits(uint64_t epoch, const format::CatalogEdit& edit) = 0;
  /// A copy of the catalog as committed.
  virtual format::Catalog catalog() const = 0;

  // Verb 5: delete. Requires: a committed edit removed it. Done at once or, while the manifest
  // is in doubt, a store is pinned or a reader may read the file, later; a file that is gone
  // already is no error.
  virtual Status DeleteFile(format::FileNumber number) = 0;

  /// Pins the store as of now, for a copy: until the result is destroyed, deleted files stay on
  /// disk. Requires, of a storage that can write: the caller leads the commit queue, and the log
  /// was written. Threads: any otherwise. Errors: kUnsupported, kBusy (another process's).
  virtual Result<PinnedStore> PinStore() {
    return Status::Unsupported("this storage cannot be copied");
  }

  struct FileCounters {
    uint64_t open = 0;      ///< Store files that have a descriptor now.
    uint64_t reopened = 0;  ///< How often one was opened again.
  };
  virtual FileCounters file_counters() const { return {}; }

  /// The readers in other processes. A file that nothing names is deleted when no reader may read
  /// it any more.
  struct ReaderCounters {
    uint64_t held_files = 0;              ///< Files that wait to be deleted.
    std::vector<int64_t> processes = {};  ///< Of the readers, where the system names them.
  };
  virtual ReaderCounters reader_counters() { return {}; }

  /// The files in the directory with their sizes, for a report. One that is created or deleted
  /// meanwhile may be missing. Errors: kUnsupported, kIoError.
  virtual Result<std::vector<ListedFile>> ListFiles() {
    return Status::Unsupported("this storage cannot list its files");
  }

  /// Bytes that can still be written; others may take them at any time. Errors: kUnsupported,
  /// kIoError.
  virtual Result<uint64_t> FreeSpace() {
    return Status::Unsupported("this storage does not know how much space is left");
  }

  /// Seals log and manifest and writes "closed" to ROOT. Nothing may be called afterwards.
  virtual Status CloseCleanly() = 0;
};

struct OpenStorageOptions {
  base::FileSystem* file_system = nullptr;
  base::RandomSource* random = nullptr;
  base::Clock* clock = nullptr;  ///< For a reader's patience; nullptr: it tries a few times.
  std::string path;
  bool create_if_missing = false;
  bool read_only = false;  ///< Writes nothing; works with a live writer; takes a shared lock.
  uint64_t segment_bytes = 64 << 20;  ///< Preallocated per segment.
  size_t former_segments_max = 16;    ///< Segments of earlier opens that may stay; Storage::Start.
  uint32_t store_files_open_max = 512;  ///< Descriptors of store files; 2 or more.
};

struct OpenedStorage {
  std::unique_ptr<Storage> storage;
  wal::ReplayReport replay;
  bool was_closed = false;  ///< The last writer closed it cleanly.
};

/// Opens the database at `path`: lock (unless read-only), ROOT, manifest, the names of all files,
/// then replays the log into `visit`, one segment at a time. `begin` is called with the
/// catalog before the first frame; a reader with a concurrent writer may have to start over, and
/// then what it was given before is void. Nothing is written, except that `create_if_missing`
/// creates a database where there is none: other writes are left to Storage::Start, once the caller
/// has read and checked what else it needs. Errors: kNotFound (no database: no ROOT), kBusy
/// (locked, with the pid; a reader whose writer never paused), kCorruption, kUnsupported, kIoError.
Result<OpenedStorage> OpenLocalStorage(const OpenStorageOptions& options,
                                       const std::function<Status(const format::Catalog&)>& begin,
                                       const std::function<Status(const format::Frame&)>& visit);

}  // namespace tandem::engine
