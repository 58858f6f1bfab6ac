// The locks of a directory. Nothing is written to disk, and the kernel gives a lock back however
// the process ends.
//
// - The exclusive one of a writer: flock on a descriptor of its own.
// - The shared ones of readers beside a writer, on a file that is there anyway. A reader that needs
//   the files with numbers below B has a shared lock on the byte kNumbersFrom + B - 1 of that file,
//   far beyond its end; a writer that would remove the file N asks whether anyone has a lock on a
//   byte from kNumbersFrom + N on. These are locks of the open file description (F_OFD_SETLK), so
//   two of one process are two locks, and closing another descriptor does not drop them. The system
//   does not name their holders, so each reader has a shared flock on the same descriptor besides,
//   which nobody contests and which the table of locks lists with its process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/posix_file.h"

namespace tandem::base {

/// Held until Release or destruction. Each lock has its own open file description, so two locks in
/// one process exclude each other as two processes do. A handle that came through fork holds
/// nothing: it neither passes for the lock nor gives it back.
class DirectoryLock {
 public:
  DirectoryLock() = default;
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock() { Release(); }

  /// Locks the open directory `directory_fd`; `path` is for messages. Does nothing when this
  /// process holds it through this object. Errors: kBusy, with the holder's process id where the
  /// system tells it; kIoError.
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
/// The processes that have one, as far as the system names them, in rising order.
std::vector<int64_t> FindSharedHolders(int fd);

}  // namespace tandem::base
