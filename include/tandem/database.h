// The database: tables of rows with secondary indexes in one directory.
//
// Threads: a Database may be used from any thread, by many at a time; a Cursor, WriteBatch or
// Snapshot by one at a time (many readers may share one Snapshot through ReadOptions::snapshot).
// Threads of the engine run in the background from Open until Close or destruction. Several
// databases may be open in one process. Nothing is printed, no signal is handled, no state is kept
// outside the objects: what there is to tell goes to Options::log, Options::listener and
// GetStatistics.
//
// Errors: no exception leaves a call of Database or Cursor: a failed allocation is kOutOfMemory.
// Values that the caller owns (Row, Predicate, WriteBatch, options) throw std::bad_alloc as a
// std::string does, and are then as before. Beside what a call names, every call may answer kClosed
// (after Close) and kOutOfMemory; calls that read files kCorruption (file and offset are named) and
// kIoError; calls that write kReadOnly, kIoError and kNoSpace. After a failed sync, or a failed
// write that leaves open what is on disk, the database turns read-only until it is opened again.
//
// Fork: a child has none of its parent's databases. Every call there answers kBusy at once, a
// cursor ends with it, GetStatistics is all 0; destroying a Database, Cursor or Snapshot returns at
// once and lets nothing go, so the parent goes on as if it had no child. The child may open
// databases of its own. It keeps the descriptors until it ends or calls exec, and with them the
// lock of a parent that died without closing. A child that is forked inside a callback of the
// engine must end or call exec there.
//
// Lifetime: arguments are copied where they are needed later; they may go when the call returns.
// Cursors and snapshots may outlive their Database: a cursor then answers kClosed, a snapshot is of
// no use. A moved-from Cursor or Snapshot may only be assigned to or destroyed.
//
// Units: sizes are bytes, times are microseconds; timestamps count from 1970-01-01 UTC unless the
// writer gives them a meaning of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/row.h"
#include "tandem/schema.h"
#include "tandem/statistics.h"
#include "tandem/status.h"
#include "tandem/verify.h"
#include "tandem/write_batch.h"

namespace tandem::engine {
class Engine;
class RowSource;
struct SnapshotState;
}  // namespace tandem::engine

#pragma GCC visibility push(default)

namespace tandem {

/// A moment of the whole database: reads through it see no later write, and no cell in it vanishes
/// by its age. Move-only; destroying it lets compaction drop what only it needed, so one that is
/// kept for long costs space on disk.
class Snapshot {
 public:
  /// For the engine.
  explicit Snapshot(std::unique_ptr<engine::SnapshotState> state);
  Snapshot(Snapshot&&) noexcept;
  Snapshot& operator=(Snapshot&&) noexcept;
  ~Snapshot();
  /// The last operation that it sees; operations are numbered from 1 in the order of commits.
  uint64_t sequence() const;
  /// For the engine.
  const engine::SnapshotState& state() const { return *state_; }

 private:
  std::unique_ptr<engine::SnapshotState> state_;
};

/// Rows one after the other, of one moment, whatever is written, flushed or compacted meanwhile.
///   while (cursor.Next()) Use(cursor.row());
///   if (!cursor.status().ok()) ...
/// Move-only. While it is open, the files that it reads stay on disk, and Close is refused. It does
/// not need the Snapshot that it was opened with any more.
class Cursor {
 public:
  /// For the engine.
  explicit Cursor(std::unique_ptr<engine::RowSource> source);
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  /// Moves to the next row; false at the end or on an error (see status()), and ever after.
  bool Next();
  /// Requires: the last Next() returned true. Lifetime: until the next call of Next(), or until the
  /// cursor is moved from or destroyed, or the Database is destroyed.
  const RowView& row() const { return row_; }
  /// OK before and at the normal end. Errors: kCorruption, kIoError, kOutOfMemory, kOverBudget (a
  /// row above kWholeRowBytesMax without ReadOptions::pieces), kClosed (the database is gone).
  const Status& status() const { return status_; }

