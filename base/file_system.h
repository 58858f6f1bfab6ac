// The file system interface. All of the engine's I/O goes through these classes. POSIX and io_uring
// implement them for real disks; the tests' simulated disk implements them with crashes and faults.
//
// Durability, as every implementation must provide it: bytes written are durable only after a
// successful DataSync of their file; a name created or removed in a directory is durable only after
// Directory::Sync; closing a file syncs nothing. After a failed DataSync nothing on that file
// counts as durable, and a later success does not change that. There is no rename.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/status.h"

namespace tandem::base {

class FilePin;

/// An open file. Threads: reads from any thread; writes and truncation by one at a time; one sync
/// at a time, beside them; one extension at a time, beside all but truncation.
class File {
 public:
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Reads up to buffer.size() bytes at `offset`; fewer only at the end of the file. Returns the
  /// count. Interrupted and short reads are retried internally. Errors: kIoError.
  virtual Result<size_t> Read(uint64_t offset, std::span<char> buffer) = 0;
  /// Writes all of `data` at `offset`. Errors: kIoError, kNoSpace (part may have been written).
  virtual Status Write(uint64_t offset, std::string_view data) = 0;
  /// Makes content and size durable, as they are when the call begins. Errors: kIoError, kNoSpace;
  /// see the head of this file.
  virtual Status DataSync() = 0;
  /// Begins to write these bytes to the disk and returns at once, so that a later DataSync finds
  /// less to do. Nothing is durable by it. A hint: OK if the system has no such call. Errors: as of
  /// a failed DataSync.
  virtual Status StartWriteBack(uint64_t offset, uint64_t size_bytes);
  virtual Result<uint64_t> Size() = 0;
  virtual Status Truncate(uint64_t size_bytes) = 0;
  /// Reserves disk space up to `size_bytes` without changing the file's size. A hint: OK if the
  /// file system does not support it. Errors: kNoSpace, kIoError.
  virtual Status Preallocate(uint64_t size_bytes) = 0;
  /// Makes the file `size_bytes` long, unless it is longer, with zeros in space that Preallocate
  /// reserved. A DataSync of what is written there then has no size to make durable. Errors:
  /// kUnsupported (the system has no such call), kNoSpace, kIoError.
  virtual Status Extend(uint64_t size_bytes);
  /// The name it was opened by, for messages; relative to its directory.
  virtual const std::string& name() const = 0;
  /// For queues: the file to start an operation on, which stays open while the pin lives. The
  /// descriptor of a pooled file (file_pool.h) comes and goes, so an operation in flight must hold
  /// it. The pin is empty if the file needs none or if none is available; the operation then runs
  /// through this file's own calls.
  virtual FilePin Pin();

  // Advice about the system's cache of the file's bytes. The first two cannot fail: where the
  // system has no such call, nothing is known and nothing happens.

  static constexpr uint64_t kCachePageBytes = 4096;
  /// Whether the cache has the pages with bytes of [offset, offset + size_bytes), first to last;
  /// empty: unknown. `offset` is a multiple of kCachePageBytes.
  virtual std::vector<bool> CachedPages(uint64_t offset, uint64_t size_bytes);
  /// Lets the cache forget the pages that lie in [offset, offset + size_bytes). Those that are not
  /// on the disk yet begin to be written there, and stay.
  virtual void DropCached(uint64_t offset, uint64_t size_bytes);
  /// Waits until what StartWriteBack began of these bytes is written, so that DropCached finds
  /// nothing that has to stay. Nothing is durable by it. OK if the system has no such call. Errors:
  /// as of a failed DataSync, which need not report the same error again.
  virtual Status AwaitWriteBack(uint64_t offset, uint64_t size_bytes);

 protected:
  File() = default;

 private:
  friend class FilePin;
  /// Called once for each pin that names this file as its owner.
  virtual void Unpin() {}
};

/// See File::Pin. Lifetime: the file that gave it outlives it.
class FilePin {
 public:
  FilePin() = default;
  /// `owner` keeps `file` open until its Unpin is called.
  FilePin(File* file, File* owner) : file_(file), owner_(owner) {}
  FilePin(FilePin&& other) noexcept
      : file_(std::exchange(other.file_, nullptr)), owner_(std::exchange(other.owner_, nullptr)) {}
  FilePin& operator=(FilePin&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~FilePin() {
    if (owner_ != nullptr) owner_->Unpin();
  }

  File* file() const { return file_; }  ///< Null if empty.

 private:
  File* file_ = nullptr;
  File* owner_ = nullptr;
};

inline FilePin File::Pin() { return FilePin(); }
inline Status File::StartWriteBack(uint64_t, uint64_t) { return {}; }
inline std::vector<bool> File::CachedPages(uint64_t, uint64_t) { return {}; }
inline void File::DropCached(uint64_t, uint64_t) {}
inline Status File::AwaitWriteBack(uint64_t, uint64_t) { return {}; }
inline Status File::Extend(uint64_t) { return Status::Unsupported("files cannot be extended"); }

/// One asynchronous operation. The caller owns it and its buffer until it comes back from Wait.
struct IoRequest {
  enum class Kind : uint8_t { kRead, kWrite, kDataSync };
  Kind kind = Kind::kRead;
  File* file = nullptr;
  uint64_t offset = 0;
  std::span<char> buffer{};  ///< Read into, or written from. Unused by kDataSync.
  uint64_t tag = 0;          ///< For the caller's use.
  Status status{};           ///< Set on completion.
  size_t transferred = 0;    ///< Set on completion: bytes read or written; short only at file end.
  FilePin pin{};             ///< Used by the queue, from Submit to completion.

