// Collects the entries of an index in which many rows have each value: a value is kept once, and an
// entry takes eight bytes. Ordinals of a value come in their order, so only the values are sorted.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "index/merge.h"

namespace tandem::format {

/// Threads: one at a time.
class ValueCollector {
 public:
  /// Requires: Sort was not called; ordinals ascend over calls, and no (key, ordinal) comes twice.
  void Add(std::string_view key, uint32_t ordinal);
  /// Nothing may be added afterwards.
  void Sort();
  bool empty() const { return values_.empty(); }
  /// The values in order. Requires: Sort was called. Lifetime: the collector outlives it.
  std::unique_ptr<ValueSource> NewSource() const;

  uint64_t memory_bytes() const;
  /// What Sort takes on top.
  uint64_t sort_bytes() const { return entries_.size() * sizeof(uint32_t); }

 private:
  struct Entry {
    uint32_t value;  // In values_.
    uint32_t ordinal;
  };
  struct Value {
    std::string_view key;
    uint32_t entries = 0;
    uint64_t end = 0;  // In ordinals_, after Sort.
  };
  class Source;

  uint32_t Find(std::string_view key);
  void Grow();

  base::Arena keys_;
  std::vector<Value> values_;
  std::vector<uint32_t> slots_;  // A hash table of values_, 1 + place; 0: none.
  std::vector<Entry> entries_;
  std::vector<uint32_t> ordinals_;  // By value, after Sort.
};

}  // namespace tandem::format