  /// One pass over the rows that are left. It ends at an error, too: status() tells.
  ///   for (const tandem::RowView& row : cursor) Use(row);
  class Iterator {
   public:
    using value_type = RowView;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    explicit Iterator(Cursor* cursor) : cursor_(cursor) { ++*this; }
    /// Lifetime: as row().
    const RowView& operator*() const { return cursor_->row_; }
    Iterator& operator++() {
      at_end_ = !cursor_->Next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return at_end_; }

   private:
    Cursor* cursor_;
    bool at_end_ = false;
  };
  /// Moves to the next row. Requires: called once.
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::unique_ptr<engine::RowSource> source_;
  RowView row_;
  Status status_;
};

/// How a query is answered. Figures are over all regions of the table.
struct Explanation {
  std::string index;                  ///< Empty: a scan.
  std::string reason;                 ///< Why this way.
  std::vector<std::string> rejected;  ///< "index NAME: why not", one an index.
  uint64_t entries = 0;               ///< Index entries in the range (exact), of all sources.
  uint64_t memstore_entries = 0;      ///< Those of them that are in memstores.
  uint64_t files = 0;
  uint64_t files_scanned = 0;  ///< Without a section of the index.
  uint64_t memstores = 0;
  uint64_t candidate_rows = 0;                 ///< Rows in files that will be looked at.
  uint64_t candidate_blocks = 0;               ///< Data blocks that hold them.
  uint64_t candidate_bytes = 0;                ///< Of those blocks, as stored.
  uint64_t total_blocks = 0, total_bytes = 0;  ///< All data blocks, for comparison.
  /// Rows that several files could hold and that were read from one alone, because bitmaps over the
  /// rows that files share said so, or filters, or a comparison of keys.
  uint64_t settled_by_bitmap = 0, settled_by_filter = 0, settled_by_key = 0;
  uint64_t unsettled_rows = 0;  ///< Decided on all their cells in all sources.
  uint64_t rows = 0;            ///< Rows that match.
};

/// An index over all regions of its table.
struct IndexInfo {
  IndexOptions options;
  uint64_t entries = 0;  ///< In files: postings, current and older.
  uint64_t values = 0;   ///< Distinct values, summed over files.
  uint64_t size_bytes = 0;
};
/// A store file: "store-NUMBER" in the database's directory.
struct FileInfo {
  uint64_t number = 0;
  uint64_t run = 0;  ///< Of its region: files of one run hold disjoint keys and count as one.
  uint64_t size_bytes = 0;
  uint64_t rows = 0, cells = 0, deletes = 0;    ///< Deletes: cells that are delete markers.
  uint64_t min_sequence = 0, max_sequence = 0;  ///< Of the operations in it.
  std::string min_key, max_key;                 ///< Both inclusive.
  uint64_t data_bytes = 0, index_bytes = 0;     ///< Of its sections, as stored.
};
/// A range of a table's keys with its files.
struct RegionInfo {
  uint64_t id = 0;
  std::string start_key;        ///< Inclusive; empty: the first region.
  std::string end_key;          ///< Exclusive; empty: the last region.
  std::vector<FileInfo> files;  ///< Oldest first.
  uint64_t memstore_rows = 0, memstore_bytes = 0;
  uint64_t memstores = 0;  ///< One that takes writes, and those that wait to be flushed.
};
/// A table as it was declared, and what became of it.
struct TableInfo {
  TableOptions options;
  std::vector<RegionInfo> regions;
  std::vector<IndexInfo> indexes;
};
/// What a database makes of the wall clock.
enum class ClockState : uint8_t {
  kRight,
  /// More than a minute behind the database's time, which waits for it.
  kBehind,
  /// Too far ahead to be believed (Options::accept_clock): nothing expires, and writes get the last
  /// timestamp + 1.
  kDoubted,
};

/// The database described: figures of one moment or of moments close to it.
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
  /// Files that no part of the database needs but a reader beside this writer; see
  /// Options::read_only.
  uint64_t held_files = 0;
  std::vector<int64_t> readers;  ///< Process ids of the readers beside it, where the system tells.
  uint64_t recovered_operations = 0;    ///< Read from the log when it was opened.
  uint64_t torn_bytes = 0;              ///< At the log's end, ignored then: never acknowledged.
  uint64_t scrub_bytes_per_second = 0;  ///< 0: the rest of the scrub is 0, too; see Statistics.
  uint64_t scrubbed_bytes = 0, scrub_findings = 0, oldest_unverified_micros = 0;
  ClockState clock_state = ClockState::kRight;
  int64_t clock_micros = 0;  ///< The wall clock, since 1970.
  int64_t time_micros = 0;   ///< The database's time, by which cells expire. It never goes back.
  std::vector<TableInfo> tables;  ///< In the order of their creation.
};

