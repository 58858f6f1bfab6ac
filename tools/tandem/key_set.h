// A set of row keys for counting the distinct ones, by 56 bits of hash each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/page_memory.h"

namespace tandem::tools {

/// Some ten bytes a key. Eight bits of the hash choose one of 256 tables, which hold 48 others in
/// mapped pages and grow one by one, so that nothing large is ever there twice. Two keys of one
/// hash count as one, which happens once in some 1400 imports of ten million rows.
class KeySet {
 public:
  KeySet() : tables_(size_t{1} << kTableBits) {}
  static uint64_t HashOf(std::string_view key) { return std::hash<std::string_view>()(key); }

  /// False when it was there already.
  bool Insert(std::string_view key) { return InsertHash(HashOf(key)); }
  bool InsertHash(uint64_t hash) {
    const bool is_new = TableOf(hash).Insert(RestOf(hash));
    size_ += is_new ? 1 : 0;
    return is_new;
  }
  /// Has the processor fetch what Insert of the key will look at.
  void Prefetch(std::string_view key) {
    const uint64_t hash = HashOf(key);
    TableOf(hash).Prefetch(RestOf(hash));
  }
  size_t size() const { return size_; }

 private:
  static constexpr int kTableBits = 8;
  static constexpr int kRestBits = 48;
  static constexpr uint64_t kRestMask = (uint64_t{1} << kRestBits) - 1;

  /// 48 bits of a hash in six bytes; zero: a free slot.
  struct Rest {
    explicit Rest(uint64_t bits)
        : high(static_cast<uint16_t>(bits >> 32)),
          middle(static_cast<uint16_t>(bits >> 16)),
          low(static_cast<uint16_t>(bits)) {}
    uint64_t bits() const { return uint64_t{high} << 32 | uint64_t{middle} << 16 | low; }
    bool is_free() const { return bits() == 0; }
    bool operator==(const Rest&) const = default;

    uint16_t high, middle, low;
  };
  static_assert(sizeof(Rest) == 6);
  static Rest RestOf(uint64_t hash) {
    const uint64_t rest = hash & kRestMask;
    return Rest(rest == 0 ? 1 : rest);
  }

  /// Open addressing, at most three quarters full; it grows by a half.
  class Table {
   public:
    bool Insert(Rest rest) {
      if (4 * (size_ + 1) > 3 * capacity_) Grow();
      const bool is_new = Place(rest);
      size_ += is_new ? 1 : 0;
      return is_new;
    }

    void Prefetch(Rest rest) const {
      __builtin_prefetch(memory_.get() + sizeof(Rest) * SlotOf(rest));
    }

   private:
    size_t SlotOf(Rest rest) const { return (rest.bits() >> 16) * capacity_ >> 32; }
    bool Place(Rest rest) {
      size_t slot = SlotOf(rest);
      while (!slots()[slot].is_free() && slots()[slot] != rest) {
        if (++slot == capacity_) slot = 0;
      }
      return std::exchange(slots()[slot], rest).is_free();
    }
    void Grow() {
      const size_t before = capacity_;
      capacity_ = before == 0 ? kFirstCapacity : before + before / 2;
      const base::PageMemory old = std::exchange(
          memory_, base::MapPages(capacity_ * sizeof(Rest), base::PagesComing::kAtOnce));
      const Rest* moved = reinterpret_cast<const Rest*>(old.get());
      for (size_t slot = 0; slot < before; ++slot) {
        if (!moved[slot].is_free()) Place(moved[slot]);
      }
    }
    Rest* slots() { return reinterpret_cast<Rest*>(memory_.get()); }

    static constexpr size_t kFirstCapacity = 4096 / sizeof(Rest);
    base::PageMemory memory_;
    size_t capacity_ = 0, size_ = 0;
  };

  Table& TableOf(uint64_t hash) { return tables_[hash >> (64 - kTableBits)]; }

  std::vector<Table> tables_;
  size_t size_ = 0;
};

}  // namespace tandem::tools
