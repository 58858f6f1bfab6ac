// RocksDB under measurement: rows in one column family, index entries (value, row key) in another,
// and for queries its best way, MultiGet of sorted keys in batches. A cold process reads
// asynchronously where the library was built with io_uring, and ahead where it reads everything.
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/snapshot.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tools/bench/key_value_row.h"
#include "tools/bench/peers.h"
#include "tools/bench/rocksdb_store.h"

namespace tandem::bench {
namespace {

constexpr size_t kMultiGetKeys = 128;
constexpr size_t kReadAheadBytes = 2 << 20;

/// The two column families of the database; those of one process.
struct Families {
  rocksdb::DB* database;
  rocksdb::ColumnFamilyHandle* rows;
  rocksdb::ColumnFamilyHandle* index;
  IndexSet indexes;
  ValueLocks* locks;
};

/// Values of sorted `keys`, each of which must exist; at most kMultiGetKeys of them.
class SortedGet {
 public:
  SortedGet(const Families& families, const rocksdb::ReadOptions& options,
            const std::vector<rocksdb::Slice>& keys)
      : values_(keys.size()) {
    std::vector<rocksdb::Status> statuses(keys.size());
    families.database->MultiGet(options, families.rows, keys.size(), keys.data(), values_.data(),
                                statuses.data(), /*sorted_input=*/true);
    for (const rocksdb::Status& status : statuses) CheckRocksDb(status);
  }
  std::string_view value(size_t i) const { return {values_[i].data(), values_[i].size()}; }

 private:
  std::vector<rocksdb::PinnableSlice> values_;
};

class RocksDbWriter : public Writer {
 public:
  RocksDbWriter(const Families& families, bool synced) : families_(families) {
    options_.sync = synced;
  }

  void Insert(const W1Row& row) override {
    EncodeRow(row, &value_);
    CheckRocksDb(batch_.Put(families_.rows, row.key, value_));
    ForEachEntry(families_.indexes, row, [this](const std::string& entry, std::string_view value) {
      if (families_.indexes == IndexSet::kUniqueTime) CheckIsNew(entry);
      CheckRocksDb(batch_.Put(families_.index, entry, rocksdb::Slice(value)));
    });
  }

  void Update(const W1Update& update) override { updates_.push_back(update); }

  void Commit() override {
    AddUpdates();
    CheckRocksDb(families_.database->Write(options_, &batch_));
    batch_.Clear();
    updates_.clear();
    if (lock_.owns_lock()) lock_.unlock();
  }

 private:
  void CheckIsNew(const std::string& entry) {
    lock_ = families_.locks->Lock(entry);
    rocksdb::PinnableSlice found;
    const rocksdb::Status status = families_.database->Get({}, families_.index, entry, &found);
    if (!status.IsNotFound()) Fail("RocksDB: a value of the unique index is there already");
  }
  // Reads the old rows of the whole batch at once.
  void AddUpdates() {
    std::sort(updates_.begin(), updates_.end(),
              [](const W1Update& a, const W1Update& b) { return a.key < b.key; });
    std::vector<rocksdb::Slice> keys;
    for (const W1Update& update : updates_) keys.emplace_back(update.key);
    const SortedGet old(families_, {}, keys);
    for (size_t i = 0; i < updates_.size(); ++i) {
      const W1Update& update = updates_[i];
      const RowColumns row = DecodeRow(old.value(i));
      ReplaceEntries(row, update, [&](const std::string& before, const std::string& after) {
        CheckRocksDb(batch_.Delete(families_.index, before));
        CheckRocksDb(batch_.Put(families_.index, after, ""));
      });
      EncodeRow(RowColumns{update.city, row.payload, update.status, row.ts}, &value_);
      CheckRocksDb(batch_.Put(families_.rows, update.key, value_));
    }
  }

  const Families families_;
  rocksdb::WriteOptions options_;
  rocksdb::WriteBatch batch_;
  std::vector<W1Update> updates_;
  std::string value_;
  std::unique_lock<std::mutex> lock_;  // Until the commit.
};

class RocksDbPeer : public Peer {
 public:
  explicit RocksDbPeer(const PeerOptions& options)
      : synced_(options.synced),
        store_(options.path, {"default", "index"}, options.memory_bytes),
        database_(store_.database()),
        families_{database_, store_.family(0), store_.family(1), options.indexes, &locks_} {
    if (options.reads == Reads::kWarm) return;
    lookup_.async_io = true;
    scan_.async_io = true;
    scan_.readahead_size = kReadAheadBytes;
  }
  std::unique_ptr<Writer> NewWriter() override {
    return std::make_unique<RocksDbWriter>(families_, synced_);
  }

