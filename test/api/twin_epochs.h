// A table whose row key changes, beside one with the same rows whose key never does.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/api/small_database.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {

using Fields = std::vector<RowKeyField>;

inline constexpr const char* kFields = "user:text, at:int64";

// `lead`: "salt(4)"; empty: nothing leads the keys.
inline std::string Led(const std::string& lead) {
  return lead.empty() ? kFields : lead + ", " + kFields;
}

inline ReadOptions AllVersions(const Snapshot* snapshot = nullptr) {
  ReadOptions read;
  read.snapshot = snapshot;
  read.versions = UINT32_MAX;
  return read;
}

// "user/at{column=value@timestamp ...} "
inline std::string TextOf(const Fields& fields, const RowView& row) {
  std::string text = fields[0].value + "/" + fields[1].value + "{";
  for (const Cell& cell : row.cells()) {
    text.append(cell.family).append(":").append(cell.qualifier).append("=").append(cell.value);
    text += "@" + std::to_string(cell.timestamp) + " ";
  }
  return text + "} ";
}

// A table "t" with typed row keys, and "plain", whose keys never change, with the same rows.
class EpochTwins {
 public:
  explicit EpochTwins(const std::string& lead)
      : database(OpenSmall(directory.path())), plain(*RowKeyEpochs::Parse(kFields)) {
    TableOptions table = {.name = "t",
                          .families = {{.name = "d", .max_versions = 3}, {.name = "e"}}};
    table.indexes = {{.name = "by_c", .columns = {{.qualifier = "c"}}}};
    BOOST_REQUIRE_EQUAL(Made(table, Led(lead)), "OK");
    table.name = "plain";
    BOOST_REQUIRE_EQUAL(Made(table, kFields), "OK");
  }
  std::string Made(TableOptions table, const std::string& row_key) {
    table.row_key = row_key;
    return database->CreateTable(table).ToString();
  }
  void Reopen() {
    BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
    database = OpenSmall(directory.path());
  }

  RowKeyEpochs Keys(const ReadOptions& read = {}) {
    Result<RowKeyEpochs> keys = database->RowKeysOf(read, "t");
    BOOST_REQUIRE_EQUAL(keys.status().ToString(), "OK");
    return *std::move(keys);
  }
  std::string KeyForWrite(const Fields& fields) {
    Result<std::string> key = database->KeyForWrite({}, "t", fields);
    BOOST_REQUIRE_EQUAL(key.status().ToString(), "OK");
    return *std::move(key);
  }
  void Put(const Fields& fields, const std::string& column, const std::string& value,
           WriteBatch* batch) {
    batch->Put("t", KeyForWrite(fields), "d", column, value);
    batch->Put("plain", *plain.newest().Encode(fields), "d", column, value);
  }
  void Put(const Fields& fields, const std::string& column, const std::string& value) {
    WriteBatch batch;
    Put(fields, column, value, &batch);
    Write(batch);
  }
  void Delete(const Fields& fields, WriteBatch* batch) {
    const RowKeyEpochs keys = Keys();
    for (const std::string& key : *keys.Keys(fields)) batch->DeleteRow("t", key);
    batch->DeleteRow("plain", *plain.newest().Encode(fields));
  }
  void Write(const WriteBatch& batch) {
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  std::string Change(const std::string& lead) {
    return database->ChangeRowKey("t", Led(lead)).ToString();
  }
  RewriteKeysReport Rewrite() {
    const Result<RewriteKeysReport> report = database->RewriteKeys("t");
    BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
    return *report;
  }
  std::vector<std::string> Former() {
    const auto info = database->Info();
    BOOST_REQUIRE_EQUAL(info.status().ToString(), "OK");
    return info->tables.front().options.former_row_keys;
  }

  std::string Rows(bool of_plain, const ReadOptions& read, const ScanOptions& scan) {
    const RowKeyEpochs keys = of_plain ? plain : Keys(read);
    auto cursor = database->Scan(read, of_plain ? "plain" : "t", scan);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::string rows;
    while (cursor->Next()) rows += Text(keys, cursor->row());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  }
  static std::string Text(const RowKeyEpochs& keys, const RowView& row) {
    const auto fields = keys.Decode(row.key());
    BOOST_REQUIRE_EQUAL(fields.status().ToString(), "OK");
    return TextOf(*fields, row);
  }
  // All rows, in the order of their fields.
  void CheckEqual(const ReadOptions& read = AllVersions()) {
    BOOST_REQUIRE_EQUAL(Rows(false, read, *Keys(read).InFieldOrder({})),
                        Rows(true, read, *plain.InFieldOrder({})));
  }
  std::string Got(bool of_plain, const ReadOptions& read, const Fields& fields) {
    const RowKeyEpochs keys = of_plain ? plain : Keys(read);
    const std::vector<std::string> all = *keys.Keys(fields);
    const std::vector<std::string_view> views(all.begin(), all.end());
    auto rows = database->MultiGet(read, of_plain ? "plain" : "t", views);
    BOOST_REQUIRE_EQUAL(rows.status().ToString(), "OK");
    std::string text;
    for (const auto& row : *rows) text += row.has_value() ? TextOf(fields, row->view()) : "";
    return text;
  }
  // The rows of a query by value, sorted: their keys are in other orders.
  std::vector<std::string> Queried(bool of_plain, const ReadOptions& read,
                                   const Predicate& predicate) {
    const RowKeyEpochs keys = of_plain ? plain : Keys(read);
    auto cursor = database->Query(read, of_plain ? "plain" : "t", predicate);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::vector<std::string> rows;
    while (cursor->Next()) rows.push_back(Text(keys, cursor->row()));
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    std::ranges::sort(rows);
    return rows;
  }

  std::string InOrder(bool of_plain, const ReadOptions& read, const Predicate& predicate,
                      const QueryOptions& query) {
    const RowKeyEpochs keys = of_plain ? plain : Keys(read);
    auto cursor = database->Query(read, of_plain ? "plain" : "t", predicate, query);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::string rows;
    while (cursor->Next()) rows += Text(keys, cursor->row());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
  const RowKeyEpochs plain;
};

inline Fields Row(const std::string& user, int at) {
  return {{"user", user}, {"at", std::to_string(at)}};
}

inline void FillWith(int rows, EpochTwins* twins) {
  for (int i = 0; i < rows; ++i) {
    twins->Put(Row(i % 2 == 0 ? "ann" : "bob", i), "c", std::to_string(i % 5));
  }
}

}  // namespace tandem::test
