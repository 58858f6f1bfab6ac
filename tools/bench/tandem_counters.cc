// Counters in Tandem: Increment, and transactions by Transact. Numbers are decimal text.
#include "tools/bench/counters.h"
#include "tools/bench/tandem_w1.h"

namespace tandem::bench {
namespace {

constexpr const char* kCountersTable = "counters";

WriteOptions Synced() {
  WriteOptions options;
  options.durability = Durability::kSynced;
  return options;
}

class TandemCounterWriter : public CounterWriter {
 public:
  explicit TandemCounterWriter(Database* database) : database_(database) {
    transact_.write = Synced();
    transact_.attempts_max = UINT32_MAX;
  }

  void Put(const std::string& key, uint64_t value) override {
    batch_.Clear();
    batch_.Put(kCountersTable, key, "d", "n", std::to_string(value));
    Check(database_->Write(Synced(), batch_));
  }
  void Increment(const std::string& key) override {
    Check(database_->Increment(Synced(), kCountersTable, key, "d", "n").status());
  }
  void Transfer(const std::string& from, const std::string& to) override {
    Check(database_->Transact(
        [&](Transaction& transaction) {
          const auto taken = transaction.Increment(kCountersTable, from, "d", "n", -1);
          if (!taken.has_value()) return taken.status();
          return transaction.Increment(kCountersTable, to, "d", "n", 1).status();
        },
        transact_));
  }

 private:
  Database* database_;
  TransactOptions transact_;
  WriteBatch batch_;
};

class TandemCounters : public CounterStore {
 public:
  explicit TandemCounters(const std::string& path) : database_(OpenTandem(path)) {
    TableOptions table;
    table.name = kCountersTable;
    table.families = {{.name = "d"}};
    Check(database_->CreateTable(table));
  }
  ~TandemCounters() override { Check(database_->Close()); }

  std::unique_ptr<CounterWriter> NewWriter() override {
    return std::make_unique<TandemCounterWriter>(database_.get());
  }
  int64_t Number(const std::string& key) override {
    const auto row = database_->Get({}, kCountersTable, key);
    Check(row.status());
    return row->has_value() ? std::stoll(std::string((*row)->cells()[0].value)) : 0;
  }

 private:
  std::unique_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<CounterStore> NewTandemCounters(const std::string& path) {
  return std::make_unique<TandemCounters>(path);
}

}  // namespace tandem::bench