  void Settle() override { store_.Settle(); }
  void WaitForIdle() override { store_.WaitForIdle(); }

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
    if (families_.indexes == IndexSet::kCityCoversStatus) {
      ForEachEntryOf(low, high, [consumer](rocksdb::Iterator* entry) {
        ConsumeStatus(entry->value().ToStringView(), consumer);
      });
    } else {
      QueryRange(low, high, consumer, ConsumeStatusOf);
    }
  }

  uint64_t Count(const std::string& column, const std::string& value) override {
    const auto [low, high] = EntriesOf(column, value);
    return CollectKeys(low, high, nullptr);
  }

  uint64_t CountTimes(const std::string& low, const std::string& high) override {
    return CollectKeys('t' + low, 't' + high, nullptr);
  }

  void Get(const std::string& key, Consumer* consumer) override {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = database_->Get(lookup_, families_.rows, key, &value);
    if (status.IsNotFound()) return;
    CheckRocksDb(status);
    ConsumeRow({value.data(), value.size()}, consumer);
  }

  void Scan(Consumer* consumer) override {
    ForEachRow([&](std::string_view row) { ConsumeRow(row, consumer); });
  }

 private:
  template <typename Use>
  void ForEachRow(Use use) {
    std::unique_ptr<rocksdb::Iterator> rows(database_->NewIterator(scan_, families_.rows));
    for (rows->SeekToFirst(); rows->Valid(); rows->Next()) use(rows->value().ToStringView());
    CheckRocksDb(rows->status());
  }

  // Calls `use` at each of the index entries [low, high).
  template <typename Use>
  void ForEachEntryOf(const std::string& low, const std::string& high, Use use) {
    const rocksdb::Slice bound(high);
    rocksdb::ReadOptions options = lookup_;
    options.iterate_upper_bound = &bound;
    std::unique_ptr<rocksdb::Iterator> entries(database_->NewIterator(options, families_.index));
    for (entries->Seek(low); entries->Valid(); entries->Next()) use(entries.get());
    CheckRocksDb(entries->status());
  }

  // Row keys of the index entries [low, high) are appended to `*keys`, where it is not null.
  uint64_t CollectKeys(const std::string& low, const std::string& high,
                       std::vector<std::string>* keys) {
    uint64_t count = 0;
    ForEachEntryOf(low, high, [&](rocksdb::Iterator* at) {
      ++count;
      const rocksdb::Slice entry = at->key();
      if (keys != nullptr) keys->emplace_back(entry.data() + entry.size() - kKeyBytes, kKeyBytes);
    });
    return count;
  }

  // Index and rows are read at one snapshot, so that a writer beside does no harm.
  void QueryRange(const std::string& low, const std::string& high, Consumer* consumer,
                  void (*consume)(std::string_view row, Consumer* consumer) = ConsumeRow) {
    rocksdb::ManagedSnapshot snapshot(database_);
    lookup_.snapshot = snapshot.snapshot();
    keys_.clear();
    CollectKeys(low, high, &keys_);
    std::sort(keys_.begin(), keys_.end());
    for (size_t at = 0; at < keys_.size(); at += kMultiGetKeys) {
      const size_t count = std::min(kMultiGetKeys, keys_.size() - at);
      const std::vector<rocksdb::Slice> slices(keys_.begin() + at, keys_.begin() + at + count);
      const SortedGet rows(families_, lookup_, slices);
      for (size_t i = 0; i < count; ++i) consume(rows.value(i), consumer);
    }
    lookup_.snapshot = nullptr;
  }

  const bool synced_;
  RocksDbStore store_;
  rocksdb::DB* const database_;
  ValueLocks locks_;
  const Families families_;
  rocksdb::ReadOptions lookup_, scan_;
  std::vector<std::string> keys_;
};

}  // namespace

std::unique_ptr<Peer> NewRocksDbPeer(const PeerOptions& options) {
  return std::make_unique<RocksDbPeer>(options);
}

}  // namespace tandem::bench
