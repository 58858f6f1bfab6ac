// What tests of transactions start from: a table with an index.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {

struct TransactionFixture {
  TransactionFixture() {
    Open();
    TableOptions table{.name = "t", .families = {{.name = "d", .max_versions = 2}, {.name = "e"}}};
    table.indexes = {{.name = "by_c", .columns = {{.family = "d", .qualifier = "c"}}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }
  void Open() {
    database.reset();
    database = OpenSmall(directory.Path("db"), options);
  }
  void Put(const std::string& row, const std::string& value) {
    WriteBatch batch;
    batch.Put("t", row, "d", "c", value);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void Delete(const std::string& row) {
    WriteBatch batch;
    batch.DeleteRow("t", row);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  Transaction Begin(const TransactionOptions& how = {}) {
    auto transaction = database->Begin(how);
    BOOST_REQUIRE_MESSAGE(transaction.has_value(), transaction.status().ToString());
    return *std::move(transaction);
  }
  void Flush() { BOOST_REQUIRE_EQUAL(database->Flush().ToString(), "OK"); }
  void Compact() { BOOST_REQUIRE_EQUAL(database->Compact("").ToString(), "OK"); }

  static void PutIn(Transaction* transaction, const std::string& row, const std::string& value) {
    BOOST_REQUIRE_EQUAL(transaction->Put("t", row, "d", "c", value).ToString(), "OK");
  }
  /// The value of d:c; "-": no row; else the error.
  static std::string ValueOf(const Result<std::optional<Row>>& row) {
    if (!row.has_value()) return row.status().ToString();
    if (!row->has_value()) return "-";
    return std::string((*row)->Find("d", "c").value_or("?"));
  }
  static std::string Get(Transaction* transaction, const std::string& row) {
    return ValueOf(transaction->Get({}, "t", row));
  }
  std::string Get(const std::string& row) { return ValueOf(database->Get({}, "t", row)); }
  static std::string RowsOf(Result<Cursor> cursor) {
    if (!cursor.has_value()) return cursor.status().ToString();
    std::string text;
    while (cursor->Next()) {
      text += (text.empty() ? "" : " ") + std::string(cursor->row().key()) + "=" +
              std::string(cursor->row().Find("d", "c").value_or("?"));
    }
    return cursor->status().ok() ? text : cursor->status().ToString();
  }
  static std::string Scan(Transaction* transaction) {
    return RowsOf(transaction->Scan({}, "t", {}));
  }
  std::string Scan() { return RowsOf(database->Scan({}, "t", {})); }
  /// By the index, which must agree with a scan and a count.
  static std::string Query(Transaction* transaction, const std::string& text) {
    const Predicate predicate = *Predicate::Parse(text);
    const std::string rows = RowsOf(transaction->Query({}, "t", predicate, {.use_index = "by_c"}));
    BOOST_CHECK_EQUAL(RowsOf(transaction->Query({}, "t", predicate, {.no_index = true})), rows);
    BOOST_CHECK_EQUAL(RowsOf(transaction->Query({}, "t", predicate)), rows);
    const size_t expected = static_cast<size_t>(std::count(rows.begin(), rows.end(), '='));
    for (const QueryOptions& how : {QueryOptions{.use_index = "by_c"}, QueryOptions{}}) {
      const auto count = transaction->Count({}, "t", predicate, how);
      BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
      BOOST_CHECK_EQUAL(*count, expected);
    }
    return rows;
  }
  static void CommitOk(Transaction* transaction) {
    BOOST_CHECK_EQUAL(transaction->Commit().ToString(), "OK");
  }
  static void CommitConflicts(Transaction* transaction) {
    BOOST_CHECK_EQUAL(transaction->Commit().code(), StatusCode::kConflict);
  }

  TemporaryDirectory directory;
  Options options = SmallOptions();
  std::unique_ptr<Database> database;
};

}  // namespace tandem::test
