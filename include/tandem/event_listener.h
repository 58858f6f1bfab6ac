// Events of a database: flushes, compactions, stalled writers, and the change to read-only. Derive
// from EventListener, override the calls of interest, and pass the listener in Options::listener.
//
// Threads: a call is made on the thread where the event happens: a background thread of the
// database, or one that is inside a call of it (Write for stalls; Flush, Compact and Close; any for
// log lines and the read-only state). Several threads may make calls at a time, so a listener must
// guard its own state. The engine holds no lock during a call, but its work waits until the call
// returns: be quick.
//
// A listener may call everything that only reads (Get, Scan, Query, Count, Explain, Info,
// GetStatistics). It must not write, create tables, flush, compact, verify, close or destroy the
// database: these may wait for the very work that waits for the listener. While Close runs, reads
// return kClosed. The first events come before Database::Open returns.
//
// Errors: an exception that a listener throws is caught and counted
// (Statistics::listener_failures); the engine continues as if the call had returned.
//
// Lifetime: views in an event are valid during the call. The database shares ownership of its
// listener until it is destroyed, and makes no calls once it is closed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tandem/statistics.h"
#include "tandem/status.h"

#pragma GCC visibility push(default)

namespace tandem {

struct ColumnName;
struct Explanation;
struct QueryOptions;

/// A memstore of a region becomes store files.
struct FlushEvent {
  std::string_view table = {};
  uint64_t region_id = 0;
  uint64_t memstore_rows = 0, memstore_bytes = 0;
  // Known at the end. There may be fewer rows than in the memstore: those that no reader can see
  // any more are dropped.
  uint64_t files = 0, rows = 0, bytes = 0;
  /// Of a row that was written often the memstore has left out older cells already. They count as
  /// neither in nor dropped.
  CellCounts cells = {};
  uint64_t micros = 0;  ///< Of small memstores that were flushed together, each has its part.
  Status status = {};  ///< kNoSpace, kOutOfMemory: the flush is retried, with a new Begin.
};

/// The files of adjacent runs of a region are merged into one run.
/// Files of which every cell has expired go without being read; it is a merge that writes nothing.
struct CompactionEvent {
  std::string_view table = {};
  uint64_t region_id = 0;
  uint64_t input_files = 0, input_rows = 0, input_bytes = 0;
  // Known at the end.
  uint64_t files = 0, rows = 0, bytes = 0;
  CellCounts cells = {};
  uint64_t micros = 0;  ///< Smaller merges that it gave way to included.
  Status status = {};  ///< kCancelled: by Close, Compact or DropTable; no file changed.
};

/// A region was split in two. Its files are shared by its halves until merges rewrite them.
struct RegionSplitEvent {
  std::string_view table = {};
  uint64_t region_id = 0;  ///< The region that was split; it no longer exists.
  uint64_t left_id = 0, right_id = 0;
};

/// Two neighbouring regions became one, which has their files.
struct RegionMergeEvent {
  std::string_view table = {};
  uint64_t region_id = 0;
  uint64_t left_id = 0, right_id = 0;  ///< Which are gone.
};

/// A region has taken more than half of the writes, or of the reads, of a table of several regions
/// in each of ten seconds that followed one another, and at least a hundred in each.
struct HotRegionEvent {
  std::string_view table = {};
  uint64_t region_id = 0;
  bool is_read = false;        ///< The reads are meant, not the writes.
  uint64_t count = 0, of = 0;  ///< In the last of these seconds: of the region, and of its table.
};

/// A writer waits for a flush to free memory or for merges to reduce the runs of a region.
struct StallEvent {
  std::string_view reason = {};  ///< "the memstores hold N bytes, their limit is M", ...
  uint64_t micros = 0;           ///< Known at the end.
};

/// Bitmaps of the rows that files of a region share were built. They make queries faster.
struct OverlapsEvent {
  std::string_view table = {};
  uint64_t region_id = 0;
  uint64_t pairs = 0;  ///< Of files.
  uint64_t bytes = 0;  ///< Of memory, for these pairs.
  uint64_t micros = 0;
};

/// A part of a store file that is derived from its rows is damaged. Reads do without it and return
/// the same rows; the file is rewritten in the background, with the part made again.
struct BrokenSectionEvent {
  std::string_view table = {};
  uint64_t file_number = 0;
  std::string_view section = {};  ///< "an index", "the filter", ...
  std::string_view index = {};    ///< The index's name; empty for other sections.
  std::string_view reason = {};   ///< Names file and offset.
};

/// The scrub found a store file that cannot be read or differs from what was written. The scrub
/// continues; the same damage is reported once per round.
struct ScrubFindingEvent {
  std::string_view file = {};  ///< Its name in the database's directory.
  Status status = {};          ///< kCorruption (file, offset, expected, found) or kIoError.
};

/// A query, a count or an aggregate took longer than Options::slow_query_micros.
struct SlowQueryEvent {
  std::string_view table = {};
  std::string_view call = {};  ///< "query", "count" or "aggregate".
  /// In text (Predicate::Parse), with the values that it was run with.
  std::string_view predicate = {};
  const QueryOptions* options = nullptr;
  /// Columns that were asked for, or that groups are made of, and whole families. Both empty: all,
  /// or none of a count.
  const std::vector<ColumnName>* columns = nullptr;
  const std::vector<std::string>* families = nullptr;
  /// As Database::Explain, by the plan that ran and what it has looked at until it ended; of an
  /// aggregate that makes several reads the plan of the first one. Not known, and left at 0 or
  /// empty: rejected, files_scanned, memstores_scanned, rows_without_entry, total_blocks,
  /// total_bytes, has_live_counts and grouping. All of it is, where the query had no plan yet.
  const Explanation* explanation = nullptr;
  uint64_t rows = 0;      ///< Returned or counted, or groups, before the cursor was destroyed.
  int64_t micros = 0;     ///< That the calls took, but not what the caller did between rows.
  bool is_whole = false;  ///< The cursor came to its end.
  Status status = {};     ///< How it ended.
};

/// Each Begin is followed by its End on the same thread, on errors too.
class EventListener {
 public:
  virtual ~EventListener();
  virtual void OnFlushBegin(const FlushEvent& event);
  virtual void OnFlushEnd(const FlushEvent& event);
  virtual void OnCompactionBegin(const CompactionEvent& event);
  virtual void OnCompactionEnd(const CompactionEvent& event);
  virtual void OnRegionSplit(const RegionSplitEvent& event);
  virtual void OnRegionsMerged(const RegionMergeEvent& event);
  /// Once, and again when another region was hot meanwhile or none. On the thread of a call.
  virtual void OnHotRegion(const HotRegionEvent& event);
  virtual void OnStallBegin(const StallEvent& event);
  virtual void OnStallEnd(const StallEvent& event);
  virtual void OnOverlapsBuilt(const OverlapsEvent& event);
  /// Once for each section of an open file, on the thread that found the damage.
  virtual void OnBrokenSection(const BrokenSectionEvent& event);
  virtual void OnScrubFinding(const ScrubFindingEvent& event);
  /// On the thread that ended the query: that of the call, or of the one that destroyed its cursor.
  virtual void OnSlowQuery(const SlowQueryEvent& event);
  /// The database accepts no more writes until it is opened again. Called once; never for a
  /// database that was opened read-only. `reason` is what writes return from now on.
  virtual void OnReadOnly(const Status& reason);
  /// One line per notable event (recovery, fallback, failed background work); keys and values
  /// never appear in it. Options::log receives the same lines.
  virtual void OnLogLine(std::string_view line);
};

}  // namespace tandem

#pragma GCC visibility pop
