// Observers: code of the program that is asked before operations on a table and told after them
// (HBase calls them region observers). An observer has a name in Options::observers; a table names
// its observers in TableOptions::observers or by Database::SetObservers. The names are stored with
// the table, the code is not.
//
//   options.observers["audit"] = std::make_shared<Audit>();  // class Audit : public Observer
//   table.observers = {"audit"};
//
// A table that names an observer which is not registered refuses writes (kUnsupported, with both
// names). Its reads return what is stored, unfiltered: that is what the program `tandem` shows. So
// a filter is no access control: who can open the directory can read all of it.
//
// Errors: a hook that returns an error, or throws, fails the operation that it was called for, and
// nothing is changed. The error names observer and hook; it has the code that the hook returned, or
// kCancelled after an exception (kOutOfMemory after std::bad_alloc). Hooks that return nothing
// cannot fail what has happened already: their exceptions are caught, written to Options::log and
// counted (Statistics::observer_failures).
//
// Threads: a hook is called on the thread of the operation: the caller's, or where a flush or merge
// runs in the background, that of the engine. Many threads may be in hooks at a time, so an
// observer must guard its own state. The engine holds no lock during a hook. But flushes, merges
// and splits wait until their hooks return: be quick in these.
//
// What a hook may call: the object that it is given, and every call of Database that only reads.
// Its own reads are not observed: they return what is stored. All other calls on the same database
// are refused with kInvalidArgument, at once (writes, changes of tables, flushes, copies, Verify,
// Close), so an observer can neither wait for itself nor call itself. What has to be written goes
// into the batch (PendingWrite::Add). Another database may be written to. To wait for another
// thread that writes to the database is a deadlock that nobody detects. A child that a hook forks
// must not return from it: hooks that can fail then fail with kBusy there, and nothing is written.
//
// A read of a snapshot is observed by the observers that the table has now; of a table that was
// dropped or truncated since, or whose families keep less, by those that it had then.
//
// Not observed: bulk loads and Attach (refused on a table with observers), DropTable and
// TruncateTable, the replay of the log, Explain, Verify; Checkpoint, Backup and ExportFiles, which
// copy what is stored, unfiltered; RestoreTable, which brings back the table with the names of its
// observers.
//
// Lifetime: arguments are valid during the call. The database, and its open cursors, share
// ownership of the observers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tandem/database.h"
#include "tandem/event_listener.h"
#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/row.h"
#include "tandem/status.h"
#include "tandem/write_batch.h"

#pragma GCC visibility push(default)

namespace tandem {

/// One operation of a batch on a row of the table, as its writer gave it.
struct Mutation {
  enum class Kind : uint8_t {
    kPut,
    kDeleteCell,
    kDeleteColumn,
    kDeleteFamily,
    kDeleteRow,
    kIncrement,  ///< Values are what is added, as EncodeInt64Be encodes it.
    kAppend,
  };
  Kind kind = Kind::kPut;
  std::string_view row;
  std::string_view family;           ///< Empty: the table's first; or the row is deleted.
  std::optional<int64_t> timestamp;  ///< nullopt: the batch's.
  std::span<const ColumnValue> columns;
};

/// A batch before it is written, as one observer of one of its tables meets it: with what the
/// observers before it have changed. Threads: that of the hook.
class PendingWrite {
 public:
  virtual std::string_view table() const = 0;
  /// The operations on the table, in the order of the batch. Lifetime: the hook's. Drop, Replace
  /// and Add do not change it.
  virtual std::span<const Mutation> mutations() const = 0;
  /// Reads a row of any table. All reads of one batch have the same point in time; that of a
  /// transaction is its begin. The batch itself is not seen. If somebody else changes a row that
  /// was read before the batch is committed, nothing is written and the writer gets kConflict. An
  /// increment in the batch that needs no read never conflicts. After a read Durability::kMemory is
  /// as kBuffered. Errors: those of Database::Get, kInvalidArgument (options with a snapshot),
  /// kOverBudget (more than kTransactionRowsMax rows, with those of the transaction).
  virtual Result<std::optional<Row>> Get(const ReadOptions& options, std::string_view table,
                                         std::string_view row) = 0;
  /// Takes a mutation out of the batch, or puts operations in its place, on any rows and tables.
  /// The later observers of this table see these instead; so do those of other tables of the batch
  /// that are asked later. The second call for a mutation replaces the first. Errors:
  /// kInvalidArgument (there is no such mutation; the call is Increment or Append of Database,
  /// which returns the new value).
  virtual Status Drop(size_t mutation) = 0;
  virtual Status Replace(size_t mutation, const WriteBatch& operations) = 0;
  /// Adds operations on any rows and tables to the end of the batch. Observers are not asked about
  /// them: neither those of the tables, nor the later ones of this table.
  virtual Status Add(const WriteBatch& operations) = 0;

