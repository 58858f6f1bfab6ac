// The database: tables of rows with secondary indexes in one directory.
//
// Threads: a Database may be used from any thread, by many at a time; a Cursor, WriteBatch,
// Transaction or Snapshot by one at a time (many readers may share one Snapshot through
// ReadOptions::snapshot). Threads of the engine run in the background from Open until Close or
// destruction. Several databases may be open in one process. The library prints nothing, installs
// no signal handlers and has no global state. It reports through Options::log, Options::listener
// and GetStatistics.
//
// Errors: calls of Database and Cursor throw nothing; a failed allocation is kOutOfMemory. Values
// that the caller owns (Row, Predicate, WriteBatch, options) throw std::bad_alloc as a std::string
// does, and are then unchanged. In addition to the errors listed at a call, every call may return
// kClosed (after Close) and kOutOfMemory, calls that read files kCorruption (with file and offset)
// and kIoError, calls that write kReadOnly, kIoError and kNoSpace. After a failed sync, or a failed
// write whose effect on disk is unknown, the database is read-only until it is opened again.
//
// Fork: a child cannot use its parent's databases. Every call returns kBusy at once, cursors end
// with kBusy, and GetStatistics is all 0. Destroying a Database, Cursor or Snapshot in the child
// returns at once and releases nothing, so the parent is not disturbed. The child may open its own
// databases. It keeps the descriptors until it exits or calls exec, and with them the lock of a
// parent that died without closing. A child forked inside a callback of the engine must exit or
// call exec there.
//
// Lifetime: arguments are needed only until the call returns. Cursors and snapshots may outlive
// their Database: a cursor then returns kClosed, and a snapshot cannot be used. A moved-from Cursor
// or Snapshot may only be assigned to or destroyed.
//
// Units: sizes are in bytes, times in microseconds. Timestamps count from 1970-01-01 UTC unless the
// writer gives them another meaning.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/aggregate.h"
#include "tandem/cursor.h"
#include "tandem/explanation.h"
#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/region.h"
#include "tandem/row.h"
#include "tandem/row_key.h"
#include "tandem/schema.h"
#include "tandem/sequence.h"
#include "tandem/space.h"
#include "tandem/statistics.h"
#include "tandem/status.h"
#include "tandem/table_copy.h"
#include "tandem/verify.h"
#include "tandem/write_batch.h"

namespace tandem::engine {
class Engine;
class EngineImpl;
class OpenPin;
struct PreparedState;
struct SnapshotState;
class OpenTransaction;
struct TransactionState;
}  // namespace tandem::engine

#pragma GCC visibility push(default)

namespace tandem {

class BulkLoad;
struct AdvisedQuery;
struct AdviseOptions;
struct IndexAdvice;
class Transaction;

/// The state of the whole database at one point in time. Reads through it see no later write, and
/// no cell expires in it. Move-only. Compaction keeps what a snapshot needs until it is destroyed,
/// so a long-lived snapshot costs disk space. One that has a name (Database::CreateSnapshot) has
/// the tables that were named, and stays when the database is closed.
class Snapshot {
 public:
  Snapshot(Snapshot&&) noexcept;
  Snapshot& operator=(Snapshot&&) noexcept;
  ~Snapshot();
  /// The last operation that it sees. Operations are numbered from 1 in commit order.
  uint64_t sequence() const;

 private:
  friend class engine::EngineImpl;
  friend class engine::OpenTransaction;
  explicit Snapshot(std::unique_ptr<engine::SnapshotState> state);
  const engine::SnapshotState& state() const { return *state_; }

  std::unique_ptr<engine::SnapshotState> state_;
};

/// A row where the database has it (Database::GetPinned). Cells are not copied, and reading one row
/// after the other of one table into the same object allocates nothing once its lists have grown.
/// Exceptions: rows that are wide or have overflow values (above 64 KiB) are copied, and where
/// single columns are asked for, each file that has the row costs an allocation.
///   PinnedRow row;
///   Result<bool> found = database->GetPinned({}, "users", "ann", &row);
///   if (found.has_value() && *found) Use(row.view());
/// Move-only. While it holds a row, the memstores and files of that row's region stay, in memory
/// and on disk, and Close is refused: release it, or read the next row, soon.
/// Threads: one at a time.
class PinnedRow {
 public:
  PinnedRow() noexcept;
  PinnedRow(PinnedRow&&) noexcept;
  PinnedRow& operator=(PinnedRow&&) noexcept;
  ~PinnedRow();

  /// The row that was read; empty if there is none. Lifetime: until the next GetPinned into this
  /// object or Release, or until it is destroyed or assigned to, or the Database is destroyed.
  const RowView& view() const { return view_; }
  /// Holds nothing any more, but keeps its lists for the next row.
  void Release();

 private:
  friend class Database;
  friend class engine::EngineImpl;

  std::unique_ptr<engine::OpenPin> open_;  // Null: nothing was read yet.
  RowView view_;
};

/// A query of one table with parameters (Database::Prepare), to be run many times.
///   auto query = database->Prepare("orders", *Predicate::Parse("city = ? AND amount > ?"));
///   query->Bind(1, "Oslo");
///   query->BindInt64(2, 100);
///   Result<Cursor> rows = database->Query({}, &*query);
/// Parameters are numbered from 1. A value stays bound until it is bound again, so the next run
/// needs only those that change. Move-only. Threads: one at a time; its cursors may be anywhere.
class PreparedQuery {
 public:
  PreparedQuery(PreparedQuery&&) noexcept;
  PreparedQuery& operator=(PreparedQuery&&) noexcept;
  ~PreparedQuery();

  uint32_t parameter_count() const;
  /// Binds a parameter to `text`, which reads as a value between quotes in a predicate does. Errors
  /// (nothing is bound then): kInvalidArgument (no such parameter; not a value of the type of a
  /// column that it is compared with: parameter, column and type are named), kOutOfMemory.
  Status Bind(uint32_t parameter, std::string_view text);
  /// Binds a parameter to a number, or to true or false, as if it were written in the predicate.
  /// Errors: as Bind.
  Status BindInt64(uint32_t parameter, int64_t value);
  Status BindUint64(uint32_t parameter, uint64_t value);
  Status BindDouble(uint32_t parameter, double value);
  Status BindBool(uint32_t parameter, bool value);
  /// No parameter has a value any more.
  void ClearBindings();

