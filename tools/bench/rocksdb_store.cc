// See rocksdb_store.h.
#include "tools/bench/rocksdb_store.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include "tools/bench/peer.h"
#include "tools/bench/usage.h"

// RocksDB asks its program for leave to use io_uring by this name.
extern "C" bool RocksDbIOUringEnable() { return true; }

namespace tandem::bench {
namespace {

constexpr size_t kBlockBytes = 4096;
constexpr int kFilterBits = 10;

rocksdb::ColumnFamilyOptions FamilyOptions(const rocksdb::Options& general, uint64_t cached_bytes) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(cached_bytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBits));
  table.format_version = 5;
  table.block_size = kBlockBytes;
  rocksdb::ColumnFamilyOptions family(general);
  family.compression = rocksdb::kZSTD;
  family.compression_opts.level = 1;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return family;
}

}  // namespace

void CheckRocksDb(const rocksdb::Status& status) {
  if (!status.ok()) Fail("RocksDB: " + status.ToString());
}

RocksDbStore::RocksDbStore(const std::string& path, const std::vector<std::string>& families,
                           uint64_t memory_bytes) {
  rocksdb::Options general;
  general.create_if_missing = true;
  general.create_missing_column_families = true;
  general.IncreaseParallelism(2);
  general.db_write_buffer_size = memory_bytes / 2;
  // One object, so that the families share one cache.
  const rocksdb::ColumnFamilyOptions family =
      FamilyOptions(general, memory_bytes == 0 ? cache_bytes : memory_bytes / 2);
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : families) descriptors.emplace_back(name, family);
  rocksdb::DB* database = nullptr;
  CheckRocksDb(rocksdb::DB::Open(general, path, descriptors, &families_, &database));
  database_.reset(database);
}

RocksDbStore::~RocksDbStore() {
  for (auto* family : families_) CheckRocksDb(database_->DestroyColumnFamilyHandle(family));
}

void RocksDbStore::Settle() {
  for (auto* family : families_) {
    CheckRocksDb(database_->Flush({}, family));
    CheckRocksDb(database_->CompactRange({}, family, nullptr, nullptr));
  }
}

void RocksDbStore::WaitForIdle() {
  for (auto* family : families_) CheckRocksDb(database_->Flush({}, family));
  WaitUntilItStays([this] { return IsIdle(); });
}

bool RocksDbStore::IsIdle() const {
  using Properties = rocksdb::DB::Properties;
  for (auto* family : families_) {
    for (const std::string* property :
         {&Properties::kNumRunningFlushes, &Properties::kNumRunningCompactions,
          &Properties::kMemTableFlushPending, &Properties::kCompactionPending}) {
      uint64_t count = 0;
      if (!database_->GetIntProperty(family, *property, &count)) Fail("RocksDB: no " + *property);
      if (count != 0) return false;
    }
  }
  return true;
}

}  // namespace tandem::bench
