// Bulk loads of Tandem beside its loads in batches, in the order of the keys and in that of W1; see
// measuring.h. Each fills a table of its own with the three indexes of W1.
#include <tandem/bulk_load.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "tools/bench/measuring.h"
#include "tools/bench/tandem_w1.h"

namespace tandem::bench {
namespace {

class BulkRun {
 public:
  explicit BulkRun(const Arguments& arguments) : w1_(arguments.rows) {
    database_ = OpenTandem(arguments.path);
  }
  ~BulkRun() { Check(database_->Close()); }

  /// Loads as the caller of an import would: until the rows are visible, not until they are merged.
  void Measure(const std::string& phase, const std::vector<uint64_t>& order, bool in_bulk) {
    TableOptions table;
    table.name = phase;
    std::replace_if(
        table.name.begin(), table.name.end(), [](char c) { return c == ' '; }, '_');
    table.families = {{.name = "d"}};
    table.indexes = ThreeIndexes();
    Check(database_->CreateTable(table));
    const Usage begin = UsageNow();
    if (in_bulk) {
      auto load = database_->BeginBulkLoad(table.name, {.any_order = true});
      Check(load.status());
      ForEachBatch(table.name, order, [&](const WriteBatch& batch) { return load->Add(batch); });
      Check(load->Commit());
    } else {
      ForEachBatch(table.name, order,
                   [&](const WriteBatch& batch) { return database_->Write({}, batch); });
      Check(database_->Flush(table.name));
    }
    PrintRate(FigureBetween(phase, begin, UsageNow()), w1_.rows());
    const auto count = database_->Count({}, table.name, Predicate::IsNotNull("city"));
    Check(count.status());
    if (*count != w1_.rows()) Fail(phase + ": rows are missing");
    Check(database_->DropTable(table.name));
  }

  const W1& w1() const { return w1_; }

 private:
  template <typename Add>
  void ForEachBatch(const std::string& table, const std::vector<uint64_t>& order, Add add) {
    WriteBatch batch;
    W1Row row;
    for (size_t i = 0; i < order.size(); ++i) {
      w1_.Row(order[i], &row);
      AddRow(table, row, &batch);
      if ((i + 1) % kBatchRows != 0 && i + 1 != order.size()) continue;
      Check(add(batch));
      batch.Clear();
    }
  }

  const W1 w1_;
  std::unique_ptr<Database> database_;
};

}  // namespace

void MeasureBulk(const Arguments& arguments) {
  BulkRun run(arguments);
  std::vector<uint64_t> order(run.w1().rows());
  std::iota(order.begin(), order.end(), 0);
  run.Measure("load in any order", order, false);
  run.Measure("bulk load in any order", order, true);
  std::vector<std::string> keys;
  for (const uint64_t i : order) keys.push_back(run.w1().Key(i));
  std::sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) { return keys[a] < keys[b]; });
  run.Measure("load in key order", order, false);
  run.Measure("bulk load in key order", order, true);
}

}  // namespace tandem::bench
