// One shard of the block cache: which blocks stay. TinyLFU with a window (Einziger, Friedman and
// Manes 2017), victims by sampling.
//
// 1. Every new block enters the window, a first-in-first-out queue of a sixteenth of the budget: a
//    burst of uses of a new block finds it there.
// 2. What leaves the window is compared with a block of the main part, the least used of a few
//    that the hand passes. The one with more uses stays; of two equal ones the older, so a walk
//    over more than the cache holds, again and again, finds the same blocks each time, where least
//    recently used finds none.
// 3. Uses count to three. They are remembered, by a hash, of blocks that left, and halved after
//    twice as many insertions as the shard has blocks: what is no longer used makes room.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "format/block/block.h"
#include "format/types.h"

namespace tandem::format {

/// Which block: its file and where it begins.
struct CacheKey {
  FileNumber file;
  uint64_t offset = 0;
  bool operator==(const CacheKey&) const = default;
};

struct CacheKeyHash {
  size_t operator()(const CacheKey& key) const;
};

/// Bytes that a cached block is charged with.
size_t CacheCharge(const Block& block);

/// Threads: one at a time; a block's `uses` may rise meanwhile.
class CacheShard {
 public:
  /// nullptr when it is not there.
  BlockRef Find(const CacheKey& key);
  /// Requires: the block's charge is at most `budget_bytes`. Returns the block that was there
  /// already, or `block`, which may have left again. What left is moved to `evicted`. An allocation
  /// that fails leaves the shard sound.
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
