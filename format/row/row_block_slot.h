// A block index entry's weak reference to its row block. It finds a cached block without searching
// a table, while only the cache decides how long the block lives.
#pragma once

#include <atomic>
#include <memory>

#include "format/row/row_block.h"

namespace tandem::format {

/// A weak reference to a row block. A spin bit guards it, which is held for a few instructions and
/// never across a wait. Threads: any.
class RowSlot {
 public:
  /// nullptr when the block is gone.
  RowBlockRef Get() const;
  /// Makes `slot` refer to `rows` until these end.
  static void Set(const std::shared_ptr<RowSlot>& slot, const RowBlockRef& rows);
  /// Drops the reference if it is to `rows`, which ends.
  void Forget(const RowBlock* rows);
  /// Prefetches the block's object into the processor's cache, if it is still there.
  void Prefetch() const;
  /// The same, and the slots of its `count` rows.
  void PrefetchWithSlots(uint32_t count) const;

 private:
  void Lock() const;
  void Unlock() const { busy_.store(false, std::memory_order_release); }

  mutable std::atomic<bool> busy_{false};  // Acquired by Lock, released by a plain store.
  std::weak_ptr<const RowBlock> rows_;     // Guarded by busy_.
  // The addresses of the block and its bytes when it was set: only to prefetch, never dereferenced.
  // Relaxed.
  std::atomic<const void*> address_{nullptr};
  std::atomic<const char*> raw_{nullptr};
};

}  // namespace tandem::format