 protected:
  ~PendingWrite() = default;
};

/// A batch that was written, as the observers of one of its tables are told of it.
struct CommittedWrite {
  std::string_view table;
  /// All operations of the batch on the table, in order, as they were written: with what observers
  /// have changed and added.
  std::span<const Mutation> mutations;
  uint64_t sequence = 0;  ///< Of the batch's last operation: readers at it see the batch.
};

/// A read of one row.
struct ObservedGet {
  std::string_view table, row;
  const ReadOptions& options;
};
struct ObservedScan {
  std::string_view table;
  const ReadOptions& options;
  const ScanOptions& scan;
};
struct ObservedQuery {
  std::string_view table;
  const Predicate& predicate;  ///< Of a prepared query with its parameters.
  const ReadOptions& options;
  const QueryOptions& query;
  bool counts = false;  ///< Database::Count.
};

/// A row as it is stored, for Observer::FilterRow. Threads: that of the hook.
class StoredRow {
 public:
  StoredRow(std::string_view key, std::span<const Cell> cells, std::vector<bool>* hidden)
      : key_(key), cells_(cells), hidden_(*hidden) {}
  std::string_view key() const { return key_; }
  /// All columns, also those that the read does not ask for; as many versions as it asks for, and
  /// those of its time range alone.
  std::span<const Cell> cells() const { return cells_; }
  /// Whether an observer hides the cell. Requires: `cell` is below cells().size().
  bool is_hidden(size_t cell) const { return hidden_[cell]; }
  void Hide(size_t cell) { hidden_[cell] = true; }
  /// A row whose cells are all hidden does not exist for the read.
  void HideRow() { hidden_.assign(hidden_.size(), true); }

 private:
  std::string_view key_;
  std::span<const Cell> cells_;
  std::vector<bool>& hidden_;
};

/// Hooks do nothing unless they are overridden. The observers of a table are called in its order;
/// of a batch over several tables, each table's observers for its part.
class Observer {
 public:
  virtual ~Observer();

  /// Before a batch that has operations on the table: Write, Increment, Append, CheckAndMutate
  /// (whatever its condition says), and the Commit of a transaction. Called once a call, before
  /// stored data is read and before the batch waits for its place; the batch has passed the checks
  /// of Write. May refuse or change it. If observers of a table are set meanwhile, the writer gets
  /// kConflict.
  virtual Status BeforeWrite(PendingWrite* write);
  /// After the batch is visible, once, before the call returns. Not called if it changed nothing.
  /// The order of calls for different batches is not that of their sequences.
  virtual void AfterWrite(const CommittedWrite& write);

  /// Before and after Get and GetPinned, and for each row of MultiGet; of transactions too. `row`:
  /// what is returned; null: no such row.
  virtual Status BeforeGet(const ObservedGet& get);
  virtual Status AfterGet(const ObservedGet& get, const RowView* row);
  /// Before and after a cursor is opened.
  virtual Status BeforeScan(const ObservedScan& scan);
  virtual Status AfterScan(const ObservedScan& scan);
  /// Before and after a query's cursor is opened, and before and after a count.
  virtual Status BeforeQuery(const ObservedQuery& query);
  virtual Status AfterQuery(const ObservedQuery& query);

  /// Whether FilterRow is to be called; always the same. Such reads decode whole rows, whatever
  /// columns they ask for; Count reads the rows; ReadOptions::pieces has no effect; limits count
  /// the rows that are returned.
  virtual bool has_filter() const;
  /// Called for each row that Get, GetPinned, MultiGet, Scan, Query and Count return or count, of
  /// transactions too; for those of a cursor, when it reads them. Predicates are decided before, on
  /// what is stored: so are the conditions of CheckAndMutate. An error ends the read.
  virtual Status FilterRow(StoredRow* row);

  /// A memstore of the table becomes files, and files are merged: for each region, on errors too.
  virtual void BeforeFlush(const FlushEvent& event);
  virtual void AfterFlush(const FlushEvent& event);
  virtual void BeforeMerge(const CompactionEvent& event);
  virtual void AfterMerge(const CompactionEvent& event);
  /// Before Database::Compact, Split and MergeRegions, which they may refuse. Not before a dry run,
  /// and not in the background, where a veto would block writers.
  virtual Status BeforeCompact(std::string_view table);
  virtual Status BeforeSplit(std::string_view table, const SplitOptions& split);
  virtual Status BeforeMergeRegions(std::string_view table, const RegionMergeOptions& merge);
  /// After each split of a region and each merge of two, in the background too.
  virtual void AfterSplit(const RegionSplitEvent& event);
  virtual void AfterMergeRegions(const RegionMergeEvent& event);
};

}  // namespace tandem

#pragma GCC visibility pop