 private:
  friend class engine::EngineImpl;
  explicit PreparedQuery(std::unique_ptr<engine::PreparedState> state);
  engine::PreparedState* state() const { return state_.get(); }

  std::unique_ptr<engine::PreparedState> state_;
};

/// A value that a column had (Database::History).
struct HistoryValue {
  int64_t from = 0;                ///< Its timestamp.
  std::optional<int64_t> to = {};  ///< The timestamp of the next value; nullopt: it is the newest.
  std::string value;
};

/// How far a unique index is.
enum class UniqueState : uint8_t {
  kNone,      ///< The index is not unique.
  kBuilding,  ///< It was added to a table: nothing is refused before Database::EnforceUnique.
  kChecking,  ///< EnforceUnique runs: writes are checked; rows from before may be duplicates.
  kReady,     ///< No two rows have the same entry.
};
/// Two rows that a unique index does not allow.
struct DuplicateRows {
  std::string value;       ///< As text; the values of several columns are separated by commas.
  std::string row, other;  ///< Neighbours in key order among the rows with the value.
};
/// What EnforceUnique has found.
struct UniqueReport {
  uint64_t rows = 0;        ///< With an entry.
  uint64_t duplicates = 0;  ///< Rows whose entry another row with a smaller key has.
  /// Of these the first ones in the order of the index, at most kDuplicatesListedMax.
  std::vector<DuplicateRows> listed;
};

/// An index over all regions of its table.
struct IndexInfo {
  IndexOptions options;
  UniqueState unique = UniqueState::kNone;
  uint64_t files = 0;          ///< Of the table. One that regions share counts in each.
  uint64_t files_without = 0;  ///< Of those: without it, so that they are read whole.
  uint64_t files_older = 0;    ///< Of those: from before it was made; they are being rewritten.
  uint64_t bytes_older = 0;    ///< Of those: bytes that have not been read for that yet.
  /// Bytes of such files that the database has rewritten a second since it was opened; 0: none.
  /// `bytes_older` divided by it is about the time left.
  uint64_t build_bytes_per_second = 0;
  /// Rows of files with the index that have no entry though they have a cell of the column: its
  /// value does not fit the type (`c IS NOT NULL AND c::TYPE IS NULL` lists them), or it is a
  /// delete marker. 0: every value fits.
  uint64_t rows_without_entry = 0;
  /// Why no query is served by it, whatever it has: "function 'soundex' of version 1 is not
  /// registered". If that is a function, its table refuses writes. Empty: nothing hinders it.
  std::string unusable = {};
  /// Of a global index: its entries are not complete yet, so that it serves no query. `entries`,
  /// `files` and `size_bytes` are those of the table that has its entries.
  bool is_building = false;
  uint64_t entries = 0;  ///< In files: postings, current and older.
  uint64_t values = 0;   ///< Distinct values, summed over files.
  uint64_t size_bytes = 0;
};
/// What an index holds in the files of its table, each counted once. Rows in memory do not count.
struct IndexStatistics {
  uint64_t files = 0;
  uint64_t files_without = 0;  ///< Of those: without it, so that they are read whole.
  uint64_t entries = 0;        ///< Of each row's newest value in its file.
  uint64_t older_entries = 0;  ///< Of values that others in the same file replaced.
  /// Distinct newest values in all files. Above 65,535 an estimate with a standard error of 0.4 %.
  uint64_t values = 0;
  uint64_t size_bytes = 0;  ///< Of whole files, as stored.
  uint64_t included_bytes =
      0;                ///< Of those: cells that are kept for queries (IndexOptions::include).
  uint64_t blocks = 0;  ///< Data blocks of the column's family, in files that have the index.
  /// How often, in the order of the index, a row lies in another of those blocks than the row of
  /// the entry before. From about `blocks`, where the rows lie in that order, to `entries`, where
  /// each row of a query costs a block of its own.
  uint64_t block_changes = 0;
  /// Queries and counts that read it since the database was opened. Explain counts as one.
  uint64_t reads = 0;
  /// What a write of a row costs, measured on about this many rows of files: bytes of the file, and
  /// microseconds to make, sort and encode its entries, as each flush does, and a merge where it
  /// cannot take them over. 0: no row is in a file; or the index is global.
  uint64_t rows_indexed = 0;
  double row_bytes = 0, row_micros = 0;
  /// The same of an index over its first column alone, which has no WHERE and includes nothing.
  double first_column_bytes = 0, first_column_micros = 0;
};
/// A store file: "store-NUMBER" in the database's directory.
struct FileInfo {
  uint64_t number = 0;
  uint64_t run = 0;  ///< Of its region: files of one run hold disjoint keys and count as one.
  /// The region's part of the file: rows [low, high). The halves of a split region share files.
  uint64_t low_row = 0, high_row = 0;
  uint64_t size_bytes = 0;
  uint64_t rows = 0, cells = 0, deletes = 0;    ///< Deletes: cells that are delete markers.
  uint64_t min_sequence = 0, max_sequence = 0;  ///< Of the operations in it.
  std::string min_key, max_key;                 ///< Both inclusive.
  uint64_t data_bytes = 0, index_bytes = 0;     ///< Of its sections, as stored.
  bool is_shared = false;  ///< Other regions have parts of it, or had and left rows in it.
};
/// A range of a table's keys with its files.
struct RegionInfo {
  uint64_t id = 0;
  std::string start_key;        ///< Inclusive; empty: the first region.
  std::string end_key;          ///< Exclusive; empty: the last region.
  std::vector<FileInfo> files;  ///< Oldest first.
  uint64_t memstore_rows = 0, memstore_bytes = 0;
  uint64_t memstores = 0;  ///< One that takes writes, and those that wait to be flushed.
  uint64_t runs = 0;
  uint64_t rows = 0, bytes = 0;  ///< In files. Shared files count by the region's rows.
  uint64_t shared_files = 0;
  /// Delete markers; entries of all indexes; those that no query of the present uses, as far as is
  /// known without reading rows (RegionSpace).
  uint64_t deletes = 0, index_entries = 0, dead_index_entries = 0;
  /// Since the database was opened here, or since a split or merge made the region: operations that
  /// it took; and reads of rows in it, of which one of many rows counts once for the region.
  /// Divided by the sum over the regions of the table, they are its share; for what happens now,
  /// take the difference of two calls. EventListener::OnHotRegion reports one that gets most.
  uint64_t writes = 0, reads = 0;
};
/// Limits that a family had before AlterFamily changed them: what they had hidden of older cells
/// stays hidden. They go with the next such change after the table was compacted.
struct FormerLimits {
  std::string family;
  uint64_t sequence = 0;  ///< Cells that were written before this operation are meant.
  std::optional<uint32_t> max_versions = {};  ///< If the number changed.
  /// Cells with timestamps at or below it had expired; nullopt: none had, or they live no longer.
  std::optional<int64_t> expired_through = {};
};

/// A table as declared, and its regions and indexes now.
struct TableInfo {
  TableOptions options;
  std::vector<RegionInfo> regions;
  std::vector<IndexInfo> indexes;
  std::vector<FormerLimits> former_limits = {};  ///< By family, then sequence.
};
/// How far a database trusts the wall clock.
enum class ClockState : uint8_t {
  kRight,
  /// More than a minute behind the database's time, which waits for it.
  kBehind,
  /// Too far ahead to be trusted (Options::accept_clock): nothing expires, and writes get the last
  /// timestamp + 1.
  kDoubted,
};

/// A transaction that is open. Merges keep what it sees.
struct OpenTransactionInfo {
  uint64_t sequence = 0;   ///< The last operation of others that it sees.
  int64_t age_micros = 0;  ///< By the database's time.
};

/// A description of the database. The parts are read one after the other, not at one instant. Later
/// versions add fields, so a program refers to fields by name.
struct DatabaseInfo {
  std::string path;
  std::string io_backend;                    ///< "io_uring" or "posix".
  bool read_only = false;                    ///< Opened so, or turned so.
  std::string read_only_reason;              ///< Empty while writes are accepted.
  uint64_t last_sequence = 0;                ///< Of the last operation that is visible.
  uint64_t log_bytes = 0, log_segments = 0;  ///< Still needed.
  uint64_t cache_bytes = 0, memstore_bytes = 0, memory_budget_bytes = 0;
  MemoryInfo memory;
  FilesInfo open_files;
  /// Files that only a reader in another process still needs; see Options::read_only.
  uint64_t held_files = 0;
  std::vector<int64_t> readers;  ///< Process ids of other readers, where the system reports them.
  uint64_t recovered_operations = 0;  ///< Read from the log when it was opened.
  uint64_t torn_bytes = 0;            ///< Ignored at the log's end: never acknowledged.
  uint64_t scrub_bytes_per_second =
      0;  ///< 0: no scrub, and the next three are 0 too; see Statistics.
  uint64_t scrubbed_bytes = 0, scrub_findings = 0, oldest_unverified_micros = 0;
  ClockState clock_state = ClockState::kRight;
  int64_t clock_micros = 0;  ///< The wall clock, since 1970.
  int64_t time_micros = 0;   ///< The database's time, by which cells expire. It never goes back.
  // Of this process: a reader beside a writer sees none of the writer's.
  WaitsByCause stopped, delayed;  ///< As in Statistics.
  std::string stop_reason;        ///< As StallEvent::reason, of the write that is stopped longest.
  std::vector<JobInfo> jobs;      ///< Flushes and merges that run now, by when they began.
  std::vector<OpenTransactionInfo> transactions;   ///< The oldest first.
  std::vector<NamedSnapshotInfo> named_snapshots;  ///< By name.
  std::vector<TableInfo> tables;                   ///< In the order of their creation.
};

/// A backup (tandem/backup.h).
struct BackupInfo {
  uint64_t number = 0;                          ///< From 1, grows with each.
  int64_t created_micros = 0;                   ///< Since 1970.
  uint64_t last_sequence = 0;                   ///< The last operation in its store files.
  uint64_t files = 0, bytes = 0;                ///< Store files and log segments.
  uint64_t copied_files = 0, copied_bytes = 0;  ///< Of these, not there before. 0 in a list.
};

/// An open database. Threads: any, many at a time, except for the destructor.
class Database {
 public:
  /// Opens the database in the directory `path` and replays its log. Errors: kNotFound (no database
  /// there, and create_if_missing is off; nothing is created), kBusy (open for writing in this or
  /// another process, whose pid is named; with read_only only when a writer changed the files
  /// during each of many attempts), kCorruption, kUnsupported (written by a later version),
  /// kInvalidArgument (an option out of range), kIoError, kNoSpace.
  static Result<std::unique_ptr<Database>> Open(const std::string& path,
                                                const Options& options = {});
  /// Closes as Close() does, even with open cursors and snapshots: it waits for a running Next(),
  /// and they return kClosed from then on. Errors are lost; the next Open recovers what was
  /// acknowledged, as far as its Durability promises. Does nothing in a forked child.
  /// Requires: no other call is running.
  ~Database();
  /// Flushes every memstore, seals the log and closes. Waits for running calls; later calls return
  /// kClosed. Cancels large merges and finishes small ones that are due (4 MiB in total), so that
  /// programs which open and close often leave few files. Errors: kBusy "1 cursor (of 't') and 2
  /// snapshots (of sequence 7, 9) are open" and those of Flush: the database stays open. kIoError
  /// "closed, but not cleanly": the database is closed and the next Open recovers it. A database
  /// that turned read-only always closes this way.
  Status Close();

