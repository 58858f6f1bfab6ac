// Options of a database and of single calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/function.h"
#include "tandem/schema.h"

#pragma GCC visibility push(default)

namespace tandem {

class EventListener;
class Observer;
class Snapshot;

enum class IoBackend : uint8_t {
  kAuto,  ///< io_uring where the kernel allows it, otherwise POSIX, with one log line.
  kPosix,
  kUring,  ///< As kAuto, and the log line says that io_uring was asked for.
};

struct Options {
  bool create_if_missing = false;
  /// Writes nothing. Works while another process writes, and on a read-only mount. The reader holds
  /// a shared lock, and the writer keeps every file that the reader may still need until that lock
  /// is released, so a reader that stays open for long keeps merged files on disk
  /// (DatabaseInfo::readers names it). On a file system without such locks, reading a file that was
  /// deleted fails with kIoError once open_files_max has closed it.
  bool read_only = false;
  /// Memory budget in bytes, at least 8 MiB. With rows of usual size an open database uses at most
  /// this and 48 MiB. Memstores get one fifth; the block cache uses what they leave of it. Block
  /// indexes, key hashes, filters, reads, flushes and merges come out of the rest; the block cache
  /// gets what remains, and at least one eighth of the budget. Not included: rows that the caller
  /// holds, rows and values above 64 KiB while they are read or written, and 4 bytes for each row
  /// of a table when these alone exceed the budget. Statistics::memory and Info report the use.
  /// After large frees the engine returns free heap memory to the system.
  uint64_t memory_bytes = 640ull << 20;
  uint32_t background_threads = 2;  ///< 1 to 64.
  /// File descriptors for store files and for the rings that cursors read through; rings use up to
  /// a quarter. A database may have any number of files: the least recently read one is closed and
  /// opened again when it is needed. At least 16; 0 means half of the soft limit (`ulimit -n`) when
  /// the database is opened, and at least 16. About twenty more descriptors are not counted: for
  /// directories, log and manifest, and one for each thread that flushes, compacts or copies. Raise
  /// it on a server with thousands of files; lower it where connections or other databases need the
  /// descriptors.
  uint32_t open_files_max = 0;
  /// A region whose files take more bytes is split in two at its middle row, in the background.
  /// That bounds the largest merge. Neighbours that came of such splits, and that together have
  /// less than a quarter of it left, are merged again. At least 1 MiB; 0: neither happens.
  uint64_t region_bytes_max = 4ull << 30;
  IoBackend io = IoBackend::kAuto;
  /// Verifies store files in the background at this rate, over and over, to find disk decay early;
  /// 0: off. Set it to a few MB/s on servers with idle disks; leave it at 0 on battery power or on
  /// storage billed by the read. Findings go to the log and the listener, counters to Statistics.
  uint64_t scrub_bytes_per_second = 0;
  /// Reads files that get a new index at most at this rate, in bytes a second; 0: as fast as it
  /// goes. A file that cannot be copied with the index is merged, at the rate of merges. Set it
  /// where a build would take the disk from queries; leave it at 0 where the index should be whole
  /// soon.
  uint64_t index_build_bytes_per_second = 0;
  /// Merges in the background read at most so many bytes a second, all together, and write about as
  /// many; 0: as fast as it goes. The limit rises while a region comes near the number of runs that
  /// an idle one may have. There is none from that number on, before writes would be slowed down,
  /// and while a merge waits for disk space. Flushes, merges by hand and those of a close have
  /// none. Set it where merges take the disk from reads; too low a limit leaves more files to look
  /// into.
  uint64_t compaction_bytes_per_second = 0;
  /// Trusts the wall clock when the database is opened, however far ahead it is. Otherwise a clock
  /// that is more than a year ahead of the last time the database saw, or that jumps by more than a
  /// day while it is open, is doubted (DatabaseInfo::clock_state): nothing expires, and writes get
  /// the last timestamp + 1, until the clock is back. Set it for a database that was not opened for
  /// years; do not set it on machines that may start with a wrong time. Cells that expire by a
  /// wrong clock are lost for good, and the database's time never goes back.
  bool accept_clock = false;
  /// A transaction that is open for longer is cut off: its snapshot is released, so that merges can
  /// let go of what it pinned, and its calls return kCancelled. 0: no limit.
  int64_t transaction_age_max_micros = 3'600'000'000;
  /// Receives one line for each notable event (recovery, fallback, failed background work). Keys
  /// and values never appear in it. May be empty. Threads, errors and what it may call: as an
  /// EventListener.
  std::function<void(std::string_view line)> log = {};
  /// Receives flush, compaction, stall and other events. May be null.
  std::shared_ptr<EventListener> listener = {};
  /// Observers by name (tandem/observer.h), which tables name; none is null. A table that names one
  /// that is not here refuses writes.
  std::map<std::string, std::shared_ptr<Observer>, std::less<>> observers = {};
  /// Functions of the program by name (tandem/function.h), which indexes and conditions call; none
  /// is null. A table with an index over one that is not here, or has another version, refuses
  /// writes, and its index serves no query.
  std::map<std::string, std::shared_ptr<const RegisteredFunction>, std::less<>> functions = {};
  /// A query or count that takes longer is told to EventListener::OnSlowQuery when it has ended,
  /// with what it was and how it was answered. 0: none is. Microseconds that its calls took, not
  /// what the caller did between rows.
  int64_t slow_query_micros = 0;
  /// Tables on which every query is as with QueryOptions::no_scan. Names without a table mean
  /// nothing.
  std::set<std::string, std::less<>> no_scan_tables = {};
};

/// When a write is acknowledged, which is also when it becomes visible.
enum class Durability : uint8_t {
  /// Not logged: lost when the process ends before a flush. A batch over several regions is treated
  /// as kBuffered, since a crash must not leave a part of it. So is a batch that depends on stored
  /// data (DeleteCell, increment, append, check). If that is unlogged, its region is flushed first
  /// and then logs every batch until the next memstore is full.
  kMemory,
  kBuffered,  ///< In the log's buffer, handed to the operating system within 100 ms.
  kWritten,   ///< In the operating system: survives the death of the process.
  kSynced,    ///< On the disk: survives power loss.
};

struct WriteOptions {
  Durability durability = Durability::kWritten;
  bool no_wait = false;  ///< kBusy with the reason instead of waiting for flushes or merges.
};

struct TransactionOptions {
  /// Commit also checks the ranges of row keys that Scan, Query and Count read
  /// (tandem/transaction.h).
  bool validate_ranges = false;
};

/// How Database::Transact begins and commits, and how often it tries.
struct TransactOptions {
  WriteOptions write = {};
  uint32_t attempts_max = 100;  ///< At least 1.
  TransactionOptions transaction = {};
};

struct BulkLoadOptions {
  /// Row keys may fall, and a row may come in several places. From the first that falls on, rows
  /// are sorted: in an eighth of Options::memory_bytes, and what has no room there in files of the
  /// database's directory, which are removed at the end. Off: such rows are refused.
  bool any_order = false;
};

/// What a read may cost at most; 0: no limit. A read that would pass a limit ends with kOverBudget;
/// the message names the limit, what was reached and how far the read came. Where the rows are not
/// limited (`limit` of ScanOptions and QueryOptions) it is refused before it reads one if its plan
/// already knows that it needs more blocks, bytes or rows. A cursor that was stopped has a token
/// (Cursor::Token), so a read can be done in pieces of bounded cost. One that finds no row gets on,
/// too, if a piece is at least one step of it (about a thousand rows), but not where observers hide
/// rows or all matches are sorted. Rows are exact; a read may pass the other limits by a few blocks
/// before it stops. Get and MultiGet have no budget.
struct ReadBudget {
  uint64_t blocks = 0;  ///< Data blocks, cached ones included.
  uint64_t bytes = 0;   ///< Of those blocks, as stored.
  /// Rows that are read to be returned or decided on. Index entries are not rows, so a count by an
  /// index may need none.
  uint64_t rows = 0;
  /// Microseconds from the call on, those that the caller spends between rows included.
  int64_t micros = 0;
  uint64_t memory = 0;  ///< Bytes, for rows that are sorted and rows that were found in indexes.

