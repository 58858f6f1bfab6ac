// The memstore of a region: rows in a skiplist (Pugh 1990) in an arena, the first eight bytes of
// the key in the node; per index an append buffer; a table of the rows by hash. Under a row its
// cells are a chain, newest first, and in a hot row a tree of the older ones (row_tree.h): reading
// a row costs the logarithm of its cells. One writer (the commit leader), any number of readers, no
// locks: a node or cell is published by a release store of the pointer that makes it reachable,
// readers load it with acquire.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/memory_account.h"
#include "format/cell/cell.h"
#include "format/schema.h"
#include "format/types.h"
#include "memstore/append_buffer.h"
#include "memstore/change_log.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The most cells of a row before they go into a tree (row_tree.h), unless one operation wrote them
/// all.
inline constexpr uint32_t kChainCellsMax = 16;

/// A row of a memstore. Lifetime: the memstore's.
struct MemRow;
struct MemCell;
struct RowTreeNode;

/// The cells of a row up to a sequence that were written before the recent ones. Lifetime: the
/// memstore's.
struct RowTreeView {
  const RowTreeNode* root = nullptr;  ///< nullptr: there are none.
  format::SequenceNumber last;        ///< The largest sequence in it.
};

/// The Puts of a column in an older source.
struct OlderPuts {
  const format::IndexColumnRecord* column = nullptr;
  int64_t max_timestamp = 0;  ///< None of them is newer.
};

/// Bounds of the Puts of a row that may be visible.
struct LivePuts {
  int64_t max_timestamp = std::numeric_limits<int64_t>::min();
  format::SequenceNumber max_sequence;
};

/// Bounds of the timestamps of Puts. Without one `max` is below `min`.
struct PutTimes {
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = std::numeric_limits<int64_t>::min();
  bool rise = true;  ///< None is smaller than one of an operation before it.
};

struct LivePut {
  std::string_view value;
  format::SequenceNumber sequence;
  int64_t timestamp = 0;
};

/// Cells that one operation adds to a row, of one sequence. Lifetime: the caller's, for one call of
/// Apply.
struct RowOperation {
  std::string_view row;
  std::span<const format::Cell> cells;
};

/// Threads: Apply by one at a time; everything else from any thread at any time.
class Memstore {
 public:
  /// `table` has the indexes to keep buffers for and the hash secret. A memstore without rows takes
  /// almost no memory, and everything in it grows with them. `account` (may be null) counts its
  /// memory and outlives it. `rows_expected` rows fit without growing the hash table. A row with
  /// more cells than `chain_cells_max` becomes a tree.
  explicit Memstore(std::shared_ptr<const format::TableRecord> table,
                    base::MemoryAccount* account = nullptr, uint64_t rows_expected = 0,
                    uint32_t chain_cells_max = kChainCellsMax);
  ~Memstore();

  /// Adds the cells of operations, one operation after the other (bytes are copied). Each Put that
  /// has a key goes to its index's buffer. Several operations in one call cost less, since their
  /// rows are looked up together. Requires: sequences never decrease from operation to operation.
  void Apply(std::span<const RowOperation> operations);
  void Apply(std::string_view row, std::span<const format::Cell> cells) {
    const RowOperation operation{row, cells};
    Apply({&operation, 1});
  }
  /// That Apply looks up together.
  static constexpr size_t kOperationsTogether = 16;

  bool empty() const;
  uint64_t row_count() const;
  uint64_t size_bytes() const;
  /// Bounds of the sequences applied. Requires: !empty().
  format::SequenceNumber min_sequence() const;
  format::SequenceNumber max_sequence() const;
  /// The sequence up to which a reader at `reader` sees the memstore: that one, but everything that
  /// it has now if it holds a transaction's own writes.
  format::SequenceNumber SeenThrough(format::SequenceNumber reader) const {
    return empty() || min_sequence() < format::kFirstOwnSequence ? reader : max_sequence();
  }
  /// Smallest timestamp of any Put (for TTL); INT64_MAX when none.
  int64_t min_timestamp() const;
  /// Whether none of its cells deletes anything. Once false it stays false.
  bool has_only_puts() const;
  /// Of the columns of indexes over several.
  PutTimes composite_times() const;

