// Free memory of the heap goes back to the system.
//
// A heap keeps what was freed: between blocks that live on, and in the arena of each thread that
// ever allocated. After a merge or a burst of queries most of what is resident may be such memory,
// which no account knows. So holders that free much report it, and after a while the whole heap is
// trimmed: pages without a block in use go, the rest is as it was.
#pragma once

#include <atomic>
#include <cstdint>

namespace tandem::base {

/// Gives all free pages of the heap back. Takes some time for each free block. Nothing happens with
/// an allocator that cannot.
void ReturnFreeHeap();

/// Threads: any.
class HeapReturn {
 public:
  /// The heap is trimmed each time that `after_bytes` were freed.
  explicit HeapReturn(uint64_t after_bytes) : after_bytes_(after_bytes) {}

  /// Counts memory that was freed. Requires: the caller holds no lock.
  void Freed(uint64_t bytes) {
    if (freed_.fetch_add(bytes, std::memory_order_relaxed) + bytes < after_bytes_) return;
    freed_.store(0, std::memory_order_relaxed);
    ReturnFreeHeap();
  }

 private:
  const uint64_t after_bytes_;
  std::atomic<uint64_t> freed_{0};  // Relaxed: a figure that orders nothing.
};

}  // namespace tandem::base
