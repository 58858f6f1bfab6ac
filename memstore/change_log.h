// The changes of a memstore in the order of their sequences, so that what a reader derived from its
// rows can be brought up to date from what changed since.
//
// Threads: one appends, any number read, each with a cursor of its own. A chunk is published with
// release by its predecessor, an entry by its chunk's count; readers load both with acquire.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arena.h"
#include "format/types.h"

namespace tandem::engine {

struct MemRow;

class ChangeLog {
 private:
  struct Chunk;

 public:
  /// A row got cells of that sequence.
  struct Change {
    const MemRow* row;
    format::SequenceNumber sequence;
  };

  /// `arena` outlives the log.
  explicit ChangeLog(base::Arena* arena) : arena_(arena) {}
  ChangeLog(const ChangeLog&) = delete;
  ChangeLog& operator=(const ChangeLog&) = delete;

  /// Requires: sequences never decrease.
  void Append(const Change& change);
  uint64_t count() const { return count_.load(std::memory_order_acquire); }

  /// Threads: one at a time. Lifetime: the log outlives it.
  class Cursor {
   public:
    explicit Cursor(const ChangeLog* log) : log_(log) {}
    /// The next change with a sequence of at most `max_sequence`; nullptr: there is none yet.
    /// Lifetime: the arena's.
    const Change* Next(format::SequenceNumber max_sequence);
    /// How many changes it has returned.
    uint64_t passed() const { return passed_; }

   private:
    const ChangeLog* log_;
    const Chunk* chunk_ = nullptr;
    uint32_t at_ = 0;  // In the chunk.
    uint64_t passed_ = 0;
  };

 private:
  struct Chunk {
    std::atomic<uint32_t> count{0};
    uint32_t capacity = 0;
    Change* changes = nullptr;
    std::atomic<const Chunk*> next{nullptr};
  };

  base::Arena* const arena_;
  Chunk* active_ = nullptr;  // The writer's own.
  std::atomic<const Chunk*> first_{nullptr};
  std::atomic<uint64_t> count_{0};
};

}  // namespace tandem::engine
