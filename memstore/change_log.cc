// Appending to the log and walking it.
#include "memstore/change_log.h"

#include <algorithm>
#include <new>

namespace tandem::engine {
namespace {

// The first chunks are small, so that the many memstores with few rows stay small.
constexpr uint32_t kFirstChanges = 8, kChangesMax = 1024;

}  // namespace

void ChangeLog::Append(const Change& change) {
  uint32_t count = active_ == nullptr ? 0 : active_->count.load(std::memory_order_relaxed);
  if (active_ == nullptr || count == active_->capacity) {
    auto* chunk = new (arena_->Allocate(sizeof(Chunk), alignof(Chunk))) Chunk;
    chunk->capacity =
        active_ == nullptr ? kFirstChanges : std::min(active_->capacity * 2, kChangesMax);
    chunk->changes = reinterpret_cast<Change*>(
        arena_->Allocate(chunk->capacity * sizeof(Change), alignof(Change)));
    (active_ == nullptr ? first_ : active_->next).store(chunk, std::memory_order_release);
    active_ = chunk;
    count = 0;
  }
  new (&active_->changes[count]) Change(change);
  active_->count.store(count + 1, std::memory_order_release);
  count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

const ChangeLog::Change* ChangeLog::Cursor::Next(format::SequenceNumber max_sequence) {
  if (chunk_ == nullptr || at_ == chunk_->capacity) {
    const Chunk* next =
        (chunk_ == nullptr ? log_->first_ : chunk_->next).load(std::memory_order_acquire);
    if (next == nullptr) return nullptr;
    chunk_ = next;
    at_ = 0;
  }
  if (at_ == chunk_->count.load(std::memory_order_acquire)) return nullptr;
  const Change* change = &chunk_->changes[at_];
  if (change->sequence > max_sequence) return nullptr;
  ++at_;
  ++passed_;
  return change;
}

}  // namespace tandem::engine
