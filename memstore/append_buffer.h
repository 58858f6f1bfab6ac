// The index of one column over the rows of one memstore. Appending costs a few nanoseconds; sorting
// is left to the first reader.
//
// 1. The writer appends entries to the active chunk. When a chunk is full it is sealed: it never
//    changes again.
// 2. A reader scans the active chunk up to the count that the writer has published.
// 3. In place of the sealed chunks it searches sorted runs. A chunk that no run covers yet is
//    sorted first. Four adjacent runs of one level become one run of the next level, so a look-up
//    touches few runs.
// 4. Entries are compared by their heads, the eight bytes after what keys have in common: in a run
//    that is exact; in a chunk it is what a few keys of the chunk before have in common, and a key
//    that begins otherwise is compared as a whole.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/mutex.h"
#include "format/types.h"
#include "index/key.h"

namespace tandem::engine {
class StampedBits;
}

namespace tandem::index {

/// An entry: `row` has a Put of `sequence` whose value encodes to the key. Lifetime: the arena's.
struct BufferEntry {
  uint64_t head;  ///< KeyHead of the key after the prefix of its chunk; of no use without it.
  const char* key;
  uint32_t key_bytes : 31;
  uint32_t has_prefix : 1;
  uint32_t number;  ///< 0, 1, ... in the order in which the entries were appended.
  const void* row;
  format::SequenceNumber sequence;

  std::string_view key_view() const { return {key, key_bytes}; }
};

/// Threads: Append by one at a time (the arena's user), the rest from any, concurrently with
/// Append.
class AppendBuffer {
 public:
  /// `arena` outlives the buffer; entries and keys live in it.
  explicit AppendBuffer(base::Arena* arena) : arena_(arena) {}
  AppendBuffer(const AppendBuffer&) = delete;
  AppendBuffer& operator=(const AppendBuffer&) = delete;

  /// Adds an entry: `row` has a Put of `sequence` whose value encodes to `key`.
  void Append(std::string_view key, const void* row, format::SequenceNumber sequence);
  /// Appends the rows of all entries in `range` with a sequence of at most `max_sequence`, in no
  /// order; a row may come several times. Sees every entry whose Append returned before.
  void Collect(const format::KeyRange& range, format::SequenceNumber max_sequence,
               std::vector<const void*>* rows) const;

  /// The same, if they are at most `most` entries. False: there are more, and `*rows` is undefined.
  bool CollectFew(const format::KeyRange& range, format::SequenceNumber max_sequence, size_t most,
                  std::vector<const void*>* rows) const;

  /// As Collect, without the entries in `dead`, a set of numbers. An entry goes to `*unknown` if
  /// the set cannot tell whether it is dead at `max_sequence`. Requires: `dead` is complete up to
  /// that sequence.
  void CollectLive(const format::KeyRange& range, format::SequenceNumber max_sequence,
                   const engine::StampedBits& dead, std::vector<const void*>* rows,
                   std::vector<const BufferEntry*>* unknown) const;
  /// How many rows CollectLive would append.
  uint64_t CountLive(const format::KeyRange& range, format::SequenceNumber max_sequence,
                     const engine::StampedBits& dead,
                     std::vector<const BufferEntry*>* unknown) const;

  /// How many entries Collect looks at: all in `range`, of any sequence. Cost: a binary search in
  /// each sorted run and a scan of the active chunk.
  uint64_t Count(const format::KeyRange& range) const;

  /// The first key of `range` (`backward`: the last) before which some sorted run has `entries`
  /// entries of the range; nullopt: no run has more. So each run has at most `entries` before it,
  /// and the active chunk what it holds. Lifetime: the arena's.
  std::optional<std::string_view> KeyAfter(const format::KeyRange& range, uint64_t entries,
                                           bool backward) const;

  /// The memory of the sorted runs, which are outside the arena. Threads: any.
  uint64_t run_bytes() const { return run_bytes_.load(std::memory_order_relaxed); }

 private:
  using Entry = BufferEntry;
  struct Chunk {
    std::atomic<uint32_t> count{0};  // Release after the entry is written; acquire by readers.
    uint32_t number = 0;
    uint32_t capacity = 0;
    uint32_t first = 0;  // The number of its first entry.
    Entry* entries = nullptr;
    std::string_view prefix;  // The arena's.
    const Chunk* previous = nullptr;
    std::atomic<const Chunk*> next{nullptr};  // Release when it is ready; acquire by cursors.
  };
  struct SortedEntry {
    uint64_t head;  // KeyHead of the key after the prefix of the run.
    const Entry* entry;
    uint32_t number;  // Of the entry.
  };
  struct Run {
    uint32_t level = 0;
    size_t prefix_bytes = 0;  // That all keys have in common.
    format::SequenceNumber max_sequence;
    std::vector<SortedEntry> entries;  // There are some.

    std::string_view prefix() const {
      return entries.front().entry->key_view().substr(0, prefix_bytes);
    }
  };
  struct Runs {
    uint32_t chunks = 0;  // Chunks [0, chunks) are in them.
    std::vector<std::shared_ptr<const Run>> list;
  };
  class Probe;

 public:
  /// Walks the entries in the order in which they were appended. Threads: one at a time. Lifetime:
  /// the buffer outlives it.
  class Cursor {
   public:
    explicit Cursor(const AppendBuffer* buffer) : buffer_(buffer) {}
    /// The next entry with a sequence of at most `max_sequence`; nullptr: there is none yet.
    const BufferEntry* Next(format::SequenceNumber max_sequence);

   private:
    const AppendBuffer* buffer_;
    const Chunk* chunk_ = nullptr;
    uint32_t at_ = 0;  // In the chunk.
  };
  /// How many entries were appended.
  uint32_t entry_count() const;

 private:
  /// Calls `use(number, entry)` for each entry that Collect appends. The entry is touched only if
  /// its run has newer ones.
  template <typename Use>
  void ForEach(const format::KeyRange& range, format::SequenceNumber max_sequence, Use&& use) const;
  template <typename Use>
  void ForEachLive(const format::KeyRange& range, format::SequenceNumber max_sequence,
                   const engine::StampedBits& dead, std::vector<const BufferEntry*>* unknown,
                   Use&& use) const;
  Chunk* NewChunk();
  static std::string_view PrefixAfter(const Chunk& sealed);
  std::shared_ptr<const Runs> SortedBefore(const Chunk& active) const EXCLUDES(mutex_);
  static bool Less(const SortedEntry& a, const SortedEntry& b);
  static std::shared_ptr<const Run> Sort(const Chunk& chunk);
  static std::span<const Entry> Unsorted(const Chunk& active, const Runs& runs);
  static void MergeLevels(std::vector<std::shared_ptr<const Run>>* runs);

  base::Arena* const arena_;
  std::atomic<const Chunk*> first_{nullptr};  // Release when it is ready; acquire by cursors.
  std::atomic<Chunk*> active_{nullptr};       // Release when a chunk is ready; acquire by readers.
  mutable std::atomic<uint64_t> run_bytes_{0};  // Relaxed: a figure.
  mutable base::Mutex mutex_;
  mutable std::shared_ptr<const Runs> runs_ GUARDED_BY(mutex_) = std::make_shared<const Runs>();
};

}  // namespace tandem::index
