// Sorting the index entries collected for one part of a section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/page_memory.h"

namespace tandem::format {

/// Lifetime: the key belongs to the collector's arena.
struct CollectedEntry {
  const char* key = nullptr;
  uint32_t key_bytes = 0;
  uint32_t ordinal = 0;
  uint64_t head = 0;  ///< Set by SortByKey; equal keys have equal heads afterwards.

  std::string_view key_view() const { return {key, key_bytes}; }
};

/// A list that grows without being copied. Threads: one at a time.
class CollectedEntries {
 public:
  void Add(const CollectedEntry& entry) {
    if (size_ == capacity_) Grow();
    std::memcpy(entries_.data() + size_++ * sizeof(entry), &entry, sizeof(entry));
  }
  std::span<CollectedEntry> all() {
    return {reinterpret_cast<CollectedEntry*>(entries_.data()), size_};
  }
  size_t size() const { return size_; }
  uint64_t memory_bytes() const { return entries_.size_bytes(); }

 private:
  void Grow();

  base::GrowingPages entries_;
  size_t size_ = 0, capacity_ = 0;
};

/// Sorts by key, and by ordinal where keys are equal. Requires: ordinals ascend, and no key is a
/// proper prefix of another (index keys are self-delimiting).
void SortByKey(std::span<CollectedEntry> entries);

}  // namespace tandem::format
