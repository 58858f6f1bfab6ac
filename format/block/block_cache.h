// The block cache, shared by all files of a database: sharded, with a byte budget. It keeps the
// blocks that are used more often (format/block/cache_shard.h).
//
// The budget also covers other data kept in memory for files, and read buffers, as counted by the
// account. The cache gets what they leave, and never less than an eighth. It also uses memory of
// the memstores while they do not: blocks go when they grow.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/block_pool.h"
#include "base/memory_account.h"
#include "format/block/block.h"
#include "format/types.h"

namespace tandem::format {

/// Threads: any.
class BlockCache {
 public:
  /// `account` (may be null) outlives the cache. `lent_bytes`: what memstores leave of so many
  /// bytes is added to the budget. Whoever sees them grow calls Shrink.
  explicit BlockCache(size_t budget_bytes, base::MemoryAccount* account = nullptr,
                      size_t lent_bytes = 0);
  ~BlockCache();

  /// nullptr when it is not cached.
  BlockRef Find(FileNumber file, uint64_t offset);
  /// Inserts the block, evicting others or possibly `block` itself. A block larger than a shard's
  /// budget is not inserted. Returns the cached block (another thread's if it was first) or
  /// `block`.
  BlockRef Insert(FileNumber file, uint64_t offset, BlockRef block);
  /// Erases every block of `file`.
  void EraseFile(FileNumber file);
  size_t size_bytes() const;
  /// The bytes that it may hold at present.
  size_t budget_bytes() const;
  /// Evicts blocks down to the budget, after the budget shrank.
  void Shrink();
  /// Whether Shrink would evict some.
  bool IsAboveBudget() const;
  /// Counts `bytes` as `part` and makes room for them.
  base::MemoryCharge Charge(base::MemoryPart part, uint64_t bytes);
  /// Whether `bytes` more of `part` may stay in memory, used or not. Key hashes take at most a
  /// quarter of the budget, whatever else there is. Filters and block indexes together take at most
  /// another quarter, of which block indexes leave a quarter to filters. No other part is limited.
  bool Fits(base::MemoryPart part, uint64_t bytes) const;
  /// Reports that about `bytes` of the heap were freed. Requires: the caller holds no lock.
  void Freed(uint64_t bytes) {
    if (account_ != nullptr) account_->heap().Freed(bytes);
  }
  base::MemoryAccount* account() const { return account_; }
  /// Memory for the blocks that will be inserted.
  base::BlockPool& pool() const { return *pool_; }

 private:
  struct Shard;
  static constexpr size_t kShards = 16;
  void Free(std::vector<BlockRef> evicted);
  Shard& ShardOf(FileNumber file, uint64_t offset) const;

  size_t lent_bytes() const;

  const size_t budget_bytes_;
  const size_t lent_bytes_;
  base::MemoryAccount* const account_;
  const std::shared_ptr<base::BlockPool> pool_;
  std::unique_ptr<Shard[]> shards_;
};

}  // namespace tandem::format
