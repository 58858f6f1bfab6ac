// Transactions over rows of any tables: optimistic, validated when they commit (backward
// validation, Kung and Robinson 1981). No row is locked, so nobody waits for a transaction, and
// there are no deadlocks; of two that change one row at the same time, the second to commit gets
// kConflict.
//
// What it sees: the state when it began, plus its own writes. Get, GetForUpdate, Scan, Query and
// Count agree on this, by index too.
//
// What Commit checks: that no row it read by Get, GetForUpdate, MultiGet, Increment or Append, and
// no row it wrote, was changed by anybody else since it began. So transactions that read rows by
// these alone are serializable, in the order of their commits. One that writes nothing always
// commits: it read one state. Table definitions are not part of it: a transaction whose table is
// dropped, truncated or renamed, or loses a family, conflicts.
//
// What Scan, Query and Count read is the state when it began plus its own writes, and is not
// checked unless asked. So two transactions that each count the rows of a query and then insert one
// of them may both commit (write skew over a predicate, G2 of Adya). What excludes it:
//   1. TransactionOptions::validate_ranges. Commit then also checks that nobody else has changed a
//      row of the ranges of row keys that were read, and a transaction is serializable whatever it
//      reads. A range is all of what a Scan was asked for; of a Query or Count it is the rows that
//      the conditions on the row key leave, and without one the whole table, by index too. So it
//      may hold rows that are not returned, or that the cursor has not reached. The check looks at
//      the rows of the ranges in those memstores that have newer writes, at most
//      kTransactionRangeRowsMax of them: beyond that it conflicts.
//   2. A row that stands for the set, which both Get and Put.
//
// A flush, merge or split is no conflict: rows that left their memstore meanwhile are read again
// before the commit, which itself reads no files while other writers wait. So are the rows of
// ranges, where they are no more than kTransactionRangeRowsMax: beyond that, a flush of newer
// writes conflicts, and so does a bulk load.
//
//   Result<Transaction> transaction = database->Begin();
//   auto row = transaction->Get({}, "accounts", "ann");
//   ...
//   transaction->Put("accounts", "ann", "d", "balance", "90");
//   Status status = transaction->Commit();  // kConflict: begin again, or use Database::Transact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/database.h"

#pragma GCC visibility push(default)

namespace tandem {

/// Move-only. Ends at Commit, at Rollback, or when it is destroyed, which rolls it back. While it
/// is open, merges keep what it sees, as for a snapshot, and Close is refused; see
/// Options::transaction_age_max_micros. May outlive its Database, and all calls are then kClosed.
/// Threads: one at a time; its cursors may be anywhere, and may outlive it.
/// Errors of all calls: kInvalidArgument (it has ended; a row key out of limits; ReadOptions with a
/// snapshot), kCancelled (it was open for too long), kOverBudget (more than kTransactionRowsMax
/// rows and ranges whose reads are checked and operations written), kClosed, kOutOfMemory.
class Transaction {
 public:
  Transaction(Transaction&&) noexcept;
  Transaction& operator=(Transaction&&) noexcept;
  ~Transaction();

  /// As of Database. Commit checks that nobody else changed the row, also one that does not exist.
  Result<std::optional<Row>> Get(const ReadOptions& options, std::string_view table,
                                 std::string_view row);
  /// As Get, for a row that will be changed: kConflict at once if somebody else has changed it
  /// since the transaction began and that is known without reading a file. Commit checks the row
  /// even if the transaction writes nothing. Nothing is locked.
  Result<std::optional<Row>> GetForUpdate(const ReadOptions& options, std::string_view table,
                                          std::string_view row);
  /// As of Database. Commit checks all rows, also those that do not exist.
  Result<std::vector<std::optional<Row>>> MultiGet(const ReadOptions& options,
                                                   std::string_view table,
                                                   std::span<const std::string_view> rows);
  /// As of Database. What they read is checked at commit only with
  /// TransactionOptions::validate_ranges. A cursor sees the writes of the transaction up to its own
  /// begin.
  Result<Cursor> Scan(const ReadOptions& options, std::string_view table, const ScanOptions& scan);
  Result<Cursor> Query(const ReadOptions& options, std::string_view table,
                       const Predicate& predicate, const QueryOptions& query = {});
  Result<uint64_t> Count(const ReadOptions& options, std::string_view table,
                         const Predicate& predicate, const QueryOptions& query = {});

