// Reads the key hashes of a file's rows, a block at a time, for walks that need them once and where
// they do not fit in memory. Hashes that are in memory already are used; others are read past the
// cache into a buffer and not kept.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/memory_account.h"
#include "base/status_macros.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: `file` outlives it.
class KeyHashesReader {
 public:
  explicit KeyHashesReader(StoreFile* file);
  /// Loads all hashes of the file before, if they fit (StoreFile::KeyHashes): for look-ups here and
  /// there. Errors: kCorruption, kIoError.
  static Result<KeyHashesReader> Open(StoreFile* file);

  /// The hash of a row. Errors: as Read. Cheapest for ordinals that rise.
  Result<uint64_t> At(uint32_t ordinal) {
    if (!all_.empty()) return all_[ordinal];
    ASSIGN_OR_RETURN(const std::span<const uint64_t> hashes, Read(ordinal, 1));
    return hashes[0];
  }
  /// The hashes of the rows [first, first + count). Requires: they are rows of the file. Errors:
  /// kCorruption, kIoError. Lifetime: until the next call.
  Result<std::span<const uint64_t>> Read(uint32_t first, uint32_t count);
  /// Prefetches what Read of these rows will return, if it is in memory already.
  void Prefetch(uint32_t first, uint32_t count) const;

 private:
  // Hashes of consecutive rows.
  struct Run {
    uint32_t first = 0;
    std::span<const uint64_t> hashes;
    bool Holds(uint32_t row, uint32_t count) const {
      return row >= first && uint64_t{row} + count <= uint64_t{first} + hashes.size();
    }
    std::span<const uint64_t> From(uint32_t row) const { return hashes.subspan(row - first); }
  };
  Status Load(uint32_t block);
  Result<std::span<const uint64_t>> ReadAll(uint32_t first, uint32_t count);

  StoreFile* file_;
  std::span<const uint64_t> all_;  // Unless empty, of every row.
  const SectionEntry* section_ = nullptr;
  std::unique_ptr<uint64_t[]> stored_;  // The block read last, with its header.
  base::MemoryCharge charge_;           // For it.
  Run block_;                           // Its hashes.
  Run joined_;                          // The last request that crossed the end of a block.
  std::vector<uint64_t> joined_hashes_;
};

}  // namespace tandem::format
