// The memstore of a region: rows in a skiplist (Pugh 1990) in an arena, cells chained newest first
// under their row, the first eight bytes of the key in the node; per index an append buffer; a
// table of the rows by hash. One writer (the commit leader), any number of readers, no locks: a
// node or cell is published by a release store of the pointer that makes it reachable, readers load
// it with acquire.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/memory_account.h"
#include "format/cell.h"
#include "format/schema.h"
#include "format/types.h"
#include "index/append_buffer.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A row of a memstore. Lifetime: the memstore's.
struct MemRow;

/// The Puts of a column in an older source.
struct OlderPuts {
  const format::IndexColumnRecord* column = nullptr;
  format::SequenceNumber max_sequence;  ///< None of them has a larger one,
  int64_t max_timestamp = 0;            ///< or is newer.
};

struct LivePut {
  std::string_view value;
  format::SequenceNumber sequence;
  int64_t timestamp = 0;
};

/// Threads: Apply by one at a time; everything else from any thread at any time.
class Memstore {
 public:
  /// `table` names the indexes whose buffers are kept and the row secret. A memstore without rows
  /// takes next to no memory, and everything in it grows with them. `account` (may be null) counts
  /// it and outlives it. `rows_expected`: more make the table of its rows grow.
  explicit Memstore(std::shared_ptr<const format::TableRecord> table,
                    base::MemoryAccount* account = nullptr, uint64_t rows_expected = 0);
  ~Memstore();

  /// Adds the cells of one operation (bytes are copied). Each indexed Put goes to its index's
  /// buffer. Requires: values fit their indexes (checked at Write); sequences never fall from call
  /// to call.
  void Apply(std::string_view row, std::span<const format::Cell> cells);

  bool empty() const;
  uint64_t row_count() const;
  uint64_t size_bytes() const;
  /// What the cells of its largest row take when somebody gathers them (Cells) and copies their
  /// bytes. Who reads a row of a memstore holds all of it.
  uint64_t largest_row_bytes() const;
  /// Bounds of the sequences applied. Requires: !empty().
  format::SequenceNumber min_sequence() const;
  format::SequenceNumber max_sequence() const;
  /// Smallest timestamp of any Put (for TTL); INT64_MAX when none.
  int64_t min_timestamp() const;

  /// nullptr when the row is not here. The second spares hashing the key.
  const MemRow* Find(std::string_view row) const;
  const MemRow* Find(std::string_view row, uint64_t row_hash) const;
  /// False: the row is certainly not here.
  bool MayContain(uint64_t row_hash) const;
  /// For each hash a row that has it, nullptr where none has. Requires: as many rows as hashes.
  void FindEach(std::span<const uint64_t> row_hashes, std::span<const MemRow*> rows) const;
  static std::string_view Key(const MemRow* row);
  /// Whether for every reader at `max_sequence` the row's `puts` are dead (rule 13): it has a Put,
  /// DeleteColumn or DeleteFamily of the column that is newer than all of them. Of a row with very
  /// many cells the answer may be false although it has.
  static bool Supersedes(const MemRow* row, const OlderPuts& puts,
                         format::SequenceNumber max_sequence);
  /// The one Put of the column, of sequence <= `max_sequence`, that makes all others of the row
  /// here dead, as the cells since it would if they were a source of their own (rule 13); nullopt:
  /// there is none, or the row has very many cells. Lifetime: the memstore's.
  static std::optional<LivePut> OnlyLivePut(const MemRow* row,
                                            const format::IndexColumnRecord& column,
                                            format::SequenceNumber max_sequence);
  /// Has the processor fetch what Supersedes, OnlyLivePut and Cells look at first. Requires: the
  /// row is cached.
  static void PrefetchCells(const MemRow* row);
  /// Appends the row's cells with sequence <= `max_sequence`, sorted by CellLess; views point into
  /// the arena.
  static void Cells(const MemRow* row, format::SequenceNumber max_sequence,
                    std::vector<format::Cell>* out);

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

  /// The rows with an entry of the i-th index of the table in `range` and sequence <= max_sequence,
  /// as MemRow pointers, perhaps repeated.
  void CollectIndex(size_t index, const format::KeyRange& range,
                    format::SequenceNumber max_sequence, std::vector<const MemRow*>* rows) const;

  const format::TableRecord& table() const { return *table_; }

 private:
  struct Parts;
  std::shared_ptr<const format::TableRecord> table_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tandem::engine
