// What an entry of a block index remembers of its row block: it finds a cached block without
// searching a table, while the cache alone decides how long the block lives.
#pragma once

#include <atomic>
#include <memory>

#include "format/row/row_block.h"

namespace tandem::format {

/// Knows a row block for as long as somebody else keeps it. A spin bit guards it: it is held for a
/// few instructions and never while anything is waited for. Threads: any.
class RowSlot {
 public:
  /// nullptr when the block is gone.
  RowBlockRef Get() const;
  void Set(const RowBlockRef& rows);
  /// Has the processor fetch the block's object, if it is still there.
  void Prefetch() const;

 private:
  void Lock() const;

  mutable std::atomic<bool> busy_{false};  // Acquired by Lock, released by a plain store.
  std::weak_ptr<const RowBlock> rows_;     // Guarded by busy_.
  // Where the block was when it was set: to prefetch from, never to be followed. Relaxed.
  std::atomic<const void*> address_{nullptr};
};

}  // namespace tandem::format
