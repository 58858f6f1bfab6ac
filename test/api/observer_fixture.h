// A database whose observers are made of functions that a test sets.
#pragma once

#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {

/// Functions that are not set do nothing. Threads: those of the functions.
class ScriptedObserver final : public Observer {
 public:
  std::function<Status(PendingWrite*)> before_write;
  std::function<void(const CommittedWrite&)> after_write;
  std::function<Status(const ObservedGet&)> before_get;
  std::function<Status(const ObservedGet&, const RowView*)> after_get;
  std::function<Status(const ObservedScan&)> before_scan, after_scan;
  std::function<Status(const ObservedQuery&)> before_query, after_query;
  std::function<Status(StoredRow*)> filter;
  std::function<void(const FlushEvent&)> before_flush, after_flush;
  std::function<void(const CompactionEvent&)> before_merge, after_merge;
  std::function<Status(std::string_view)> before_compact;
  std::function<Status(std::string_view, const SplitOptions&)> before_split;
  std::function<Status(std::string_view, const RegionMergeOptions&)> before_merge_regions;
  std::function<void(const RegionSplitEvent&)> after_split;
  std::function<void(const RegionMergeEvent&)> after_merge_regions;

  Status BeforeWrite(PendingWrite* write) override { return Ask(before_write, write); }
  void AfterWrite(const CommittedWrite& write) override { Tell(after_write, write); }
  Status BeforeGet(const ObservedGet& get) override { return Ask(before_get, get); }
  Status AfterGet(const ObservedGet& get, const RowView* row) override {
    return Ask(after_get, get, row);
  }
  Status BeforeScan(const ObservedScan& scan) override { return Ask(before_scan, scan); }
  Status AfterScan(const ObservedScan& scan) override { return Ask(after_scan, scan); }
  Status BeforeQuery(const ObservedQuery& query) override { return Ask(before_query, query); }
  Status AfterQuery(const ObservedQuery& query) override { return Ask(after_query, query); }
  bool has_filter() const override { return filter != nullptr; }
  Status FilterRow(StoredRow* row) override { return Ask(filter, row); }
  void BeforeFlush(const FlushEvent& event) override { Tell(before_flush, event); }
  void AfterFlush(const FlushEvent& event) override { Tell(after_flush, event); }
  void BeforeMerge(const CompactionEvent& event) override { Tell(before_merge, event); }
  void AfterMerge(const CompactionEvent& event) override { Tell(after_merge, event); }
  Status BeforeCompact(std::string_view table) override { return Ask(before_compact, table); }
  Status BeforeSplit(std::string_view table, const SplitOptions& split) override {
    return Ask(before_split, table, split);
  }
  Status BeforeMergeRegions(std::string_view table, const RegionMergeOptions& merge) override {
    return Ask(before_merge_regions, table, merge);
  }
  void AfterSplit(const RegionSplitEvent& event) override { Tell(after_split, event); }
  void AfterMergeRegions(const RegionMergeEvent& event) override {
    Tell(after_merge_regions, event);
  }

 private:
  template <typename Function, typename... Arguments>
  static Status Ask(const Function& function, const Arguments&... arguments) {
    return function ? function(arguments...) : Status();
  }
  template <typename Function, typename Argument>
  static void Tell(const Function& function, const Argument& argument) {
    if (function) function(argument);
  }
};

/// Table "t" has the observer "a"; tables "u" and "counts" have none. "b" is registered too.
struct ObserverFixture {
  ObserverFixture() {
    Open();
    Create({.name = "t",
            .families = {{.name = "d", .max_versions = 3}, {.name = "e"}},
            .indexes = {{.name = "n", .columns = {{.qualifier = "n", .type = ColumnType::kInt64}}}},
            .observers = {"a"}});
    Create({.name = "u", .families = {{.name = "d"}}});
    Create({.name = "counts", .families = {{.name = "d"}}});
  }

  Options NewOptions() const {
    Options options = SmallOptions();
    options.observers = {{"a", a}, {"b", b}};
    return options;
  }
  void Open() { Open(NewOptions()); }
  void Open(const Options& options) {
    database.reset();
    database = OpenSmall(directory.Path("db"), options);
  }
  void Create(const TableOptions& table) {
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }
  void SetObservers(const std::vector<std::string>& names) {
    BOOST_REQUIRE_EQUAL(database->SetObservers("t", names).ToString(), "OK");
  }
  static WriteBatch PutOf(std::string_view table, std::string_view row, std::string_view value,
                          std::string_view qualifier = "n", std::string_view family = "d") {
    WriteBatch batch;
    batch.Put(table, row, family, qualifier, value);
    return batch;
  }
  Status Write(const WriteBatch& batch) { return database->Write({}, batch); }
  Status Put(std::string_view row, std::string_view value, std::string_view qualifier = "n") {
    return Write(PutOf("t", row, value, qualifier));
  }
  static std::string TextOf(const RowView& row) {
    std::string text(row.key());
    for (const Cell& cell : row.cells()) {
      text.append(" ").append(cell.qualifier).append("=").append(cell.value);
    }
    return text;
  }
  static std::string TextOf(Result<Cursor> cursor) {
    if (!cursor.has_value()) return cursor.status().ToString();
    std::string text;
    for (const RowView& row : *cursor) text += (text.empty() ? "" : ", ") + TextOf(row);
    if (!cursor->status().ok()) text += " " + cursor->status().ToString();
    return text;
  }
  std::string Rows(std::string_view table = "t", const ReadOptions& options = {}) {
    return TextOf(database->Scan(options, table, {}));
  }

  TemporaryDirectory directory;
  std::shared_ptr<ScriptedObserver> a = std::make_shared<ScriptedObserver>();
  std::shared_ptr<ScriptedObserver> b = std::make_shared<ScriptedObserver>();
  std::unique_ptr<Database> database;
};

}  // namespace tandem::test