  /// Creates a table with a region for each range between split keys, durably.
  /// Errors: kAlreadyExists, kInvalidArgument (names, limits, types, split keys: which one),
  /// kReadOnly, kIoError, kNoSpace.
  Status CreateTable(const TableOptions& options);
  /// Drops a table with its rows, durably; everything that was written before the call is durable
  /// too. Cursors that are open, and reads of snapshots that were taken before, finish on what they
  /// began with; the files go with the last of them. Waits for no flush, merge or reader. The name
  /// can be used again at once. Errors: kNotFound; kReadOnly, kIoError, kNoSpace: the table is
  /// still there, and a crash before the next write may show it dropped.
  Status DropTable(std::string_view table);
  /// As DropTable, but leaves an empty table of the same name, definition and regions. Snapshots
  /// that were taken before read by the definition, and by the indexes, that the table had then.
  Status TruncateTable(std::string_view table);
  /// Gives a table another name, durably. Snapshots that were taken before have it under the old
  /// one. A batch that names the old one is refused from then on. Errors: kNotFound, kAlreadyExists
  /// (`to`), kInvalidArgument (`to` is no name); those of DropTable.
  Status RenameTable(std::string_view from, const std::string& to);
  /// Adds an index to a table, durably. Returns at once, and queries are right from then on: files
  /// and memstores from before are read without it, until they are rewritten in the background
  /// (IndexInfo::files_older). From now on a put of a value that does not fit is refused; stored
  /// ones that do not fit are absent for the index, and for conditions of its type. The type that
  /// conditions have for the column does not change: an index of another type serves those that
  /// are cast to its type. A file with a value of more than kIndexKeyBytesMax in a kBytes column is
  /// read without the index. A unique index refuses nothing before EnforceUnique; one that its
  /// table is created with does from the start. Errors: kNotFound (table), kAlreadyExists (name, or
  /// an index of the same definition), kInvalidArgument (name, columns, limits), kReadOnly,
  /// kIoError, kNoSpace: the index was not added, and a crash before the next change of a table may
  /// show it.
  Status CreateIndex(std::string_view table, const IndexOptions& index);
  /// Checks that no two rows have the same entry of a unique index that was added to a table, and
  /// refuses writes that would give two rows the same from then on (UniqueState). Finds duplicates
  /// in one pass over the index, at a snapshot, while writers work; their writes are checked from
  /// the beginning of the call. Where it finds some, the index is as it was before: they are
  /// reported, not refused; mend the rows, or drop the index, and call again. A crash during the
  /// call leaves the index kChecking: call again. Does nothing for an index that is kReady.
  /// `cancelled`: as ReadOptions::cancelled. Errors: kNotFound (table, index), kInvalidArgument
  /// (the index is not unique), kBusy (files are still without the index: wait until
  /// IndexInfo::files_older is 0; or another such call runs), kCancelled; those of Flush, of a
  /// query, and of CreateIndex.
  Result<UniqueReport> EnforceUnique(std::string_view table, std::string_view index,
                                     const std::atomic<bool>* cancelled = nullptr);
  /// Drops an index, durably. Its bytes go as files are merged. Queries that run finish with it.
  /// Conditions keep the type of its column. Errors: kNotFound (table, index); as CreateIndex.
  Status DropIndex(std::string_view table, std::string_view index);
  /// Sets the type that conditions on a column have from now on, durably; see ColumnOptions. Stored
  /// values stay as they are. Errors: kNotFound (table), kInvalidArgument; as CreateIndex.
  Status SetColumnType(std::string_view table, const ColumnOptions& column);
  /// Declares what the row keys of a table without cells are made of (tandem/row_key.h), durably;
  /// empty: they are bytes again. Errors: kNotFound (table), kInvalidArgument (with the position),
  /// kUnsupported (the table has cells, or deletes that no merge has taken out, and another row
  /// key: its keys would not be what is declared; see ChangeRowKey); as CreateIndex.
  Status SetRowKey(std::string_view table, std::string_view declaration);
  /// Declares another row key for a table that may have rows, durably, and moves none: from now on
  /// rows may have the key of this declaration or of one before it, until RewriteKeys has moved
  /// them all. What leads the keys may change, as N of a salt; the fields stay. Each program that
  /// makes keys has to know: it reads by RowKeysOf, and writes under the key that KeyForWrite
  /// returns. A table without cells takes any declaration, as by SetRowKey, and has no former ones.
  /// What is declared already changes nothing. Errors: kNotFound (table), kInvalidArgument (with
  /// the position; the table has kFormerRowKeysMax former row keys: RewriteKeys first),
  /// kUnsupported (the fields differ; keys of the two could not be told apart, as where other
  /// numbers of bytes lead them; the row keys are bytes: copy the rows to another table); as
  /// CreateIndex.
  Status ChangeRowKey(std::string_view table, std::string_view declaration);
  /// The row keys that rows of the table have at options.snapshot, or now: so a program that also
  /// calls ChangeRowKey asks at the snapshot that it reads. Errors: kNotFound (table),
  /// kInvalidArgument (its row keys are bytes).
  Result<RowKeyEpochs> RowKeysOf(const ReadOptions& options, std::string_view table);
  /// The key under which to write to the row of these fields now, before another ChangeRowKey:
  /// what is written later under it is a row of its own until RewriteKeys joins the two, and what
  /// was incremented in both is then what one of them has. If the row has a former key, it
  /// is moved to the newest first, as by RewriteKeys, so what is written comes to the cells that it
  /// has; that no read sees. Reads a row for each former row key. Errors: those of RowKeysOf and
  /// RowKeySchema::Encode; kOverBudget (the row has more than kWholeRowBytesMax); those of Write.
  Result<std::string> KeyForWrite(const WriteOptions& options, std::string_view table,
                                  std::span<const RowKeyField> fields);
  /// Moves all rows that have a former key to the newest, and takes the former row keys away if
  /// none is left. A row moves by one batch, with all versions and their timestamps, so every read
  /// sees it once; observers see puts and a delete. Readers and writers go on. What was moved stays
  /// so if the call ends early, and the next one reads past it. Does nothing for a table without
  /// former row keys. Errors: kNotFound (table), kOverBudget (a row has more than
  /// kWholeRowBytesMax), kCancelled; those of Scan and Write.
  Result<RewriteKeysReport> RewriteKeys(std::string_view table,
                                        const RewriteKeysOptions& options = {});
  /// Copies a table to the new table `to`, whose row keys are made of the same fields in another
  /// way, while readers and writers go on: its rows at a snapshot by a bulk load, then those that
  /// were written meanwhile, in passes, of which the last one begins when all is copied but what
  /// takes less than `wait_micros_max`; writers that outrun them are slowed. In that one writes of
  /// the table wait; then `switch_over` is called, and they return kConflict and have written
  /// nothing: a write of the same fields goes to the copy now. The copy has all versions with their
  /// timestamps, and the table's families and indexes; no observers. It is compared with the table
  /// by rows, cells and a digest, and durable before `switch_over` is called. After that writes of
  /// the table return kConflict until the database is closed, so that none is lost there; its rows
  /// stay until it is dropped or truncated. If the call fails, or no `switch_over` is given, it
  /// takes writes again. If the call fails, the copy is dropped; a crash leaves it, to be dropped.
  /// Errors: kNotFound (table), kAlreadyExists (`to`; two rows have one value of a unique index),
  /// kInvalidArgument (a declaration, with the position; the fields differ; a key that is not made
  /// of these fields), kBusy (64 passes did not catch up), kConflict (the table was dropped,
  /// truncated, renamed, or got other families or row keys meanwhile), kOverBudget (a row that was
  /// written meanwhile has more than kWholeRowBytesMax), kCancelled, that of `switch_over`; those
  /// of Scan, Write, BeginBulkLoad and EnforceUnique.
  Result<CopyTableReport> CopyTable(std::string_view from, const std::string& to,
                                    const CopyTableOptions& options);
  /// Adds a family to a table, durably. Errors: kNotFound (table), kAlreadyExists, kInvalidArgument
  /// (name, ranges, limits; a table has at most 255 families in its life, with those that were
  /// dropped); as CreateIndex.
  Status AddFamily(std::string_view table, const FamilyOptions& family);
  /// Changes the family of that name, durably. Compression and block size are those of files that
  /// are written from now on. Fewer versions or a shorter time to live hide cells from all reads
  /// that begin later, and merges leave them out; open cursors and snapshots, and reads at these,
  /// go on with what they had. More versions or a longer time to live hold for cells that are
  /// visible now and for later ones, and bring nothing back: what a read shows never depends on
  /// when merges ran. Another number of versions and a longer time to live flush the table, while
  /// writers wait for the last part of it. Errors: kNotFound (table, family), kInvalidArgument
  /// (ranges), kUnsupported (the family has kFormerLimitsMax former limits: Compact the table, then
  /// alter it); as CreateIndex and Flush, but after kIoError nothing commits until the change is
  /// known not to be on disk.
  Status AlterFamily(std::string_view table, const FamilyOptions& family);
  /// Drops a family with its cells, durably. Reads that begin later do not see them, rows that had
  /// no others do not exist, and merges leave them out; open cursors and snapshots, and reads at
  /// these, go on with what they had. A family of this name that is added later begins empty. Where
  /// it was the first, an empty name means the next one. Errors: kNotFound (table, family),
  /// kInvalidArgument (an index is over one of its columns; it is the last family); as AlterFamily.
  Status DropFamily(std::string_view table, std::string_view family);
  /// Sets the observers of a table (tandem/observer.h), in the order in which they are called,
  /// durably; none: it is not observed. Each batch that commits after that was seen by exactly
  /// these. Names that are not in Options::observers are taken, and writes are then refused.
  /// Errors: kNotFound (table), kInvalidArgument (a name that is invalid or repeated; more than
  /// kObserversMax); as CreateIndex.
  Status SetObservers(std::string_view table, std::span<const std::string> observers);
  /// Applies the whole batch or nothing, atomically. Returns when the batch has reached its
  /// durability; every later read sees it. May wait for flushes and merges (see
  /// WriteOptions::no_wait).
  /// Errors: kNotFound (table, family), kInvalidArgument (key, qualifier, value or batch out of
  /// limits; a value that does not fit its index's type: row, column and index are named),
  /// kAlreadyExists (a unique index: index, value and the row that has it are named), kBusy (only
  /// with no_wait), kReadOnly, kNoSpace (may be repeated), kIoError. After kIoError and
  /// kReadOnly the batch may or may not survive; the next Open shows which. On a table with
  /// observers also what these return, kConflict (a row that they read was changed meanwhile: the
  /// write may be repeated) and kUnsupported (one is not registered). Of a table with an index over
  /// a function that is not registered with its version: kUnsupported.
  Status Write(const WriteOptions& options, const WriteBatch& batch);

