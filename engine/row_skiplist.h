// A skiplist of rows in an arena (Pugh 1990): keys and the tower of pointers stand in the node, the
// key's first eight bytes beside them, so that most comparisons touch one cache line.
//
// A node's height comes from the keyed hash of its row, so nobody can build keys that degrade the
// list. A search starts at the place of the last insertion when the key belongs near it: rows that
// arrive in order cost a few comparisons.
//
// Threads: one inserts, any number read without locks. A node is complete before the release store
// that links it; readers load links with acquire.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/arena.h"
#include "format/types.h"

namespace tandem::engine {

/// A cell under its row; qualifier and value follow it in memory. Lifetime: the arena's.
struct MemCell {
  const MemCell* older = nullptr;  ///< Applied before; nullptr: the first of the row.
  format::SequenceNumber sequence;
  int64_t timestamp = 0;
  uint32_t value_bytes = 0;
  uint16_t qualifier_bytes = 0;
  uint8_t family = 0;
  uint8_t kind = 0;

  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
  std::string_view qualifier() const { return {bytes(), qualifier_bytes}; }
  std::string_view value() const { return {bytes() + qualifier_bytes, value_bytes}; }
};

/// A node: this struct, the rest of its tower, the key.
struct MemRow {
  std::atomic<const MemCell*> newest{nullptr};  ///< Release by the writer, acquire by readers.
  uint64_t head = 0;                            ///< KeyHead of the key.
  uint32_t cell_bytes = 0;                      ///< Of all cells; the writer's own.
  uint16_t key_bytes = 0;
  uint8_t height = 0;
  std::atomic<MemRow*> next[1] = {nullptr};  ///< `height` of them. Release, acquire as above.

  std::string_view key() const {
    return {reinterpret_cast<const char*>(&next[0] + height), key_bytes};
  }
};

class RowSkiplist {
 public:
  static constexpr int kHeightMax = 12;

  /// `arena` outlives the list.
  explicit RowSkiplist(base::Arena* arena);

  struct Insertion {
    MemRow* row;
    bool is_new;
  };
  /// The row of that key, inserted without cells when it is not there. `hash`: its keyed hash.
  Insertion FindOrInsert(std::string_view key, uint64_t hash);

  MemRow* First() const { return head_->next[0].load(std::memory_order_acquire); }
  MemRow* Last() const;
  /// First row >= key; nullptr when there is none.
  MemRow* AtOrAfter(std::string_view key) const;
  /// Last row < key; nullptr when there is none.
  MemRow* Before(std::string_view key) const;
  static MemRow* Next(const MemRow* row) { return row->next[0].load(std::memory_order_acquire); }

 private:
  struct Key {
    explicit Key(std::string_view b);
    std::string_view bytes;
    uint64_t head;
  };
  /// The nodes after which a key belongs, one a level.
  using Path = std::array<MemRow*, kHeightMax>;

  static bool RowLess(const MemRow* row, const Key& key);
  MemRow* LastLess(const Key& key) const;
  int StartLevel(const Key& key) const;
  void Descend(const Key& key);
  MemRow* NewNode(const Key& key, int height);

  base::Arena* arena_;
  MemRow* head_;
  std::atomic<int> height_{1};  // Relaxed: a lower one than now only costs steps.
  Path path_;                   // Of the last insertion or search; the writer's own.
};

}  // namespace tandem::engine
