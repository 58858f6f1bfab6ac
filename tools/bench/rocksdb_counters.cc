// Counters in RocksDB: increments are merges, which add when they are read; transfers are
// transactions of OptimisticTransactionDB. Numbers have eight bytes.
#include <rocksdb/merge_operator.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>

#include <cstring>

#include "tools/bench/counters.h"
#include "tools/bench/rocksdb_store.h"

namespace tandem::bench {
namespace {

int64_t NumberIn(const rocksdb::Slice& bytes) {
  int64_t number = 0;
  if (bytes.size() == sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

std::string BytesOf(int64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

class Sum : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice& /*key*/, const rocksdb::Slice* existing,
             const rocksdb::Slice& value, std::string* merged,
             rocksdb::Logger* /*logger*/) const override {
    *merged = BytesOf((existing == nullptr ? 0 : NumberIn(*existing)) + NumberIn(value));
    return true;
  }
  const char* Name() const override { return "sum"; }
};

class RocksDbCounterWriter : public CounterWriter {
 public:
  explicit RocksDbCounterWriter(rocksdb::OptimisticTransactionDB* database)
      : database_(database), one_(BytesOf(1)) {
    options_.sync = true;
  }

  void Put(const std::string& key, uint64_t value) override {
    CheckRocksDb(database_->Put(options_, key, BytesOf(static_cast<int64_t>(value))));
  }
  void Increment(const std::string& key) override {
    CheckRocksDb(database_->Merge(options_, key, one_));
  }
  void Transfer(const std::string& from, const std::string& to) override {
    rocksdb::Status status;
    do {
      status = Try(from, to);
    } while (status.IsBusy() || status.IsTryAgain());
    CheckRocksDb(status);
  }

 private:
  rocksdb::Status Try(const std::string& from, const std::string& to) {
    transaction_.reset(database_->BeginTransaction(options_, {}, transaction_.release()));
    for (const auto& [key, change] : {std::pair(&from, -1), std::pair(&to, 1)}) {
      std::string value;
      const rocksdb::Status read = transaction_->GetForUpdate({}, *key, &value);
      if (!read.ok() && !read.IsNotFound()) return read;
      const rocksdb::Status put = transaction_->Put(*key, BytesOf(NumberIn(value) + change));
      if (!put.ok()) return put;
    }
    return transaction_->Commit();
  }

  rocksdb::OptimisticTransactionDB* database_;
  const std::string one_;
  rocksdb::WriteOptions options_;
  std::unique_ptr<rocksdb::Transaction> transaction_;
};

class RocksDbCounters : public CounterStore {
 public:
  explicit RocksDbCounters(const std::string& path) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.IncreaseParallelism(2);
    options.merge_operator = std::make_shared<Sum>();
    rocksdb::OptimisticTransactionDB* database = nullptr;
    CheckRocksDb(rocksdb::OptimisticTransactionDB::Open(options, path, &database));
    database_.reset(database);
  }

  std::unique_ptr<CounterWriter> NewWriter() override {
    return std::make_unique<RocksDbCounterWriter>(database_.get());
  }
  int64_t Number(const std::string& key) override {
    std::string value;
    const rocksdb::Status status = database_->Get({}, key, &value);
    if (!status.IsNotFound()) CheckRocksDb(status);
    return NumberIn(value);
  }

 private:
  std::unique_ptr<rocksdb::OptimisticTransactionDB> database_;
};

}  // namespace

std::unique_ptr<CounterStore> NewRocksDbCounters(const std::string& path) {
  return std::make_unique<RocksDbCounters>(path);
}

}  // namespace tandem::bench
