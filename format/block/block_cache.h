// The cache of blocks in memory, shared by all files of a database: sharded, within a byte budget.
// What is used more often stays (format/block/cache_shard.h).
//
// The budget is shared with what else is kept of files and with the buffers of reads, as the
// account tells: the cache gets what they leave of it, and never less than an eighth.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/memory_account.h"
#include "format/block/block.h"
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
  /// Puts the block in, evicting others or, soon, itself (a block larger than a shard's budget
  /// stays outside); returns the block that is in the cache (another thread's, when that one came
  /// first) or `block`.
  BlockRef Insert(FileNumber file, uint64_t offset, BlockRef block);
  /// Forgets every block of `file`.
  void EraseFile(FileNumber file);
  size_t size_bytes() const;
  /// What it may hold at this moment.
  size_t budget_bytes() const;
  /// Evicts what is above the budget, which shrank.
  void Shrink();
  /// Counts `bytes` as `part` and makes room for them.
  base::MemoryCharge Charge(base::MemoryPart part, uint64_t bytes);
  /// Reports that about `bytes` of the heap were freed. Requires: the caller holds no lock.
  void Freed(uint64_t bytes) {
    if (account_ != nullptr) account_->heap().Freed(bytes);
  }
  base::MemoryAccount* account() const { return account_; }

 private:
  struct Shard;
  static constexpr size_t kShards = 16;
  void Free(std::vector<BlockRef> evicted);
  Shard& ShardOf(FileNumber file, uint64_t offset) const;

  const size_t budget_bytes_;
  base::MemoryAccount* const account_;
  std::unique_ptr<Shard[]> shards_;
};

}  // namespace tandem::format
