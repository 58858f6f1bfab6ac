// One shard of the block cache and its eviction policy: TinyLFU with a window (Einziger, Friedman
// and Manes 2017), with victims chosen by sampling.
//
// 1. Every new block enters the window, a FIFO queue of a sixteenth of the budget, where a burst of
//    uses finds it.
// 2. A block that leaves the window is compared with a block of the main part, the least used of
//    the next few after the hand. The one with more uses stays; on a tie, the older one. So a
//    repeated scan of more data than fits finds the same blocks each time, where LRU would find
//    none.
// 3. Use counts saturate at three. The counts of evicted blocks are kept in a table indexed by
//    hash. All counts are halved after twice as many insertions as the shard has blocks, so that
//    blocks no longer used are evicted.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "format/block/block.h"
#include "format/types.h"

namespace tandem::format {

/// A block's file and offset.
struct CacheKey {
  FileNumber file;
  uint64_t offset = 0;
  bool operator==(const CacheKey&) const = default;
};

struct CacheKeyHash {
  size_t operator()(const CacheKey& key) const;
};

/// The bytes that a cached block is charged.
size_t CacheCharge(const Block& block);
/// Those of them that are not in the cache's pool.
size_t HeapBytes(const Block& block);

/// Threads: one at a time; a block's `uses` may change concurrently.
class CacheShard {
 public:
  /// nullptr when it is not cached.
  BlockRef Find(const CacheKey& key);
  /// Requires: the block's charge is at most `budget_bytes`. Returns the block that was already
  /// cached, or `block`, which may have been evicted again. Evicted blocks are moved to `evicted`.
  /// A failed allocation leaves the shard valid.
  BlockRef Insert(const CacheKey& key, BlockRef block, size_t budget_bytes,
                  std::vector<BlockRef>* evicted);
  void EraseFile(FileNumber file, std::vector<BlockRef>* evicted);
  void ShrinkTo(size_t budget_bytes, std::vector<BlockRef>* evicted);
  size_t size_bytes() const { return size_bytes_; }

 private:
  struct Slot {
    CacheKey key;
    BlockRef block;  // nullptr: free.
    bool in_window = false;
  };

  uint32_t FreeSlot();
  void DropOne(std::vector<BlockRef>* evicted);
  Slot* Victim();
  void Evict(Slot* slot, std::vector<BlockRef>* evicted);
  void LeaveWindow();
  void Age();
  uint8_t& Remembered(const CacheKey& key);

  std::unordered_map<CacheKey, uint32_t, CacheKeyHash> slot_of_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  std::deque<uint32_t> window_;      // Oldest first; slots whose block was erased are skipped.
  std::vector<uint8_t> remembered_;  // Uses by hash of key.
  size_t size_bytes_ = 0, window_bytes_ = 0;
  size_t hand_ = 0;
  size_t insertions_ = 0;  // Since uses were halved.
};

}  // namespace tandem::format
