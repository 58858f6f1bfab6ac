// What a database tells about its work while it works: flushes, compactions, writers that have to
// wait, and the end of its willingness to write. A program derives from EventListener, overrides
// what it wants to hear, and hands the listener in through Options::listener.
//
// Threads: a call comes from the thread on which the thing happens: a background thread of the
// database, or one that is inside a call of it (Write for stalls; Flush, Compact and Close; any for
// log lines and the read-only state). Calls come from several threads at a time, so a listener
// guards what it keeps. No lock of the engine is held, but the work waits until the call returns:
// be quick.
//
// What a listener may call: everything that only reads (Get, Scan, Query, Count, Explain, Info,
// GetStatistics). It must not write, create tables, flush, compact, verify, close or destroy the
// database: these may wait for the very work that waits for the listener. While Close is under way
// reads answer kClosed. The first events come while Database::Open still runs.
//
// Errors: what a listener throws is caught and counted (Statistics::listener_failures); the engine
// goes on as if it had returned.
//
// Lifetime: views in an event are valid during the call. The database shares in owning its listener
// until it is destroyed, and calls it no more once it is closed.
#pragma once

#include <cstdint>
#include <string_view>

#include "tandem/status.h"

#pragma GCC visibility push(default)

namespace tandem {

/// A memstore of a region becomes store files.
struct FlushEvent {
  std::string_view table = {};
  uint64_t region_id = 0;
  uint64_t memstore_rows = 0, memstore_bytes = 0;
  // Known at the end. The file may hold fewer rows: what nobody can see any more is left out.
  uint64_t files = 0, rows = 0, bytes = 0;
  uint64_t micros = 0;
  Status status = {};  ///< kNoSpace and kOutOfMemory: it is tried again, and begins again.
};

/// Files of a region, of runs that follow one another, become one run.
struct CompactionEvent {
  std::string_view table = {};
  uint64_t region_id = 0;
  uint64_t input_files = 0, input_rows = 0, input_bytes = 0;
  // Known at the end.
  uint64_t files = 0, rows = 0, bytes = 0;
  uint64_t micros = 0;
  Status status = {};  ///< kCancelled: a close or Compact came. The inputs stay then.
};

/// A region was split in two. Its files are shared by its halves until merges rewrite them.
struct RegionSplitEvent {
  std::string_view table = {};
  uint64_t region_id = 0;  ///< Which is gone.
  uint64_t left_id = 0, right_id = 0;
};

/// A writer waits until flushes have made room or merges made runs fewer, on the writer's thread.
struct StallEvent {
  std::string_view reason = {};  ///< "the memstores hold N bytes, their limit is M", ...
  uint64_t micros = 0;           ///< Known at the end.
};

/// Bitmaps over the rows that files of a region share were built: queries decide faster from here.
struct OverlapsEvent {
  std::string_view table = {};
  uint64_t region_id = 0;
  uint64_t pairs = 0;  ///< Of files.
  uint64_t bytes = 0;  ///< Of memory, for these pairs.
  uint64_t micros = 0;
};

/// A part of a store file that is made from its rows is damaged. Reads go on without it and stay
/// right; the file is rewritten in the background, which makes the part again.
struct BrokenSectionEvent {
  std::string_view table = {};
  uint64_t file_number = 0;
  std::string_view section = {};  ///< "an index", "the filter", ...
  std::string_view index = {};    ///< The index's name; empty for other sections.
  std::string_view reason = {};   ///< Names file and offset.
};

/// The scrub found a store file that cannot be read or is not what was written. It goes on; the
/// same damage is reported once a round.
struct ScrubFindingEvent {
  std::string_view file = {};  ///< Its name in the database's directory.
  Status status = {};          ///< kCorruption (file, offset, expected, found) or kIoError.
};

/// Each Begin is followed by its End on the same thread, whatever happens between them.
class EventListener {
 public:
  virtual ~EventListener();
  virtual void OnFlushBegin(const FlushEvent& event);
  virtual void OnFlushEnd(const FlushEvent& event);
  virtual void OnCompactionBegin(const CompactionEvent& event);
  virtual void OnCompactionEnd(const CompactionEvent& event);
  virtual void OnRegionSplit(const RegionSplitEvent& event);
  virtual void OnStallBegin(const StallEvent& event);
  virtual void OnStallEnd(const StallEvent& event);
  virtual void OnOverlapsBuilt(const OverlapsEvent& event);
  /// Once for each section of an open file, on the thread that met the damage.
  virtual void OnBrokenSection(const BrokenSectionEvent& event);
  virtual void OnScrubFinding(const ScrubFindingEvent& event);
  /// The database accepts no more writes until it is opened again; once, and not for one that was
  /// opened to read only. `reason` is what writes answer from now on.
  virtual void OnReadOnly(const Status& reason);
  /// One line per event worth telling (recovery, fallback, failed background work); keys and values
  /// never appear in it. Options::log receives the same lines.
  virtual void OnLogLine(std::string_view line);
};

}  // namespace tandem

#pragma GCC visibility pop
