// Scans in the order of fields: a table whose keys are led by salts, hashes and moduli is read as a
// plain one is, at every snapshot, from either end, page by page, whatever regions it has.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

using Fields = std::vector<RowKeyField>;

const RowKeySchema& Plain() {
  static const RowKeySchema schema = *RowKeySchema::Parse("user:text, at:int64");
  return schema;
}

// A table "t" with leading bytes and a table "plain" without, which have the same rows.
class Twins {
 public:
  Twins(const std::string& declaration, unsigned seed)
      : database(OpenSmall(directory_.path())),
        schema(*RowKeySchema::Parse(declaration)),
        random_(seed) {
    TableOptions table = {.name = "t", .families = {{.name = "d"}}};
    table.row_key = declaration;
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(
        database->CreateTable({.name = "plain", .families = {{.name = "d"}}}).ToString(), "OK");
  }

  uint64_t Below(uint64_t end) { return random_() % end; }
  Fields RandomFields() {
    return {{"user", std::string(1 + Below(2), static_cast<char>('a' + Below(3)))},
            {"at", std::to_string(static_cast<int64_t>(Below(60)) - 20)}};
  }
  void Write() {
    WriteBatch batch;
    for (int i = 0; i < 20; ++i) {
      const Fields fields = RandomFields();
      const std::string key = *schema.Encode(fields), plain = *Plain().Encode(fields);
      if (Below(4) == 0) {
        batch.DeleteRow("t", key);
        batch.DeleteRow("plain", plain);
      } else {
        const std::string value = std::to_string(Below(1000));
        batch.Put("t", key, "d", "c", value);
        batch.Put("plain", plain, "d", "c", value);
      }
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  // Flushes, splits, merges, in turn with writes.
  void Change() {
    const uint64_t choice = Below(10);
    if (choice < 6) return Write();
    if (choice == 6) BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
    if (choice == 7) {
      (void)database->Split("t", {.key = *schema.Encode(RandomFields())});  // It may begin one.
    }
    if (choice == 8) (void)database->MergeRegions("t");  // There may be one region.
    if (choice == 9) BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  }
  // "user/at=value" of each row.
  std::string Rows(const std::string& table, const ReadOptions& read, const ScanOptions& scan) {
    const RowKeySchema& keys = table == "t" ? schema : Plain();
    auto cursor = database->Scan(read, table, scan);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::string rows;
    while (cursor->Next()) rows += TextOf(keys, cursor->row());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  }
  // The same, a page after the other, each by a cursor of its own.
  std::string Pages(const ReadOptions& read, ScanOptions scan, uint64_t page_rows) {
    std::string rows;
    scan.limit = page_rows;
    while (true) {
      auto cursor = database->Scan(read, "t", scan);
      BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
      uint64_t count = 0;
      for (; cursor->Next(); ++count) rows += TextOf(schema, cursor->row());
      BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
      if (count < page_rows) return rows;
      scan.after = *cursor->Token();
    }
  }
  // What comes before the last row of the scan, the nearest first.
  std::string Back(const ReadOptions& read, ScanOptions scan) {
    auto cursor = database->Scan(read, "t", scan);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::string last;
    while (cursor->Next()) last = TextOf(schema, cursor->row());
    if (last.empty()) return last;
    scan.before = *cursor->Token();
    return last + Rows("t", read, scan);
  }
  void Compare(const ReadOptions& read) {
    const uint64_t shape = Below(4);
    const Fields user = {RandomFields()[0]};
    Fields prefix;
    RowKeyBounds bounds;
    if (shape >= 1) prefix = user;
    if (shape >= 2) {
      const auto from = static_cast<int64_t>(Below(60)) - 20;
      bounds = {.field = "at", .from = std::to_string(from)};
      if (shape == 3) bounds.to = std::to_string(from + 1 + static_cast<int64_t>(Below(30)));
    }
    Result<ScanOptions> scan = schema.InFieldOrder(prefix, bounds);
    BOOST_REQUIRE_EQUAL(scan.status().ToString(), "OK");
    ScanOptions plain = *Plain().InFieldOrder(prefix, bounds);
    scan->reverse = plain.reverse = Below(2) == 0;
    scan->limit = plain.limit = Below(2) == 0 ? 0 : 1 + Below(20);
    scan->offset = plain.offset = Below(3) == 0 ? Below(15) : 0;
    const std::string expected = Rows("plain", read, plain);
    BOOST_REQUIRE_EQUAL(Rows("t", read, *scan), expected);
    if (scan->limit != 0 || scan->offset != 0) return;
    BOOST_REQUIRE_EQUAL(Pages(read, *scan, 1 + Below(9)), expected);
    plain.reverse = !plain.reverse;
    BOOST_REQUIRE_EQUAL(Back(read, *scan), Rows("plain", read, plain));
  }

 private:
  static std::string TextOf(const RowKeySchema& keys, const RowView& row) {
    const auto fields = keys.Decode(row.key());
    BOOST_REQUIRE_EQUAL(fields.status().ToString(), "OK");
    return (*fields)[0].value + "/" + (*fields)[1].value + "=" +
           std::string(row.Find("d", "c").value_or("")) + " ";
  }

  TemporaryDirectory directory_;

 public:
  std::unique_ptr<Database> database;
  const RowKeySchema schema;

 private:
  std::mt19937_64 random_;
};

BOOST_AUTO_TEST_SUITE(merged_scans)

BOOST_AUTO_TEST_CASE(SaltedTablesEqualPlainOnesAtEverySnapshot) {
  unsigned seed = 0;
  for (const char* declaration :
       {"salt(4), user:text, at:int64", "salt(300), user:text, at:int64",
        "mod(at, 7), user:text, at:int64", "salt(2), mod(at, 3), user:text, at:int64",
        "salt(1), user:text, at:int64"}) {
    Twins twins(declaration, ++seed);
    std::optional<Snapshot> snapshot;
    for (int i = 0; i < 60; ++i) {
      twins.Change();
      if (i % 7 == 3) snapshot = *twins.database->TakeSnapshot();
      twins.Compare({});
      if (snapshot.has_value()) twins.Compare({.snapshot = &*snapshot});
    }
  }
}

// A hash of the user needs the user; then there is one range, and nothing to merge.
BOOST_AUTO_TEST_CASE(AHashThatFollowsFromTheFieldsIsNotMerged) {
  const RowKeySchema schema = *RowKeySchema::Parse("hash(user, 4), user:text, at:int64");
  const Result<ScanOptions> scan = schema.InFieldOrder(Fields{{"user", "ann"}});
  BOOST_REQUIRE_EQUAL(scan.status().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(scan->ranges.size(), 1u);
  BOOST_TEST(scan->ranges[0].leading_bytes == 0u);
  BOOST_TEST(schema.InFieldOrder({}).status().ToString().starts_with("InvalidArgument"));
}

BOOST_AUTO_TEST_CASE(TheNewestOfASaltedTableAreOneScan) {
  for (const std::string direction : {"asc", "desc"}) {
    TemporaryDirectory directory;
    const auto database = OpenSmall(directory.path());
    const std::string declaration = "salt(8), user:text, at:timestamp " + direction;
    const RowKeySchema schema = *RowKeySchema::Parse(declaration);
    TableOptions table = {.name = "t", .families = {{.name = "d"}}};
    table.row_key = declaration;
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
    WriteBatch batch;
    for (int at = 0; at < 100; ++at) {
      batch.Put("t", *schema.Encode(Fields{{"user", "ann"}, {"at", std::to_string(at)}}), "d", "c",
                "v");
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    auto cursor = database->Scan({}, "t", *schema.Newest(Fields{{"user", "ann"}}, 3));
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::string found;
    while (cursor->Next()) found += (*schema.Decode(cursor->row().key()))[1].value + " ";
    BOOST_TEST(found == "99 98 97 ");
  }
}

BOOST_AUTO_TEST_CASE(RangesThatCannotBeMergedAreRefused) {
  Twins twins("salt(4), user:text, at:int64", 1);
  const auto refused = [&](const std::vector<RowRange>& ranges) {
    ScanOptions scan;
    scan.ranges = ranges;
    return std::string(twins.database->Scan({}, "t", scan).status().message());
  };
  BOOST_TEST(refused({{"a", "c", 1}}).find("begin with different ones") != std::string::npos);
  BOOST_TEST(refused({{"a", "", 1}}).find("begin with different ones") != std::string::npos);
  BOOST_TEST(refused({{"a", "b", 2}}).find("its start is shorter") != std::string::npos);
  BOOST_TEST(refused({{"a", "b", 1}, {"ab", "ac", 0}}).find("in two ranges") != std::string::npos);
  std::vector<RowRange> many;
  for (size_t i = 0; i <= kScanLeadsMax; ++i) {
    const std::string lead = {static_cast<char>(i >> 8), static_cast<char>(i)};
    many.push_back({lead, lead + "x", 2});
  }
  BOOST_TEST(refused(many).find("the limit is 4096") != std::string::npos);
  BOOST_TEST(RowKeySchema::Parse("salt(5000), a:text")->InFieldOrder({}).status().code() ==
             StatusCode::kUnsupported);
  many.pop_back();
  BOOST_TEST(refused(many).empty());
}

BOOST_AUTO_TEST_CASE(ATokenOfOtherLeadingBytesIsRefused) {
  Twins twins("salt(4), user:text, at:int64", 1);
  for (int i = 0; i < 5; ++i) twins.Write();
  ScanOptions scan = *twins.schema.InFieldOrder({});
  auto cursor = twins.database->Scan({}, "t", scan);
  BOOST_REQUIRE(cursor.has_value() && cursor->Next());
  scan.after = *cursor->Token();
  for (RowRange& range : scan.ranges) range.leading_bytes = 0;
  BOOST_TEST(twins.database->Scan({}, "t", scan).status().code() == StatusCode::kInvalidArgument);
}

// A budget stops it between rows that were given; the token goes on there.
BOOST_AUTO_TEST_CASE(AMergedScanGoesOnAfterItsBudget) {
  Twins twins("salt(4), user:text, at:int64", 3);
  for (int i = 0; i < 20; ++i) twins.Write();
  const std::string expected = twins.Rows("plain", {}, *Plain().InFieldOrder({}));
  ReadOptions read;
  read.budget.rows = 20;
  ScanOptions scan = *twins.schema.InFieldOrder({});
  scan.limit = 1000;
  std::string found;
  for (int pieces = 0; pieces < 200; ++pieces) {
    auto cursor = twins.database->Scan(read, "t", scan);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    while (cursor->Next()) {
      const auto fields = twins.schema.Decode(cursor->row().key());
      found += (*fields)[0].value + "/" + (*fields)[1].value + "=" +
               std::string(cursor->row().Find("d", "c").value_or("")) + " ";
    }
    if (cursor->status().ok()) break;
    BOOST_REQUIRE(cursor->status().code() == StatusCode::kOverBudget);
    scan.after = *cursor->Token();
  }
  BOOST_TEST(found == expected);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
