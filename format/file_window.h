// A window that slides over a file front to back: few large reads for a reader that takes small
// pieces in order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: `file` outlives it.
class FileWindow {
 public:
  /// Bytes of one read. A larger piece is read alone.
  static constexpr uint64_t kReadBytes = 1 << 20;

  /// Reads nothing at or behind `limit`.
  FileWindow(base::File* file, uint64_t limit) : file_(file), limit_(limit) {}

  /// Moves the end behind which nothing is read.
  void set_limit(uint64_t limit) { limit_ = limit; }

  /// The bytes [offset, offset + size). Errors: kIoError; kCorruption when the file or the limit
  /// ends before them. Lifetime: until the next call.
  Result<std::string_view> Read(uint64_t offset, uint64_t size);
  /// Whether Read of these bytes needs no I/O.
  bool Holds(uint64_t offset, uint64_t size) const {
    return offset >= start_ && offset + size <= start_ + buffer_.size();
  }

 private:
  base::File* file_;
  uint64_t limit_;
  std::string buffer_;  ///< Bytes of the file from start_ on.
  uint64_t start_ = 0;
};

}  // namespace tandem::format
