// The expected state: a file, mapped into memory, that says of each row which generation it has.
// What is stored in it survives the end of the process at any instruction; it is not meant to
// survive that of the machine.
//
// Protocol of a write, by the thread that owns the rows:
// 1. the batch is entered: rows with their generations, the level, a stamp; then it counts as
//    begun;
// 2. the rows' `begun` rise;
// 3. the engine writes;
// 4. the batch gets its stamp of acknowledgement, the rows' `acked` rise, and where the level
//    survives the process, the batch and all of the thread before it count as kept.
// Rows at Durability::kMemory are entered nowhere: their `kept` rises when their table was flushed.
//
// Counters are incremented by all threads. An increment begins, with `begun`, and is acknowledged
// with the new value, which counts those before it: where the level survives the process, `kept`
// rises to that. The stamps of the last ones stay (survival.h). So it is with the transfers that an
// account takes part in.
//
// An append to a list begins and is acknowledged as an increment is. Besides, each place of the
// list has the token that some call has returned there (lists.h).
//
// A shelf has one generation in all of its rows (shelves.h). Writes of shelves, and truncations,
// keep the stamps at which they began and ended: what ended before another began came before it.
//
// The names that a thread's rows have are begun before they are written and acknowledged after.
//
// Of a table that is copied, and of a named snapshot, a hash says what it holds (contents.h).
//
// Layout: Header, Lists, ThreadState of each thread, SlotState of each slot; numbers as in memory,
// since only the machine that wrote it reads it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "tandem/status.h"

namespace tandem::stress {

inline constexpr uint32_t kEntries = 64;
inline constexpr uint32_t kTouchedMax = 12;
inline constexpr uint32_t kCounters = 4;
inline constexpr uint32_t kAccounts = 6;
inline constexpr uint32_t kLists = 3;
inline constexpr uint32_t kListTokens = 1024;
inline constexpr uint32_t kShelfRows = 24;
inline constexpr uint32_t kTruncations = 16;
inline constexpr uint32_t kSavedSnapshots = 3;
inline constexpr uint32_t kCopies = 2;
inline constexpr uint32_t kClaimRows = 4;  // Of each thread.
inline constexpr uint32_t kClaimNames = 24;
inline constexpr uint32_t kIdPlaces = 1024;

enum class Count : uint8_t {
  kWrites,
  kGets,
  kScans,
  kMirrored,
  kQueries,
  kSnapshots,
  kPasts,
  kFlushes,
  kCompactions,
  kSplits,
  kRegionMerges,
  kIncrements,
  kEchoes,
  kObserverChanges,
  kTransfers,
  kAppends,
  kPassedTables,
  kClaims,
  kRefusedClaims,
  kIds,
  kChecked,
  kIndexChanges,
  kFamilyChanges,
  kShelfWrites,
  kBulkLoads,
  kTruncations,
  kNamedSnapshots,
  kTableCopies,
  kVerifications,
  kReopens,
  kRecoveries,
  kLost,
  kRowsChecked,
  kCounts,
};

/// When the operation that returned this number began and ended; 0: none.
struct NumberedStamps {
  std::atomic<uint64_t> number, began, ended;
};

/// How often a counter was incremented by 1; begun >= acked >= kept. The n-th, once it has
/// returned, has last[n % kEntries], unless a later one has it.
struct CounterState {
  std::atomic<uint64_t> begun, acked, kept;
  NumberedStamps last[kEntries];

  /// A process that ends in between leaves none.
  void Returned(uint64_t number, uint64_t began, uint64_t ended) {
    NumberedStamps& entry = last[number % kEntries];
    entry.number = 0;
    entry.began = began;
    entry.ended = ended;
    entry.number = number;
  }

