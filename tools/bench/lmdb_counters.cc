// Counters in LMDB: each change is a write transaction, and there is one at a time. Numbers
// have eight bytes.
#include <cstring>

#include "tools/bench/counters.h"
#include "tools/bench/lmdb_calls.h"

namespace tandem::bench {
namespace {

// 0 where there is none.
int64_t NumberOf(MDB_txn* transaction, MDB_dbi numbers, const std::string& key) {
  MDB_val name = ToVal(key), found;
  const int code = mdb_get(transaction, numbers, &name, &found);
  if (code == MDB_NOTFOUND) return 0;
  CheckLmdb(code);
  int64_t number = 0;
  std::memcpy(&number, found.mv_data, sizeof number);
  return number;
}

class LmdbCounterWriter : public CounterWriter {
 public:
  LmdbCounterWriter(MDB_env* environment, MDB_dbi numbers)
      : environment_(environment), numbers_(numbers) {}

  void Put(const std::string& key, uint64_t value) override {
    Begin();
    PutNumber(key, static_cast<int64_t>(value));
    CheckLmdb(mdb_txn_commit(transaction_));
  }
  void Increment(const std::string& key) override {
    Begin();
    Add(key, 1);
    CheckLmdb(mdb_txn_commit(transaction_));
  }
  void Transfer(const std::string& from, const std::string& to) override {
    Begin();
    Add(from, -1);
    Add(to, 1);
    CheckLmdb(mdb_txn_commit(transaction_));
  }

 private:
  void Begin() { CheckLmdb(mdb_txn_begin(environment_, nullptr, 0, &transaction_)); }
  void Add(const std::string& key, int64_t change) {
    PutNumber(key, NumberOf(transaction_, numbers_, key) + change);
  }
  void PutNumber(const std::string& key, int64_t number) {
    MDB_val name = ToVal(key), value = {sizeof number, &number};
    CheckLmdb(mdb_put(transaction_, numbers_, &name, &value, 0));
  }

  MDB_env* environment_;
  const MDB_dbi numbers_;
  MDB_txn* transaction_ = nullptr;
};

class LmdbCounters : public CounterStore {
 public:
  explicit LmdbCounters(const std::string& path) {
    CheckLmdb(mdb_env_create(&environment_));
    CheckLmdb(mdb_env_set_mapsize(environment_, kLmdbMapBytes));
    CheckLmdb(mdb_env_open(environment_, path.c_str(), MDB_NOTLS, 0600));
    MDB_txn* transaction = nullptr;
    CheckLmdb(mdb_txn_begin(environment_, nullptr, 0, &transaction));
    CheckLmdb(mdb_dbi_open(transaction, nullptr, 0, &numbers_));
    CheckLmdb(mdb_txn_commit(transaction));
  }
  ~LmdbCounters() override { mdb_env_close(environment_); }

  std::unique_ptr<CounterWriter> NewWriter() override {
    return std::make_unique<LmdbCounterWriter>(environment_, numbers_);
  }
  int64_t Number(const std::string& key) override {
    MDB_txn* transaction = nullptr;
    CheckLmdb(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &transaction));
    const int64_t number = NumberOf(transaction, numbers_, key);
    mdb_txn_abort(transaction);
    return number;
  }

 private:
  MDB_env* environment_ = nullptr;
  MDB_dbi numbers_ = 0;
};

}  // namespace

std::unique_ptr<CounterStore> NewLmdbCounters(const std::string& path) {
  return std::make_unique<LmdbCounters>(path);
}

}  // namespace tandem::bench