  /// Adds `delta` to a column and returns the sum. Of calls that change a row at the same time each
  /// sees what those before it wrote, so no increment is lost, and they share syncs. An absent or
  /// expired column counts as 0; an empty family is the table's first. Integers are decimal text,
  /// or eight bytes (EncodeInt64Be) where the column's type (ColumnOptions) is kInt64Be, kUint64Be
  /// or kTimestampBe. The new version replaces the newest: if that one's timestamp is
  /// later than the engine's, it is kept. Durability::kMemory is as kBuffered.
  /// Errors (nothing is changed then): kInvalidArgument (the stored value is not such an integer;
  /// the sum is out of the range of int64, or does not fit an index), kCorruption; those of Write.
  Result<int64_t> Increment(const WriteOptions& options, std::string_view table,
                            std::string_view row, std::string_view family,
                            std::string_view qualifier, int64_t delta = 1);
  /// The same for several columns of one row and family, atomically; qualifiers must differ.
  /// Returns the sums in the order of `columns`.
  Result<std::vector<int64_t>> IncrementColumns(const WriteOptions& options, std::string_view table,
                                                std::string_view row, std::string_view family,
                                                std::span<const ColumnDelta> columns);
  /// Appends to the value of a column and returns the new value. As Increment, but an absent column
  /// counts as an empty value. Errors: kInvalidArgument (the value becomes too long); those of
  /// Increment.
  Result<std::string> Append(const WriteOptions& options, std::string_view table,
                             std::string_view row, std::string_view family,
                             std::string_view qualifier, std::string_view value);
  /// The same for several columns, as IncrementColumns.
  Result<std::vector<std::string>> AppendColumns(const WriteOptions& options,
                                                 std::string_view table, std::string_view row,
                                                 std::string_view family,
                                                 std::span<const ColumnValue> columns);
  /// Applies the batch if the row satisfies the predicate, and returns whether it did. Nothing
  /// changes the row between the check and the batch, which may write to any rows and tables. A row
  /// that does not exist has no columns: `lock IS NULL` is true of it. Durability::kMemory is as
  /// kBuffered.
  /// Errors: kInvalidArgument (as Write and Query), kCorruption (a stored value does not fit the
  /// type of its column); those of Write.
  Result<bool> CheckAndMutate(const WriteOptions& options, std::string_view table,
                              std::string_view row, const Predicate& condition,
                              const WriteBatch& batch);

