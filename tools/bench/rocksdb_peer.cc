// RocksDB under measurement: rows in one column family, index entries (value, row key) in another,
// and for queries its best way, MultiGet of sorted keys in batches.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tools/bench/key_value_row.h"
#include "tools/bench/peer.h"

namespace tandem::bench {
namespace {

constexpr size_t kMultiGetKeys = 128;

void Check(const rocksdb::Status& status) {
  if (!status.ok()) Fail("RocksDB: " + status.ToString());
}

class RocksDbPeer : public Peer {
 public:
  explicit RocksDbPeer(const std::string& path) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.IncreaseParallelism(2);
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.format_version = 5;
    rocksdb::ColumnFamilyOptions family(options);
    family.compression = rocksdb::kZSTD;
    family.compression_opts.level = 1;
    family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* database = nullptr;
    Check(rocksdb::DB::Open(options, path,
                            {{rocksdb::kDefaultColumnFamilyName, family}, {"index", family}},
                            &handles_, &database));
    database_.reset(database);
  }
  ~RocksDbPeer() override {
    for (auto* handle : handles_) Check(database_->DestroyColumnFamilyHandle(handle));
  }

  void Load(const W1& w1) override {
    W1Row row;
    std::string value;
    rocksdb::WriteBatch batch;
    for (uint64_t i = 0; i < w1.rows(); ++i) {
      w1.Row(i, &row);
      EncodeRow(row, &value);
      Check(batch.Put(handles_[0], row.key, value));
      for (const std::string& entry : IndexEntries(row)) Check(batch.Put(handles_[1], entry, ""));
      if ((i + 1) % kBatchRows == 0 || i + 1 == w1.rows()) {
        Check(database_->Write({}, &batch));
        batch.Clear();
      }
    }
  }

  void Settle() override {
    for (auto* handle : handles_) {
      Check(database_->Flush({}, handle));
      Check(database_->CompactRange({}, handle, nullptr, nullptr));
    }
  }

  void Query(const std::string& column, const std::string& value, Consumer* consumer) override {
    const auto [low, high] = EntriesOf(column, value);
    QueryRange(low, high, consumer);
  }

  void QueryTimes(const std::string& low, const std::string& high, Consumer* consumer) override {
    QueryRange('t' + low, 't' + high, consumer);
  }

  void Get(const std::string& key, Consumer* consumer) override {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = database_->Get({}, handles_[0], key, &value);
    if (status.IsNotFound()) return;
    Check(status);
    ConsumeRow({value.data(), value.size()}, consumer);
  }

  void Scan(Consumer* consumer) override {
    std::unique_ptr<rocksdb::Iterator> rows(database_->NewIterator({}, handles_[0]));
    for (rows->SeekToFirst(); rows->Valid(); rows->Next())
      ConsumeRow(rows->value().ToStringView(), consumer);
    Check(rows->status());
  }

 private:
  void QueryRange(const std::string& low, const std::string& high, Consumer* consumer) {
    const rocksdb::Slice bound(high);
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = &bound;
    std::unique_ptr<rocksdb::Iterator> entries(database_->NewIterator(options, handles_[1]));
    keys_.clear();
    for (entries->Seek(low); entries->Valid(); entries->Next()) {
      const rocksdb::Slice entry = entries->key();
      keys_.emplace_back(entry.data() + entry.size() - kKeyBytes, kKeyBytes);
    }
    Check(entries->status());
    std::sort(keys_.begin(), keys_.end());
    for (size_t at = 0; at < keys_.size(); at += kMultiGetKeys) {
      const size_t count = std::min(kMultiGetKeys, keys_.size() - at);
      std::vector<rocksdb::Slice> slices(keys_.begin() + at, keys_.begin() + at + count);
      std::vector<rocksdb::PinnableSlice> values(count);
      std::vector<rocksdb::Status> statuses(count);
      database_->MultiGet({}, handles_[0], count, slices.data(), values.data(), statuses.data(),
                          /*sorted_input=*/true);
      for (size_t i = 0; i < count; ++i) {
        Check(statuses[i]);
        ConsumeRow({values[i].data(), values[i].size()}, consumer);
      }
    }
  }

  std::unique_ptr<rocksdb::DB> database_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_;
  std::vector<std::string> keys_;
};

}  // namespace

std::unique_ptr<Peer> NewRocksDbPeer(const std::string& path) {
  return std::make_unique<RocksDbPeer>(path);
}

}  // namespace tandem::bench
