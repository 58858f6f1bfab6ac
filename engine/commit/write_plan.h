// Plans a WriteBatch: resolves names, checks limits and types, encodes operations for the log.
// Everything that needs neither a lock nor a sequence number happens here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/predicate/bound.h"
#include "engine/region/region_set.h"
#include "format/cell/cell.h"
#include "format/types.h"
#include "tandem/status.h"
#include "tandem/write_batch.h"
#include "wal/operation.h"

namespace tandem::engine {

/// An operation on one row. Lifetime: views point into the WriteBatch.
struct PlannedOperation {
  enum class Kind : uint8_t {
    kBlind,
    kDeleteCell,  ///< One cell, which names the column.
    kIncrement,   ///< Cells whose values are what is added, as EncodeInt64Be encodes it.
    kAppend,      ///< Cells whose values are appended.
  };
  Kind kind = Kind::kBlind;
  format::TableId table;
  std::string_view row;
  std::optional<int64_t> timestamp;  ///< nullopt: the batch's; for a DeleteCell the newest version.
  std::vector<format::Cell> cells;

  /// Whether what it writes depends on stored data.
  bool reads() const { return kind != Kind::kBlind; }
};

/// What must hold for a batch to be applied. An absent row has no columns.
struct Condition {
  format::TableId table;
  std::string_view row;
  BoundPredicate predicate;
  ColumnSet columns;  ///< That the predicate reads.

  size_t column_count() const;
};

/// A row whose entry in a unique index the batch may change.
struct UniqueRow {
  format::TableId table;
  format::IndexId index;
  std::string_view row;
  size_t first_column = 0;  ///< In ReadSet::columns, those of the index. Set by ReadFiles.

  friend bool operator==(const UniqueRow& a, const UniqueRow& b) {
    return a.table == b.table && a.index == b.index && a.row == b.row;
  }
  friend bool operator<(const UniqueRow& a, const UniqueRow& b) {
    return std::tie(a.table, a.index, a.row) < std::tie(b.table, b.index, b.row);
  }
};

/// A row whose entry in a global index the batch may change.
struct GlobalRow {
  UniqueRow row;            ///< Of the table that the index is of.
  format::TableId entries;  ///< Where its entries are.
};

/// An entry of a unique index that such a row has after the batch.
struct UniqueEntry {
  format::TableId table;
  format::IndexId index;
  std::string key;
  std::string_view row;
  bool is_new = false;  ///< The row has not had it before the batch.

