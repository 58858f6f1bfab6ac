// Typed row keys through the API: the declaration stays with its table, keys that it makes are
// found by one get, and its ranges by one scan.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

using Fields = std::vector<RowKeyField>;

struct TypedTable {
  explicit TypedTable(const std::string& declaration)
      : database(OpenSmall(directory.path())), schema(*RowKeySchema::Parse(declaration)) {
    TableOptions table = {.name = "t", .families = {{.name = "d"}}};
    table.row_key = declaration;
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }

  void Put(const Fields& fields) {
    const Result<std::string> key = schema.Encode(fields);
    BOOST_REQUIRE_EQUAL(key.status().ToString(), "OK");
    WriteBatch batch;
    batch.Put("t", *key, "d", "c", "v");
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  // The fields of the rows, each "user/at".
  std::string Scanned(const ScanOptions& scan) {
    auto cursor = database->Scan({}, "t", scan);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::string rows;
    while (cursor->Next()) {
      const auto fields = schema.Decode(cursor->row().key());
      BOOST_REQUIRE_EQUAL(fields.status().ToString(), "OK");
      rows += (rows.empty() ? "" : " ") + (*fields)[0].value + "/" + (*fields)[1].value;
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  }
  std::string declared() {
    const auto info = database->Info();
    BOOST_REQUIRE_EQUAL(info.status().ToString(), "OK");
    return info->tables.front().options.row_key;
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
  RowKeySchema schema;
};

BOOST_AUTO_TEST_SUITE(row_keys)

BOOST_AUTO_TEST_CASE(ASaltedRowIsFoundByOneGet) {
  TypedTable table("salt(16), user:text, at:timestamp desc");
  for (int i = 0; i < 100; ++i) {
    table.Put({{"user", "u" + std::to_string(i % 7)}, {"at", std::to_string(i)}});
  }
  const uint64_t gets = table.database->GetStatistics().gets;
  for (int i = 0; i < 100; ++i) {
    const auto key = table.schema.Encode(
        Fields{{"at", std::to_string(i)}, {"user", "u" + std::to_string(i % 7)}});
    const auto row = table.database->Get({}, "t", *key);
    BOOST_REQUIRE_EQUAL(row.status().ToString(), "OK");
    BOOST_TEST(row->has_value());
  }
  BOOST_TEST(table.database->GetStatistics().gets == gets + 100);
}

BOOST_AUTO_TEST_CASE(NewestAndBetweenAreScansInEitherDirection) {
  for (const std::string direction : {"asc", "desc"}) {
    TypedTable table("user:text, at:timestamp " + direction);
    for (int at = 0; at < 10; ++at) {
      for (const char* user : {"ann", "ann2", "bob"}) {
        table.Put({{"user", user}, {"at", std::to_string(at)}});
      }
    }
    const Fields ann = {{"user", "ann"}};
    BOOST_TEST(table.Scanned(*table.schema.Newest(ann, 3)) == "ann/9 ann/8 ann/7");
    BOOST_TEST(table.Scanned(*table.schema.Newest(ann, 2, {.field = "at", .to = "5"})) ==
               "ann/4 ann/3");
    const bool descends = direction == "desc";
    ScanOptions scan;
    scan.ranges = *table.schema.Between(ann, {.field = "at", .from = "3", .to = "5"});
    BOOST_TEST(table.Scanned(scan) == (descends ? "ann/4 ann/3" : "ann/3 ann/4"));
  }
}

// The rows of a user are under several salts; one scan reads them all.
BOOST_AUTO_TEST_CASE(OneScanReadsTheRangesOfAllSalts) {
  TypedTable table("salt(5), user:text, at:timestamp");
  for (int at = 0; at < 40; ++at) {
    table.Put({{"user", at % 2 == 0 ? "ann" : "bob"}, {"at", std::to_string(at)}});
  }
  ScanOptions scan;
  scan.ranges = *table.schema.Ranges(Fields{{"user", "ann"}});
  BOOST_TEST(scan.ranges.size() == 5u);
  const std::string rows = table.Scanned(scan);
  BOOST_TEST(std::ranges::count(rows, '/') == 20);
  BOOST_TEST(rows.find("bob") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(TheDeclarationStaysWithItsTable) {
  TypedTable table("SALT(4),user:text");
  const std::string printed = "salt(4), user:text";
  BOOST_TEST(table.declared() == printed);
  table.Put({{"user", "ann"}});
  BOOST_REQUIRE_EQUAL(table.database->RenameTable("t", "u").ToString(), "OK");
  BOOST_TEST(table.declared() == printed);
  BOOST_REQUIRE_EQUAL(table.database->TruncateTable("u").ToString(), "OK");
  BOOST_TEST(table.declared() == printed);
  BOOST_REQUIRE_EQUAL(table.database->Close().ToString(), "OK");
  table.database = OpenSmall(table.directory.path());
  BOOST_TEST(table.declared() == printed);
}

// Neither rows in memory nor those in files may get other keys.
BOOST_AUTO_TEST_CASE(OnlyAnEmptyTableIsDeclaredAgain) {
  TypedTable table("user:text");
  Database& database = *table.database;
  BOOST_TEST(database.SetRowKey("t", "user:text, at:timestamp").ToString() == "OK");
  BOOST_TEST(table.declared() == "user:text, at:timestamp");
  BOOST_TEST(database.SetRowKey("t", "user:string").code() == StatusCode::kInvalidArgument);
  BOOST_TEST(database.SetRowKey("none", "user:text").code() == StatusCode::kNotFound);
  table.schema = *RowKeySchema::Parse(table.declared());
  table.Put({{"user", "ann"}, {"at", "1"}});
  for (const bool in_files : {false, true}) {
    if (in_files) BOOST_REQUIRE_EQUAL(database.Flush().ToString(), "OK");
    const Status refused = database.SetRowKey("t", "at:timestamp");
    BOOST_TEST(refused.code() == StatusCode::kUnsupported);
    BOOST_TEST(refused.message() ==
               "table 't' has cells under row keys of 'user:text, at:timestamp', which another row "
               "key would not fit");
    BOOST_TEST(database.SetRowKey("t", "").code() == StatusCode::kUnsupported);
    BOOST_TEST(database.SetRowKey("t", "user:text,at:timestamp").ToString() == "OK");
  }
  BOOST_REQUIRE_EQUAL(database.TruncateTable("t").ToString(), "OK");
  BOOST_TEST(database.SetRowKey("t", "").ToString() == "OK");
  BOOST_TEST(table.declared() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