  /// nullptr when the row is not here. The second form saves hashing the key.
  const MemRow* Find(std::string_view row) const;
  const MemRow* Find(std::string_view row, uint64_t row_hash) const;
  /// False: the row is certainly not here.
  bool MayContain(uint64_t row_hash) const;
  /// For each hash a row that has it, nullptr where none has. Requires: as many rows as hashes.
  void FindEach(std::span<const uint64_t> row_hashes, std::span<const MemRow*> rows) const;
  static std::string_view Key(const MemRow* row);
  /// Of the cells of the row. Requires: it has some, as a row that Find returns.
  static format::SequenceNumber NewestSequence(const MemRow* row);
  /// Whether the row has a cell with sequence <= `max_sequence`. A row that an iterator meets may
  /// have none yet, and Find may not know it then.
  static bool HasCells(const MemRow* row, format::SequenceNumber max_sequence);
  /// Whether for every reader at `max_sequence` the row's `puts` are dead (rule 13): it has a Put,
  /// DeleteColumn or DeleteFamily of the column at or above all of them, or, if they are of all
  /// columns of a family, a DeleteFamily (rule 32). (For a Put that a DeleteCell took back, either
  /// answer is correct.) Requires: the puts are in a source that is older than the memstore. Cost:
  /// the logarithm of the row's cells.
  static bool Supersedes(const MemRow* row, const OlderPuts& puts,
                         format::SequenceNumber max_sequence);
  /// Whether for a reader at `max_sequence` the row has cells that may change what the column
  /// holds: its own, or a DeleteFamily. May be true of a row without any.
  static bool Touches(const MemRow* row, const format::IndexColumnRecord& column,
                      format::SequenceNumber max_sequence);
  /// The newest Put of the column that is visible among the row's cells here at `max_sequence`,
  /// expiry aside: of the row's postings here, only this one may lead to a match. nullopt: none.
  /// Cost: the logarithm of the row's cells. Lifetime: the memstore's.
  static std::optional<LivePut> NewestPut(const MemRow* row,
                                          const format::IndexColumnRecord& column,
                                          format::SequenceNumber max_sequence);
  /// Bounds of the family's Puts that are visible among the row's cells here at `max_sequence`, and
  /// of others that no DeleteFamily among its recent cells hides, expiry aside. nullopt: none is
  /// visible, so none of the row's postings of the family here leads to a match. Cost: the row's
  /// recent cells. If older cells are in a tree, the bounds are of Puts of all families there.
  static std::optional<LivePuts> LivePutsOf(const MemRow* row, format::FamilyId family,
                                            format::SequenceNumber max_sequence);
  /// Prefetches the row and its key.
  static void PrefetchRow(const MemRow* row);
  /// Prefetches what Supersedes, NewestPut and RecentCells read first. Requires: the row is in the
  /// CPU cache.
  static void PrefetchCells(const MemRow* row);
  /// Appends the most recent cells with sequence <= `max_sequence`, newest first, and returns the
  /// others as a tree; a row of few cells has none. About chain_cells_max cells are appended, or
  /// those that one or two operations wrote. `*looked_at` counts cells. Views point into the arena.
  static RowTreeView RecentCells(const MemRow* row, format::SequenceNumber max_sequence,
                                 std::vector<format::Cell>* out, uint64_t* looked_at);
  /// Appends the cells that determine the row at `max_sequence`, sorted by CellLess: every recent
  /// cell and every cell of the tree. Views point into the arena.
  static void Cells(const MemRow* row, format::SequenceNumber max_sequence,
                    std::vector<format::Cell>* out);

  /// The key that is about `rows` rows into the range, or before its end with `backward`: exact if
  /// they are few, else by the links of the skiplist. nullopt: the range has fewer.
  std::optional<std::string_view> KeyAfter(const format::KeyRange& range, uint64_t rows,
                                           bool backward) const;

