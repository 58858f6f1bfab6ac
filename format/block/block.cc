// Slots: the block and what remembers it forget each other when the block ends.
#include "format/block/block.h"

namespace tandem::format {

Block::~Block() {
  if (slot != nullptr) slot->Forget(this);
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
