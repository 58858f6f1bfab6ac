// Returns free heap memory to the system.
//
// A heap keeps freed memory: between live blocks, and in the arena of each thread that ever
// allocated. After a merge or a burst of queries, most resident memory may be of this kind, and no
// account counts it. So code that frees a lot reports it, and from time to time the whole heap is
// trimmed: pages with no block in use are returned.
#pragma once

#include <atomic>
#include <cstdint>

namespace tandem::base {

/// Returns all free pages of the heap to the system. Takes time for each free block. Does nothing
/// if the allocator does not support it.
void ReturnFreeHeap();

/// Threads: any.
class HeapReturn {
 public:
  /// Trims the heap each time `after_bytes` have been freed.
  explicit HeapReturn(uint64_t after_bytes) : after_bytes_(after_bytes) {}

  /// Counts memory that was freed. Requires: the caller holds no lock.
  void Freed(uint64_t bytes) {
    if (freed_.fetch_add(bytes, std::memory_order_relaxed) + bytes < after_bytes_) return;
    freed_.store(0, std::memory_order_relaxed);
    ReturnFreeHeap();
  }

 private:
  const uint64_t after_bytes_;
  std::atomic<uint64_t> freed_{0};  // Relaxed: a counter that orders nothing.
};

}  // namespace tandem::base
