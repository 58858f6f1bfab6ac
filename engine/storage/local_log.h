// The log of a local database: appends to its last segment, goes on in a new one when it is full,
// sealed by a full disk, or asked to. What a disk error poisoned stays poisoned.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/file_system.h"
#include "base/random.h"
#include "engine/storage/catalog.h"
#include "engine/storage/manifest.h"
#include "format/root.h"
#include "tandem/status.h"
#include "wal/log.h"

namespace tandem::engine {

/// Threads: one at a time.
class LocalLog {
 public:
  struct Dependencies {
    base::Directory* directory = nullptr;
    base::RandomSource* random = nullptr;
    format::DatabaseId database;
    uint64_t segment_bytes = 0;
    /// The log's way to the catalog, with what of the log is durable at that moment. Adding a
    /// segment makes the names in the directory durable first.
    std::function<Result<format::FileNumber>(format::LogMark)> next_number;
    std::function<Status(const format::SegmentRecord&, format::LogMark)> add_segment;
  };
  /// Goes on behind what `replay` found; Roll begins the first segment of its own.
  LocalLog(Dependencies dependencies, const wal::ReplayReport& replay);
  /// Goes on behind a rewritten segment instead. Requires: no Roll yet.
  void GoOnBehind(const format::SegmentRecord& segment, const wal::SegmentEnd& end);

  /// Buffers `frame`, in a new segment when the last one is sealed. Its predecessor and durable
  /// mark are filled in here. When there is no room the group is dropped and the next Write says
  /// so.
  void Append(const format::Frame& frame);
  Status Write();
  Status Sync();
  Status Roll();
  /// Seals the last segment.
  Status Close();

  uint64_t segment_bytes() const;
  format::FileNumber current_segment() const { return current_.number; }
  format::LogMark mark() const;
  /// Where each segment that this log knows ends, `number` among them.
  format::BoundFile end_of(format::FileNumber number) const;

 private:
  struct Spare {
    format::FileNumber number;
    std::unique_ptr<base::File> file;
    uint64_t reserved_bytes = 0;
  };
  Status RollFor(uint64_t bytes);
  Status Prepare(uint64_t bytes);
  Status Begin();
  Status Check();

  const Dependencies deps_;
  std::unique_ptr<wal::SegmentWriter> writer_;  // Null before the first Roll.
  format::SegmentRecord current_;
  wal::SegmentEnd last_end_;                              // Of the segment before current_.
  format::LogMark replayed_;                              // What is durable before the first Roll.
  std::map<format::FileNumber, format::BoundFile> ends_;  // Of every segment but current_.
  Spare spare_;     // The next segment's file, kept when there was no room to begin it.
  Status dropped_;  // Why frames appended since the last Write are lost.
  Status poison_;   // A failure to roll that does not pass.
};

}  // namespace tandem::engine
