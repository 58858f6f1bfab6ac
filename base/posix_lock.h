// The locks of a directory. Nothing is written to disk, and the kernel releases a lock however the
// process ends.
//
// - The writer's exclusive lock: flock on its own descriptor.
// - The shared locks of readers that run while a writer does, on an existing file. A reader that
//   needs the files with numbers below B holds a shared lock on byte kNumbersFrom + B - 1 of that
//   file, far past its end. Before a writer removes file N, it checks whether anyone has a lock on
//   a byte from kNumbersFrom + N on. The locks belong to the open file description (F_OFD_SETLK),
//   so two in one process are two locks, and closing another descriptor does not release them. The
//   system does not report their holders, so each reader also takes a shared flock on the same
//   descriptor. Nobody contests it, and the lock table lists it with its process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/posix_file.h"

namespace tandem::base {

/// Held until Release or destruction. Each lock has its own open file description, so two locks in
/// one process exclude each other as two processes do. A handle inherited through fork holds
/// nothing: it is not reported as held, and never releases the lock.
class DirectoryLock {
 public:
  DirectoryLock() = default;
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock() { Release(); }

  /// Locks the open directory `directory_fd`; `path` is for messages. Does nothing when this
  /// process holds it through this object. Errors: kBusy, with the holder's process id if the
  /// system reports it; kIoError.
  Status Acquire(int directory_fd, const std::string& path);
  bool is_held() const;

 private:
  void Release();

  Descriptor descriptor_;
  pid_t holder_ = 0;  // The process that acquired it; 0 when nobody did.
};

/// Takes a shared lock over all numbers on the open file `file`, named `name` in messages. Errors:
/// kUnsupported, kIoError.
Result<std::unique_ptr<SharedLock>> TakeSharedLock(Descriptor file, const std::string& name);
/// Whether anyone has a shared lock on the open file `fd` that covers `number`.
Result<bool> IsCoveredByLock(int fd, const std::string& name, uint64_t number);
/// The processes that have one, if the system reports them, in ascending order.
std::vector<int64_t> FindSharedHolders(int fd);

}  // namespace tandem::base
