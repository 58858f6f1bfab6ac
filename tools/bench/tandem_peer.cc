// Tandem under measurement, through its public API alone.
#include <tandem/tandem.h>

#include "tools/bench/peer.h"

namespace tandem::bench {
namespace {

class TandemPeer : public Peer {
 public:
  explicit TandemPeer(const std::string& path) {
    Options options;
    options.create_if_missing = true;
    options.memory_bytes = kCacheBytes + kCacheBytes / 4;
    auto opened = Database::Open(path, options);
    if (!opened) Fail(opened.error().ToString());
    database_ = std::move(*opened);
    TableOptions table;
    table.name = "rows";
    table.families = {{.name = "d"}};
    table.indexes = {{"city", {{"d", "city"}}},
                     {"status", {{"d", "status"}}},
                     {"ts", {{"d", "ts", ColumnType::kUint64Be}}}};
    const Status created = database_->CreateTable(table);
    if (created.code() != StatusCode::kAlreadyExists) Check(created);
  }

  void Load(const W1& w1) override {
    W1Row row;
    WriteBatch batch;
    for (uint64_t i = 0; i < w1.rows(); ++i) {
      w1.Row(i, &row);
      const ColumnValue columns[] = {
          {"city", row.city}, {"payload", row.payload}, {"status", row.status}, {"ts", row.ts}};
      batch.PutColumns("rows", row.key, "d", columns);
      if ((i + 1) % kBatchRows == 0 || i + 1 == w1.rows()) {
        Check(database_->Write({}, batch));
        batch.Clear();
      }
    }
  }

  void Settle() override { Check(database_->Compact("rows")); }

  void Query(const std::string& column, const std::string& value, Consumer* consumer) override {
    Consume(database_->Query({}, "rows", Predicate::Equal(column, value)), consumer);
  }

  void QueryTimes(const std::string& low, const std::string& high, Consumer* consumer) override {
    const auto number = [](const std::string& bytes) {
      uint64_t value = 0;
      for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
      return value;
    };
    Consume(database_->Query({}, "rows",
                             Predicate::Between("ts", std::to_string(number(low)),
                                                std::to_string(number(high) - 1))),
            consumer);
  }

  void Get(const std::string& key, Consumer* consumer) override {
    auto row = database_->Get({}, "rows", key);
    if (!row) Fail(row.error().ToString());
    if (!row->has_value()) return;
    ++consumer->rows;
    for (const Cell& cell : (*row)->cells()) consumer->Value(cell.value);
  }

  void Scan(Consumer* consumer) override { Consume(database_->Scan({}, "rows", {}), consumer); }

 private:
  static void Check(const Status& status) {
    if (!status.ok()) Fail(status.ToString());
  }
  static void Consume(Result<Cursor> cursor, Consumer* consumer) {
    if (!cursor) Fail(cursor.error().ToString());
    while (cursor->Next()) {
      ++consumer->rows;
      for (const Cell& cell : cursor->row().cells()) consumer->Value(cell.value);
    }
    Check(cursor->status());
  }

  std::unique_ptr<Database> database_;
};

}  // namespace

std::unique_ptr<Peer> NewTandemPeer(const std::string& path) {
  return std::make_unique<TandemPeer>(path);
}

}  // namespace tandem::bench
