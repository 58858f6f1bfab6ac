// The pieces of a block index for a walk: prefetches those that it is about to need. Missing pieces
// are read together, neighbours with one read, with many reads in flight. Pieces that the index
// does not keep are held until the walk has passed them; then fewer are read together.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <span>
#include <utility>
#include <vector>

#include "engine/source/read_queue.h"
#include "format/row/data_section.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: section and queue outlive it.
class BlockIndexPrefetcher {
 public:
  /// Pieces with at most this many bytes between them are read together.
  static constexpr uint64_t kGapMax = 16 * 1024;
  /// The most pieces loaded together.
  static constexpr size_t kPiecesMax = 256;
  /// The most bytes of those that are not kept, as stored; a single piece may have more.
  static constexpr uint64_t kHeldBytesMax = 64 * 1024;

  struct Options {
    bool caches = true;     ///< Pieces that are not kept enter the block cache.
    bool cautious = false;  ///< Looks for one piece at first, then for twice as many each time.
  };
  BlockIndexPrefetcher(const format::DataSection& data, ReadQueue* queue, Options options)
      : data_(&data),
        index_(&data.index()),
        queue_(queue),
        caches_(options.caches),
        pieces_max_(options.cautious ? 1 : kPiecesMax) {}
  ~BlockIndexPrefetcher();
  BlockIndexPrefetcher(const BlockIndexPrefetcher&) = delete;
  BlockIndexPrefetcher& operator=(const BlockIndexPrefetcher&) = delete;

  /// The first position after the current piece.
  uint32_t end() const { return end_; }
  /// The piece that the last Advance found its first position in. Requires: there was one.
  /// Lifetime: until the next one.
  const format::IndexPiece& current() const { return *current_; }
  /// Moves end() past the first of these sorted positions, and loads the pieces of later ones along
  /// with it. Requires: `positions` is not empty. Errors: kCorruption, kIoError.
  Status Advance(std::span<const uint32_t> positions);
  /// The same for the positions [low, high).
  Status AdvanceRange(uint32_t low, uint32_t high);

 private:
  // A read of neighbours.
  struct ReadGroup : QueuedRead {
    uint32_t first = 0, end = 0;  // In wanted_.
  };
  // A piece that the index does not keep.
  struct Held {
    uint32_t number;
    format::IndexPieceRef piece;
    base::MemoryCharge charge;
  };

  bool IsLoaded(uint32_t position);
  void ForgetWanted();
  bool Want(uint32_t piece);
  void Hold(uint32_t piece, format::IndexPieceRef ref);
  Status LoadWanted();
  void StartReads();
  Status Admit(const ReadGroup& group);

  const format::DataSection* data_;
  const format::BlockIndex* index_;
  ReadQueue* queue_;
  const bool caches_;
  size_t pieces_max_;
  uint32_t piece_ = 0;  // Of the last position that was looked up.
  const format::IndexPiece* current_ = nullptr;
  uint32_t end_ = 0;
  std::deque<Held> held_;         // From piece_ on, rising.
  std::vector<uint32_t> wanted_;  // Pieces to load, rising.
  uint64_t wanted_bytes_ = 0;     // Of them and of those that were taken from the cache, as stored.
  size_t wanted_count_ = 0;       // The same.
  uint32_t started_ = 0;          // Of wanted_: have a read.
  std::list<ReadGroup> groups_;
};

}  // namespace tandem::engine
