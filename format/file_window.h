// A window that slides over a file from front to back: a few large reads for a reader that takes
// small pieces in order.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/file_system.h"
#include "base/memory_account.h"
#include "base/page_memory.h"
#include "tandem/status.h"

namespace tandem::format {

/// Bytes of a file that somebody has read. Lifetime: that of the memory behind `bytes`.
struct KnownBytes {
  bool Hold(uint64_t begin, uint64_t size) const {
    return begin >= offset && begin - offset <= bytes.size() &&
           size <= bytes.size() - (begin - offset);
  }
  /// Requires: Hold(begin, size).
  std::string_view At(uint64_t begin, uint64_t size) const {
    return bytes.substr(begin - offset, size);
  }

  uint64_t offset = 0;
  std::string_view bytes = {};
};

/// Threads: one at a time. Lifetime: `file` outlives it.
class FileWindow {
 public:
  /// Bytes of one read, for a reader that has only one window.
  static constexpr uint64_t kReadBytes = 1 << 20;

  /// Reads nothing at or after `limit`, and `read_bytes` at a time. A larger piece takes one read
  /// of its own size.
  FileWindow(base::File* file, uint64_t limit, uint64_t read_bytes = kReadBytes)
      : file_(file), limit_(limit), read_bytes_(read_bytes) {}
  /// The same, over `known` at first. Lifetime: `known` outlives it.
  FileWindow(base::File* file, uint64_t limit, uint64_t read_bytes, const KnownBytes& known)
      : file_(file), limit_(limit), read_bytes_(read_bytes), held_(known) {}
  /// Charges its memory to `charge` from here on.
  void set_charge(base::MemoryCharge charge) { charge_ = std::move(charge); }

  /// Changes the limit, at and after which nothing is read.
  void set_limit(uint64_t limit) { limit_ = limit; }

  /// The bytes [offset, offset + size). Errors: kIoError; kCorruption when the file or the limit
  /// ends before them. Lifetime: until the next call.
  Result<std::string_view> Read(uint64_t offset, uint64_t size);
  /// Whether Read of these bytes needs no I/O.
  bool Holds(uint64_t offset, uint64_t size) const { return held_.Hold(offset, size); }

 private:
  base::File* file_;
  uint64_t limit_;
  uint64_t read_bytes_;
  base::PageBuffer buffer_;
  KnownBytes held_;  ///< In buffer_, once something was read.
  base::MemoryCharge charge_;
};

}  // namespace tandem::format