  /// Reads a row, which owns its bytes. nullopt: no such row, or none of the requested columns.
  /// Errors: kNotFound (table, family), kInvalidArgument (versions is 0; the snapshot belongs
  /// to another database), kOverBudget (a row above kWholeRowBytesMax), kCorruption, kIoError.
  Result<std::optional<Row>> Get(const ReadOptions& options, std::string_view table,
                                 std::string_view row);
  /// The same without copying the row: `*pinned` holds it until it is used again. Returns whether
  /// there is such a row; if not, and after an error, `*pinned` holds none. Errors: as Get.
  Result<bool> GetPinned(const ReadOptions& options, std::string_view table, std::string_view row,
                         PinnedRow* pinned);
  /// Reads many rows as of one point in time. The result has a place for each key, in the order of
  /// `rows`, which may repeat keys: what Get returns for it. Faster than as many calls of Get: keys
  /// are looked up in order and in batches, and each block is read once, the next ones in flight.
  /// Errors: as Get, for all rows together; kCancelled.
  Result<std::vector<std::optional<Row>>> MultiGet(const ReadOptions& options,
                                                   std::string_view table,
                                                   std::span<const std::string_view> rows);
  /// Iterates over a range of keys, or over several, in byte order. Errors: as Get;
  /// kInvalidArgument (a token of something else), kOverBudget (ReadOptions::budget); read errors,
  /// and kCancelled (see ReadOptions::cancelled), come from the cursor.
  Result<Cursor> Scan(const ReadOptions& options, std::string_view table, const ScanOptions& scan);
  /// Iterates over the rows that satisfy the predicate: exactly those of a full scan at the same
  /// point in time, in key order unless QueryOptions::order_by says otherwise. Errors: as Scan;
  /// also kNotFound (an index, a family of the predicate), kInvalidArgument (a value that the
  /// column's type does not allow; an index that cannot serve the predicate; QueryOptions::no_scan;
  /// a token of something else), kOverBudget (ReadOptions::budget), kCancelled.
  Result<Cursor> Query(const ReadOptions& options, std::string_view table,
                       const Predicate& predicate, const QueryOptions& query = {});
  /// Counts the rows that Query would return, mostly without reading them. Errors: as Query and its
  /// cursor.
  Result<uint64_t> Count(const ReadOptions& options, std::string_view table,
                         const Predicate& predicate, const QueryOptions& query = {});
  /// Plans and runs the query and returns how it was answered. Errors: as Count.
  Result<Explanation> Explain(const ReadOptions& options, std::string_view table,
                              const Predicate& predicate, const QueryOptions& query = {});
  /// Prepares a query whose predicate may have parameters: `?` in its text, or Parameter. The table
  /// may change as it likes: a query that was prepared reads it as it is when it is run.
  /// Errors: kNotFound (table, index, a family of the predicate), kInvalidArgument (a value that
  /// the column's type does not allow; more than kParametersMax parameters).
  Result<PreparedQuery> Prepare(std::string_view table, const Predicate& predicate,
                                const QueryOptions& query = {});
  /// Runs a prepared query with the values that are bound now: the same as running it unprepared
  /// with these in the place of its parameters. Binding others, and destroying the query, does not
  /// change a cursor. Errors: as without preparation; also kInvalidArgument (a parameter without a
  /// value: its number), kNotFound (the table is gone).
  Result<Cursor> Query(const ReadOptions& options, PreparedQuery* query);
  Result<uint64_t> Count(const ReadOptions& options, PreparedQuery* query);
  Result<Explanation> Explain(const ReadOptions& options, PreparedQuery* query);
  /// Groups the rows that Query would return, and computes values of each group: exactly those of a
  /// full scan at the same point in time. Where the entries of an index decide, groups are counted
  /// by them and no row is read. Otherwise groups come in order by an index over their columns,
  /// where it is asked for or there is a limit, or are collected in memory. A sum of integers is
  /// exact; one of doubles depends on the order of its rows in the last digits. `columns`,
  /// `families` and `versions` of the options do not matter.
  /// Errors: as Query; kInvalidArgument (a column that cannot be grouped by or summed); the others
  /// come from the cursor.
  Result<GroupCursor> Aggregate(const ReadOptions& options, std::string_view table,
                                const Predicate& predicate, const AggregateOptions& aggregate);
  /// Runs the same, and explains how its rows were found and its groups made. Errors: as Aggregate
  /// and its cursor.
  Result<Explanation> ExplainAggregate(const ReadOptions& options, std::string_view table,
                                       const Predicate& predicate,
                                       const AggregateOptions& aggregate);
  /// The values that a column of a row has had, by rising timestamp: each from its timestamp until
  /// that of the next one. It is what Get returns with ReadOptions::as_of in that time, and as
  /// there deleted versions, expired ones and those beyond the family's limit do not come back: the
  /// value before one of those lasts until the next that is kept. `since` and `as_of` bound the
  /// timestamps; `columns`, `families`, `versions` and `pieces` do not matter.
  /// `column`: without a family, in the table's first. Empty if the row has none. Errors: as Scan
  /// and its cursor.
  Result<std::vector<HistoryValue>> History(const ReadOptions& options, std::string_view table,
                                            std::string_view row, const ColumnName& column);
  /// Cuts the table's keys into ranges, at most `parts`, for scans that run side by side: in key
  /// order, without gaps, the first from the first key and the last to the last one. A scan of each
  /// reads about as many bytes, of the columns and families in `options`, as far as the blocks of
  /// files and the rows of memstores tell. Reads indexes of blocks alone; there are fewer ranges
  /// where there are few blocks. Take a snapshot, and scan all ranges at it, to read one state.
  /// Errors: as Scan; kInvalidArgument (parts is 0 or more than kSplitPartsMax).
  Result<std::vector<RowRange>> SplitScan(const ReadOptions& options, std::string_view table,
                                          uint32_t parts);
  /// Takes a snapshot of the current state.
  Result<Snapshot> TakeSnapshot();
  /// Creates a snapshot with a name, durably: the state of these tables, or of all if none is
  /// named, that any later process can read. It keeps the files that the tables have now,
  /// whatever becomes of them: drops, truncations, splits and merges go on as ever. So it costs
  /// nothing at first, and in the end what the files had. Memstores are flushed first, as by Flush,
  /// then writers wait for a short flush and one change of the catalog. Copies of the database have
  /// its snapshots. Errors: kAlreadyExists, kInvalidArgument (name; kNamedSnapshotsMax),
  /// kUnsupported (with its regions the catalog would grow too large), kNotFound (table),
  /// kReadOnly, kIoError, kNoSpace: it is not there, and a crash before the next change of a table
  /// may show it.
  Status CreateSnapshot(const std::string& name, const std::vector<std::string>& tables = {});
  /// Opens a snapshot that has a name, for ReadOptions::snapshot. Its tables have the names and the
  /// definitions that they had when it was created; others are not found. Cells expire by the time
  /// of its creation. Files are opened when they are first read. Errors: kNotFound.
  Result<Snapshot> OpenSnapshot(std::string_view name);
  /// Drops a snapshot that has a name, durably, with the files that nothing else has. Where it is
  /// open, also in a cursor, they stay until it no longer is. Errors: kNotFound, kReadOnly,
  /// kIoError, kNoSpace: it is still there, and a crash before the next change of a table may show
  /// it dropped.
  Status DropSnapshot(std::string_view name);
  /// The snapshots that have names, by name.
  Result<std::vector<NamedSnapshotInfo>> ListSnapshots();
  /// Creates a sequence of ids (tandem/sequence.h), durably. Errors: kAlreadyExists,
  /// kInvalidArgument (name, `first` above `last`, `last` above kSequenceIdMax; the database has
  /// kSequencesMax), kReadOnly, kIoError, kNoSpace: it is not there, and a crash before the next
  /// change of a table may show it.
  Status CreateSequence(const SequenceOptions& options);
  /// Drops a sequence, durably. One of the same name that is created later begins anew, so ids come
  /// again. Errors: kNotFound, kReadOnly, kIoError, kNoSpace.
  Status DropSequence(std::string_view name);
  /// The sequences, by name.
  Result<std::vector<SequenceInfo>> ListSequences();
  /// Takes the next `count` ids, which follow one another, and returns the first. Where they are
  /// reserved already it writes nothing; else it waits for a change of the catalog, and so do calls
  /// on the sequence meanwhile. Errors (no id is taken, but some may be lost): kNotFound,
  /// kInvalidArgument (`count` is 0; fewer ids are left: how many), kReadOnly, kIoError, kNoSpace.
  Result<uint64_t> NextIds(std::string_view sequence, uint64_t count = 1);
  /// Begins a bulk load of the table (tandem/bulk_load.h). Errors: kNotFound, kInvalidArgument (the
  /// table has observers, or a unique index that refuses duplicates: write its rows in batches; it
  /// has former row keys: RewriteKeys first), kReadOnly.
  Result<BulkLoad> BeginBulkLoad(std::string_view table, const BulkLoadOptions& options = {});
  /// Begins a transaction at the current state (tandem/transaction.h).
  Result<Transaction> Begin(const TransactionOptions& options = {});
  /// Runs `body` in a transaction and commits it. On kConflict, of the body or the commit, it waits
  /// for a short random time and runs both again in a new transaction, so `body` must have no other
  /// effects. Rolls back and returns if `body` returns another error. Errors: kConflict (after
  /// TransactOptions::attempts_max attempts), those of `body`, Begin and Commit.
  Status Transact(const std::function<Status(Transaction&)>& body,
                  const TransactOptions& options = {});

