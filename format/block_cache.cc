// CLOCK over shards. Each shard is a ring of slots with a hand: a look-up marks its slot as used;
// the hand clears marks and evicts the first slot that has none, until the new block fits.
#include "format/block_cache.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace tandem::format {
namespace {

// What a cached block takes beside its bytes: a row block, slot, map node, allocator.
constexpr size_t kOverheadBytes = 320;

struct Key {
  FileNumber file;
  uint64_t offset = 0;
  bool operator==(const Key&) const = default;
};

// Fibonacci hashing of both parts; the high bits choose the shard, the low ones the bucket.
struct KeyHash {
  size_t operator()(const Key& key) const {
    uint64_t hash = (key.file.value * 0x9E3779B97F4A7C15u) ^ (key.offset >> 3);
    hash *= 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 32);
  }
};

size_t Charge(const Block& block) { return block.raw_bytes + kOverheadBytes; }

// With whom the cache shares its budget.
constexpr base::MemoryPart kSharers[] = {
    base::MemoryPart::kBlockIndexes, base::MemoryPart::kKeyHashes,
    base::MemoryPart::kFilters,      base::MemoryPart::kBitmaps,
    base::MemoryPart::kDictionaries, base::MemoryPart::kIndexDirectories,
    base::MemoryPart::kReadBuffers,
};
constexpr size_t kLeastPart = 8;  // The cache keeps one in so many parts of its budget.

}  // namespace

struct BlockCache::Shard {
  struct Slot {
    Key key;
    BlockRef block;  // nullptr: free.
  };

  mutable base::Mutex mutex;
  base::MemoryCharge charge GUARDED_BY(mutex);
  size_t size_bytes GUARDED_BY(mutex) = 0;
  std::unordered_map<Key, uint32_t, KeyHash> slot_of GUARDED_BY(mutex);
  std::vector<Slot> slots GUARDED_BY(mutex);
  std::vector<uint32_t> free GUARDED_BY(mutex);
  size_t hand GUARDED_BY(mutex) = 0;

  void Evict(uint32_t index, std::vector<BlockRef>* evicted) REQUIRES(mutex) {
    Slot& slot = slots[index];
    evicted->push_back(slot.block);
    size_bytes -= Charge(*slot.block);
    slot_of.erase(slot.key);
    slot.block = nullptr;
    free.push_back(index);  // Within the capacity that FreeSlot reserved.
  }

  // The index of a slot without a block. An allocation that fails leaves the shard as it was.
  uint32_t FreeSlot() REQUIRES(mutex) {
    if (free.empty()) {
      free.reserve(slots.size() + 1);
      slots.emplace_back();
      free.push_back(static_cast<uint32_t>(slots.size() - 1));
    }
    return free.back();
  }

  // Evicts until at most `bytes` are left.
  void ShrinkTo(size_t bytes, std::vector<BlockRef>* evicted) REQUIRES(mutex) {
    while (size_bytes > bytes) {
      hand = hand + 1 < slots.size() ? hand + 1 : 0;
      Slot& slot = slots[hand];
      if (slot.block == nullptr) continue;
      if (slot.block->used.load(std::memory_order_relaxed)) {
        slot.block->used.store(false, std::memory_order_relaxed);
      } else {
        Evict(static_cast<uint32_t>(hand), evicted);
      }
    }
  }
};

BlockCache::BlockCache(size_t budget_bytes, base::MemoryAccount* account)
    : budget_bytes_(budget_bytes), account_(account), shards_(std::make_unique<Shard[]>(kShards)) {
  for (size_t i = 0; i < kShards; ++i) {
    base::MutexLock lock(shards_[i].mutex);
    shards_[i].charge = base::MemoryCharge(account, base::MemoryPart::kBlockCache);
  }
}

BlockCache::~BlockCache() = default;

size_t BlockCache::budget_bytes() const {
  if (account_ == nullptr) return budget_bytes_;
  uint64_t others = 0;
  for (const base::MemoryPart part : kSharers) others += account_->bytes(part);
  const size_t least = budget_bytes_ / kLeastPart;
  return others < budget_bytes_ - least ? budget_bytes_ - others : least;
}

void BlockCache::Shrink() {
  const size_t budget = budget_bytes() / kShards;
  std::vector<BlockRef> evicted;  // Freed after the locks.
  for (size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards_[i];
    base::MutexLock lock(shard.mutex);
    shard.ShrinkTo(budget, &evicted);
    shard.charge.Set(shard.size_bytes);
  }
}

BlockCache::Shard& BlockCache::ShardOf(FileNumber file, uint64_t offset) const {
  return shards_[(KeyHash()({file, offset}) >> 40) % kShards];
}

BlockRef BlockCache::Find(FileNumber file, uint64_t offset) {
  Shard& shard = ShardOf(file, offset);
  base::MutexLock lock(shard.mutex);
  const auto found = shard.slot_of.find({file, offset});
  if (found == shard.slot_of.end()) return nullptr;
  const BlockRef& block = shard.slots[found->second].block;
  block->used.store(true, std::memory_order_relaxed);
  return block;
}

BlockRef BlockCache::Insert(FileNumber file, uint64_t offset, BlockRef block) {
  Shard& shard = ShardOf(file, offset);
  const size_t bytes = Charge(*block);
  const size_t budget = budget_bytes() / kShards;
  if (bytes > budget) return block;
  std::vector<BlockRef> evicted;  // Freed after the lock.
  base::MutexLock lock(shard.mutex);
  const auto found = shard.slot_of.find({file, offset});
  if (found != shard.slot_of.end()) return shard.slots[found->second].block;
  shard.ShrinkTo(budget - bytes, &evicted);
  const uint32_t index = shard.FreeSlot();
  shard.slot_of.emplace(Key{file, offset}, index);
  shard.free.pop_back();
  shard.slots[index] = {{file, offset}, block};
  shard.size_bytes += bytes;
  shard.charge.Set(shard.size_bytes);
  return block;
}

void BlockCache::EraseFile(FileNumber file) {
  std::vector<BlockRef> evicted;  // Freed after the locks.
  for (size_t i = 0; i < kShards; ++i) {
    Shard& shard = shards_[i];
    base::MutexLock lock(shard.mutex);
    for (uint32_t index = 0; index < shard.slots.size(); ++index) {
      const Shard::Slot& slot = shard.slots[index];
      if (slot.block != nullptr && slot.key.file == file) shard.Evict(index, &evicted);
    }
    shard.charge.Set(shard.size_bytes);
  }
}

size_t BlockCache::size_bytes() const {
  size_t bytes = 0;
  for (size_t i = 0; i < kShards; ++i) {
    base::MutexLock lock(shards_[i].mutex);
    bytes += shards_[i].size_bytes;
  }
  return bytes;
}

}  // namespace tandem::format
