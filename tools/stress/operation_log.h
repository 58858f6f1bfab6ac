// A log of what threads did, to be read by people when something is wrong: one line an operation,
// handed to the operating system at once. The last 16 to 32 MiB of it are kept, the older half in
// "operations.1".
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "tandem/status.h"

namespace tandem::stress {

/// Threads: any.
class OperationLog {
 public:
  /// Appends to what is there. Errors: kIoError.
  static Result<std::unique_ptr<OperationLog>> Open(const std::string& path);
  ~OperationLog();
  OperationLog(const OperationLog&) = delete;
  OperationLog& operator=(const OperationLog&) = delete;

  /// Adds a line. What cannot be written is lost: the log proves nothing.
  void Add(std::string_view line) EXCLUDES(mutex_);

 private:
  explicit OperationLog(std::string path) : path_(std::move(path)) {}
  bool Begin() REQUIRES(mutex_);

  const std::string path_;
  base::Mutex mutex_;
  std::FILE* file_ GUARDED_BY(mutex_) = nullptr;
  uint64_t size_bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tandem::stress
