// The cache of blocks in memory, shared by all files of a database: sharded, within a byte budget,
// least recently used first (CLOCK).
//
// The budget is shared with what else is kept of files and with the buffers of reads, as the
// account tells: the cache gets what they leave of it, and never less than an eighth.
#pragma once

#include <cstdint>
#include <memory>

#include "base/memory_account.h"
#include "format/block.h"
#include "format/types.h"

namespace tandem::format {

/// Threads: any.
class BlockCache {
 public:
  /// `account` (may be null) outlives the cache.
  explicit BlockCache(size_t budget_bytes, base::MemoryAccount* account = nullptr);
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
  /// What it may hold at this moment.
  size_t budget_bytes() const;
  /// Evicts what is above the budget, which shrank.
  void Shrink();
  base::MemoryAccount* account() const { return account_; }

 private:
  struct Shard;
  static constexpr size_t kShards = 16;
  Shard& ShardOf(FileNumber file, uint64_t offset) const;

  const size_t budget_bytes_;
  base::MemoryAccount* const account_;
  std::unique_ptr<Shard[]> shards_;
};

}  // namespace tandem::format
