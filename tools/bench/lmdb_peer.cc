// LMDB under measurement: rows in one database, index entries in another, both in one environment.
// Without sync, commits reach the operating system only (MDB_NOSYNC), as those of the other engines
// do. Queries collect the row keys of their entries, sort them, and look each up with one cursor;
// the reader's transaction and cursors are kept and renewed, as its documentation recommends. A few
// cold rows are read without read-ahead, which would fetch the whole file for them.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/key_value_row.h"
#include "tools/bench/lmdb_calls.h"
#include "tools/bench/peers.h"

namespace tandem::bench {
namespace {

struct Databases {
  MDB_env* environment = nullptr;
  MDB_dbi rows = 0, index = 0;
  IndexSet indexes = IndexSet::kThree;
};

// A batch is a write transaction, which begins with its first change.
class LmdbWriter : public Writer {
 public:
  explicit LmdbWriter(const Databases& databases) : databases_(databases) {}
  ~LmdbWriter() override {
    if (transaction_ != nullptr) mdb_txn_abort(transaction_);
  }

  void Insert(const W1Row& row) override {
    Begin();
    EncodeRow(row, &value_);
    Put(databases_.rows, row.key, value_);
    const bool is_unique = databases_.indexes == IndexSet::kUniqueTime;
    ForEachEntry(databases_.indexes, row, [&](const std::string& entry, std::string_view value) {
      Put(databases_.index, entry, value, is_unique ? MDB_NOOVERWRITE : 0);
    });
  }

  void Update(const W1Update& update) override {
    Begin();
    MDB_val key = ToVal(update.key), found;
    CheckLmdb(mdb_get(transaction_, databases_.rows, &key, &found));
    // A copy: the pages of a write transaction move under its own changes.
    const std::string old_value(ToView(found));
    const RowColumns old = DecodeRow(old_value);
    ReplaceEntries(old, update, [&](const std::string& before, const std::string& after) {
      MDB_val entry = ToVal(before);
      CheckLmdb(mdb_del(transaction_, databases_.index, &entry, nullptr));
      Put(databases_.index, after, "");
    });
    EncodeRow(RowColumns{update.city, old.payload, update.status, old.ts}, &value_);
    Put(databases_.rows, update.key, value_);
  }

  void Commit() override {
    if (transaction_ == nullptr) return;
    CheckLmdb(mdb_txn_commit(transaction_));
    transaction_ = nullptr;
  }

 private:
  void Begin() {
    if (transaction_ == nullptr)
      CheckLmdb(mdb_txn_begin(databases_.environment, nullptr, 0, &transaction_));
  }
  void Put(MDB_dbi database, std::string_view key, std::string_view value, unsigned flags = 0) {
    MDB_val name = ToVal(key), data = ToVal(value);
    CheckLmdb(mdb_put(transaction_, database, &name, &data, flags));
  }