/// A backup (tandem/backup.h).
struct BackupInfo {
  uint64_t number = 0;            ///< From 1, grows with each.
  int64_t created_micros = 0;     ///< Since 1970.
  uint64_t last_sequence = 0;     ///< The last operation in it, as far as its store files tell.
  uint64_t files = 0, bytes = 0;  ///< Store files and log segments.
  uint64_t copied_files = 0, copied_bytes = 0;  ///< Of these, not there before. 0 in a list.
};

/// An open database. Threads: any, many at a time, except for the destructor.
class Database {
 public:
  /// Opens the database in the directory `path`; nothing else has to be known. What the log holds
  /// and files do not is read first. Errors: kNotFound (no database there and create_if_missing is
  /// off; nothing is created), kBusy (another process, or this one, has it open for writing: its
  /// pid; with read_only only when a writer changed the files during each of many attempts),
  /// kCorruption, kUnsupported (a later version wrote it), kInvalidArgument (an option out of
  /// range), kIoError, kNoSpace.
  static Result<std::unique_ptr<Database>> Open(const std::string& path,
                                                const Options& options = {});
  /// Closes as Close() does, also with cursors and snapshots open: those answer kClosed from then
  /// on, and it waits for a Next() that runs. Errors are lost; what was acknowledged is recovered
  /// by the next Open as far as its Durability promises. In a forked child it does nothing.
  /// Requires: no other call is under way.
  ~Database();
  /// Flushes every memstore, seals the log and closes; waits for calls that are under way, and
  /// refuses those that come later with kClosed. Ends merges, but for small ones, which it makes
  /// (4 MiB together), so that many short lives leave few files. Errors: kBusy "1 cursor (of 't')
  /// and 2 snapshots (of sequence 7, 9) are open", and those of Flush: nothing is closed, the
  /// database goes on. kIoError "closed, but not cleanly": it is closed, and the next Open
  /// recovers; so ends every database that has turned read-only.
  Status Close();

  /// One durable edit of the catalog: the table with a region for each range between split keys.
  /// Errors: kAlreadyExists, kInvalidArgument (names, limits, types, split keys: which one),
  /// kReadOnly, kIoError, kNoSpace.
  Status CreateTable(const TableOptions& options);
  /// Applies the whole batch or nothing, as of one moment, and returns when it reached its
  /// durability and every later read sees it. May wait for flushes and merges (see
  /// WriteOptions::no_wait).
  /// Errors: kNotFound (table, family), kInvalidArgument (key, qualifier, value or batch out of
  /// limits; a value that does not fit its index's type: row, column and index are named), kBusy
  /// (only with no_wait), kReadOnly, kNoSpace (may be repeated), kIoError. After kIoError and
  /// kReadOnly it is open whether the batch survives: the next Open tells.
  Status Write(const WriteOptions& options, const WriteBatch& batch);

