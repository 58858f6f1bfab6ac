// A RocksDB database as every measurement here uses it: the block cache of all engines, zstd level
// 1, Bloom filters, and blocks of 4 KiB, its default, which are the best for single rows, warm and
// cold.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rocksdb {
class ColumnFamilyHandle;
class DB;
class Status;
}  // namespace rocksdb

namespace tandem::bench {

/// Ends the process on an error.
void CheckRocksDb(const rocksdb::Status& status);

class RocksDbStore {
 public:
  /// Opens or creates the database; families[0] has to be "default". `memory_bytes`: half of it for
  /// the block cache, half for memtables; 0: `cache_bytes`, and RocksDB's default for memtables.
  RocksDbStore(const std::string& path, const std::vector<std::string>& families,
               uint64_t memory_bytes = 0);
  ~RocksDbStore();
  RocksDbStore(const RocksDbStore&) = delete;
  RocksDbStore& operator=(const RocksDbStore&) = delete;

  rocksdb::DB* database() const { return database_.get(); }
  rocksdb::ColumnFamilyHandle* family(size_t number) const { return families_[number]; }
  /// Flushes and compacts every family.
  void Settle();
  /// Flushes every family and waits until no compaction runs or is due.
  void WaitForIdle();

 private:
  bool IsIdle() const;

  std::shared_ptr<rocksdb::DB> database_;  // Shared: its type is complete in one file only.
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

}  // namespace tandem::bench