  friend bool operator<(const UniqueEntry& a, const UniqueEntry& b) {
    return std::tie(a.table, a.index, a.key, a.row) < std::tie(b.table, b.index, b.key, b.row);
  }
  /// Whether both are the same entry, of whatever rows.
  bool IsAs(const UniqueEntry& other) const {
    return table == other.table && index == other.index && key == other.key;
  }
};

/// A column of a row that a write depends on, and what files hold of it.
struct StoredColumn {
  format::TableId table;
  std::string_view row;
  format::Cell column;                           ///< Its family and qualifier.
  std::shared_ptr<const RegionVersion> version;  ///< Whose files were read.
  std::vector<format::Cell> cells;
};

/// Filled by ReadFiles (complete_write.h).
struct ReadSet {
  std::vector<StoredColumn> columns;
  format::SequenceNumber visible;                 ///< When the files were read, or earlier.
  std::vector<std::shared_ptr<const void>> pins;  ///< Of the cells.
  /// Entries that the batch makes if it commits at `visible`, ascending. No row but those of the
  /// batch has one of them there. Filled by FindHolders (unique_check.h), as
  std::vector<UniqueEntry> entries;
  Status violation;  ///< kAlreadyExists, of a batch that is to conflict first if it does.
};

struct RowChecks;

/// Threads: one at a time. Lifetime: not longer than the WriteBatch.
struct WritePlan {
  uint64_t changes = 0;   ///< RegionSet::changes() before the names were resolved.
  bool is_stale = false;  ///< Set by CommitQueue::Commit.
  std::vector<std::shared_ptr<const Table>> tables;  ///< That the batch touches, each once.
  bool spans_regions = false;                        ///< It touches more than one.
  Region* region = nullptr;                          ///< Of its first operation.
  size_t size_bytes = 0;                             ///< Of the WriteBatch,
  size_t operation_count = 0;                        ///< as this.
  wal::BatchEncoder batch;                           ///< Complete unless the plan reads.
  /// All operations of a batch that depends on stored data. They are encoded when everything before
  /// the batch is known (complete_write.h).
  std::vector<PlannedOperation> unresolved;
  std::optional<Condition> condition;
  /// Ascending, each once; empty if no operation may make an entry of a unique index.
  std::vector<UniqueRow> unique_rows;
  /// As `unique_rows`, of global indexes, whichever way the batch touches the row.
  std::vector<GlobalRow> global_rows;
  /// The entries of these rows are written though the batch does not change them: they are built.
  bool builds_entries = false;
  /// It may take an entry of a unique index from a row, which another one may get then, in the log.
  bool must_be_logged = false;
  ReadSet read_set;
  std::vector<UniqueEntry> entries;  ///< Ascending. Set by CompleteWrite.
  /// Rows that a transaction or observers have read; may be null (row_checks.h). Lifetime: the
  /// caller's. Their tables are among `tables`.
  RowChecks* checks = nullptr;
  bool holds = true;                     ///< The condition. Set by CommitQueue::Commit, as
  std::vector<std::string> values;       ///< the new values of increments (as text) and appends.
  format::SequenceNumber last_sequence;  ///< Of its operations; also set by it. 0: it wrote none.

  /// One of `tables`. Requires: it is there.
  const Table& TableOf(format::TableId id) const;
  /// Whether its operations are encoded only when everything before the batch is known.
  bool completes() const {
    return !unresolved.empty() || condition.has_value() || !global_rows.empty();
  }
  /// Whether what it writes depends on stored data.
  bool reads() const { return completes() || checks != nullptr; }
};

/// Errors: kNotFound (table, family), kInvalidArgument (key, qualifier, value or batch out of
/// limits; a qualifier twice in one operation; a value that does not fit its index's type).
/// `buffer` gives its memory to the plan's encoding.
Result<WritePlan> PlanWrite(const WriteBatch& batch, const RegionSet& regions,
                            wal::BatchEncoder buffer = {});
/// The same for a batch that is not logged: all its operations are in `unresolved`.
Result<WritePlan> PlanUnlogged(const WriteBatch& batch, const RegionSet& regions);
/// Of a batch whose puts go into the files of a load, which asks no unique index and writes no
/// entries of global ones: they are encoded. A batch with anything else may be encoded in part.
/// Errors: as PlanWrite.
Result<WritePlan> PlanLoad(const WriteBatch& batch, const RegionSet& regions,
                           wal::BatchEncoder buffer);

/// Of a batch that is applied if the row satisfies the predicate. Errors: as PlanWrite and
/// BoundPredicate::Bind.
struct ConditionalBatch {
  std::string_view table, row;
  const Predicate* predicate = nullptr;
  const WriteBatch* batch = nullptr;
};
Result<WritePlan> PlanConditional(const ConditionalBatch& conditional, const RegionSet& regions);

/// A batch that writes the entries which these rows of the table have in one of its global indexes.
/// nullopt: the table or the index is gone. Lifetime: the plan refers to `rows`.
std::optional<WritePlan> PlanEntries(format::TableId table, format::IndexId index,
                                     std::span<const std::string> rows, const RegionSet& regions);

/// Adds the operation to the log's encoding of its batch.
void EncodeOperation(const PlannedOperation& operation, wal::BatchEncoder* batch);

/// Refuses an encoded batch of more than kBatchBytesMax.
Status CheckEncodedSize(const wal::BatchEncoder& batch);

}  // namespace tandem::engine
