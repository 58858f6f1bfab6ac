// The one seam to files. Everything that the engine reads or writes passes through these classes:
// POSIX and io_uring implement them for real disks, the tests' simulated disk for crashes and
// faults.
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

/// An open file. Threads: reads from any thread; writes, syncs and truncation by one at a time.
class File {
 public:
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Reads up to buffer.size() bytes at `offset`; fewer only at the end of the file. Returns the
  /// count. Interrupted and short reads are continued inside. Errors: kIoError.
  virtual Result<size_t> Read(uint64_t offset, std::span<char> buffer) = 0;
  /// Writes all of `data` at `offset`. Errors: kIoError, kNoSpace (part may have been written).
  virtual Status Write(uint64_t offset, std::string_view data) = 0;
  /// Makes content and size durable. Errors: kIoError, kNoSpace; see the head of this file.
  virtual Status DataSync() = 0;
  virtual Result<uint64_t> Size() = 0;
  virtual Status Truncate(uint64_t size_bytes) = 0;
  /// Reserves disk space up to `size_bytes` without changing the file's size. Advice: where the
  /// file system has no such call the result is OK. Errors: kNoSpace, kIoError.
  virtual Status Preallocate(uint64_t size_bytes) = 0;
  /// The name it was opened by, for messages; relative to its directory.
  virtual const std::string& name() const = 0;
  /// For queues: the file that an operation is started on, and which stays open while the pin
  /// lives. A pool's file (file_pool.h) has a descriptor that comes and goes, so an operation in
  /// flight must hold it. The pin is empty where the file needs none, and where it can have none
  /// now: then the operation runs through this file's own calls.
  virtual FilePin Pin();

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
  /// `owner` is asked to keep `file` open until its Unpin.
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

  File* file() const { return file_; }  ///< Null: it is empty.

 private:
  File* file_ = nullptr;
  File* owner_ = nullptr;
};

inline FilePin File::Pin() { return FilePin(); }

/// One asynchronous operation. The caller owns it and its buffer until it comes back from Wait.
struct IoRequest {
  enum class Kind : uint8_t { kRead, kWrite, kDataSync };
  Kind kind = Kind::kRead;
  File* file = nullptr;
  uint64_t offset = 0;
  std::span<char> buffer{};  ///< Read into, or written from. Unused by kDataSync.
  uint64_t tag = 0;          ///< The caller's own mark.
  Status status{};           ///< Set on completion.
  size_t transferred = 0;    ///< Set on completion: bytes read or written; short only at file end.
  FilePin pin{};             ///< The queue's: from Submit to the completion.

  /// What the operation works on.
  File* open_file() const { return pin.file() != nullptr ? pin.file() : file; }
};

/// Runs `request` from its beginning through its file's own calls, on this thread, and sets its
/// outcome.
void RunRequest(IoRequest& request);

/// Operations in flight of one thread. Short, interrupted and refused-for-now (EAGAIN) operations
/// are continued inside. Threads: one at a time.
class IoQueue {
 public:
  virtual ~IoQueue() = default;
  /// Starts every request; more than `depth` wait inside for their turn.
  virtual void Submit(std::span<IoRequest* const> requests) = 0;
  /// Blocks for the next completed request, in any order; nullptr when none is outstanding.
  virtual IoRequest* Wait() = 0;
};

enum class OpenMode : uint8_t { kReadOnly, kReadWrite };

/// Whether `name` can name a file in a Directory: not empty, ".", ".." or with a '/' or NUL in it.
/// Errors: kInvalidArgument.
Status CheckFileName(const std::string& name);

/// A shared lock of a reader: no process that asks Directory::IsLockedShared removes a file with a
/// number below its bound. It ends with the object and with the process. Threads: one at a time.
class SharedLock {
 public:
  virtual ~SharedLock() = default;
  /// Lets go of the files with the number `bound` and above; at first it covers all numbers.
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
  /// Gives the regular file `name` of `from` a second name `new_name` here, a hard link: both stand
  /// for the same bytes, each may be removed without the other. Links are not followed. Errors:
  /// kAlreadyExists, kNotFound, kIoError; kUnsupported where the two cannot share a file (other
  /// disks, a file system without hard links, one that forbids them): copy it instead.
  virtual Status Link(Directory& from, const std::string& name, const std::string& new_name);
  /// Whether this is `other` or lies in it, at any depth. Errors: kIoError.
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
  /// Takes a shared lock on the numbered files here, which writes nothing; `name` is the file that
  /// carries it, the same for all. Errors: kNotFound (no such file), kUnsupported (the file system
  /// has no such locks), kIoError.
  virtual Result<std::unique_ptr<SharedLock>> LockShared(const std::string& name);
  /// Whether anyone holds a shared lock through `name` that covers the file `number`. Where the
  /// file system has no such locks, nobody does.
  virtual Result<bool> IsLockedShared(const std::string& name, uint64_t number);
  /// The process ids of those who hold shared locks through `name`, as far as the system names
  /// them.
  virtual std::vector<int64_t> SharedLockHolders(const std::string& name);
  /// Bytes that an unprivileged writer can still use here.
  virtual Result<uint64_t> FreeSpace() = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// Opens `path`. With `create` it makes the directory when it does not exist (mode 0700; parents
  /// must exist) and syncs its parent. Errors: kNotFound, kIoError.
  virtual Result<std::unique_ptr<Directory>> OpenDirectory(const std::string& path,
                                                           bool create) = 0;
  /// Makes the directory `path`, mode 0700, and opens it; parents must exist, the parent is synced.
  /// Errors: kAlreadyExists (whatever it is that stands there), kNotFound (no parent), kIoError.
  virtual Result<std::unique_ptr<Directory>> CreateDirectory(const std::string& path);
  /// Removes the empty directory `path`. Errors: kNotFound, kIoError (also when it is not empty),
  /// kUnsupported.
  virtual Status RemoveDirectory(const std::string& path);
  /// A queue for at most `depth` operations in flight.
  virtual std::unique_ptr<IoQueue> NewQueue(uint32_t depth) = 0;
  /// The descriptors that its queues hold now.
  virtual uint64_t open_rings() const { return 0; }
  /// "posix", "io_uring", ...: for statistics and messages.
  virtual std::string_view name() const = 0;
};

/// How many descriptors the process may have: its soft limit now.
uint64_t OpenFilesLimit();

/// A FileSystem over POSIX calls; its queues run each operation at Submit.
std::unique_ptr<FileSystem> NewPosixFileSystem();
/// A FileSystem whose queues are io_uring rings. Where rings are refused it is the POSIX one, and
/// `*fallback_reason` (when not null) says why in one line; it is left empty otherwise. A ring is a
/// descriptor: at most `rings_max` exist at a time, each serves one queue after the other, and a
/// queue that finds none free runs each operation at Submit.
std::unique_ptr<FileSystem> NewUringFileSystem(std::string* fallback_reason,
                                               uint32_t rings_max = 64);

}  // namespace tandem::base
