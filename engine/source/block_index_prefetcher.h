// Prefetches the pieces of a block index that a walk is about to need. Missing pieces are read
// together, neighbours with one read, with many reads in flight.
#pragma once

#include <cstdint>
#include <list>
#include <span>
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

  /// `cautious`: looks for one piece at first, then for twice as many each time.
  BlockIndexPrefetcher(const format::DataSection& data, ReadQueue* queue, bool cautious)
      : index_(&data.index()),
        file_(&data.blocks().file()),
        queue_(queue),
        pieces_max_(cautious ? 1 : kPiecesMax) {}
  ~BlockIndexPrefetcher();
  BlockIndexPrefetcher(const BlockIndexPrefetcher&) = delete;
  BlockIndexPrefetcher& operator=(const BlockIndexPrefetcher&) = delete;

  /// The first position that may be in a piece that is not loaded.
  uint32_t end() const { return end_; }
  /// The first block of the piece that the last Advance found its first position in.
  uint32_t first_block() const { return index_->FirstBlockOf(piece_); }
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

  bool IsLoaded(uint32_t position);
  Status LoadWanted();
  void StartReads();
  Status Admit(const ReadGroup& group);

  const format::BlockIndex* index_;
  base::File* file_;
  ReadQueue* queue_;
  size_t pieces_max_;
  uint32_t piece_ = 0;  // Of the last position that was looked up.
  uint32_t end_ = 0;
  std::vector<uint32_t> wanted_;  // Pieces to load, rising.
  uint32_t started_ = 0;          // Of wanted_: have a read.
  std::list<ReadGroup> groups_;
};

}  // namespace tandem::engine
