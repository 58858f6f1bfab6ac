// Slots: the block and what remembers it forget each other when the block ends.
#include "format/block/block.h"

#include <thread>

namespace tandem::format {

Block::~Block() {
  if (slot != nullptr) slot->Forget(this);
}

// Yields: where threads outnumber processors, or a tool makes each step slow, those that wait would
// otherwise keep the one that holds it from its few instructions.
void BlockSlot::Wait() const {
  constexpr int kSpins = 64;
  for (int spins = 0; busy_.exchange(true, std::memory_order_acquire); ++spins) {
    if (spins >= kSpins) std::this_thread::yield();
  }
}

void BlockSlot::Set(const std::shared_ptr<BlockSlot>& slot, const BlockRef& block) {
  // Relaxed: only one writes Block::slot, and the end of the block comes after every use of it.
  if (!block->has_slot.exchange(true, std::memory_order_relaxed)) block->slot = slot;
  std::weak_ptr<const Block> old = block;
  slot->Lock();
  slot->block_.swap(old);
  slot->address_.store(block.get(), std::memory_order_relaxed);
  slot->Unlock();
}

void BlockSlot::Forget(const Block* block) {
  std::weak_ptr<const Block> old;
  Lock();
  if (address_.load(std::memory_order_relaxed) == block) {
    block_.swap(old);
    address_.store(nullptr, std::memory_order_relaxed);
  }
  Unlock();
}

}  // namespace tandem::format
