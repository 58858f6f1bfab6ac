// How often each index was read: a table of counters by hash, so that a query that takes a
// microsecond loses a few nanoseconds to it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "format/types.h"

namespace tandem::engine {

/// Counts the first kIndexesMax indexes that are read; others stay at 0. Threads: any.
class IndexReads {
 public:
  static constexpr size_t kIndexesMax = 1024;

  void Count(format::TableId table, format::IndexId index) {
    if (Slot* slot = Find(NameOf(table, index), true)) {
      slot->reads.fetch_add(1, std::memory_order_relaxed);
    }
  }
  uint64_t Of(format::TableId table, format::IndexId index) {
    const Slot* slot = Find(NameOf(table, index), false);
    return slot == nullptr ? 0 : slot->reads.load(std::memory_order_relaxed);
  }

 private:
  // A name is set once, from 0; relaxed: it orders nothing.
  struct Slot {
    std::atomic<uint64_t> name{0}, reads{0};
  };

  // Ids begin with 1, so that no name is 0.
  static uint64_t NameOf(format::TableId table, format::IndexId index) {
    return uint64_t{table.value} << 32 | index.value;
  }
  // The slot of the name, or the free one that becomes it; nullptr: there is none.
  Slot* Find(uint64_t name, bool adds) {
    const size_t home = (name * 0x9E3779B97F4A7C15) >> 54;
    for (size_t i = 0; i < kIndexesMax; ++i) {
      Slot& slot = slots_[(home + i) % kIndexesMax];
      uint64_t found = slot.name.load(std::memory_order_relaxed);
      if (found == 0) {
        if (!adds) return nullptr;
        // A failed exchange sets `found` to the name that was faster.
        if (slot.name.compare_exchange_strong(found, name, std::memory_order_relaxed)) return &slot;
      }
      if (found == name) return &slot;
    }
    return nullptr;
  }

  std::array<Slot, kIndexesMax> slots_;
};

}  // namespace tandem::engine
