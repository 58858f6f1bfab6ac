// LMDB under measurement: rows in one database, index entries in another, both in one environment.
// Commits reach the operating system only (MDB_NOSYNC), as those of the other engines do. Queries
// collect the row keys of their entries, sort them, and look each up with one cursor.
#include <lmdb.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/key_value_row.h"
#include "tools/bench/peer.h"

namespace tandem::bench {
namespace {

constexpr size_t kMapBytes = 64ull << 30;

void Check(int code) {
  if (code != MDB_SUCCESS) Fail(std::string("LMDB: ") + mdb_strerror(code));
}

MDB_val ToVal(std::string_view bytes) { return {bytes.size(), const_cast<char*>(bytes.data())}; }

std::string_view ToView(const MDB_val& val) {
  return {static_cast<const char*>(val.mv_data), val.mv_size};
}

class LmdbPeer : public Peer {
 public:
  explicit LmdbPeer(const std::string& path) {
    Check(mdb_env_create(&environment_));
    Check(mdb_env_set_mapsize(environment_, kMapBytes));
    Check(mdb_env_set_maxdbs(environment_, 2));
    Check(mdb_env_open(environment_, path.c_str(), MDB_NOSYNC, 0600));
    MDB_txn* transaction = nullptr;
    Check(mdb_txn_begin(environment_, nullptr, 0, &transaction));
    Check(mdb_dbi_open(transaction, "rows", MDB_CREATE, &rows_));
    Check(mdb_dbi_open(transaction, "index", MDB_CREATE, &index_));
    Check(mdb_txn_commit(transaction));
  }
  ~LmdbPeer() override { mdb_env_close(environment_); }

  void Load(const W1& w1) override {
    W1Row row;
    std::string value;
    MDB_txn* transaction = nullptr;
    for (uint64_t i = 0; i < w1.rows(); ++i) {
      if (transaction == nullptr) Check(mdb_txn_begin(environment_, nullptr, 0, &transaction));
      w1.Row(i, &row);
      EncodeRow(row, &value);
      Put(transaction, rows_, row.key, value);
      for (const std::string& entry : IndexEntries(row)) Put(transaction, index_, entry, "");
      if ((i + 1) % kBatchRows == 0 || i + 1 == w1.rows()) {
        Check(mdb_txn_commit(transaction));
        transaction = nullptr;
      }
    }
  }

  void Settle() override { Check(mdb_env_sync(environment_, 1)); }

  void Query(const std::string& column, const std::string& value, Consumer* consumer) override {
    const auto [low, high] = EntriesOf(column, value);
    QueryRange(low, high, consumer);
  }

  void QueryTimes(const std::string& low, const std::string& high, Consumer* consumer) override {
    QueryRange('t' + low, 't' + high, consumer);
  }

  void Get(const std::string& key, Consumer* consumer) override {
    const Reader reader(environment_, rows_);
    MDB_val name = ToVal(key), value;
    const int code = mdb_cursor_get(reader.cursor, &name, &value, MDB_SET);
    if (code == MDB_NOTFOUND) return;
    Check(code);
    ConsumeRow(ToView(value), consumer);
  }

  void Scan(Consumer* consumer) override {
    const Reader reader(environment_, rows_);
    MDB_val key, value;
    int code = mdb_cursor_get(reader.cursor, &key, &value, MDB_FIRST);
    for (; code == MDB_SUCCESS; code = mdb_cursor_get(reader.cursor, &key, &value, MDB_NEXT)) {
      ConsumeRow(ToView(value), consumer);
    }
    if (code != MDB_NOTFOUND) Check(code);
  }

 private:
  // A cursor in a transaction of its own.
  struct Reader {
    Reader(MDB_env* environment, MDB_dbi database) {
      Check(mdb_txn_begin(environment, nullptr, MDB_RDONLY, &transaction));
      Check(mdb_cursor_open(transaction, database, &cursor));
    }
    ~Reader() {
      mdb_cursor_close(cursor);
      mdb_txn_abort(transaction);
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    MDB_txn* transaction = nullptr;
    MDB_cursor* cursor = nullptr;
  };

  static void Put(MDB_txn* transaction, MDB_dbi database, std::string_view key,
                  std::string_view value) {
    MDB_val name = ToVal(key), data = ToVal(value);
    Check(mdb_put(transaction, database, &name, &data, 0));
  }

  void QueryRange(const std::string& low, const std::string& high, Consumer* consumer) {
    keys_.clear();
    {
      const Reader reader(environment_, index_);
      MDB_val key = ToVal(low), value;
      int code = mdb_cursor_get(reader.cursor, &key, &value, MDB_SET_RANGE);
      for (; code == MDB_SUCCESS && ToView(key) < high;
           code = mdb_cursor_get(reader.cursor, &key, &value, MDB_NEXT)) {
        keys_.emplace_back(ToView(key).substr(key.mv_size - kKeyBytes));
      }
      if (code != MDB_NOTFOUND) Check(code);
    }
    std::sort(keys_.begin(), keys_.end());
    const Reader reader(environment_, rows_);
    for (const std::string& row : keys_) {
      MDB_val key = ToVal(row), value;
      Check(mdb_cursor_get(reader.cursor, &key, &value, MDB_SET));
      ConsumeRow(ToView(value), consumer);
    }
  }

  MDB_env* environment_ = nullptr;
  MDB_dbi rows_ = 0, index_ = 0;
  std::vector<std::string> keys_;
};

}  // namespace

std::unique_ptr<Peer> NewLmdbPeer(const std::string& path) {
  return std::make_unique<LmdbPeer>(path);
}

}  // namespace tandem::bench
