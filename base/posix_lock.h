// The exclusive lock of a directory: flock on a descriptor of its own, so that nothing is written
// to disk and the kernel gives the lock back however the process ends.
#pragma once

#include <sys/types.h>

#include <string>

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

}  // namespace tandem::base
