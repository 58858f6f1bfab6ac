// Options of a database and of single calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace tandem {

class EventListener;
class Snapshot;

enum class IoBackend : uint8_t {
  kAuto,  ///< io_uring where the kernel allows it, otherwise POSIX, with one log line.
  kPosix,
  kUring,  ///< As kAuto; states the wish in the log line.
};

struct Options {
  bool create_if_missing = false;
  /// Writes not a byte; works beside a live writer and on a read-only mount. A writer beside it
  /// keeps the files that it may still read, under a shared lock that ends with the reader or its
  /// process: a reader that stays open for long keeps the space of files that were merged meanwhile
  /// (DatabaseInfo::readers names it to the writer). Where the file system has no such locks, a
  /// read of a file that went fails with kIoError once open_files_max has closed it.
  bool read_only = false;
  /// The budget in bytes, 8 MiB or more: with rows of usual size an open database takes this and
  /// 48 MiB at most, whatever is done with it. Memstores take a fifth; the rest is for what is kept
  /// of files (block indexes, key hashes, filters), for reads, flushes and merges, and for the
  /// block cache with what they leave, an eighth of it at least. On top come rows that the caller
  /// holds, rows and values of more than 64 KiB while they are read or written, and 12 bytes for
  /// each row of a table where these alone pass the budget. Statistics::memory and Info say where
  /// it goes. When much was freed, the C library's free memory is given back to the system.
  uint64_t memory_bytes = 640ull << 20;
  uint32_t background_threads = 2;  ///< 1 to 64.
  /// Descriptors: of the store files that are open at a time and of the rings that cursors read
  /// through, which take up to a quarter. A database may have any number of files: the one that was
  /// not read for the longest is closed, and opened again when it is read. 16 or more; 0: half of
  /// what the process may open when the database is opened (its soft limit, `ulimit -n`), but at
  /// least 16. Not counted are some twenty others, for directories, log, manifest and the files
  /// that are being written, at most one for each thread that flushes, compacts or copies. An
  /// option, because a server with thousands of files wants to keep them open, and a program with
  /// many connections or several databases wants the descriptors for these.
  uint32_t open_files_max = 0;
  IoBackend io = IoBackend::kAuto;
  /// Store files are read and verified over and over in the background, at this rate, so that decay
  /// of the disk is found early; 0: they are not. An option, because a server with idle disks wants
  /// megabytes a second, and a program on a battery or on flash that is paid for by the read wants
  /// none. Findings go to the log and the listener, figures to Statistics.
  uint64_t scrub_bytes_per_second = 0;
  /// The wall clock is right at the moment of opening, however far ahead it is. Without this, one
  /// that is more than a year ahead of the last time that the database saw, or that jumped by more
  /// than a day while it is open, is not believed (DatabaseInfo::clock_state): nothing expires, and
  /// writes get the last timestamp + 1, until the clock is back. An option, because a database that
  /// rests for years wants it, and one whose machine starts with any time must not have it. What
  /// expires by a wrong clock is lost for good, and the database's time never goes back.
  bool accept_clock = false;
  /// Receives one line per event worth telling (recovery, fallback, failed background work); keys
  /// and values never appear in it. May be empty. Threads, errors and what it may call: as an
  /// EventListener.
  std::function<void(std::string_view line)> log = {};
  /// Is told of flushes, compactions, stalls and the like; see there. May be null.
  std::shared_ptr<EventListener> listener = {};
};

/// When a write is acknowledged, which is also when it becomes visible.
enum class Durability : uint8_t {
  /// Not logged: lost when the process ends before a flush. A batch over several regions is treated
  /// as kBuffered, since no crash may leave a part of it. So is one with a DeleteCell, which writes
  /// what it reads; where it reads what is in no log, its region is flushed first, and then logs
  /// every batch until the next memstore is full.
  kMemory,
  kBuffered,  ///< In the log's buffer, handed to the operating system within 100 ms.
  kWritten,   ///< In the operating system: survives the death of the process.
  kSynced,    ///< On the disk: survives power loss.
};

struct WriteOptions {
  Durability durability = Durability::kWritten;
  bool no_wait = false;  ///< kBusy with the reason instead of waiting for flushes or merges.
};

/// A column asked for. An empty family is the table's first.
struct ColumnName {
  std::string family = {};
  std::string qualifier = {};
};

struct ReadOptions {
  const Snapshot* snapshot = nullptr;  ///< nullptr: the latest state.
  /// Columns and whole families to return; both empty: all. A row with none of them is not returned
  /// by Get and Scan. Files are read only for the families that are asked for.
  std::vector<ColumnName> columns = {};
  std::vector<std::string> families = {};
  uint32_t versions = 1;  ///< Newest versions of each column, at most the family's.
  /// The past by timestamp: of the versions that are kept, those with since <= timestamp <= as_of
  /// exist, for predicates too. What deletes hide and what the family's limit cut stays gone.
  std::optional<int64_t> as_of = {};
  std::optional<int64_t> since = {};
  /// A row larger than kRowPieceBytes comes in several views of the same key (RowView::continues),
  /// so that a row of any size is read in bounded memory. Off: every view is a whole row, and one
  /// larger than kWholeRowBytesMax ends the read with kOverBudget. Get returns whole rows only.
  bool pieces = false;
};

struct ScanOptions {
  std::string start = {};   ///< First key, inclusive; empty: from the first row.
  std::string end = {};     ///< Exclusive; empty: to the last row.
  std::string prefix = {};  ///< Only keys that start with it; combines with start and end.
  bool reverse = false;
  uint64_t limit = 0;  ///< 0: no limit.
};

struct QueryOptions {
  /// An index: rows by its value, then key; rows without a value do not appear. Empty: by key.
  std::string order_by = {};
  bool descending = false;     ///< With order_by: largest value first.
  uint64_t limit = 0;          ///< 0: no limit.
  std::string use_index = {};  ///< Empty: the planner chooses.
  bool no_index = false;       ///< Scan and filter.
};

}  // namespace tandem

#pragma GCC visibility pop
