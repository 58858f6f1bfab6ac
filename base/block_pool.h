// Memory for blocks that are read in random order: pieces of chunks of 2 MiB, which are huge pages
// where the system has them. In a heap such blocks lie on small pages, and the processor walks the
// page tables at nearly each access.
//
// Pieces are multiples of 256 bytes; the first hole of a chunk that is large enough is taken. While
// holes add up to more than a sixteenth of the pieces, and to 4 MiB, pages in them are returned to
// the system, and empty chunks as a whole: whatever is freed, memory exceeds the pieces by little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace tandem::base {

class BlockPool;

/// Returns a block's memory to where it came from. A pool lives as long as its pieces.
class BlockDeleter {
 public:
  BlockDeleter() = default;
  BlockDeleter(std::shared_ptr<BlockPool> pool, size_t size_bytes)
      : pool_(std::move(pool)), size_bytes_(size_bytes) {}
  void operator()(char* memory) const;

 private:
  std::shared_ptr<BlockPool> pool_;  // nullptr: the heap.
  size_t size_bytes_ = 0;
};
using BlockMemory = std::unique_ptr<char[], BlockDeleter>;

/// Memory of the heap. Throws std::bad_alloc.
BlockMemory AllocateInHeap(size_t size_bytes);

/// Threads: any. Owned by std::shared_ptr.
class BlockPool : public std::enable_shared_from_this<BlockPool> {
 public:
  /// Larger blocks come from the heap.
  static constexpr size_t kPieceBytesMax = 128 << 10;

  BlockPool();
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Uninitialized. Throws std::bad_alloc.
  BlockMemory Allocate(size_t size_bytes);
  /// No block will be allocated: those that are freed from now on, one by one, return no pages, but
  /// each chunk that is empty.
  void Retire();
  /// What a block of that size takes.
  static size_t PieceBytes(size_t size_bytes);

  /// The pieces in use.
  size_t used_bytes() const;
  /// The chunks, without the pages that were returned.
  size_t memory_bytes() const;

 private:
  friend class BlockDeleter;
  class Chunk;
  struct Place {
    std::unique_ptr<Chunk> chunk;
    size_t hole_units_max = 0;  // No hole of the chunk has more.
  };
  char* Take(size_t units) REQUIRES(mutex_);
  char* TakeFrom(Place* place, size_t units) REQUIRES(mutex_);
  void Free(char* memory, size_t size_bytes);

  mutable Mutex mutex_;
  std::vector<Place> places_ GUARDED_BY(mutex_);  // By address.
  size_t at_ GUARDED_BY(mutex_) = 0;              // The place that was used last.
  size_t used_bytes_ GUARDED_BY(mutex_) = 0;
  size_t memory_bytes_ GUARDED_BY(mutex_) = 0;
  bool is_retired_ GUARDED_BY(mutex_) = false;
};

}  // namespace tandem::base