  /// Walks rows in key order; rows added meanwhile may or may not be seen.
  class Iterator {
   public:
    explicit Iterator(const Memstore* memstore) : memstore_(memstore) {}
    void SeekToFirst();
    void SeekToLast();
    void Seek(std::string_view key);        ///< First row >= key.
    void SeekBefore(std::string_view key);  ///< Last row < key.
    void Next();
    void Previous();
    bool valid() const { return row_ != nullptr; }
    const MemRow* row() const { return row_; }
    std::string_view key() const { return Memstore::Key(row_); }

   private:
    const Memstore* memstore_;
    const MemRow* row_ = nullptr;
  };

  /// Where the index is, for the functions below. nullopt: no reader may use it here, because it
  /// was made after the memstore, a Put is hidden from it (format::IsHiddenFrom), or it is one of
  /// trigrams.
  std::optional<size_t> FindIndex(format::IndexId index) const;

  /// The rows with an entry of the i-th index in `range` and sequence <= max_sequence, as MemRow
  /// pointers, perhaps repeated.
  void CollectIndex(size_t index, const format::KeyRange& range,
                    format::SequenceNumber max_sequence, std::vector<const MemRow*>* rows) const;

  /// The same, if they are at most `most` entries. False: there are more, and `*rows` is undefined.
  bool CollectFew(size_t index, const format::KeyRange& range, format::SequenceNumber max_sequence,
                  size_t most, std::vector<const MemRow*>* rows) const;

  /// As CollectIndex, but only entries that are live: of the newest Put of the column that the
  /// memstore shows of the row at `max_sequence`. So each row comes once, and has that Put in the
  /// range. False, and nothing is collected: it is not worth finding out, or not possible
  /// (live_entries.h). Cost: that of what changed since the last such call, and of the entries.
  bool CollectLiveIndex(size_t index, const format::KeyRange& range,
                        format::SequenceNumber max_sequence,
                        std::vector<const MemRow*>* rows) const;
  /// How many rows CollectLiveIndex would append; nullopt: it would return false.
  std::optional<uint64_t> CountLiveIndex(size_t index, const format::KeyRange& range,
                                         format::SequenceNumber max_sequence) const;

  /// The operations, by sequence. Kept if the table has an index. Lifetime: the memstore's.
  ChangeLog::Cursor Changes() const;
  uint64_t change_count() const;
  /// 0, 1, ... in the order in which the rows were added.
  static uint32_t RowNumber(const MemRow* row);

  /// How many entries CollectIndex would look at: those of any sequence in `range`.
  uint64_t CountIndex(size_t index, const format::KeyRange& range) const;

  /// The key of that index after about `entries` entries of `range`, from its end with `backward`;
  /// nullopt: it has few (index::AppendBuffer::KeyAfter).
  std::optional<std::string_view> IndexKeyAfter(size_t index, const format::KeyRange& range,
                                                uint64_t entries, bool backward) const;

  /// What readers derived from the rows and a file, to be shared with other readers. Lifetime: its
  /// user keeps the memstore.
  class Derived {
   public:
    virtual ~Derived() = default;
  };
  /// nullptr: there is none for that file.
  std::shared_ptr<Derived> FindDerived(format::FileNumber file) const;
  /// Keeps it for that file, or what another reader kept meanwhile. Returns what is kept.
  std::shared_ptr<Derived> KeepDerived(format::FileNumber file,
                                       std::shared_ptr<Derived> derived) const;
  /// Drops it for all files but these, which ascend.
  void DropDerivedOfOthers(std::span<const format::FileNumber> files) const;

  const format::TableRecord& table() const { return *table_; }
  /// From now on trees of hot rows keep the versions that this record of the table says. Requires:
  /// the memstore is empty. Threads: the writer.
  void SetLimits(std::shared_ptr<const format::TableRecord> table) { limits_.swap(table); }

 private:
  struct Impl;
  struct RowFound;
  void ApplyOne(const RowOperation& operation, const RowFound& found);

  const std::shared_ptr<const format::TableRecord> table_;
  std::shared_ptr<const format::TableRecord> limits_;  // The writer's.
  const uint32_t chain_cells_max_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::engine