  bool is_limited() const {
    return blocks != 0 || bytes != 0 || rows != 0 || micros != 0 || memory != 0;
  }
};

struct ReadOptions {
  const Snapshot* snapshot = nullptr;  ///< nullptr: the latest state.
  /// Columns and whole families to return; both empty: all. A row with none of them is not returned
  /// by Get and Scan. Files are read only for the families that are asked for.
  std::vector<ColumnName> columns = {};
  std::vector<std::string> families = {};
  uint32_t versions = 1;  ///< Newest versions of each column, at most the family's.
  /// Reads the past by timestamp: only kept versions with since <= timestamp <= as_of exist, for
  /// predicates too. Deleted versions, and those beyond the family's limit, do not come back.
  std::optional<int64_t> as_of = {};
  std::optional<int64_t> since = {};
  /// A row larger than kRowPieceBytes comes in several views of the same key (RowView::continues),
  /// so a row of any size is read in bounded memory. Off: every view is a whole row, and a row
  /// larger than kWholeRowBytesMax ends the read with kOverBudget. Get returns whole rows only.
  bool pieces = false;
  /// A flag that any thread may set: Scan, Query, Count, Explain and their cursors then end with
  /// kCancelled, at the next row or file that they look at. Get does not look at it. Lifetime:
  /// until the call, or its cursor, has ended.
  const std::atomic<bool>* cancelled = nullptr;
  ReadBudget budget = {};  ///< Of the call and its cursor together.
  /// How many threads may work for Scan, Query, Count and Aggregate of this call, the caller's
  /// included; 1 to kReadThreadsMax. The rows and their order are the same. Others are taken only
  /// where the read has parts that are large enough, while fewer of them run than four for each
  /// processor of the machine, and where it pays: rows that are filtered, unpacked or grouped. Rows
  /// that are in the cache and are all returned are read by one thread, since to pass one on costs
  /// as much as to read it. More threads than processors pay only where reads of files wait: those
  /// that merge ranges (RowRange::leading_bytes) wait for several of them at a time. The others end
  /// with the cursor.
  uint32_t threads = 1;
};

/// Row keys. There are none if `end` is not above `start`.
struct RowRange {
  std::string start = {};  ///< First key, inclusive; empty: from the first row.
  std::string end = {};    ///< Exclusive; empty: to the last row.
  /// Bytes at the front of these keys that the order of a scan leaves out: those of a salt, for
  /// example (RowKeySchema::InFieldOrder). All keys of the range have to begin with the same ones,
  /// which are those of `start`.
  uint32_t leading_bytes = 0;
};

struct ScanOptions {
  std::string start = {};   ///< First key, inclusive; empty: from the first row.
  std::string end = {};     ///< Exclusive; empty: to the last row.
  std::string prefix = {};  ///< Only keys that start with it; combines with start and end.
  bool reverse = false;
  uint64_t limit = 0;  ///< Of all ranges together; 0: no limit.
  /// This many rows are passed over first: page N of M rows has offset (N - 1) * M and limit M.
  /// With a token they are counted from its position. Where rows can be counted without looking at
  /// them, they are not read (QueryOptions::offset).
  uint64_t offset = 0;
  /// Only keys in one of them; combines with start, end and prefix. Empty: all keys. They may come
  /// in any order, overlap and be many: each row is returned once, and the rows in key order. What
  /// lies between them is not read. Where one has leading bytes, rows come in the order of their
  /// keys without these, and those that are equal then in key order. Ranges are merged for that: a
  /// range for each row with other leading bytes, and no more than kScanLeadsMax of those.
  std::vector<RowRange> ranges = {};
  /// A token (Cursor::Token) of a scan that had the same keys, direction, columns and families, on
  /// the same table: only the rows after its position. Empty: from the first one.
  std::string after = {};
  /// The same for the rows before its position, the nearest first: against the scan's direction.
  /// Not together with `after`.
  std::string before = {};
};

struct QueryOptions {
  /// An index: rows by its value, then key; rows without a value do not appear. Of several columns
  /// the first one comes first, and rows without it do not appear; of the others an absent value is
  /// the smallest. Empty: by key. In the place of an index's name its columns, or the first of
  /// them, as IndexColumn::ParseList reads them: "lower(name)", "city, age::int64 DESC". Of the
  /// local indexes without WHERE that have this order, or all of it turned, the one with the fewest
  /// columns is taken, whose further columns decide between rows that are equal in these.
  std::string order_by = {};
  /// The largest value of the first column first. The other columns turn with it. All of them turn
  /// once more where order_by says DESC. Without order_by: the largest key first.
  bool descending = false;
  uint64_t limit = 0;  ///< 0: no limit.
  /// This many rows are passed over first, in the query's order; with a token, from its position.
  /// Count says how many are left, up to the limit. Rows that lie in one file are passed over by
  /// counts, those of several files or of memstores one by one, and all of them are read where
  /// nothing counts them: a predicate that is not the condition of one index, a snapshot that is
  /// older than files, cells that may expire. Explain says which (Explanation::skipped_by_counts).
  uint64_t offset = 0;
  /// The index to use and no other, whatever it costs; kInvalidArgument where it cannot serve the
  /// predicate. It serves any predicate if order_by is the same. A file whose part of the index is
  /// broken is scanned (Explanation::files_scanned), and the rows are then sorted. Empty: the
  /// planner chooses.
  std::string use_index = {};
  /// The same for several: all are used and no other, and those of the conditions of an AND are
  /// intersected. A page by a token uses those of them that it needs. kInvalidArgument where one
  /// cannot serve, and together with use_index.
  std::vector<std::string> use_indexes = {};
  bool no_index = false;  ///< Scan and filter. kInvalidArgument together with use_index.
  /// Never scans the table: an index that leads to all matches is used, whatever it costs, and
  /// kInvalidArgument, naming the columns that lack one, says that there is none. Ranges of row
  /// keys need no index. A file or memstore without its part of the index is still scanned, and so
  /// is a table by Database::Scan. kInvalidArgument together with no_index.
  bool no_scan = false;
  /// Each condition on a column holds if it holds for one of the column's versions that a read
  /// sees (ReadOptions::since and as_of bound their timestamps), not for the newest alone: which
  /// rows had this value, then or ever? NOT is the opposite: no version satisfies the condition. A
  /// column without such a version is absent. Two conditions may hold for two versions. Indexes
  /// lead to older versions too. kInvalidArgument together with order_by, and with tuples.
  bool any_version = false;
  /// What functions make of a row's columns, or of its key, as a predicate names it: "lower(name)",
  /// "d:price::int64", "split_part(_row, '/', 2)"; at most kExpressionsMax. Each value comes as a
  /// cell after those of ReadOptions::columns and families, which mean no cells if both are empty.
  /// Its family is empty, its qualifier the text given here, its timestamp 0, and its value as in
  /// GroupCursor::keys. One that is absent has no cell; functions of several values have a cell for
  /// each, without duplicates and ascending. Texts may be longer than those that conditions see,
  /// which have kIndexKeyBytesMax. They read the newest version that the query sees.
  /// kInvalidArgument together with ReadOptions::pieces. Count passes over them.
  std::vector<std::string> expressions = {};
  /// Only rows whose keys are in one of them, as ScanOptions::ranges says. Empty: all keys. Where
  /// one has leading bytes, rows come in the order of their keys without these, by as many reads of
  /// the chosen indexes as there are different ones, merged; kInvalidArgument together with
  /// order_by then. RowKeySchema::InFieldOrder makes such ranges.
  std::vector<RowRange> ranges = {};
  /// A token (Cursor::Token) of a query that had the same predicate and values, order, ranges,
  /// columns and families, on the same table: only the rows after its position, in the query's
  /// order. What they cost does not depend on the rows before it, if the index is walked in order
  /// or the rows come by key. Empty: from the first one. Count and Explain take it too.
  std::string after = {};
  /// The same for the rows before its position, the nearest first: against the query's order. Not
  /// together with `after`.
  std::string before = {};
};

}  // namespace tandem

#pragma GCC visibility pop
