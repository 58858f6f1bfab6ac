// The log of a local database: appends to its last segment, and continues in a new one when a full
// disk sealed it or on request. A disk error poisons it for good.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/file_system.h"
#include "base/mutex.h"
#include "base/random.h"
#include "engine/storage/catalog.h"
#include "engine/storage/manifest.h"
#include "format/root.h"
#include "tandem/status.h"
#include "wal/log.h"

namespace tandem::engine {

/// Threads: one at a time; SyncWritten, PrepareFile, Extend, mark and written from any, beside it.
class LocalLog {
 public:
  struct Dependencies {
    base::Directory* directory = nullptr;
    base::RandomSource* random = nullptr;
    format::DatabaseId database;
    uint64_t segment_bytes = 0;
    /// The log's access to the catalog; the mark says how much of the log is durable at that point.
    /// Adding a segment makes the names in the directory durable first.
    std::function<Result<format::FileNumber>(format::LogMark)> next_number;
    std::function<Status(const format::SegmentRecord&, format::LogMark)> add_segment;
  };
  /// Continues after what `replay` found; Roll begins the first segment of its own.
  LocalLog(Dependencies dependencies, const wal::ReplayReport& replay);
  /// Continues after `segment`, a rewritten or a replayed one, instead. Requires: no Roll yet.
  void ContinueAfter(const format::SegmentRecord& segment, const wal::SegmentEnd& end);

  /// Buffers `frame`, in a new segment when the last one is sealed. Its predecessor and durable
  /// mark are filled in here. When there is no room, the group is dropped and the next Write
  /// returns the error.
  void Append(const format::Frame& frame);
  Status Write();
  Status Sync();
  /// Makes durable what was written before the call. Errors: any is final for the segment.
  Status SyncWritten();
  /// As wal::SegmentWriter. Requires: a Roll.
  bool is_extension_due() const;
  void Extend();
  Status Roll();
  /// Creates the file of the next segment and reserves its space, so that the next roll finds both.
  /// Errors: those of a roll; it then has to see to it itself.
  Status PrepareFile();
  /// Seals the last segment and removes files of segments that were not begun.
  Status Close();

  uint64_t segment_bytes() const;
  /// How much of the log is durable.
  format::LogMark mark() const;
  /// The last segment, up to the last frame that was written. Threads: any. Requires: a Roll.
  format::LogMark written() const;
  format::FileNumber current_segment() const { return current_.number; }
  /// Where segment `number` ends; all zero when this log does not know it.
  format::BoundFile end_of(format::FileNumber number) const;

 private:
  struct Spare {
    format::FileNumber number;
    std::unique_ptr<base::File> file;
    uint64_t reserved_bytes = 0;  ///< 0: nothing yet.
  };
  Result<Spare> NewFile();
  void Discard(Spare spare);
  void TakePrepared();
  Status RollFor(uint64_t bytes);
  Status Prepare(uint64_t bytes);
  Status Begin();
  Status RemoveUnused();
  Status Check();

  std::shared_ptr<wal::SegmentWriter> writer() const EXCLUDES(mutex_);

  const Dependencies deps_;
  const format::LogMark replayed_;  // What is durable before the first Roll.
  format::SegmentRecord current_;
  wal::SegmentEnd last_end_;                              // Of the segment before current_.
  std::map<format::FileNumber, format::BoundFile> ends_;  // Of every segment but current_.
  Spare spare_;     // The next segment's file, kept when there was no room to begin it.
  Status dropped_;  // Why frames appended since the last Write are lost.
  Status poison_;   // A failure to roll that does not pass.

  mutable base::Mutex mutex_;
  // Of current_; null before the first Roll. A sync beside the writer keeps it after a roll.
  std::shared_ptr<wal::SegmentWriter> writer_ GUARDED_BY(mutex_);
  Spare prepared_ GUARDED_BY(mutex_);  // For the next roll.
};

}  // namespace tandem::engine
