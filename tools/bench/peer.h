// An engine under measurement. Each is used as its own documentation recommends, with the same
// durability, compression (zstd level 1 where there is a choice) and cache.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tools/bench/workload.h"

namespace tandem::bench {

/// Of each engine, as the command line says.
inline uint64_t cache_bytes = 512ull << 20;
inline constexpr uint32_t kBatchRows = 100;

/// What a process reads, as far as it decides how an engine does it best.
enum class Reads : uint8_t {
  kWarm,      ///< What is in memory, or soon will be.
  kColdFew,   ///< A few rows that are not in memory: each by itself.
  kColdMany,  ///< So many rows that are not in memory that reading ahead helps.
  /// Rows that are not in memory and that were written one after the other.
  kColdOrdered,
};

/// The indexes of a database of W1.
enum class IndexSet : uint8_t {
  kNone,
  kThree,             ///< On city, on status and on ts.
  kCity,              ///< On city alone.
  kCityTime,          ///< One over city and ts.
  kCityCoversStatus,  ///< On city, with the row's status beside each entry.
  kTime,              ///< On ts alone.
  kUniqueTime,        ///< The same, of which no two rows have one value.
};

struct PeerOptions {
  std::string path;  ///< A directory that exists.
  IndexSet indexes = IndexSet::kThree;
  bool synced = false;  ///< A commit is on the disk; otherwise in the operating system's hands.
  Reads reads = Reads::kWarm;
  /// Of the engine's cache and its buffers of new rows together, of those that CanGrow names. 0:
  /// `cache_bytes`, and what the engine uses for new rows.
  uint64_t memory_bytes = 0;
  bool watched = false;  ///< Peer::State will be asked for.
};

/// What a database has done so far and how it stands, where the engine reports it.
struct EngineState {
  uint64_t regions = 0, files = 0;
  uint64_t runs_most = 0;  ///< That a region had at the end of a flush, since the last call.
  uint64_t flushed_bytes = 0, merged_bytes = 0;
  uint64_t stalls = 0;                ///< Of writers that flushes or merges kept waiting,
  uint64_t stalled_micros = 0;        ///< and how long they did,
  uint64_t longest_stall_micros = 0;  ///< one of them at most.
  uint64_t delayed_micros = 0;        ///< That writers were slowed down.
  uint64_t longest_merge_micros = 0, largest_merge_bytes = 0;  ///< Of its inputs.
  uint64_t memory_bytes = 0;                                   ///< As the engine counts them.
  uint64_t memory_budget_bytes = 0;
  uint64_t replayed = 0;  ///< Operations that the open has read from the log.
};

/// A batch of changes in the making. Threads: each has a writer of its own; two writers never
/// update the same row at the same time.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Of kUniqueTime, ends the process if another row has its ts. Requires: then it is the only one
  /// of its batch.
  virtual void Insert(const W1Row& row) = 0;
  /// Replaces two indexed columns of a row that exists. Requires: no row twice in a batch.
  virtual void Update(const W1Update& update) = 0;
  /// Applies the batch as one transaction and begins the next.
  virtual void Commit() = 0;
};

/// Every call ends the process with a message when the engine reports an error. Threads: reads by
/// one at a time, beside any number of writers.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::unique_ptr<Writer> NewWriter() = 0;
  /// Waits until no background work is left and the data is settled.
  virtual void Settle() = 0;
  /// Writes new rows to files and waits until the background has nothing to do any more. Nothing is
  /// merged for it that is not due. Requires: CanGrow.
  virtual void WaitForIdle() { Settle(); }
  /// Whole rows with `column` = `value`, by the engine's best way through the index.
  virtual void Query(const std::string& column, const std::string& value, Consumer* consumer) = 0;
  /// The same rows by reading all rows and keeping those that match.
  virtual void Filter(const std::string& column, const std::string& value, Consumer* consumer) = 0;
  /// Whole rows with low <= ts < high (eight big-endian bytes each).
  virtual void QueryTimes(const std::string& low, const std::string& high, Consumer* consumer) = 0;
  /// The same of one city. Requires: kCityTime.
  virtual void QueryCityTimes(const std::string& city, const std::string& low,
                              const std::string& high, Consumer* consumer) = 0;
  /// The status alone of each row of the city. Requires: kCity or kCityCoversStatus.
  virtual void QueryStatuses(const std::string& city, Consumer* consumer) = 0;
  virtual uint64_t Count(const std::string& column, const std::string& value) = 0;
  virtual uint64_t CountTimes(const std::string& low, const std::string& high) = 0;
  virtual void Get(const std::string& key, Consumer* consumer) = 0;
  /// The same without copying the row, where the engine has a call for that.
  virtual void GetPinned(const std::string& key, Consumer* consumer) { Get(key, consumer); }
  /// The row whose ts has these eight bytes, by a statement that was prepared, where the engine has
  /// those.
  virtual void QueryTime(const std::string& ts, Consumer* consumer) {
    std::string after = ts;  // The number after it, in big-endian bytes.
    for (size_t i = after.size(); i > 0 && ++after[i - 1] == '\0';) --i;
    QueryTimes(ts, after, consumer);
  }
  virtual void Scan(Consumer* consumer) = 0;
  /// The share of index entries whose row has a newer value, where the engine reports it.
  virtual std::optional<double> DeadShare() { return std::nullopt; }
  /// Requires: PeerOptions::watched.
  virtual std::optional<EngineState> State() { return std::nullopt; }
};

[[noreturn]] void Fail(const std::string& what);

/// Exit codes: a mismatch or a regression was found; the arguments make no sense.
inline constexpr int kFoundExitCode = 8, kUsageExitCode = 2;

}  // namespace tandem::bench
