// Tandem under measurement, through its public API alone.
#include <algorithm>

#include "tools/bench/peers.h"
#include "tools/bench/tandem_w1.h"
#include "tools/bench/tandem_watch.h"
#include "tools/bench/usage.h"

namespace tandem::bench {
namespace {

void Consume(const RowView& row, Consumer* consumer) {
  ++consumer->rows;
  for (const Cell& cell : row.cells()) consumer->Value(cell.value);
}

void ConsumeAll(Result<Cursor> cursor, Consumer* consumer) {
  Check(cursor.status());
  while (cursor->Next()) Consume(cursor->row(), consumer);
  Check(cursor->status());
}

std::vector<IndexOptions> IndexesOf(IndexSet set) {
  const IndexColumn city{"d", "city"}, time{"d", "ts", ColumnType::kUint64Be};
  switch (set) {
    case IndexSet::kNone:
      break;
    case IndexSet::kThree:
      return ThreeIndexes();
    case IndexSet::kCity:
      return {{"city", {city}}};
    case IndexSet::kCityTime:
      return {{"city_ts", {city, time}}};
    case IndexSet::kCityCoversStatus:
      return {{.name = "city", .columns = {city}, .include = {{"d", "status"}}}};
    case IndexSet::kTime:
      return {{"ts", {time}}};
    case IndexSet::kUniqueTime:
      return {{.name = "ts", .columns = {time}, .unique = true}};
  }
  return {};
}

class TandemWriter : public Writer {
 public:
  TandemWriter(Database* database, bool synced) : database_(database) {
    if (synced) options_.durability = Durability::kSynced;
  }

  void Insert(const W1Row& row) override { AddRow(kRowsTable, row, &batch_); }
  void Update(const W1Update& update) override {
    const ColumnValue columns[] = {{"city", update.city}, {"status", update.status}};
    batch_.PutColumns(kRowsTable, update.key, "d", columns);
  }
  void Commit() override {
    Check(database_->Write(options_, batch_));
    batch_.Clear();
  }

 private:
  Database* database_;
  WriteOptions options_;
  WriteBatch batch_;
};

class TandemPeer : public Peer {
 public:
  explicit TandemPeer(const PeerOptions& peer) : synced_(peer.synced) {
    if (peer.watched) watch_ = std::make_shared<TandemWatch>();
    database_ = OpenTandem(
        peer.path, peer.memory_bytes == 0 ? cache_bytes + cache_bytes / 4 : peer.memory_bytes,
        watch_);
    if (watch_ != nullptr) watch_->Begin(database_.get());
    TableOptions table;
    table.name = kRowsTable;
    table.families = {{.name = "d"}};
    table.indexes = IndexesOf(peer.indexes);
    const Status created = database_->CreateTable(table);
    if (created.code() != StatusCode::kAlreadyExists) Check(created);
  }
  ~TandemPeer() override {
    pinned_.Release();
    if (watch_ != nullptr) watch_->End();
    Check(database_->Close());
  }

  std::unique_ptr<Writer> NewWriter() override {
    return std::make_unique<TandemWriter>(database_.get(), synced_);
  }

  void Settle() override { Check(database_->Compact(kRowsTable)); }

  void WaitForIdle() override {
    Check(database_->Flush(kRowsTable));
    WaitUntilItStays([this] { return IsIdle(); });
  }

  void Query(const std::string& column, const std::string& value, Consumer* consumer) override {
    ConsumeAll(database_->Query({}, kRowsTable, Predicate::Equal(column, value)), consumer);
  }

  void Filter(const std::string& column, const std::string& value, Consumer* consumer) override {
    QueryOptions scan;
    scan.no_index = true;
    ConsumeAll(database_->Query({}, kRowsTable, Predicate::Equal(column, value), scan), consumer);
  }

  void QueryTimes(const std::string& low, const std::string& high, Consumer* consumer) override {
    ConsumeAll(database_->Query({}, kRowsTable, TimesBetween(low, high)), consumer);
  }

  void QueryCityTimes(const std::string& city, const std::string& low, const std::string& high,
                      Consumer* consumer) override {
    const Predicate predicate =
        Predicate::And({Predicate::Equal("city", city), TimesBetween(low, high)});
    ConsumeAll(database_->Query({}, kRowsTable, predicate), consumer);
  }

  void QueryStatuses(const std::string& city, Consumer* consumer) override {
    ReadOptions status;
    status.columns = {{"d", "status"}};
    ConsumeAll(database_->Query(status, kRowsTable, Predicate::Equal("city", city)), consumer);
  }

  uint64_t Count(const std::string& column, const std::string& value) override {
    return CountOf(Predicate::Equal(column, value));
  }

  uint64_t CountTimes(const std::string& low, const std::string& high) override {
    return CountOf(TimesBetween(low, high));
  }

  void Get(const std::string& key, Consumer* consumer) override {
    const auto row = database_->Get({}, kRowsTable, key);
    Check(row.status());
    if (row.value().has_value()) Consume(row.value()->view(), consumer);
  }

  void GetPinned(const std::string& key, Consumer* consumer) override {
    const auto found = database_->GetPinned({}, kRowsTable, key, &pinned_);
    Check(found.status());
    if (*found) Consume(pinned_.view(), consumer);
  }

  void QueryTime(const std::string& ts, Consumer* consumer) override {
    if (!by_time_.has_value()) {
      auto prepared = database_->Prepare(kRowsTable, Predicate::Equal("ts", Parameter(1)));
      Check(prepared.status());
      by_time_ = *std::move(prepared);
    }
    Check(by_time_->BindUint64(1, NumberOf(ts)));
    ConsumeAll(database_->Query({}, &*by_time_), consumer);
  }

  void Scan(Consumer* consumer) override {
    ConsumeAll(database_->Scan({}, kRowsTable, {}), consumer);
  }

  // Of entries of a column that is updated, those beyond one a row are of older values. Each row of
  // a memstore is an update here.
  std::optional<double> DeadShare() override {
    const Result<DatabaseInfo> info = database_->Info();
    Check(info.status());
    const TableInfo& table = info->tables.front();
    double rows = 0, entries = 0;
    for (const RegionInfo& region : table.regions)
      entries += static_cast<double>(region.memstore_rows);
    for (const IndexInfo& index : table.indexes) {
      if (index.options.name == "city") entries += static_cast<double>(index.entries);
      if (index.options.name == "ts") rows += static_cast<double>(index.entries);
    }
    return entries == 0 ? 0 : 1 - rows / entries;
  }

  std::optional<EngineState> State() override {
    return watch_ == nullptr ? std::nullopt : std::optional(watch_->State());
  }

 private:
  bool IsIdle() {
    const Result<DatabaseInfo> info = database_->Info();
    Check(info.status());
    if (!info->jobs.empty()) return false;
    const auto plans = database_->PlanCompaction(kRowsTable);
    Check(plans.status());
    return std::all_of(plans->begin(), plans->end(),
                       [](const CompactionPlan& plan) { return plan.due.files == 0; });
  }

  uint64_t CountOf(const Predicate& predicate) {
    const auto count = database_->Count({}, kRowsTable, predicate);
    Check(count.status());
    return *count;
  }

  const bool synced_;
  std::shared_ptr<TandemWatch> watch_;
  std::unique_ptr<Database> database_;
  PinnedRow pinned_;
  std::optional<PreparedQuery> by_time_;
};

}  // namespace

std::unique_ptr<Peer> NewTandemPeer(const PeerOptions& options) {
  return std::make_unique<TandemPeer>(options);
}

}  // namespace tandem::bench