  /// Writes the table's memstores to files and waits until they are durable. An empty name: all
  /// tables. Errors: kNotFound, kReadOnly, kNoSpace (the flush is retried in the background).
  Status Flush(std::string_view table = {});
  /// Flushes, then merges all files of each region of the table into one run, in several steps if
  /// there are more than 16 runs, and waits. An empty name: all tables. Errors: as Flush;
  /// kCancelled (Close); kNoSpace before a step that the disk has no room for: how many bytes have
  /// to be free, and are. The inputs of a failed step are unchanged.
  Status Compact(std::string_view table);
  /// What Compact would do, and what is due in the background, region by region. An empty name: all
  /// tables. Changes nothing. Errors: kNotFound.
  Result<std::vector<CompactionPlan>> PlanCompaction(std::string_view table = {});
  /// Splits a region of the table in two. Writes no row and no index entry: the halves share the
  /// region's files, each with the rows on its side, until merges rewrite them. The region is
  /// flushed first; readers, snapshots and writers go on. Errors: kNotFound (table, region id),
  /// kInvalidArgument (the key is not in that region, begins a region already, or is too long; the
  /// region has fewer than two rows; the table has kRegionsMax regions), kReadOnly, those of Flush.
  Result<SplitResult> Split(std::string_view table, const SplitOptions& options = {});
  /// Makes two neighbouring regions of the table one. Writes no row and no index entry: the region
  /// takes over their files, and a split that no merge of files followed is undone. Where one of
  /// the two has rewritten files that both shared, or they share some in too many runs, both are
  /// compacted first. They are flushed first; readers, snapshots and writers go on. Errors:
  /// kNotFound (table, region id), kInvalidArgument (the table has one region; the region is the
  /// last one; the key is not in that region; together they pass Options::region_bytes_max and
  /// would be split again), kReadOnly, those of Flush and Compact.
  Result<RegionMergeResult> MergeRegions(std::string_view table,
                                         const RegionMergeOptions& options = {});
  /// Checks every file of the database against its checksums and the catalog. With `deep` it also
  /// checks that each index equals its rows, both ways, and that forward, reverse and point reads
  /// of the tables agree. Files that only a named snapshot has are checked as those of tables are;
  /// how the snapshot reads is not. Damage is a finding, not an error. Threads: readers and writers
  /// may run meanwhile.
  Result<VerifyReport> Verify(bool deep);
  /// Checks one index as Verify with `deep` does: in each file its entries against the rows, both
  /// ways, and its digests; queries by it against a scan. Errors: kNotFound (table, index).
  Result<VerifyReport> VerifyIndex(std::string_view table, std::string_view index);
  /// Which indexes would help these queries, the best first: their size and the blocks that each
  /// query would not read, computed from the rows of the table without building them
  /// (tandem/advice.h). Each query is run once. Errors: kNotFound (table, a family),
  /// kInvalidArgument (no query, too many, or one that Query would refuse: "query N: ...", from 1),
  /// kCancelled, kCorruption, kIoError. Threads: readers and writers may run meanwhile.
  Result<IndexAdvice> AdviseIndexes(std::string_view table,
                                    const std::vector<AdvisedQuery>& queries,
                                    const AdviseOptions& options);
  /// Measures one index. Reads all of it, in files alone, and some thousand rows. `cancelled`: as
  /// ReadOptions::cancelled. Errors: kNotFound (table, index), kCancelled, kCorruption, kIoError.
  /// Threads: readers and writers may run meanwhile.
  Result<IndexStatistics> GetIndexStatistics(std::string_view table, std::string_view index,
                                             const std::atomic<bool>* cancelled = nullptr);

