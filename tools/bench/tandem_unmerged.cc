// Reads of Tandem while memstores hold a part of the rows; see measuring.h. Three rows in ten of a
// table of one file are updated and stay in the memstore: an indexed column, another column, or
// half of the rows one and half the other. Rates are compared with those of the merged table. Reads
// of all rows are also measured with a single row in the memstore, which a table that is written to
// always has.
#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tools/bench/measuring.h"
#include "tools/bench/tandem_w1.h"

namespace tandem::bench {
namespace {

// No memstore is flushed: what the reads then meet would depend on when.
constexpr uint64_t kMemoryBytes = 4ull << 30;
constexpr uint64_t kUpdatedParts = 3, kAllParts = 10;
constexpr uint64_t kPageRows = 20;
constexpr int kCallsToWarm =
    20;  // Counts of live entries are built once some calls looked at them.
constexpr double kWriterBatchesPerSecond = 200;

enum class Change : uint8_t { kIndexed, kOther, kMixed };
struct NamedChange {
  Change change;
  const char* name;
};
constexpr NamedChange kChanges[] = {
    {Change::kIndexed, "indexed"}, {Change::kOther, "other"}, {Change::kMixed, "mixed"}};

class Table {
 public:
  Table(const W1& w1, const std::string& path) : w1_(w1) {
    database_ = OpenTandem(path, kMemoryBytes);
    TableOptions table;
    table.name = kRowsTable;
    table.families = {{.name = "d"}};
    table.indexes = {{"city", {{"d", "city"}}}, {"status", {{"d", "status"}}}};
    Check(database_->CreateTable(table));
  }
  ~Table() { Check(database_->Close()); }

  void Load() {
    WriteBatch batch;
    W1Row row;
    for (uint64_t i = 0; i < w1_.rows(); ++i) {
      w1_.Row(i, &row);
      AddRow(kRowsTable, row, &batch);
      if ((i + 1) % kBatchRows == 0 || i + 1 == w1_.rows()) Commit(&batch);
    }
    Merge();
  }
  void Merge() { Check(database_->Compact(kRowsTable)); }

  /// Changes the rows with numbers Scattered(i) for `begin` <= i < `end`.
  void Update(Change change, uint64_t version, uint64_t begin, uint64_t end) {
    WriteBatch batch;
    W1Update update;
    W1Row row;
    for (uint64_t i = begin; i < end; ++i) {
      const uint64_t number = Scattered(i, w1_.rows());
      if (change == Change::kIndexed || (change == Change::kMixed && i % 2 == 0)) {
        w1_.Update(number, version, &update);
        const ColumnValue columns[] = {{"city", update.city}, {"status", update.status}};
        batch.PutColumns(kRowsTable, update.key, "d", columns);
      } else {
        w1_.Row(number ^ version, &row);
        const ColumnValue columns[] = {{"payload", row.payload}};
        batch.PutColumns(kRowsTable, w1_.Key(number), "d", columns);
      }
      if ((i + 1) % kBatchRows == 0 || i + 1 == end) Commit(&batch);
    }
  }

  void Query(const W1::Target& target, Consumer* consumer) {
    Query(Predicate::Equal(target.column, target.value), consumer);
  }
  void Query(const Predicate& predicate, Consumer* consumer) {
    auto cursor = database_->Query({}, kRowsTable, predicate);
    Check(cursor.status());
    while (cursor->Next()) {
      ++consumer->rows;
      for (const Cell& cell : cursor->row().cells()) consumer->Value(cell.value);
    }
    Check(cursor->status());
  }
  /// A page of 20 rows after a fifth of them.
  uint64_t Page(const QueryOptions& order) {
    QueryOptions query = order;
    query.limit = kPageRows;
    query.offset = w1_.rows() / 5;
    auto cursor = database_->Query({}, kRowsTable, Predicate(), query);
    Check(cursor.status());
    uint64_t rows = 0;
    while (cursor->Next()) ++rows;
    Check(cursor->status());
    return rows;
  }
  /// Waits until pages are found by counts again.
  void Flush() {
    Check(database_->Flush(kRowsTable));
    QueryOptions query{.limit = 1, .offset = w1_.rows() / 5};
    for (int i = 0; i < 1000; ++i) {
      const auto explained = database_->Explain({}, kRowsTable, Predicate(), query);
      Check(explained.status());
      if (explained->skipped_by_reading == 0) return;
      SleepSeconds(0.01);
    }
    Fail("the overlaps of the flushed file are not built");
  }
  uint64_t Count(const W1::Target& target) {
    const auto count =
        database_->Count({}, kRowsTable, Predicate::Equal(target.column, target.value));
    Check(count.status());
    return *count;
  }

  const W1& w1() const { return w1_; }

 private:
  void Commit(WriteBatch* batch) {
    Check(database_->Write({}, *batch));
    batch->Clear();
  }

  const W1& w1_;
  std::unique_ptr<Database> database_;
};

// Two threads that update rows at a fixed pace until they are stopped, each its own.
class PacedWriters {
 public:
  PacedWriters(Table* table, Change change) : table_(table), change_(change) {
    for (uint64_t half = 0; half < 2; ++half) threads_.emplace_back([this, half] { Run(half); });
  }
  ~PacedWriters() {
    stop_.store(true, std::memory_order_relaxed);
    for (std::thread& thread : threads_) thread.join();
  }
  PacedWriters(const PacedWriters&) = delete;
  PacedWriters& operator=(const PacedWriters&) = delete;

