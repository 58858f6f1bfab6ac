// The key hashes of a file's rows, a window at a time, for walks that need them once: hashes that
// are in memory are used as they are, others are read past the cache and not kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "format/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: `file` outlives it.
class KeyHashWindow {
 public:
  explicit KeyHashWindow(StoreFile* file);

  /// The hashes of the rows [first, first + count). Requires: they are rows of the file. Errors:
  /// kCorruption, kIoError. Lifetime: until the next call.
  Result<std::span<const uint64_t>> Read(uint32_t first, uint32_t count);

 private:
  Status AppendBlock(uint32_t block);

  StoreFile* file_;
  std::span<const uint64_t> all_;  // Not empty: of every row.
  uint32_t first_ = 0;             // Of the window.
  std::vector<uint64_t> hashes_;
};

}  // namespace tandem::format
