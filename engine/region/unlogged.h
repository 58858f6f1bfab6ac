// Which operations of a region are only in memory, because their writers asked for no log
// (Durability::kMemory), and whether the region may accept more.
//
// A write that reads first must not log what it learned from unlogged operations: after a crash a
// part of their batches would reappear. If it reads one, the region is flushed before the write is
// logged. From that read on the region logs everything: until the write is done, so that one flush
// is enough, and until a memstore has filled up, so that such flushes are at most as many as the
// others.
//
// States of a region: accepts unlogged operations -> [a write reads one: Hold] logs everything, in
// the memstore that is flushed and its successor -> [both are switched: Switched; the write is
// done: Release] accepts them again.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "format/types.h"

namespace tandem::engine {

/// Threads: the commit leader, except Release.
class Unlogged {
 public:
  /// Operations from `first` to `last` were applied and are in no log. Requires: sequences ascend.
  void Note(format::SequenceNumber first, format::SequenceNumber last);
  /// False: an operation of this sequence is in the log or in a file.
  bool MayHold(format::SequenceNumber sequence, format::SequenceNumber flushed_through) const {
    return sequence > flushed_through && sequence >= first_ && sequence <= last_;
  }
  /// False: all operations up to this sequence are in the log or in files.
  bool MayHoldUpTo(format::SequenceNumber sequence, format::SequenceNumber flushed_through) const {
    return sequence >= first_ && last_ > flushed_through && first_.value != 0;
  }
  /// The memstore that took writes was switched.
  void Switched(format::SequenceNumber flushed_through);

  /// The region logs everything until Release, and through the next memstore that fills up.
  void Hold();
  /// Threads: any.
  void Release() { holds_.fetch_sub(1, std::memory_order_relaxed); }
  bool logs_everything() const {
    return logged_memstores_ > 0 || holds_.load(std::memory_order_relaxed) > 0;
  }

 private:
  format::SequenceNumber first_, last_;  // Of what was noted and may be in no file yet; 0: nothing.
  uint32_t logged_memstores_ = 0;        // The active one, and those after it, are logged.
  // Relaxed: Hold and logs_everything run on the leader, and a late Release does no harm.
  std::atomic<uint32_t> holds_{0};
};

/// The regions that one write keeps from accepting unlogged operations.
class LoggingHold {
 public:
  LoggingHold() = default;
  ~LoggingHold() {
    for (Unlogged* region : regions_) region->Release();
  }
  LoggingHold(const LoggingHold&) = delete;
  LoggingHold& operator=(const LoggingHold&) = delete;

  /// Threads: the commit leader.
  void Add(Unlogged* region) {
    regions_.push_back(region);
    region->Hold();
  }

 private:
  std::vector<Unlogged*> regions_;
};

}  // namespace tandem::engine