 private:
  void Run(uint64_t half) {
    const uint64_t updated = table_->w1().rows() * kUpdatedParts / kAllParts / 2;
    const uint64_t batches = std::max<uint64_t>(updated / kBatchRows, 1);
    const double begin = SecondsNow();
    for (uint64_t batch = 0; !stop_.load(std::memory_order_relaxed); ++batch) {
      const uint64_t first = half * updated + batch % batches * kBatchRows;
      table_->Update(change_, 2 + batch / batches, first, first + kBatchRows);
      SleepSeconds(begin + static_cast<double>(batch + 1) / kWriterBatchesPerSecond - SecondsNow());
    }
  }

  Table* table_;
  const Change change_;
  std::atomic<bool> stop_ = false;  // Only a wish; joining orders the rest.
  std::vector<std::thread> threads_;
};

// Runs `read` until `seconds` have passed; it returns how many rows it met.
uint64_t Repeat(double seconds, const std::function<uint64_t()>& read) {
  const double begin = SecondsNow();
  uint64_t rows = 0;
  do {
    rows += read();
  } while (SecondsNow() - begin < seconds);
  return rows;
}

void MeasureReads(const std::string& state, double seconds, Table* table) {
  for (const W1::Target& target : table->w1().targets()) {
    const auto query = [&] {
      Consumer consumer;
      table->Query(target, &consumer);
      return consumer.rows;
    };
    query();
    const Usage begin = UsageNow();
    const uint64_t rows = Repeat(seconds, query);
    PrintRate(FigureBetween(state + " query " + target.name, begin, UsageNow()), rows);
  }
  for (const W1::Target& target : table->w1().targets()) {
    const auto count = [&] { return table->Count(target); };
    count();
    const Usage begin = UsageNow();
    const uint64_t rows = Repeat(seconds, count);
    Figure figure = FigureBetween(state + " count " + target.name, begin, UsageNow());
    figure.items = rows;
    figure.value = figure.seconds * 1e9 / static_cast<double>(std::max<uint64_t>(rows, 1));
    Print(figure);
  }
}

// All rows of the table, returned, or looked at by a condition that no index serves.
void MeasureReadsOfAll(const std::string& state, double seconds, Table* table) {
  const auto measure = [&](const std::string& name, const Predicate& predicate) {
    const auto read = [&] {
      Consumer consumer;
      table->Query(predicate, &consumer);
      return table->w1().rows();
    };
    read();
    const Usage begin = UsageNow();
    const uint64_t rows = Repeat(seconds, read);
    PrintRate(FigureBetween(state + " " + name, begin, UsageNow()), rows);
  };
  measure("scan", Predicate());
  measure("filter", Predicate::Equal("ts", "no time"));
}

// Pages and counts in microseconds a call.
void MeasureCalls(const std::string& state, double seconds, Table* table) {
  const auto measure = [&](const std::string& name, const std::function<uint64_t()>& call) {
    for (int i = 0; i < kCallsToWarm; ++i) call();
    uint64_t calls = 0;
    const Usage begin = UsageNow();
    Repeat(seconds, [&] {
      ++calls;
      return call();
    });
    Figure figure = FigureBetween(state + " " + name, begin, UsageNow());
    figure.items = calls;
    figure.value = figure.seconds * 1e6 / static_cast<double>(calls);
    Print(figure);
  };
  measure("page by key", [&] { return table->Page({}); });
  measure("page by city", [&] { return table->Page({.order_by = "city"}); });
  measure("page by city falling",
          [&] { return table->Page({.order_by = "city", .descending = true}); });
  for (const W1::Target& target : table->w1().targets()) {
    measure(std::string("counted ") + target.name, [&] { return table->Count(target); });
  }
}

void CheckCounts(Table* table) {
  for (const W1::Target& target : table->w1().targets()) {
    Consumer consumer;
    table->Query(target, &consumer);
    if (consumer.rows != table->Count(target))
      Fail(std::string("a count is not the number of rows of a query, ") + target.name);
  }
}

}  // namespace

void MeasureUnmerged(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  Table table(w1, arguments.path);
  table.Load();
  MeasureReads("merged", arguments.seconds, &table);
  MeasureCalls("merged", arguments.seconds, &table);
  MeasureReadsOfAll("merged", arguments.seconds, &table);
  table.Update(Change::kIndexed, 1, 0, w1.rows() / kAllParts);
  table.Flush();
  MeasureCalls("flushed", arguments.seconds, &table);
  CheckCounts(&table);
  table.Merge();
  table.Update(Change::kOther, 1, 0, 1);
  MeasureReadsOfAll("one row unmerged", arguments.seconds, &table);
  table.Merge();
  for (const auto& [change, name] : kChanges) {
    table.Update(change, 1, 0, w1.rows() * kUpdatedParts / kAllParts);
    MeasureReads(name, arguments.seconds, &table);
    MeasureReadsOfAll(std::string(name) + " unmerged", arguments.seconds, &table);
    CheckCounts(&table);
    {
      const PacedWriters writers(&table, change);
      MeasureReads(std::string(name) + "+writes", arguments.seconds, &table);
    }
    CheckCounts(&table);
    table.Merge();
  }
}

}  // namespace tandem::bench