  /// The row, which owns its bytes; nullopt: no such row, or none of the columns that were asked
  /// for. Errors: kNotFound (table, family), kInvalidArgument (versions is 0; the snapshot belongs
  /// to another database), kOverBudget (a row above kWholeRowBytesMax), kCorruption, kIoError.
  Result<std::optional<Row>> Get(const ReadOptions& options, std::string_view table,
                                 std::string_view row);
  /// The rows of a range of keys, in the order of their bytes. Errors: as Get; those of reading
  /// come from the cursor.
  Result<Cursor> Scan(const ReadOptions& options, std::string_view table, const ScanOptions& scan);
  /// Rows that satisfy the predicate: exactly those of a full scan of the same moment, in key order
  /// unless QueryOptions::order_by says otherwise. Errors: as Scan; also kNotFound (an index, a
  /// family of the predicate), kInvalidArgument (a value that the column's type does not allow; an
  /// index that cannot serve the predicate).
  Result<Cursor> Query(const ReadOptions& options, std::string_view table,
                       const Predicate& predicate, const QueryOptions& query = {});
  /// How many rows Query would return; mostly without reading them. Errors: as Query and its
  /// cursor.
  Result<uint64_t> Count(const ReadOptions& options, std::string_view table,
                         const Predicate& predicate, const QueryOptions& query = {});
  /// Plans and runs the query, returns how instead of what. Errors: as Count.
  Result<Explanation> Explain(const ReadOptions& options, std::string_view table,
                              const Predicate& predicate, const QueryOptions& query = {});
  /// This moment, to read from later.
  Result<Snapshot> TakeSnapshot();

  /// Writes the table's memstores to files and waits for it; all of them are durable then. An empty
  /// name: all tables. Errors: kNotFound, kReadOnly, kNoSpace (it is tried again in the
  /// background).
  Status Flush(std::string_view table = {});
  /// Flushes, then merges all files of each region of the table into one run, and waits: of more
  /// than 16 runs in several steps. An empty name: all tables. Errors: as Flush; kCancelled
  /// (Close); the files of the step that failed stay as they were.
  Status Compact(std::string_view table);
  /// Checks every file of the database against its checksums and the catalog; with `deep` also that
  /// each index equals its rows, both ways, and that forward, reverse and point reads agree. What
  /// is wrong is a finding, not an error. Threads: runs beside readers and writers.
  Result<VerifyReport> Verify(bool deep);

  /// Makes `path`, which must not exist, a database of its own that is this one as of one moment:
  /// every write that was acknowledged before the call is in it. Store files are shared by hard
  /// links where the file system allows it and copied otherwise; neither database disturbs the
  /// other from then on. Memstores are flushed first; of a database that was opened to read only
  /// the copy is as of its opening. Writers wait for a moment (a switch of the log), files that are
  /// deleted meanwhile stay on disk until it returns. It keeps the database's id: checks do not
  /// tell the two apart. Whatever fails, what was made is removed; a crash leaves a directory that
  /// does not open. Errors: those of Flush; kAlreadyExists (what to remove, if it is an unfinished
  /// copy), kInvalidArgument (`path` lies in the database's directory), kNotFound (no parent),
  /// kCorruption, kNoSpace. Threads: runs beside readers and writers.
  Status Checkpoint(const std::string& path);
  /// Adds a backup of this moment to the directory `directory`, which is made where it does not
  /// exist: only files that no backup there has yet are copied, each compared with the catalog's
  /// hash. What is said of Checkpoint's moment holds here. Errors: those of Flush; kBusy (somebody
  /// works on the directory), kInvalidArgument (it lies in the database's directory, or holds
  /// something else), kCorruption naming a file of the database, kNoSpace (nothing is left behind),
  /// kIoError.
  Result<BackupInfo> Backup(const std::string& directory);

  /// Describes tables, regions, files and indexes; reads the directories of indexes that are not in
  /// memory yet. After Close: path, backend and budget alone. Errors: kOutOfMemory alone.
  Result<DatabaseInfo> Info();
  /// Counters and sizes; reads nothing and allocates nothing. After Close the counters stay.
  Statistics GetStatistics();

 private:
  explicit Database(std::unique_ptr<engine::Engine> engine);
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace tandem

#pragma GCC visibility pop
