// Shards with a mutex each, and the budget that they share with other memory.
#include "format/block/block_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "format/block/cache_shard.h"

namespace tandem::format {
namespace {

// The parts that share the cache's budget.
constexpr base::MemoryPart kSharers[] = {
    base::MemoryPart::kBlockIndexes, base::MemoryPart::kKeyHashes,
    base::MemoryPart::kFilters,      base::MemoryPart::kBitmaps,
    base::MemoryPart::kDictionaries, base::MemoryPart::kIndexDirectories,
    base::MemoryPart::kReadBuffers,  base::MemoryPart::kFileWindows,
    base::MemoryPart::kFileWriters,  base::MemoryPart::kHits,
    base::MemoryPart::kLog,          base::MemoryPart::kCatalog,
};
constexpr size_t kLeastPart = 8;  // The cache keeps at least 1 / kLeastPart of its budget.
// What is kept, used or not: key hashes have 1 / kKeptPart, or a little; filters and block indexes
// have as much together.
constexpr size_t kKeptPart = 4;
constexpr size_t kHashBytesMin = 256 << 10;
// Block indexes, which are read piece by piece from the first look-up on, do not take all of it:
// without filters each look-up would go to every file.
constexpr size_t kFiltersPart = 4;

}  // namespace

struct BlockCache::Shard {
  mutable base::Mutex mutex;
  base::MemoryCharge charge GUARDED_BY(mutex);
  CacheShard blocks GUARDED_BY(mutex);
};

BlockCache::BlockCache(size_t budget_bytes, base::MemoryAccount* account, size_t lent_bytes)
    : budget_bytes_(budget_bytes),
      lent_bytes_(lent_bytes),
      account_(account),
      pool_(std::make_shared<base::BlockPool>()),
      shards_(std::make_unique<Shard[]>(kShards)) {
  for (size_t i = 0; i < kShards; ++i) {
    base::MutexLock lock(shards_[i].mutex);
    shards_[i].charge = base::MemoryCharge(account, base::MemoryPart::kBlockCache);
  }
}

// Returning the pages of each block would make closing a database as slow as reading it was.
BlockCache::~BlockCache() { pool_->Retire(); }

// What is lent now.
size_t BlockCache::lent_bytes() const {
  const uint64_t used = account_->bytes(base::MemoryPart::kMemstores) +
                        account_->bytes(base::MemoryPart::kAppendBuffers);
  return lent_bytes_ - std::min<uint64_t>(lent_bytes_, used);
}

size_t BlockCache::budget_bytes() const {
  if (account_ == nullptr) return budget_bytes_;
  uint64_t others = 0;
  for (const base::MemoryPart part : kSharers) others += account_->bytes(part);
  const size_t least = budget_bytes_ / kLeastPart;
  const size_t budget = budget_bytes_ + lent_bytes();
  return others < budget - least ? budget - others : least;
}

// A shard may have a little less than its part.
bool BlockCache::IsAboveBudget() const {
  return account_ != nullptr && account_->bytes(base::MemoryPart::kBlockCache) > budget_bytes();
}

void BlockCache::Shrink() {
  const size_t budget = budget_bytes() / kShards;
  std::vector<BlockRef> evicted;  // Freed after the locks.
  for (size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards_[i];
    base::MutexLock lock(shard.mutex);
    shard.blocks.ShrinkTo(budget, &evicted);
    shard.charge.Set(shard.blocks.size_bytes());
  }
  Free(std::move(evicted));
}

base::MemoryCharge BlockCache::Charge(base::MemoryPart part, uint64_t bytes) {
  if (account_ == nullptr) return {};
  base::MemoryCharge charge(account_, part, bytes);
  if (bytes > 0) Shrink();
  return charge;
}

bool BlockCache::Fits(base::MemoryPart part, uint64_t bytes) const {
  using base::MemoryPart;
  const auto kept = [this](MemoryPart of) { return account_ == nullptr ? 0 : account_->bytes(of); };
  const uint64_t most = budget_bytes_ / kKeptPart;
  const uint64_t with = kept(part) + bytes;
  switch (part) {
    case MemoryPart::kKeyHashes:
      return with <= std::max<uint64_t>(most, kHashBytesMin);
    case MemoryPart::kFilters:
      return with + kept(MemoryPart::kBlockIndexes) <= most;
    case MemoryPart::kBlockIndexes:
      return with <= most - most / kFiltersPart && with + kept(MemoryPart::kFilters) <= most;
    default:
      return true;
  }
}

BlockCache::Shard& BlockCache::ShardOf(FileNumber file, uint64_t offset) const {
  return shards_[(CacheKeyHash()({file, offset}) >> 40) % kShards];
}

BlockRef BlockCache::Find(FileNumber file, uint64_t offset) {
  Shard& shard = ShardOf(file, offset);
  base::MutexLock lock(shard.mutex);
  return shard.blocks.Find({file, offset});
}

BlockRef BlockCache::Insert(FileNumber file, uint64_t offset, BlockRef block) {
  Shard& shard = ShardOf(file, offset);
  const size_t budget = budget_bytes() / kShards;
  if (CacheCharge(*block) > budget) return block;
  std::vector<BlockRef> evicted;  // Freed after the lock.
  BlockRef kept;
  {
    base::MutexLock lock(shard.mutex);
    kept = shard.blocks.Insert({file, offset}, std::move(block), budget, &evicted);
    shard.charge.Set(shard.blocks.size_bytes());
  }
  Free(std::move(evicted));
  return kept;
}

// What lay in the heap arenas of many threads is reported as freed.
void BlockCache::Free(std::vector<BlockRef> evicted) {
  uint64_t bytes = 0;
  for (const BlockRef& block : evicted) bytes += HeapBytes(*block);
  evicted.clear();
  if (bytes > 0) Freed(bytes);
}

void BlockCache::EraseFile(FileNumber file) {
  std::vector<BlockRef> evicted;  // Freed after the locks.
  for (size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards_[i];
    base::MutexLock lock(shard.mutex);
    shard.blocks.EraseFile(file, &evicted);
    shard.charge.Set(shard.blocks.size_bytes());
  }
  Free(std::move(evicted));
}

size_t BlockCache::size_bytes() const {
  size_t bytes = 0;
  for (size_t i = 0; i < kShards; ++i) {
    base::MutexLock lock(shards_[i].mutex);
    bytes += shards_[i].blocks.size_bytes();
  }
  return bytes;
}

}  // namespace tandem::format
