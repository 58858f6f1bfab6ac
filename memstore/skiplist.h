// A skiplist of rows in an arena (Pugh 1990). The key's first eight bytes, its head, are stored
// next to every pointer to its node, so a node is touched only when the search moves to it or heads
// tie.
//
// A node's height comes from the keyed hash of its row, so no choice of keys can degrade the list.
// An insertion starts at the place of the last one when the key belongs near it: rows that arrive
// in order cost a few comparisons. Rows in any order are searched for together before they are
// inserted: the searches take turns, so that one waits for memory while others go on.
//
// Threads: one inserts, any number read without locks. A node is complete before the release store
// of the pointer that links it. The pointer is stored before the head, and readers load the head
// before the pointer: a reader that sees the new head sees the new pointer, and one that sees an
// old head and the new pointer finds a node before the old one, which is as good. At the end of a
// level the old head is the largest there is, so such a reader stops before the new node.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/arena.h"
#include "memstore/mem_cell.h"

namespace tandem::engine {

struct MemRow;

/// The link to the next node of a level.
struct RowLink {
  std::atomic<MemRow*> row{nullptr};  ///< nullptr at the end. Release by the writer, acquire else.
  /// KeyHead of its key; the largest at the end. As above; see the top of the file.
  std::atomic<uint64_t> head{UINT64_MAX};
};

/// A node: this struct, the rest of its tower, the key.
struct MemRow {
  static constexpr uint32_t kChainCellsCounted = 255;

  /// The chain of cells (row_tree.h). Release by the writer, acquire by readers.
  std::atomic<const MemCell*> newest{nullptr};
  uint32_t number = 0;  ///< Of the row in its memstore: 0, 1, ... as they are added.
  uint16_t key_bytes = 0;
  /// About those before the first tree (Memstore::Apply), at most kChainCellsCounted; the writer's.
  uint8_t chain_cells = 0;
  uint8_t height = 0;
  RowLink tower[1];  ///< `height` of them.

  RowLink& link(int level) { return *(&tower[0] + level); }
  std::string_view key() const {
    return {reinterpret_cast<const char*>(&tower[0] + height), key_bytes};
  }
};

/// The size of a node with a tower of that height, without its key.
constexpr size_t RowNodeBytes(int height) {
  return sizeof(MemRow) + static_cast<size_t>(height - 1) * sizeof(RowLink);
}

class RowSkiplist {
 public:
  static constexpr int kHeightMax = 12;

  /// `arena` outlives the list.
  explicit RowSkiplist(base::Arena* arena);
  RowSkiplist(const RowSkiplist&) = delete;
  RowSkiplist& operator=(const RowSkiplist&) = delete;

  struct Key {
    Key() = default;
    explicit Key(std::string_view b);
    std::string_view bytes;
    uint64_t head = 0;
  };
  /// The nodes after which a key belongs, one per level.
  using Path = std::array<MemRow*, kHeightMax>;
  /// A key that may be inserted. Lifetime: its bytes are the caller's.
  struct Place {
    Place() = default;
    explicit Place(std::string_view bytes) : key(bytes) {}
    Key key;
    bool is_found = false;  ///< Whether `path` is set; rows added since may lie after it.
    Path path;
  };
  /// Finds the places together, except of keys near the last insertion.
  void FindPlaces(std::span<Place* const> places) const;

  struct Insertion {
    MemRow* row;
    bool is_new;
  };
  /// The row of that key, inserted without cells when it is not there. `hash`: its keyed hash.
  Insertion FindOrInsert(const Place& place, uint64_t hash);

  MemRow* First() const { return Next(start_); }
  MemRow* Last() const;
  /// First row >= key; nullptr when there is none.
  MemRow* AtOrAfter(std::string_view key) const;
  /// Last row < key; nullptr when there is none.
  MemRow* Before(std::string_view key) const;
  /// A row that is about `rows` rows after the first one >= key; nullptr when fewer are left. Exact
  /// up to a hundred rows. Cost: that of some searches, however many rows.
  MemRow* AboutAfter(std::string_view key, uint64_t rows) const;
  /// The same before the last row < key, or before the end.
  MemRow* AboutBefore(std::optional<std::string_view> key, uint64_t rows) const;
  static MemRow* Next(const MemRow* row) {
    return row->tower[0].row.load(std::memory_order_acquire);
  }

 private:
  /// One of several searches that take turns.
  struct Search {
    Place* place = nullptr;
    MemRow* row = nullptr;
    int level = 0;
    bool is_next_fetched = false;
    bool Step();
  };

  /// The next node of the level when it is smaller than `key`, else nullptr.
  static MemRow* NextLess(MemRow* row, int level, const Key& key);
  /// The last node < key of that level and those above; start_ when there is none.
  MemRow* LastLess(const Key& key, int lowest = 0) const;
  /// The last node of that level and those above.
  MemRow* LastOf(int lowest) const;
  int LevelOfHops(uint64_t rows) const;
  int StartLevel(const Key& key, int height) const;
  void Descend(const Key& key);
  void Follow(const Place& place);
  Insertion InsertAtPath(const Key& key, uint64_t hash);
  MemRow* NewNode(const Key& key, int height);
  static MemRow* NewNodeAt(char* memory, const Key& key, int height);

  base::Arena* arena_;
  // The memory of start_, so that a list without rows takes nothing from the arena.
  alignas(MemRow) std::array<char, RowNodeBytes(kHeightMax)> start_memory_;
  MemRow* start_;               // Before all rows; has no key.
  std::atomic<int> height_{1};  // Relaxed: a stale, lower value only costs steps.
  uint32_t next_number_ = 0;    // Of the next row; the writer's own.
  Path path_;                   // Of the last insertion or search; the writer's own.
};

}  // namespace tandem::engine
