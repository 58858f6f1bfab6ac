// Which entries of an append buffer are live: those of the newest Put of the column that the
// memstore shows of a row. An entry that is dead for a reader is dead for all later ones, since a
// DeleteCell writes what it reveals again (rule 3); so the dead ones are a StampedBits. Readers
// bring it up to date, the first that comes after a change for all:
//
// 1. The change log says which row changed at which sequence, and the buffer which entry, if any,
//    the change added.
// 2. The row's newest Put at that sequence is looked up. If it is that of the new entry, the row's
//    last live entry dies; else the new one is dead from the start. If it is neither's, both die.
// 3. What was looked up is never looked up again. So a reader pays for what changed since the last
//    one, and does so only if enough entries were asked for to make up for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "format/schema.h"
#include "memstore/append_buffer.h"
#include "memstore/change_log.h"
#include "memstore/question_credit.h"
#include "memstore/stamped_bits.h"

namespace tandem::engine {

/// Threads: any.
class LiveEntries {
 public:
  /// The sequence of the newest Put of the column in a row at a sequence (Memstore::NewestPut).
  using NewestPutAt = std::optional<format::SequenceNumber> (*)(
      const MemRow* row, const format::IndexColumnRecord& column, format::SequenceNumber sequence);

  /// They outlive this; what it takes is added to `*bytes`.
  LiveEntries(const ChangeLog* log, const index::AppendBuffer* buffer,
              const format::IndexRecord* index, NewestPutAt newest, std::atomic<uint64_t>* bytes)
      : buffer_(buffer),
        index_(index),
        newest_(newest),
        log_(log),
        bytes_(bytes),
        changes_(log),
        entries_(buffer) {}

  /// The numbers of the dead entries, complete up to `sequence`. `rows`: how many the memstore has.
  /// nullptr: bringing it up to date does not pay yet; or the index has several columns or is
  /// multi-valued, or an operation put the column twice or took a Put back without rule 3, so that
  /// entries do not tell.
  std::shared_ptr<const StampedBits> DeadAsOf(format::SequenceNumber sequence, uint64_t rows)
      EXCLUDES(mutex_);
  /// A reader looked at that many entries, whether with the dead ones or without.
  void Asked(uint64_t entries) { credit_.Add(entries); }
  /// Whether the entry is live at `sequence`, by its row. Requires: DeadAsOf was not nullptr.
  bool IsLive(const index::BufferEntry& entry, format::SequenceNumber sequence) const;

 private:
  bool Advance(format::SequenceNumber sequence) REQUIRES(mutex_);
  bool TakeChange(const ChangeLog::Change& change) REQUIRES(mutex_);
  void MakeRoom(uint64_t rows) REQUIRES(mutex_);

  const index::AppendBuffer* const buffer_;
  const format::IndexRecord* const index_;
  const NewestPutAt newest_;
  const ChangeLog* const log_;
  QuestionCredit credit_;
  std::atomic<uint64_t>* const bytes_;  // Relaxed: a figure.

  base::Mutex mutex_;
  ChangeLog::Cursor changes_ GUARDED_BY(mutex_);
  index::AppendBuffer::Cursor entries_ GUARDED_BY(mutex_);
  format::SequenceNumber as_of_ GUARDED_BY(mutex_);
  uint64_t counted_bytes_ GUARDED_BY(mutex_) = 0;
  bool gave_up_ GUARDED_BY(mutex_) = false;
  std::shared_ptr<StampedBits> dead_ GUARDED_BY(mutex_);
  // By row number the live entry; nullptr: none.
  std::vector<const index::BufferEntry*> live_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