  /// The file that the operation runs on.
  File* open_file() const { return pin.file() != nullptr ? pin.file() : file; }
};

/// Runs `request` from the beginning on this thread, through its file's own calls, and sets its
/// result.
void RunRequest(IoRequest& request);

/// The I/O operations that one thread has in flight. Short, interrupted and EAGAIN operations are
/// retried internally. Threads: one at a time.
class IoQueue {
 public:
  virtual ~IoQueue() = default;
  /// Starts every request. Requests beyond `depth` wait in the queue.
  virtual void Submit(std::span<IoRequest* const> requests) = 0;
  /// Waits for a request to complete and returns it; they complete in any order. nullptr when none
  /// is outstanding.
  virtual IoRequest* Wait() = 0;
};

enum class OpenMode : uint8_t { kReadOnly, kReadWrite };

/// Whether `name` can name a file in a Directory: not empty, ".", ".." or with a '/' or NUL in it.
/// Errors: kInvalidArgument.
Status CheckFileName(const std::string& name);

/// A reader's shared lock. A process that checks Directory::IsLockedShared before it removes a file
/// keeps every file with a number below the lock's bound. Released by the destructor and when the
/// process ends. Threads: one at a time.
class SharedLock {
 public:
  virtual ~SharedLock() = default;
  /// Releases the files numbered `bound` and above. A new lock covers all numbers.
  virtual Status Lower(uint64_t bound) = 0;
};

/// An open directory; all names are relative to it, contain no '/', and links are never followed.
class Directory {
 public:
  virtual ~Directory() = default;
  /// Creates a new file, mode 0600, open for reading and writing. Errors: kAlreadyExists, ...
  virtual Result<std::unique_ptr<File>> Create(const std::string& name) = 0;
  /// Errors: kNotFound; kIoError (also for a link, a directory or another special file).
  virtual Result<std::unique_ptr<File>> Open(const std::string& name, OpenMode mode) = 0;
  virtual Status Remove(const std::string& name) = 0;
  /// Gives the regular file `name` of `from` a second name `new_name` here, a hard link: both name
  /// the same bytes, and either may be removed without the other. Symbolic links are not followed.
  /// Errors: kAlreadyExists, kNotFound, kIoError; kUnsupported if the two directories cannot share
  /// a file (different disks, or a file system that has no hard links or forbids them): copy it
  /// instead.
  virtual Status Link(Directory& from, const std::string& name, const std::string& new_name);
  /// Whether this directory is `other` or inside it, at any depth. Errors: kIoError.
  virtual Result<bool> IsWithin(Directory& other);
  /// Names of the regular entries in it, in no order.
  virtual Result<std::vector<std::string>> List() = 0;
  /// Makes the names created and removed so far durable.
  virtual Status Sync() = 0;
  /// Takes the exclusive lock of the directory until the Directory is destroyed. Errors: kBusy with
  /// the holder's process id; a handle inherited through fork does not hold the lock.
  virtual Status Lock() = 0;
  /// Whether this process took the lock through this object and still has it; false in a child that
  /// inherited the object through fork.
  virtual bool HoldsLock() const = 0;
  /// Takes a shared lock on the numbered files here, without writing anything. `name` is the file
  /// that carries the lock; all users name the same one. Errors: kNotFound (no such file),
  /// kUnsupported (the file system has no such locks), kIoError.
  virtual Result<std::unique_ptr<SharedLock>> LockShared(const std::string& name);
  /// Whether anyone holds a shared lock through `name` that covers file `number`. False if the file
  /// system has no such locks.
  virtual Result<bool> IsLockedShared(const std::string& name, uint64_t number);
  /// The process ids that hold shared locks through `name`, if the system reports them.
  virtual std::vector<int64_t> SharedLockHolders(const std::string& name);
  /// Bytes that an unprivileged writer can still use here. Errors: kUnsupported (the file system
  /// does not say), kIoError.
  virtual Result<uint64_t> FreeSpace() = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// Opens `path`. With `create` it makes the directory when it does not exist (mode 0700; parents
  /// must exist) and syncs its parent. Errors: kNotFound, kIoError.
  virtual Result<std::unique_ptr<Directory>> OpenDirectory(const std::string& path,
                                                           bool create) = 0;
  /// Creates the directory `path`, mode 0700, opens it, and syncs its parent. Parents must exist.
  /// Errors: kAlreadyExists (of any type), kNotFound (no parent), kIoError.
  virtual Result<std::unique_ptr<Directory>> CreateDirectory(const std::string& path);
  /// Removes the empty directory `path`. Errors: kNotFound, kIoError (also when it is not empty),
  /// kUnsupported.
  virtual Status RemoveDirectory(const std::string& path);
  /// A queue for at most `depth` operations in flight.
  virtual std::unique_ptr<IoQueue> NewQueue(uint32_t depth) = 0;
  /// The number of descriptors that its queues hold.
  virtual uint64_t open_rings() const { return 0; }
  /// "posix", "io_uring", ...: for statistics and messages.
  virtual std::string_view name() const = 0;
};

/// The maximum number of open descriptors: the process's current soft limit.
uint64_t OpenFilesLimit();

/// A FileSystem over POSIX calls; its queues run each operation at Submit.
std::unique_ptr<FileSystem> NewPosixFileSystem();
/// A FileSystem whose queues are io_uring rings. If the system refuses rings, returns the POSIX one
/// and `*fallback_reason` (if not null) says why in one line; otherwise it is left empty. Each ring
/// uses a descriptor: at most `rings_max` exist at a time, and each serves one queue at a time. If
/// none is free, a queue runs each operation at Submit.
std::unique_ptr<FileSystem> NewUringFileSystem(std::string* fallback_reason,
                                               uint32_t rings_max = 64);

}  // namespace tandem::base