  void KeepThrough(uint64_t count) {
    uint64_t before = kept;
    while (before < count && !kept.compare_exchange_weak(before, count)) {
    }
  }
  /// After a recovery.
  void GoOnFrom(uint64_t count) {
    begun = acked = kept = count;
    for (NumberedStamps& entry : last) {
      if (entry.number > count) entry.number = 0;
    }
  }
};

inline constexpr uint32_t kListThreads = 64;
/// Each thread may begin an append to a list that is full by then.
inline constexpr uint32_t kListPlaces = kListTokens + kListThreads;

struct ListState {
  CounterState length;                          // In tokens.
  std::atomic<uint64_t> places[kListPlaces];    // 0: not known yet.
  std::atomic<uint64_t> numbers[kListThreads];  // Of the next token of each thread.
};

/// Generation g of list l has states[l][g % 2].
struct Lists {
  std::atomic<uint64_t> generations[kLists];
  ListState states[kLists][2];
};

/// When something began and ended; 0: it has not ended yet.
struct Stamps {
  std::atomic<uint64_t> began, ended;
};

/// Generations; begun >= acked >= kept. That of generation n is writes[n % kEntries].
struct ShelfState {
  std::atomic<uint64_t> begun, acked, kept;
  Stamps writes[kEntries];
};

/// Counts; begun >= ended >= begun - 1. The n-th has stamps[n % kTruncations].
struct TruncationState {
  std::atomic<uint64_t> begun, ended;
  std::atomic<uint64_t> is_claimed;  // By a thread.
  Stamps stamps[kTruncations];
};

/// What a table or a named snapshot holds (contents.h). While it is changed, the two differ.
struct ContentState {
  std::atomic<uint64_t> now, next;
};

/// A table that is made of exports of north.
struct CopyState {
  ContentState table;
  std::atomic<uint64_t> exported;  // The content of the last export.
};

/// The names that the rows of a thread have, packed (claims.cc). `begun` is another while a batch
/// is written.
struct ClaimState {
  std::atomic<uint64_t> begun, acked;
};

/// `claims`: how often any thread began to take the name. `open`: rows that have it, or are about
/// to.
struct NameState {
  std::atomic<uint64_t> claims, open;
};

struct Header {
  uint64_t magic;
  uint64_t seed, rows, threads, slots;
  std::atomic<uint64_t> stamp;  // Orders beginnings and acknowledgements over all threads.
  std::atomic<uint64_t> lives;
  std::atomic<uint64_t> counts[static_cast<size_t>(Count::kCounts)];
  CounterState counters[kCounters];
  CounterState accounts[kAccounts];
  TruncationState truncations;
  ContentState saved[kSavedSnapshots];
  CopyState copies[kCopies];
  NameState names[kClaimNames];
  std::atomic<uint64_t> ids_end;         // Of the ids that were returned.
  std::atomic<uint64_t> ids[kIdPlaces];  // The last one returned of each remainder; 0: none.
};

struct Touched {
  uint32_t slot;
  uint64_t previous, generation;
};

struct Entry {
  uint64_t begin_stamp;
  std::atomic<uint64_t> ack_stamp;  // 0: not acknowledged.
  uint64_t touched_count;
  Touched touched[kTouchedMax];
};

/// Batches are numbered from 0; begun and kept are counts. Entry n % kEntries is that of batch n.
struct ThreadState {
  std::atomic<uint64_t> begun, kept;
  Entry entries[kEntries];
  ShelfState shelf;
  ClaimState claims;
};

/// Generations; begun >= acked >= kept.
struct SlotState {
  std::atomic<uint64_t> begun, acked, kept;
};

/// Threads: any; the states of a thread and its slots are changed by that thread alone.
class Expected {
 public:
  struct Shape {
    uint64_t seed = 0, rows = 0;
    uint32_t threads = 0, slots = 0;
  };
  /// A new file. Errors: kIoError.
  static Result<std::unique_ptr<Expected>> Create(const std::string& path, const Shape& shape);
  /// Errors: kNotFound, kIoError, kInvalidArgument (it is no such file, or cut).
  static Result<std::unique_ptr<Expected>> Open(const std::string& path);
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;
  ~Expected();

  Header& header() { return *static_cast<Header*>(memory_); }
  ThreadState& thread(uint32_t number) { return threads_[number]; }
  SlotState& slot(uint32_t number) { return slots_[number]; }
  CounterState& counter(uint32_t number) { return header().counters[number]; }
  CounterState& account(uint32_t number) { return header().accounts[number]; }
  /// Names are numbered from 1.
  NameState& name(uint64_t number) { return header().names[number - 1]; }
  Lists& lists() { return *lists_; }
  uint64_t list_generation(uint32_t number) { return lists_->generations[number]; }
  /// Of its present generation.
  ListState& list(uint32_t number) { return lists_->states[number][list_generation(number) % 2]; }
  uint64_t NextStamp() { return header().stamp.fetch_add(1) + 1; }
  void Add(Count what, uint64_t count = 1) {
    header().counts[static_cast<size_t>(what)].fetch_add(count, std::memory_order_relaxed);
  }
  uint64_t count(Count what) {
    return header().counts[static_cast<size_t>(what)].load(std::memory_order_relaxed);
  }

 private:
  Expected(void* memory, size_t size_bytes);
  static Result<void*> Map(const std::string& path, bool create, size_t* size_bytes);

  void* memory_;
  size_t size_bytes_;
  Lists* lists_ = nullptr;
  ThreadState* threads_ = nullptr;
  SlotState* slots_ = nullptr;
};

}  // namespace tandem::stress
