// Bringing the dead entries up to date.
#include "memstore/live_entries.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "index/entries.h"
#include "memstore/skiplist.h"

namespace tandem::engine {
namespace {

constexpr uint32_t kNumbersMin = 256;

}  // namespace

std::shared_ptr<const StampedBits> LiveEntries::DeadAsOf(format::SequenceNumber sequence,
                                                         uint64_t rows) {
  if (index_->is_of_several() || format::IsMultiValued(index_->columns[0])) return nullptr;
  base::MutexLock lock(mutex_);
  if (gave_up_) return nullptr;
  if (as_of_ < sequence) {
    const uint64_t changes = log_->count();
    if (!credit_.Pay(changes - changes_.passed(), changes)) return nullptr;
    MakeRoom(rows);
    gave_up_ = !Advance(sequence);
    if (gave_up_) return nullptr;
  }
  return dead_;
}

bool LiveEntries::IsLive(const index::BufferEntry& entry, format::SequenceNumber sequence) const {
  const auto* row = static_cast<const MemRow*>(entry.row);
  return newest_(row, index_->columns.front(), sequence) == entry.sequence;
}

// False: the entries do not tell. Allocates nothing, so no change is lost.
bool LiveEntries::Advance(format::SequenceNumber sequence) {
  constexpr size_t kTogether = 16;
  std::array<ChangeLog::Change, kTogether> changes;
  size_t count = kTogether;
  while (count == kTogether) {
    for (count = 0; count < kTogether; ++count) {
      const ChangeLog::Change* change = changes_.Next(sequence);
      if (change == nullptr) break;
      __builtin_prefetch(change->row);
      changes[count] = *change;
    }
    for (size_t i = 0; i < count; ++i) {
      __builtin_prefetch(changes[i].row->newest.load(std::memory_order_relaxed));
    }
    for (size_t i = 0; i < count; ++i) {
      if (!TakeChange(changes[i])) return false;
    }
  }
  as_of_ = sequence;
  return true;
}

bool LiveEntries::TakeChange(const ChangeLog::Change& change) {
  const std::optional<format::SequenceNumber> put =
      newest_(change.row, index_->columns.front(), change.sequence);
  const index::BufferEntry* added = entries_.Next(change.sequence);
  if (added != nullptr && added->row != change.row) return false;
  if (added != nullptr && entries_.Next(change.sequence) != nullptr) return false;
  const index::BufferEntry*& live = live_[change.row->number];
  const auto is_put = [&put](const index::BufferEntry* entry) {
    return entry != nullptr && put == entry->sequence;
  };
  const index::BufferEntry* next = is_put(added) ? added : is_put(live) ? live : nullptr;
  if (next == nullptr && put.has_value()) return false;
  if (added != nullptr && added != next) dead_->Add(added->number, change.sequence);
  if (live != nullptr && live != next) dead_->Add(live->number, change.sequence);
  live = next;
  return true;
}

// A reader that has the set before goes on with it.
void LiveEntries::MakeRoom(uint64_t rows) {
  const uint32_t numbers = buffer_->entry_count();
  if (dead_ == nullptr) {
    dead_ = std::make_shared<StampedBits>(std::max(numbers, kNumbersMin));
  } else if (dead_->size() < numbers) {
    dead_ = std::make_shared<StampedBits>(*dead_, std::max(numbers, dead_->size() * 2));
  }
  if (live_.size() < rows) live_.resize(std::max<size_t>(rows, live_.size() * 2));
  const uint64_t bytes = dead_->size_bytes() + live_.capacity() * sizeof(live_[0]);
  bytes_->fetch_add(bytes - std::exchange(counted_bytes_, bytes), std::memory_order_relaxed);
}

}  // namespace tandem::engine
