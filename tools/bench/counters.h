// Writes that depend on what is stored, under measurement: numbers that threads add to and move
// between, each commit on the disk. LevelDB has neither merges nor transactions and is left out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tandem::bench {

/// Threads: each has one of its own.
class CounterWriter {
 public:
  virtual ~CounterWriter() = default;
  /// Writes the number without reading.
  virtual void Put(const std::string& key, uint64_t value) = 0;
  /// Adds 1 to the number, or to 0, by the engine's best way; needs not return the sum.
  virtual void Increment(const std::string& key) = 0;
  /// Reads both numbers, takes 1 from the first and adds it to the second, in one transaction, as
  /// often as it takes to commit.
  virtual void Transfer(const std::string& from, const std::string& to) = 0;
};

/// Every call ends the process with a message when the engine reports an error.
class CounterStore {
 public:
  virtual ~CounterStore() = default;
  virtual std::unique_ptr<CounterWriter> NewWriter() = 0;
  /// 0 where there is none.
  virtual int64_t Number(const std::string& key) = 0;
};

/// Creates the database in the directory `path`. Weak: without address when it was not built.
std::unique_ptr<CounterStore> NewTandemCounters(const std::string& path);
[[gnu::weak]] std::unique_ptr<CounterStore> NewRocksDbCounters(const std::string& path);
[[gnu::weak]] std::unique_ptr<CounterStore> NewLmdbCounters(const std::string& path);
[[gnu::weak]] std::unique_ptr<CounterStore> NewSqliteCounters(const std::string& path);

}  // namespace tandem::bench
