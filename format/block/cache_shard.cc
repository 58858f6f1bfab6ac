// The window, the main part, and which of two blocks is evicted.
#include "format/block/cache_shard.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tandem::format {
namespace {

// The overhead of a cached block: row block object, slot, map node, allocator.
constexpr size_t kOverheadBytes = 320;
constexpr size_t kWindowPart = 16;    // The window gets 1 / kWindowPart of the budget.
constexpr int kSamples = 5;           // Blocks that are compared to choose a victim.
constexpr size_t kAgeInsertions = 2;  // Times the shard's blocks: insertions between halvings.
constexpr size_t kRememberedPerSlot = 8;

uint8_t Uses(const Block& block) { return block.uses.load(std::memory_order_relaxed); }
void SetUses(const Block& block, uint8_t uses) {
  block.uses.store(uses, std::memory_order_relaxed);
}

}  // namespace

// Fibonacci hashing of both parts; the high bits choose the shard, the low ones the bucket.
size_t CacheKeyHash::operator()(const CacheKey& key) const {
  uint64_t hash = (key.file.value * 0x9E3779B97F4A7C15u) ^ (key.offset >> 3);
  hash *= 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 32);
}

size_t CacheCharge(const Block& block) {
  return base::BlockPool::PieceBytes(block.raw_bytes) + kOverheadBytes;
}

size_t HeapBytes(const Block& block) {
  const bool is_pooled = block.raw_bytes <= base::BlockPool::kPieceBytesMax;
  return is_pooled ? kOverheadBytes : CacheCharge(block);
}

BlockRef CacheShard::Find(const CacheKey& key) {
  const auto found = slot_of_.find(key);
  if (found == slot_of_.end()) return nullptr;
  const BlockRef& block = slots_[found->second].block;
  block->CountUse();
  return block;
}

BlockRef CacheShard::Insert(const CacheKey& key, BlockRef block, size_t budget_bytes,
                            std::vector<BlockRef>* evicted) {
  if (const auto found = slot_of_.find(key); found != slot_of_.end()) {
    return slots_[found->second].block;
  }
  if (++insertions_ > kAgeInsertions * std::max<size_t>(slot_of_.size(), kSamples)) Age();
  const uint32_t index = FreeSlot();
  window_.push_back(index);
  slot_of_.emplace(key, index);
  free_.pop_back();
  SetUses(*block, remembered_.empty() ? 0 : Remembered(key));
  block->CountUse();
  slots_[index] = {key, block, true};
  size_bytes_ += CacheCharge(*block);
  window_bytes_ += CacheCharge(*block);
  while (!window_.empty() && size_bytes_ <= budget_bytes &&
         window_bytes_ > budget_bytes / kWindowPart) {
    LeaveWindow();
  }
  ShrinkTo(budget_bytes, evicted);
  return block;
}

// The index of a free slot. A failed allocation leaves the shard unchanged.
uint32_t CacheShard::FreeSlot() {
  if (free_.empty()) {
    free_.reserve(slots_.size() + 1);
    slots_.emplace_back();
    free_.push_back(static_cast<uint32_t>(slots_.size() - 1));
  }
  return free_.back();
}

void CacheShard::ShrinkTo(size_t budget_bytes, std::vector<BlockRef>* evicted) {
  while (size_bytes_ > budget_bytes) DropOne(evicted);
}

// Evicts the oldest block of the window or a block of the main part, whichever was used less.
void CacheShard::DropOne(std::vector<BlockRef>* evicted) {
  while (!window_.empty() && !slots_[window_.front()].in_window) window_.pop_front();
  Slot* const victim = Victim();
  if (window_.empty()) return Evict(victim, evicted);
  Slot* const candidate = &slots_[window_.front()];
  LeaveWindow();
  const bool stays = victim != nullptr && Uses(*candidate->block) > Uses(*victim->block);
  Evict(stays ? victim : candidate, evicted);
}

// The least used of the next blocks of the main part; nullptr if it is empty.
CacheShard::Slot* CacheShard::Victim() {
  Slot* victim = nullptr;
  int seen = 0;
  for (size_t steps = 0; steps < slots_.size() && seen < kSamples; ++steps) {
    hand_ = hand_ + 1 < slots_.size() ? hand_ + 1 : 0;
    Slot& slot = slots_[hand_];
    if (slot.block == nullptr || slot.in_window) continue;
    ++seen;
    if (victim == nullptr || Uses(*slot.block) < Uses(*victim->block)) victim = &slot;
  }
  return victim;
}

// Moves the oldest block of the window to the main part.
void CacheShard::LeaveWindow() {
  Slot& slot = slots_[window_.front()];
  window_.pop_front();
  if (!std::exchange(slot.in_window, false)) return;
  window_bytes_ -= CacheCharge(*slot.block);
}

void CacheShard::Evict(Slot* slot, std::vector<BlockRef>* evicted) {
  evicted->push_back(slot->block);
  if (!remembered_.empty()) Remembered(slot->key) = Uses(*slot->block);
  size_bytes_ -= CacheCharge(*slot->block);
  slot_of_.erase(slot->key);
  slot->block = nullptr;
  free_.push_back(static_cast<uint32_t>(slot - slots_.data()));  // Within FreeSlot's capacity.
}

void CacheShard::EraseFile(FileNumber file, std::vector<BlockRef>* evicted) {
  for (Slot& slot : slots_) {
    if (slot.block == nullptr || slot.key.file != file) continue;
    if (std::exchange(slot.in_window, false)) window_bytes_ -= CacheCharge(*slot.block);
    Evict(&slot, evicted);
  }
  std::erase_if(window_, [&](uint32_t index) { return slots_[index].block == nullptr; });
}

// Halves all use counts. The counts of evicted blocks are cleared when their table grows with the
// shard.
void CacheShard::Age() {
  insertions_ = 0;
  const size_t wanted = std::bit_ceil(kRememberedPerSlot * std::max<size_t>(slots_.size(), 1));
  if (remembered_.size() < wanted) remembered_.assign(wanted, 0);
  for (uint8_t& uses : remembered_) uses /= 2;
  for (const Slot& slot : slots_) {
    if (slot.block != nullptr) SetUses(*slot.block, Uses(*slot.block) / 2);
  }
}

uint8_t& CacheShard::Remembered(const CacheKey& key) {
  return remembered_[(CacheKeyHash()(key) >> 16) & (remembered_.size() - 1)];
}

}  // namespace tandem::format
