// LevelDB under measurement: rows and index entries as keys with a letter before them, since it has
// no column families. It has no MultiGet; rows are read one by one in the order of their keys.
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tools/bench/key_value_row.h"
#include "tools/bench/peers.h"

namespace tandem::bench {
namespace {

constexpr int kFilterBits = 10;
constexpr size_t kWriteBufferBytes = 64 << 20;  // RocksDB's default.
// Index entries begin with another letter: b, c, s or t.
constexpr char kRow = 'r';
constexpr std::string_view kAfterRows = "s";

void Check(const leveldb::Status& status) {
  if (!status.ok()) Fail("LevelDB: " + status.ToString());
}

std::string RowKey(std::string_view key) { return std::string(1, kRow).append(key); }

leveldb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
std::string_view ToView(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

class LevelDbWriter : public Writer {
 public:
  LevelDbWriter(leveldb::DB* database, const PeerOptions& options, ValueLocks* locks)
      : database_(database), indexes_(options.indexes), locks_(locks) {
    options_.sync = options.synced;
  }

  void Insert(const W1Row& row) override {
    EncodeRow(row, &value_);
    batch_.Put(RowKey(row.key), value_);
    ForEachEntry(indexes_, row, [this](const std::string& entry, std::string_view value) {
      if (indexes_ == IndexSet::kUniqueTime) CheckIsNew(entry);
      batch_.Put(entry, ToSlice(value));
    });
  }

  void Update(const W1Update& update) override {
    const std::string key = RowKey(update.key);
    Check(database_->Get({}, key, &old_));
    const RowColumns row = DecodeRow(old_);
    ReplaceEntries(row, update, [&](const std::string& before, const std::string& after) {
      batch_.Delete(before);
      batch_.Put(after, "");
    });
    EncodeRow(RowColumns{update.city, row.payload, update.status, row.ts}, &value_);
    batch_.Put(key, value_);
  }

  void Commit() override {
    Check(database_->Write(options_, &batch_));
    batch_.Clear();
    if (lock_.owns_lock()) lock_.unlock();
  }

 private:
  void CheckIsNew(const std::string& entry) {
    lock_ = locks_->Lock(entry);
    if (!database_->Get({}, entry, &old_).IsNotFound())
      Fail("LevelDB: a value of the unique index is there already");
  }

  leveldb::DB* const database_;
  const IndexSet indexes_;
  ValueLocks* const locks_;
  std::unique_lock<std::mutex> lock_;  // Until the commit.
  leveldb::WriteOptions options_;
  leveldb::WriteBatch batch_;
  std::string value_, old_;
};

class LevelDbPeer : public Peer {
 public:
  explicit LevelDbPeer(const PeerOptions& options)
      : options_(options),
        cache_(leveldb::NewLRUCache(cache_bytes)),
        filter_(leveldb::NewBloomFilterPolicy(kFilterBits)) {
    leveldb::Options made;
    made.create_if_missing = true;
    made.block_cache = cache_.get();
    made.filter_policy = filter_.get();
    made.write_buffer_size = kWriteBufferBytes;
    leveldb::DB* database = nullptr;
    Check(leveldb::DB::Open(made, options.path, &database));
    database_.reset(database);
  }

  std::unique_ptr<Writer> NewWriter() override {
    return std::make_unique<LevelDbWriter>(database_.get(), options_, &locks_);
  }

  void Settle() override { database_->CompactRange(nullptr, nullptr); }

  void Query(const std::string& column, const std::string& value, Consumer* consumer) override {
    const auto [low, high] = EntriesOf(column, value);
    QueryRange(low, high, consumer);
  }

  void Filter(const std::string& column, const std::string& value, Consumer* consumer) override {
    ForEachRow([&](std::string_view row) { ConsumeMatch(row, column, value, consumer); });
  }

  void QueryTimes(const std::string& low, const std::string& high, Consumer* consumer) override {
    QueryRange('t' + low, 't' + high, consumer);
  }

  void QueryCityTimes(const std::string& city, const std::string& low, const std::string& high,
                      Consumer* consumer) override {
    const auto [begin, end] = CityTimeEntries(city, low, high);
    QueryRange(begin, end, consumer);
  }

  void QueryStatuses(const std::string& city, Consumer* consumer) override {
    const auto [low, high] = EntriesOf("city", city);
    if (options_.indexes == IndexSet::kCityCoversStatus) {
      ForEach({}, low, high, [consumer](const leveldb::Iterator& entry) {
        ConsumeStatus(ToView(entry.value()), consumer);
      });
    } else {
      QueryRange(low, high, consumer, ConsumeStatusOf);
    }
  }

  uint64_t Count(const std::string& column, const std::string& value) override {
    const auto [low, high] = EntriesOf(column, value);
    return CountEntries(low, high);
  }

  uint64_t CountTimes(const std::string& low, const std::string& high) override {
    return CountEntries('t' + low, 't' + high);
  }

  void Get(const std::string& key, Consumer* consumer) override {
    const leveldb::Status status = database_->Get({}, RowKey(key), &value_);
    if (status.IsNotFound()) return;
    Check(status);
    ConsumeRow(value_, consumer);
  }

  void Scan(Consumer* consumer) override {
    ForEachRow([&](std::string_view row) { ConsumeRow(row, consumer); });
  }

 private:
  // Calls `use` for each entry of low <= key < high.
  template <typename Use>
  void ForEach(const leveldb::ReadOptions& read, std::string_view low, std::string_view high,
               Use use) {
    const std::unique_ptr<leveldb::Iterator> entries(database_->NewIterator(read));
    for (entries->Seek(ToSlice(low)); entries->Valid() && ToView(entries->key()) < high;
         entries->Next()) {
      use(*entries);
    }
    Check(entries->status());
  }

  template <typename Use>
  void ForEachRow(Use use) {
    ForEach({}, std::string(1, kRow), kAfterRows,
            [&](const leveldb::Iterator& row) { use(ToView(row.value())); });
  }

  uint64_t CountEntries(const std::string& low, const std::string& high) {
    uint64_t count = 0;
    ForEach({}, low, high, [&](const leveldb::Iterator&) { ++count; });
    return count;
  }

  // Index and rows are read at one snapshot, so that a writer beside does no harm.
  void QueryRange(const std::string& low, const std::string& high, Consumer* consumer,
                  void (*consume)(std::string_view row, Consumer* consumer) = ConsumeRow) {
    leveldb::ReadOptions read;
    read.snapshot = database_->GetSnapshot();
    keys_.clear();
    ForEach(read, low, high, [&](const leveldb::Iterator& entry) {
      const std::string_view bytes = ToView(entry.key());
      keys_.push_back(RowKey(bytes.substr(bytes.size() - kKeyBytes)));
    });
    std::sort(keys_.begin(), keys_.end());
    for (const std::string& key : keys_) {
      Check(database_->Get(read, key, &value_));
      consume(value_, consumer);
    }
    database_->ReleaseSnapshot(read.snapshot);
  }

  const PeerOptions options_;
  const std::unique_ptr<leveldb::Cache> cache_;
  const std::unique_ptr<const leveldb::FilterPolicy> filter_;
  ValueLocks locks_;
  std::unique_ptr<leveldb::DB> database_;  // Uses both.
  std::vector<std::string> keys_;
  std::string value_;
};

}  // namespace

std::unique_ptr<Peer> NewLevelDbPeer(const PeerOptions& options) {
  return std::make_unique<LevelDbPeer>(options);
}

}  // namespace tandem::bench
