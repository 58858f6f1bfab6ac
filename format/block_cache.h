// The cache of blocks in memory, shared by all files of a database: sharded, within a byte budget,
// least recently used first (CLOCK).
#pragma once

#include <cstdint>
#include <memory>

#include "format/block.h"
#include "format/types.h"

namespace tandem::format {

/// Threads: any.
class BlockCache {
 public:
  explicit BlockCache(size_t budget_bytes);
  ~BlockCache();

  /// nullptr when it is not there.
  BlockRef Find(FileNumber file, uint64_t offset);
  /// Puts the block in, evicting others (a block larger than a shard's budget stays outside);
  /// returns the block that is in the cache afterwards (another thread's, when that one came
  /// first).
  BlockRef Insert(FileNumber file, uint64_t offset, BlockRef block);
  /// Forgets every block of `file`.
  void EraseFile(FileNumber file);
  size_t size_bytes() const;

 private:
  struct Shard;
  static constexpr size_t kShards = 16;
  Shard& ShardOf(FileNumber file, uint64_t offset) const;

  std::unique_ptr<Shard[]> shards_;
};

}  // namespace tandem::format
