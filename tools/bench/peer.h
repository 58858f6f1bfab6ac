// An engine under measurement. Each is used as its own documentation recommends, with the same
// durability (in the operating system), compression (zstd level 1) and cache (512 MiB).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tools/bench/workload.h"

namespace tandem::bench {

inline constexpr uint64_t kCacheBytes = 512ull << 20;
inline constexpr uint32_t kBatchRows = 100;

/// Every call ends the process with a message when the engine reports an error.
class Peer {
 public:
  virtual ~Peer() = default;
  /// Loads all rows with the three indexes (city, status, ts), in batches of kBatchRows.
  virtual void Load(const W1& w1) = 0;
  /// Waits until no background work is left and the data is settled.
  virtual void Settle() = 0;
  /// Whole rows with `column` = `value`.
  virtual void Query(const std::string& column, const std::string& value, Consumer* consumer) = 0;
  /// Whole rows with low <= ts < high (eight big-endian bytes each).
  virtual void QueryTimes(const std::string& low, const std::string& high, Consumer* consumer) = 0;
  virtual void Get(const std::string& key, Consumer* consumer) = 0;
  virtual void Scan(Consumer* consumer) = 0;
};

/// Opens the database in the directory `path`, or creates it.
std::unique_ptr<Peer> NewTandemPeer(const std::string& path);
std::unique_ptr<Peer> NewRocksDbPeer(const std::string& path);
std::unique_ptr<Peer> NewLmdbPeer(const std::string& path);

[[noreturn]] void Fail(const std::string& what);

}  // namespace tandem::bench
