// Memory that is allocated piece by piece and freed all at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/page_memory.h"

namespace tandem::base {

/// Threads: Allocate by one at a time; size_bytes from any. Lifetime: allocations live as long as
/// the arena.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `size` bytes, aligned to `alignment` (a power of two of at most 16).
  char* Allocate(size_t size, size_t alignment = 8);
  /// A copy of `bytes`.
  std::string_view Copy(std::string_view bytes);
  /// Ends the life of all allocations. The block that was filled last stays, so that an arena that
  /// is filled again and again seldom asks the system for memory.
  void Reset();
  /// Bytes taken from the system so far.
  size_t size_bytes() const { return size_bytes_.load(std::memory_order_relaxed); }

 private:
  char* NewBlock(size_t size_bytes);

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<PageMemory> mapped_;
  size_t block_count_ = 0;
  char* current_ = nullptr;  // The block that is being filled.
  char* next_ = nullptr;
  size_t left_ = 0;
  std::atomic<size_t> size_bytes_{0};  // Relaxed: a figure for accounting, orders nothing.
};

}  // namespace tandem::base
