// Sorting the index entries collected for one part of a section.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tandem::format {

/// Lifetime: the key belongs to the collector's arena.
struct CollectedEntry {
  const char* key = nullptr;
  uint32_t key_bytes = 0;
  uint32_t ordinal = 0;
  uint64_t head = 0;  ///< Set by SortByKey; equal keys have equal heads afterwards.

  std::string_view key_view() const { return {key, key_bytes}; }
};

/// Sorts by key, and by ordinal where keys are equal. Requires: ordinals ascend, and no key is a
/// proper prefix of another (index keys are self-delimiting).
void SortByKey(std::vector<CollectedEntry>* entries);

}  // namespace tandem::format
