// The rows of a memstore by the keyed hashes of their keys, with open addressing: a look-up touches
// one cache line of the table and, if it finds a row, that row. A batch of look-ups waits for
// memory once, not once each.
//
// A slot is a row's address with sixteen bits of its hash above it, so that other rows are rarely
// touched. A table that is three quarters full is copied into one twice as large; earlier tables
// stay for readers that still use them.
//
// Threads: one adds, any number look up. A slot is stored with release, when the row's key is
// complete, and loaded with acquire. A reader that may see a row learned its sequence through a
// release store made after the row was added, so it has the table with the row or a later one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/page_memory.h"

namespace tandem::engine {

struct MemRow;

class RowTable {
 public:
  /// `secret` is that of the hashes and outlives the table. `rows_expected` rows fit without
  /// growing.
  RowTable(std::span<const char> secret, size_t rows_expected);

  /// Prefetches the slot that Add will write for `hash`.
  void Prefetch(uint64_t hash) const;
  /// Requires: the row is not in the table.
  void Add(const MemRow* row, uint64_t hash);

  /// nullptr when there is none.
  const MemRow* Find(std::string_view key, uint64_t hash) const;
  /// For each hash a row with it, or nullptr. Requires: as many rows as hashes.
  void FindEach(std::span<const uint64_t> hashes, std::span<const MemRow*> rows) const;

  size_t size_bytes() const { return size_bytes_.load(std::memory_order_relaxed); }

 private:
  using Slot = std::atomic<uint64_t>;  // 0: free.
  struct Slots {
    explicit Slots(size_t count);
    size_t mask;
    std::unique_ptr<Slot[]> heap;  // One of the two has the slots, ...
    base::PageMemory pages;
    Slot* slots = nullptr;  // ... zero at first.
  };

  static size_t CountFor(size_t rows);
  void Grow();
  static void Put(const MemRow* row, uint64_t hash, Slots* table);
  uint64_t HashOf(const MemRow* row) const;
  /// The first row that may have the hash and `is_wanted`.
  template <typename IsWanted>
  static const MemRow* Search(const Slots& table, uint64_t hash, IsWanted&& is_wanted);

  std::span<const char> secret_;
  size_t slots_next_;                           // Of the next table.
  std::vector<std::unique_ptr<Slots>> tables_;  // The last one has all rows. The writer's own.
  size_t count_ = 0;                            // The writer's own.
  std::atomic<const Slots*> last_{nullptr};     // Of tables_; release by the writer, acquire else.
  std::atomic<size_t> size_bytes_{0};           // Of all tables; relaxed: a figure.
};

}  // namespace tandem::engine
