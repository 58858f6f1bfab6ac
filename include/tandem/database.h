// The database: tables of rows with secondary indexes in one directory.
//
// Threads: a Database may be used from any thread; a Cursor, WriteBatch or Snapshot by one at a
// time. Nothing is printed, no signal is handled, no static state is kept. No exception leaves a
// call: std::bad_alloc becomes kOutOfMemory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/options.h"
#include "tandem/predicate.h"
#include "tandem/row.h"
#include "tandem/schema.h"
#include "tandem/status.h"
#include "tandem/write_batch.h"

namespace tandem::engine {
class Engine;
class RowSource;
struct SnapshotState;
}  // namespace tandem::engine

#pragma GCC visibility push(default)

namespace tandem {

/// A moment of the whole database: reads through it see no later write. Move-only; releasing it
/// lets compaction drop what only it needed.
class Snapshot {
 public:
  explicit Snapshot(std::shared_ptr<engine::SnapshotState> state);
  Snapshot(Snapshot&&) noexcept;
  Snapshot& operator=(Snapshot&&) noexcept;
  ~Snapshot();
  uint64_t sequence() const;
  const engine::SnapshotState& state() const { return *state_; }

 private:
  std::shared_ptr<engine::SnapshotState> state_;
};

/// Rows one after the other, of one moment, whatever is written, flushed or compacted meanwhile.
///   while (cursor.Next()) Use(cursor.row());
///   if (!cursor.status().ok()) ...
class Cursor {
 public:
  explicit Cursor(std::unique_ptr<engine::RowSource> source);
  Cursor(Cursor&&) noexcept;
  Cursor& operator=(Cursor&&) noexcept;
  ~Cursor();

  /// Moves to the next row; false at the end or on an error (see status()).
  bool Next();
  /// Requires: the last Next() returned true. Lifetime: until the next call of Next().
  const RowView& row() const { return row_; }
  /// OK at the normal end. Errors: kCorruption, kIoError, kClosed.
  const Status& status() const { return status_; }

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
  uint64_t entries = 0;               ///< Index entries in the range (exact).
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

struct IndexInfo {
  IndexOptions options;
  uint64_t entries = 0;  ///< In files: postings, current and older.
  uint64_t values = 0;   ///< Distinct values, summed over files.
  uint64_t size_bytes = 0;
};
struct FileInfo {
  uint64_t number = 0;
  uint64_t size_bytes = 0;
  uint64_t rows = 0, cells = 0, deletes = 0;
  uint64_t min_sequence = 0, max_sequence = 0;
  std::string min_key, max_key;
  uint64_t data_bytes = 0, index_bytes = 0;
};
struct RegionInfo {
  uint64_t id = 0;
  std::string start_key, end_key;
  std::vector<FileInfo> files;  ///< Oldest first.
  uint64_t memstore_rows = 0, memstore_bytes = 0;
  uint64_t memstores = 0;
};
struct TableInfo {
  TableOptions options;
  std::vector<RegionInfo> regions;
  std::vector<IndexInfo> indexes;
};
/// Memory in use, by what it is for.
struct MemoryInfo {
  uint64_t block_cache_bytes = 0;
  uint64_t memstore_bytes = 0;  ///< Rows and their filters, also where only a reader needs them.
  uint64_t append_buffer_bytes = 0;  ///< Index entries of memstores.
  uint64_t block_index_bytes = 0;
  uint64_t key_hash_bytes = 0;
  uint64_t filter_bytes = 0;
  uint64_t bitmap_bytes = 0;
  uint64_t dictionary_bytes = 0;
  uint64_t index_directory_bytes = 0;
  uint64_t read_buffer_bytes = 0;
  uint64_t overlap_bytes = 0;  ///< Bitmaps over the rows that files share.
};
struct DatabaseInfo {
  std::string path;
  std::string io_backend;
  bool read_only = false;
  std::string read_only_reason;
  uint64_t last_sequence = 0;
  uint64_t log_bytes = 0, log_segments = 0;
  uint64_t cache_bytes = 0, memstore_bytes = 0, memory_budget_bytes = 0;
  MemoryInfo memory;
  uint64_t recovered_operations = 0, torn_bytes = 0;
  std::vector<TableInfo> tables;
};

/// What Verify found. `findings` is empty when all is well.
struct VerifyReport {
  uint64_t files = 0, rows = 0, cells = 0, index_entries = 0, bytes = 0;
  std::vector<std::string> findings;
};

class Database {
 public:
  /// Opens the database in the directory `path`; nothing else has to be known. Errors: kNotFound
  /// (no database there and create_if_missing is off; nothing is created), kBusy (another process
  /// has it open for writing: its pid), kCorruption, kUnsupported, kInvalidArgument (an option out
  /// of range), kIoError.
  static Result<std::unique_ptr<Database>> Open(const std::string& path,
                                                const Options& options = {});
  /// Closes as Close() does; errors are lost.
  ~Database();
  /// Flushes every memstore, seals the log and closes. Errors: kBusy when cursors or snapshots are
  /// still open (the message counts them; nothing is closed), kIoError, kNoSpace.
  Status Close();

  /// One edit of the catalog: the table with a region for each range between split keys. Errors:
  /// kAlreadyExists, kInvalidArgument (names, limits, types, split keys), kReadOnly, kIoError,
  /// kNoSpace.
  Status CreateTable(const TableOptions& options);
  /// Applies the whole batch or nothing. Errors: kNotFound (table, family), kInvalidArgument (key,
  /// qualifier or value out of limits; a value that does not fit its index's type: row, column and
  /// type are named), kBusy (only with no_wait), kReadOnly, kNoSpace, kIoError, kUnsupported.
  Status Write(const WriteOptions& options, const WriteBatch& batch);

  /// nullopt: no such row. Errors: kNotFound (table, family), kCorruption, kIoError.
  Result<std::optional<Row>> Get(const ReadOptions& options, std::string_view table,
                                 std::string_view row);
  Result<Cursor> Scan(const ReadOptions& options, std::string_view table, const ScanOptions& scan);
  /// Rows that satisfy the predicate: exactly those of a full scan of the same moment.
  Result<Cursor> Query(const ReadOptions& options, std::string_view table,
                       const Predicate& predicate, const QueryOptions& query = {});
  Result<uint64_t> Count(const ReadOptions& options, std::string_view table,
                         const Predicate& predicate, const QueryOptions& query = {});
  /// Plans and runs the query, returns how instead of what.
  Result<Explanation> Explain(const ReadOptions& options, std::string_view table,
                              const Predicate& predicate, const QueryOptions& query = {});
  Result<Snapshot> TakeSnapshot();

  /// Writes the table's memstores to files and waits for it. An empty name: all tables.
  Status Flush(std::string_view table = {});
  /// Flushes, then merges all files of each region of the table into one, and waits.
  Status Compact(std::string_view table);
  /// Checks every file of the database against its checksums and the catalog; with `deep` also that
  /// each index equals its rows, both ways, and that forward, reverse and point reads agree.
  Result<VerifyReport> Verify(bool deep);

  DatabaseInfo Info();

 private:
  explicit Database(std::unique_ptr<engine::Engine> engine);
  std::unique_ptr<engine::Engine> engine_;
};

}  // namespace tandem

#pragma GCC visibility pop