  /// Copies the database, as of one point in time, to the new directory `path`. The copy has every
  /// write that was acknowledged before the call. Store files are hard links where the file system
  /// allows it and copies otherwise; the two databases are independent from then on. Memstores are
  /// flushed first; the copy of a read-only database is as of its Open. Writers wait briefly (for a
  /// switch of the log), and deleted files stay on disk until the call returns. The copy has the
  /// same database id, so checks cannot tell the two apart. On failure the copy is removed; a crash
  /// leaves a directory that does not open. Errors: those of Flush; kAlreadyExists (names what to
  /// remove if it is an unfinished copy), kInvalidArgument (`path` is inside the database's
  /// directory), kNotFound (no parent), kCorruption, kNoSpace. Threads: readers and writers may run
  /// meanwhile.
  Status Checkpoint(const std::string& path);
  /// Adds a backup to the directory `directory`, which is created if needed. Copies only files that
  /// no backup there has yet, and checks each against the catalog's hash. The backup is taken at
  /// one point in time, as for Checkpoint. Errors: those of Flush; kBusy (another process uses the
  /// directory), kInvalidArgument (it is inside the database's directory, or holds something else),
  /// kCorruption naming a file of the database, kNoSpace (nothing is left behind), kIoError.
  Result<BackupInfo> Backup(const std::string& directory);

