// The low bits of a hash choose the first slot to probe; its highest 16 bits are stored in the
// slot.
#include "memstore/hash_table.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "format/hash.h"
#include "memstore/skiplist.h"

namespace tandem::engine {
namespace {

constexpr size_t kSlotsFirst = 8;
// Tables of this many slots or more are mapped: the system provides pages on first touch, and huge
// pages for large tables, whose slots are accessed in random order.
constexpr size_t kSlotsMapped = 32 * 1024;
constexpr int kAddressBits = 48;
constexpr uint64_t kAddressMask = (uint64_t{1} << kAddressBits) - 1;
// Look-ups that wait for memory together.
constexpr size_t kTogether = 16;

}  // namespace

static_assert(sizeof(std::atomic<uint64_t>) == 8 && std::atomic<uint64_t>::is_always_lock_free);

RowTable::Slots::Slots(size_t count) : mask(count - 1) {
  if (count < kSlotsMapped) {
    heap = std::make_unique<Slot[]>(count);
    slots = heap.get();
  } else {
    pages = base::MapPages(count * sizeof(Slot));
    slots = reinterpret_cast<Slot*>(pages.get());
  }
}

RowTable::RowTable(std::span<const char> secret, size_t rows_expected)
    : secret_(secret), slots_next_(CountFor(rows_expected)) {}

// At most three quarters of the slots are taken.
size_t RowTable::CountFor(size_t rows) {
  return std::max(std::bit_ceil(rows + rows / 3 + 1), kSlotsFirst);
}

void RowTable::Prefetch(uint64_t hash) const {
  if (tables_.empty()) return;
  __builtin_prefetch(&tables_.back()->slots[hash & tables_.back()->mask], 1);
}

uint64_t RowTable::HashOf(const MemRow* row) const { return format::RowHash(row->key(), secret_); }

void RowTable::Put(const MemRow* row, uint64_t hash, Slots* table) {
  const auto address = reinterpret_cast<uintptr_t>(row);
  CHECK((address & ~kAddressMask) == 0);
  size_t at = hash & table->mask;
  while (table->slots[at].load(std::memory_order_relaxed) != 0) at = (at + 1) & table->mask;
  table->slots[at].store(address | (hash & ~kAddressMask), std::memory_order_release);
}

void RowTable::Add(const MemRow* row, uint64_t hash) {
  if (tables_.empty() || count_ >= (tables_.back()->mask + 1) / 4 * 3) Grow();
  Put(row, hash, tables_.back().get());
  ++count_;
}

void RowTable::Grow() {
  const size_t count = slots_next_;
  auto larger = std::make_unique<Slots>(count);
  for (size_t at = 0; !tables_.empty() && at <= tables_.back()->mask; ++at) {
    const uint64_t slot = tables_.back()->slots[at].load(std::memory_order_relaxed);
    if (slot == 0) continue;
    const auto* row = reinterpret_cast<const MemRow*>(slot & kAddressMask);
    Put(row, HashOf(row), larger.get());
  }
  slots_next_ = 2 * count;
  size_bytes_.fetch_add(sizeof(Slots) + count * sizeof(Slot), std::memory_order_relaxed);
  tables_.push_back(std::move(larger));
  last_.store(tables_.back().get(), std::memory_order_release);
}

template <typename IsWanted>
const MemRow* RowTable::Search(const Slots& table, uint64_t hash, IsWanted&& is_wanted) {
  for (size_t at = hash & table.mask;; at = (at + 1) & table.mask) {
    const uint64_t slot = table.slots[at].load(std::memory_order_acquire);
    if (slot == 0) return nullptr;
    if (((slot ^ hash) & ~kAddressMask) != 0) continue;
    const auto* row = reinterpret_cast<const MemRow*>(slot & kAddressMask);
    if (is_wanted(row)) return row;
  }
}

const MemRow* RowTable::Find(std::string_view key, uint64_t hash) const {
  const Slots* table = last_.load(std::memory_order_acquire);
  if (table == nullptr) return nullptr;
  return Search(*table, hash, [key](const MemRow* row) { return row->key() == key; });
}

// Prefetches the slots first, then the rows that they point to, and compares last.
void RowTable::FindEach(std::span<const uint64_t> hashes, std::span<const MemRow*> rows) const {
  const Slots* table = last_.load(std::memory_order_acquire);
  if (table == nullptr) return std::fill(rows.begin(), rows.end(), nullptr);
  for (size_t first = 0; first < hashes.size(); first += kTogether) {
    const size_t end = std::min(first + kTogether, hashes.size());
    for (size_t i = first; i < end; ++i) {
      __builtin_prefetch(&table->slots[hashes[i] & table->mask]);
    }
    for (size_t i = first; i < end; ++i) {
      rows[i] = Search(*table, hashes[i], [](const MemRow*) { return true; });
      if (rows[i] != nullptr) __builtin_prefetch(rows[i]);
    }
    for (size_t i = first; i < end; ++i) {
      if (rows[i] == nullptr || HashOf(rows[i]) == hashes[i]) continue;
      rows[i] =
          Search(*table, hashes[i], [&](const MemRow* row) { return HashOf(row) == hashes[i]; });
    }
  }
}

}  // namespace tandem::engine
