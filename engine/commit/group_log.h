// The log as the commit leader uses it: groups are buffered, written and synced in the order of
// their sequences.
//
// Buffered groups are kept here, not in the storage's buffer: when the disk is full the storage
// drops what it could not write, but a buffered group was acknowledged and has to reach the log
// before anything later does (prefix property D2).
//
// A full disk (kNoSpace) fails the group; the segment is then sealed at its last good frame and the
// next group begins a new one. A transient failure to begin a segment (base/passing.h) fails the
// group too, and the next group tries again. Any other failure, and any failed sync, turns the
// database read-only.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/memory_account.h"
#include "engine/commit/segment_tracker.h"
#include "engine/runtime/health.h"
#include "engine/storage/storage.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A group of batches on its way into the log.
struct LogGroup {
  std::string payload;
  format::SequenceNumber first;
  int64_t timestamp = 0;
  uint32_t count = 0;  ///< Sequences; 0: nothing to log.

  format::SequenceNumber last() const { return format::SequenceNumber(first.value + count - 1); }
};

/// Threads: the commit leader, except the accessors marked otherwise.
class GroupLog {
 public:
  /// All outlive this. `last`: the last sequence number in the log. `account` (may be null) counts
  /// the bytes that wait to be written.
  GroupLog(Storage* storage, SegmentTracker* segments, Health* health, format::SequenceNumber last,
           base::MemoryAccount* account = nullptr);

  /// Buffers the group for the next write. If the buffer is full, it is written first. Errors:
  /// those of WriteBuffered; the group is then not buffered.
  Status Buffer(LogGroup group);
  /// Writes everything buffered and then `group` to the operating system. Errors: transient ones
  /// (`group` is not in the log, what was buffered stays buffered); kIoError and others (read-only
  /// from now on).
  Status Write(const LogGroup& group);
  /// As Write, for the buffered groups alone.
  Status WriteBuffered();
  /// Makes everything written durable. Errors: any (read-only from now on).
  Status Sync();
  /// The last operation that was written.
  format::SequenceNumber written() const { return written_; }
  /// Makes durable what was written up to `through`, beside the leader. Requires: through <=
  /// written() before the call. Errors: as Sync. Threads: any; not the leader, since the call may
  /// take long.
  Status SyncBeside(format::SequenceNumber through);
  /// Creates the file of the next segment, so that Roll need not. Errors: any; Roll tries again.
  /// Threads: any.
  Status PrepareRoll() { return storage_->PrepareRoll(); }
  /// Whether the segment should be extended.
  bool is_extension_due() const { return storage_->is_log_extension_due(); }
  /// Makes the segment longer than its frames, so that syncs have less to do. Threads: any.
  void Extend() { storage_->ExtendLog(); }
  /// Seals the segment and begins a new one. Errors: transient ones (tried again before the next
  /// write); any other (read-only).
  Status Roll();
  uint64_t segment_bytes() const { return storage_->segment_bytes(); }

  /// Every logged operation up to it is durable. Threads: any.
  format::SequenceNumber synced_through() const {
    return format::SequenceNumber(synced_through_.load(std::memory_order_acquire));
  }
  /// Bytes in all segments that are still needed. Threads: any.
  uint64_t log_bytes() const { return log_bytes_.load(std::memory_order_relaxed); }
  void UpdateLogBytes() { log_bytes_.store(storage_->log_bytes(), std::memory_order_relaxed); }

 private:
  static constexpr size_t kBufferedBytesMax = 1 << 20;

  Status WriteFrames(const LogGroup* group);
  void Append(const LogGroup& group);
  Status Fail(std::string_view what, const Status& status);
  void RaiseSynced(format::SequenceNumber through);

  Storage* storage_;
  SegmentTracker* segments_;
  Health* health_;
  std::vector<LogGroup> buffered_;  // Acknowledged, not written.
  size_t buffered_bytes_ = 0;
  base::MemoryCharge charge_;  // For them.
  bool needs_roll_ = false;    // The segment was sealed by a full disk.
  format::SequenceNumber written_;
  std::atomic<uint64_t> synced_through_;  // Only grows. Release after a sync, acquire by flushes.
  std::atomic<uint64_t> log_bytes_{0};    // Relaxed: guards no other data.
};

}  // namespace tandem::engine
