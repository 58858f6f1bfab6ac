// The walk over one family of a file: given the sorted positions of the rows that are needed, or a
// range of them, it hands out their data blocks in file order, each once.
//
// 1. The next needed blocks are found by galloping through the block index from the one before. If
//    the index is not in memory, BlockIndexPrefetcher reads the needed pieces ahead.
// 2. A cached block is used directly. What the processor will touch is prefetched in stages, a few
//    blocks ahead: the block object, the places of the needed rows, the rows.
// 3. Uncached blocks are read together while the gap between them is at most kGapMax and the read
//    stays within ReadQueue::ReadBytes(). From the first such block on the walk looks far ahead: it
//    keeps up to ReadQueue::kReadsMax reads in flight, within the bytes that the queue allows.
//    Reads complete in any order; while the walk waits for the one it needs next, it starts others
//    in place of those that are done.
// 4. Only the needed blocks of a completed read are verified, decompressed and admitted to the
//    cache.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "engine/source/block_index_prefetcher.h"
#include "engine/source/fifo.h"
#include "engine/source/read_queue.h"
#include "format/row/data_section.h"
#include "format/row/row_block.h"

namespace tandem::engine {

/// A block and the needed rows in it.
struct WalkedBlock {
  format::DataBlock place;
  format::RowBlockRef rows;
  /// The needed positions; empty when the walk goes over a range.
  std::span<const uint32_t> positions;
  uint32_t low = 0, high = 0;  ///< The needed rows are in [low, high).
};

struct WalkOptions {
  bool admit = true;      ///< Blocks that are read enter the cache.
  bool cautious = false;  ///< Look ahead little at first: the walk may end early.
  /// A cautious walk looks no further than so many rows. If they did not suffice, it looks ahead of
  /// as many as it has handed out.
  uint64_t rows_asked = UINT64_MAX;
};

/// Threads: one at a time. Lifetime: the section, the queue and the positions outlive it.
class BlockWalk {
 public:
  static constexpr uint64_t kGapMax = 16 * 1024;

  BlockWalk(const format::DataSection& data, ReadQueue* queue, WalkOptions options = {});
  ~BlockWalk();
  BlockWalk(const BlockWalk&) = delete;
  BlockWalk& operator=(const BlockWalk&) = delete;

  /// Walks over these positions, sorted and unique. A walk that has ended may be started again with
  /// positions after the last one.
  void Start(std::span<const uint32_t> positions);
  /// Walks over the positions [low, high).
  void StartRange(uint32_t low, uint32_t high);

  /// Of a walk over a range: the block that Next will give, if it is in memory already; else
  /// nullptr. Lifetime: until Next.
  const format::RowBlock* PeekOfRange() const {
    const bool has_next = planned_ > 0 && ahead_.front().block.positions.empty();
    return has_next ? ahead_.front().block.rows.get() : nullptr;
  }
  /// Begins the reads that the first block needs, and does not wait for them. Errors: as Next.
  Status Begin() { return LookAhead(); }
  /// Puts the next block in `*block`; false at the end. Errors: kCorruption, kIoError.
  Result<bool> Next(WalkedBlock* block);

 private:
  // A read of neighbouring blocks; freed when its last block was handed out.
  struct Extent : QueuedRead {
    uint32_t users = 0;
  };
  struct Ahead {
    WalkedBlock block;
    uint32_t rows = 0;  // That are needed.
    bool is_looked_up = false;
    Extent* extent = nullptr;
  };

  bool MayGather() const;
  bool MayReadMore() const;
  bool MayReadAhead() const;
  Status LookAhead();
  Result<bool> Gather();
  void LookUp(Ahead* ahead);
  Status Plan();
  Status ReadTogether(std::vector<QueuedRead*>* started);
  void Touch(const WalkedBlock& block) const;
  Status Load(Ahead* ahead);

  const format::DataSection* data_;
  ReadQueue* queue_;
  WalkOptions options_;

  std::span<const uint32_t> positions_;
  size_t at_ = 0;                // Of the first position that was not gathered.
  uint32_t low_ = 0, high_ = 0;  // The rest of a range.
  uint32_t hint_ = 0;            // The last block gathered.
  BlockIndexPrefetcher index_ahead_;

  // The blocks to hand out: the first touched_ are prefetched, the first planned_ have rows or a
  // read, the rest are only gathered.
  Fifo<Ahead> ahead_;
  size_t touched_ = 0, planned_ = 0;
  size_t ahead_max_;
  uint64_t rows_gathered_ = 0, rows_handed_out_ = 0;
  bool has_read_ = false;  // Some block was not cached.
  std::list<Extent> extents_;
};

}  // namespace tandem::engine