  const Databases databases_;
  MDB_txn* transaction_ = nullptr;
  std::string value_;
};

/// The reader's transaction and its two cursors: renewed for each read, and released after it.
class Reader {
 public:
  explicit Reader(const Databases& databases) {
    CheckLmdb(mdb_txn_begin(databases.environment, nullptr, MDB_RDONLY, &transaction_));
    CheckLmdb(mdb_cursor_open(transaction_, databases.rows, &rows));
    CheckLmdb(mdb_cursor_open(transaction_, databases.index, &index));
    mdb_txn_reset(transaction_);
  }
  ~Reader() {
    mdb_cursor_close(index);
    mdb_cursor_close(rows);
    mdb_txn_abort(transaction_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  void Renew() {
    CheckLmdb(mdb_txn_renew(transaction_));
    CheckLmdb(mdb_cursor_renew(transaction_, rows));
    CheckLmdb(mdb_cursor_renew(transaction_, index));
  }
  void Reset() { mdb_txn_reset(transaction_); }

  MDB_cursor* rows = nullptr;
  MDB_cursor* index = nullptr;

 private:
  MDB_txn* transaction_ = nullptr;
};

/// One read of one point in time.
class Moment {
 public:
  explicit Moment(Reader* reader) : reader_(reader) { reader_->Renew(); }
  ~Moment() { reader_->Reset(); }
  Moment(const Moment&) = delete;
  Moment& operator=(const Moment&) = delete;

 private:
  Reader* reader_;
};

class LmdbPeer : public Peer {
 public:
  explicit LmdbPeer(const PeerOptions& options) {
    MDB_env*& environment = databases_.environment;
    CheckLmdb(mdb_env_create(&environment));
    CheckLmdb(mdb_env_set_mapsize(environment, kLmdbMapBytes));
    CheckLmdb(mdb_env_set_maxdbs(environment, 2));
    const unsigned flags = MDB_NOTLS | (options.synced ? 0 : MDB_NOSYNC) |
                           (options.reads == Reads::kColdFew ? MDB_NORDAHEAD : 0);
    CheckLmdb(mdb_env_open(environment, options.path.c_str(), flags, 0600));
    MDB_txn* transaction = nullptr;
    CheckLmdb(mdb_txn_begin(environment, nullptr, 0, &transaction));
    CheckLmdb(mdb_dbi_open(transaction, "rows", MDB_CREATE, &databases_.rows));
    CheckLmdb(mdb_dbi_open(transaction, "index", MDB_CREATE, &databases_.index));
    CheckLmdb(mdb_txn_commit(transaction));
    databases_.indexes = options.indexes;
    reader_ = std::make_unique<Reader>(databases_);
  }
  ~LmdbPeer() override {
    reader_.reset();
    mdb_env_close(databases_.environment);
  }

  std::unique_ptr<Writer> NewWriter() override { return std::make_unique<LmdbWriter>(databases_); }

  void Settle() override { CheckLmdb(mdb_env_sync(databases_.environment, 1)); }

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
    if (databases_.indexes == IndexSet::kCityCoversStatus) {
      const Moment moment(reader_.get());
      ForEachEntryOf(low, high, [consumer](const MDB_val&, const MDB_val& value) {
        ConsumeStatus(ToView(value), consumer);
      });
    } else {
      QueryRange(low, high, consumer, ConsumeStatusOf);
    }
  }

  uint64_t Count(const std::string& column, const std::string& value) override {
    const auto [low, high] = EntriesOf(column, value);
    const Moment moment(reader_.get());
    return CollectKeys(low, high, nullptr);
  }

  uint64_t CountTimes(const std::string& low, const std::string& high) override {
    const Moment moment(reader_.get());
    return CollectKeys('t' + low, 't' + high, nullptr);
  }

  void Get(const std::string& key, Consumer* consumer) override {
    const Moment moment(reader_.get());
    MDB_val name = ToVal(key), value;
    const int code = mdb_cursor_get(reader_->rows, &name, &value, MDB_SET);
    if (code == MDB_NOTFOUND) return;
    CheckLmdb(code);
    ConsumeRow(ToView(value), consumer);
  }

  void Scan(Consumer* consumer) override {
    ForEachRow([&](std::string_view row) { ConsumeRow(row, consumer); });
  }

 private:
  template <typename Use>
  void ForEachRow(Use use) {
    const Moment moment(reader_.get());
    MDB_val key, value;
    int code = mdb_cursor_get(reader_->rows, &key, &value, MDB_FIRST);
    for (; code == MDB_SUCCESS; code = mdb_cursor_get(reader_->rows, &key, &value, MDB_NEXT))
      use(ToView(value));
    if (code != MDB_NOTFOUND) CheckLmdb(code);
  }

  // Calls `use` for each of the index entries [low, high).
  template <typename Use>
  void ForEachEntryOf(const std::string& low, const std::string& high, Use use) {
    MDB_val key = ToVal(low), value;
    int code = mdb_cursor_get(reader_->index, &key, &value, MDB_SET_RANGE);
    while (code == MDB_SUCCESS && ToView(key) < high) {
      use(key, value);
      code = mdb_cursor_get(reader_->index, &key, &value, MDB_NEXT);
    }
    if (code != MDB_NOTFOUND) CheckLmdb(code);
  }

  // Row keys of the index entries [low, high) are appended to `*keys`, where it is not null.
  uint64_t CollectKeys(const std::string& low, const std::string& high,
                       std::vector<std::string>* keys) {
    uint64_t count = 0;
    ForEachEntryOf(low, high, [&](const MDB_val& key, const MDB_val&) {
      ++count;
      if (keys != nullptr) keys->emplace_back(ToView(key).substr(key.mv_size - kKeyBytes));
    });
    return count;
  }

  void QueryRange(const std::string& low, const std::string& high, Consumer* consumer,
                  void (*consume)(std::string_view row, Consumer* consumer) = ConsumeRow) {
    const Moment moment(reader_.get());
    keys_.clear();
    CollectKeys(low, high, &keys_);
    std::sort(keys_.begin(), keys_.end());
    for (const std::string& row : keys_) {
      MDB_val key = ToVal(row), value;
      CheckLmdb(mdb_cursor_get(reader_->rows, &key, &value, MDB_SET));
      consume(ToView(value), consumer);
    }
  }

  Databases databases_;
  std::unique_ptr<Reader> reader_;
  std::vector<std::string> keys_;
};

}  // namespace

std::unique_ptr<Peer> NewLmdbPeer(const PeerOptions& options) {
  return std::make_unique<LmdbPeer>(options);
}

}  // namespace tandem::bench