  /// As of WriteBatch, but checked at once. Cells without a timestamp have a provisional one until
  /// Commit gives them all the same, later one. Errors (nothing is written then): those of
  /// Database::Write that need no disk; kConflict (the table was dropped, truncated or renamed).
  Status Put(std::string_view table, std::string_view row, std::string_view family,
             std::string_view qualifier, std::string_view value,
             std::optional<int64_t> timestamp = std::nullopt);
  Status PutColumns(std::string_view table, std::string_view row, std::string_view family,
                    std::span<const ColumnValue> columns,
                    std::optional<int64_t> timestamp = std::nullopt);
  /// The version that is deleted is one that the transaction sees, which may be its own.
  Status DeleteCell(std::string_view table, std::string_view row, std::string_view family,
                    std::string_view qualifier, std::optional<int64_t> timestamp = std::nullopt);
  Status DeleteColumn(std::string_view table, std::string_view row, std::string_view family,
                      std::string_view qualifier, std::optional<int64_t> timestamp = std::nullopt);
  Status DeleteFamily(std::string_view table, std::string_view row, std::string_view family,
                      std::optional<int64_t> timestamp = std::nullopt);
  Status DeleteRow(std::string_view table, std::string_view row,
                   std::optional<int64_t> timestamp = std::nullopt);

  /// As of Database, of what the transaction sees; Commit writes what was returned. Each reads its
  /// row as Get does, but asks no observer, and puts the new value, which is what observers are
  /// shown. So two that change one row at the same time conflict, other than those of Database.
  /// Errors (nothing is changed then): those of Database that need no write to disk; kConflict as
  /// for Put.
  Result<int64_t> Increment(std::string_view table, std::string_view row, std::string_view family,
                            std::string_view qualifier, int64_t delta = 1);
  Result<std::vector<int64_t>> IncrementColumns(std::string_view table, std::string_view row,
                                                std::string_view family,
                                                std::span<const ColumnDelta> columns);
  Result<std::string> Append(std::string_view table, std::string_view row, std::string_view family,
                             std::string_view qualifier, std::string_view value);
  Result<std::vector<std::string>> AppendColumns(std::string_view table, std::string_view row,
                                                 std::string_view family,
                                                 std::span<const ColumnValue> columns);

  /// Marks the writes so far. Savepoints nest.
  Status SetSavepoint();
  /// Takes back what was written since the last savepoint, and removes it. What was read stays
  /// checked. Errors: kInvalidArgument (there is no savepoint).
  Status RollbackToSavepoint();

  /// Applies all writes atomically, as one batch. Ends the transaction, except after kBusy (only
  /// with no_wait), kNoSpace and kOutOfMemory: then it may be called again. Durability::kMemory is
  /// as kBuffered. Errors: kConflict (nothing was written: a row or a table was changed by somebody
  /// else, there was too much of a range to check, or an update or DeleteCell took a version with a
  /// timestamp of the future that is past by now; begin again), those of Database::Write.
  Status Commit(const WriteOptions& options = {});
  /// Drops all writes and ends the transaction. Does nothing if it has ended.
  void Rollback();

 private:
  friend struct engine::TransactionState;
  explicit Transaction(std::unique_ptr<engine::TransactionState> state);
  template <typename Call>
  auto InState(Call&& call)
      -> decltype(call(std::declval<const Snapshot&>(), std::declval<engine::TransactionState*>()));
  template <typename Add>
  Status Write(Add&& add);
  template <typename Add>
  Result<std::vector<std::string>> Update(std::string_view table, std::string_view row,
                                          size_t columns, Add&& add);

  std::unique_ptr<engine::TransactionState> state_;
};

}  // namespace tandem

#pragma GCC visibility pop