  /// Writes the table, as of one point in time, to the new directory `path`: a database that holds
  /// this table alone, with its definition, regions and indexes, and of its rows what a read sees,
  /// with all versions and timestamps. No observer is asked. It can be opened, and attached
  /// elsewhere. On failure it is removed; after a crash it cannot be attached. Close is refused
  /// meanwhile. Errors: kNotFound (table, parent), kInvalidArgument (`path` is inside the
  /// database's directory; the snapshot belongs to another database), kAlreadyExists, kCancelled,
  /// kCorruption, kIoError, kNoSpace. Threads: readers and writers may run meanwhile.
  Result<TableCopy> ExportFiles(std::string_view table, const std::string& path,
                                const ExportFilesOptions& options = {});
  /// Adds the rows of an export, which may be of another table or database, to the table: all at
  /// once, durably, as if they were written now, with the timestamps that they have. Families are
  /// matched by name; this table's versions, times to live and compression apply, and its indexes
  /// are made for the rows. Every byte is verified first. Nothing refers to `path` afterwards. If
  /// it is attached twice, the second time changes nothing that a read sees. Errors (nothing was
  /// changed, but after kIoError a crash may show the rows): kNotFound (table, `path`),
  /// kInvalidArgument (`path` is no export, or not complete; a family that the table lacks, a
  /// column of another type, a value that does not fit an index; the table has observers, or one of
  /// the two has former row keys), kCorruption naming file and offset, kUnsupported, kCancelled,
  /// kReadOnly, kNoSpace, kIoError.
  /// Threads: readers and writers may run meanwhile; these wait while memstores are flushed and the
  /// ends of files are written.
  Result<TableCopy> Attach(std::string_view table, const std::string& path,
                           const AttachOptions& options = {});
  /// Adds a table of another database, with its definition, regions, indexes and latest rows, under
  /// its name or another one. `path`: a database's directory, such as a checkpoint, or a directory
  /// of backups. All at once and durably, and every byte is verified first. What was deleted or
  /// superseded there is left behind. Errors: kAlreadyExists (a table of that name: drop or rename
  /// it first), kNotFound (`path`, backup, table), kInvalidArgument (the name; a number with a
  /// database); otherwise as Attach. Threads: as Attach.
  Result<TableCopy> RestoreTable(const std::string& path, std::string_view table,
                                 const RestoreTableOptions& options = {});

  /// Describes tables, regions, files and indexes. Reads index directories that are not in memory
  /// yet. After Close only path, backend and budget are set. Errors: kOutOfMemory.
  Result<DatabaseInfo> Info();
  /// Explains every byte of the directory: `parts` add up to the sizes of all files in it. Space
  /// that the file system reserves beyond the end of a file does not count. Threads: writers may
  /// run meanwhile; the sizes are those of one listing. Errors: kNotFound (table), kCancelled.
  Result<SpaceUsage> GetSpaceUsage(const SpaceOptions& options = {});
  /// Returns counters and sizes. Reads no file and allocates nothing. After Close the counters
  /// stay.
  Statistics GetStatistics();

 private:
  explicit Database(std::unique_ptr<engine::Engine> engine);
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace tandem

#pragma GCC visibility pop
