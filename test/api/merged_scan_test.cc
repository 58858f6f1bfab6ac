// Scans in the order of fields: a table whose keys are led by salts, hashes and moduli is read as a
// plain one is, at every snapshot, from either end, page by page, whatever regions it has.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <vector>

#include "test/api/twin_tables.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

// Scans of both tables by the same fields.
void Compare(Twins* twins, ReadOptions read) {
  read.threads = 1u << twins->Below(3);
  Fields prefix;
  RowKeyBounds bounds;
  twins->PickRows(&prefix, &bounds);
  Result<ScanOptions> scan = twins->schema.InFieldOrder(prefix, bounds);
  BOOST_REQUIRE_EQUAL(scan.status().ToString(), "OK");
  ScanOptions plain = *Plain().InFieldOrder(prefix, bounds);
  scan->reverse = plain.reverse = twins->Below(2) == 0;
  scan->limit = plain.limit = twins->Below(2) == 0 ? 0 : 1 + twins->Below(20);
  scan->offset = plain.offset = twins->Below(3) == 0 ? twins->Below(15) : 0;
  const auto open = [&](const ScanOptions& asked) {
    return twins->database->Scan(read, "t", asked);
  };
  const auto rows_of = [&](const std::string& table, const ScanOptions& asked) {
    Result<Cursor> cursor = twins->database->Scan(read, table, asked);
    return twins->Rows(table, &cursor);
  };
  const std::string expected = rows_of("plain", plain);
  BOOST_REQUIRE_EQUAL(rows_of("t", *scan), expected);
  if (scan->limit != 0 || scan->offset != 0) return;
  BOOST_REQUIRE_EQUAL(twins->Pages(*scan, 1 + twins->Below(9), open), expected);
  plain.reverse = !plain.reverse;
  BOOST_REQUIRE_EQUAL(twins->Back(*scan, open), rows_of("plain", plain));
}

BOOST_AUTO_TEST_SUITE(merged_scans)

BOOST_AUTO_TEST_CASE(SaltedTablesEqualPlainOnesAtEverySnapshot) {
  unsigned seed = 0;
  for (const char* declaration :
       {"salt(4), user:text, at:int64", "salt(300), user:text, at:int64",
        "mod(at, 7), user:text, at:int64", "salt(2), mod(at, 3), user:text, at:int64",
        "mod(at, 3, 4), user:text, at:int64", "salt(2), mod(at, 2, 300), user:text, at:int64",
        "salt(1), user:text, at:int64", "hash(user, 2), user:text, at:int64",
        "salt(3), hash(user, 1), user:text, at:int64"}) {
    Twins twins(declaration, ++seed);
    std::optional<Snapshot> snapshot;
    for (int i = 0; i < 60; ++i) {
      twins.Change();
      if (i % 7 == 3) snapshot = *twins.database->TakeSnapshot();
      Compare(&twins, {});
      twins.CheckGet({});
      if (snapshot.has_value()) Compare(&twins, {.snapshot = &*snapshot});
    }
  }
}

// Rows beyond what a scan leaves in the cache, so that other threads help: all of them, the first
// ones and the last ones, at a snapshot, and cursors that are dropped on the way.
BOOST_AUTO_TEST_CASE(SeveralThreadsMergeTheSameRows) {
  Twins twins("salt(6), user:text, at:int64", 1);
  WriteBatch batch;
  const auto write = [&](int first, int step, const std::string& value) {
    for (int at = first; at < 30'000; at += step) {
      const Fields fields = {{"user", "ann"}, {"at", std::to_string(at)}};
      batch.Put("t", *twins.schema.Encode(fields), "d", "text", value + std::to_string(at));
      if (batch.operation_count() < 1'000) continue;
      BOOST_REQUIRE_EQUAL(twins.database->Write({}, batch).ToString(), "OK");
      batch.Clear();
    }
  };
  write(0, 1, std::string(100, '1'));
  BOOST_REQUIRE_EQUAL(twins.database->Compact("t").ToString(), "OK");
  const Result<Snapshot> snapshot = twins.database->TakeSnapshot();
  write(3, 7, std::string(100, '2'));
  const Snapshot* const snapshots[] = {nullptr, &*snapshot};
  for (int i = 0; i < 16; ++i) {
    ScanOptions scan = *twins.schema.InFieldOrder(Fields{{"user", "ann"}});
    scan.reverse = i % 2 == 1;
    scan.limit = i / 2 % 2 == 1 ? 20'000 : 0;
    ReadOptions read;
    read.snapshot = snapshots[i / 4 % 2];
    const auto rows = [&](uint32_t threads) {
      read.threads = threads;
      auto cursor = twins.database->Scan(read, "t", scan);
      return twins.Rows("t", &cursor);
    };
    const std::string expected = rows(1);
    for (const uint32_t threads : {2u, 4u}) BOOST_REQUIRE(rows(threads) == expected);
    auto dropped = twins.database->Scan(read, "t", scan);
    for (int row = 0; row < i * 997; ++row) BOOST_REQUIRE(dropped->Next());
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
  Result<Cursor> plain = twins.database->Scan({}, "plain", *Plain().InFieldOrder({}));
  const std::string expected = twins.Rows("plain", &plain);
  ReadOptions read;
  read.budget.rows = 20;
  ScanOptions scan = *twins.schema.InFieldOrder({});
  scan.limit = 1000;
  std::string found;
  for (int pieces = 0; pieces < 200; ++pieces) {
    auto cursor = twins.database->Scan(read, "t", scan);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    while (cursor->Next()) {
      found += twins.TextOf("t", cursor->row());
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
