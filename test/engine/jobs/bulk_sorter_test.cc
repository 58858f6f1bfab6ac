// The sorter of bulk loads beside a stable sort, and what becomes of its files.
#define BOOST_TEST_DYN_LINK
#include <tandem/bulk_load.h>
#include <tandem/limits.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <utility>

#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

struct BulkLoadFixture : TestEngine {
  BulkLoadFixture() {
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((*this)->CreateTable(SimpleTable()).ToString(), "OK");
    TableOptions other = SimpleTable();
    other.name = "other";
    BOOST_REQUIRE_EQUAL((*this)->CreateTable(other).ToString(), "OK");
  }
  BulkLoad Begin() {
    auto load = (*this)->BeginBulkLoad("t", {.any_order = true});
    BOOST_REQUIRE_EQUAL(load.status().ToString(), "OK");
    return *std::move(load);
  }
  /// 300 rows, which the sorter has in files.
  void AddFallingRows(BulkLoad* load) {
    for (int i = 300; i > 0; --i) {
      WriteBatch batch;
      batch.Put("t", std::to_string(1000 + i), "d", "c", std::string(100, 'v'));
      BOOST_REQUIRE_EQUAL(load->Add(batch).ToString(), "OK");
    }
    executor.Drain();  // Adds only queue.
  }
  std::string Hits(const std::string& table, const std::string& value) {
    std::string keys;
    auto cursor = (*this)->Query({}, table, Predicate::Equal("c", value), {.use_index = "by_c"});
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    while (cursor->Next()) keys.append(cursor->row().key()).append(" ");
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return keys;
  }
  uint64_t StoreFiles() {
    const auto names = (*disk.OpenDirectory("db", false))->List();
    BOOST_REQUIRE(names.has_value());
    return static_cast<uint64_t>(std::ranges::count_if(
        *names, [](const std::string& name) { return name.starts_with("store-"); }));
  }
};

/// A put of the table "t", and the same of the table "other".
void AddPut(TestRandom* random, WriteBatch* batch, WriteBatch* other) {
  std::string row(1 + random->Below(3), 'a');
  for (char& byte : row) byte = static_cast<char>('a' + random->Below(4));
  if (random->OneIn(4)) row.push_back('\0');  // A key that another begins with.
  const std::string column = random->OneIn(2) ? "c" : "q";
  const std::string value(random->Below(200), static_cast<char>('0' + random->Below(3)));
  std::optional<int64_t> timestamp;
  if (random->OneIn(8)) timestamp = static_cast<int64_t>(random->Below(3));
  batch->Put("t", row, "d", column, value, timestamp);
  other->Put("other", row, "d", column, value, timestamp);
}

BOOST_FIXTURE_TEST_SUITE(BulkSorterTest, BulkLoadFixture)

// Runs, and runs of runs, since a load sorts half a KiB at a time here.
BOOST_AUTO_TEST_CASE(RowsInAnyOrderAreAsIfTheyWereWritten) {
  TestRandom random("BulkSorterTest");
  for (size_t round = 0; round < Trials(40); ++round) {
    BulkLoad load = Begin();
    for (uint64_t i = random.Below(random.OneIn(4) ? 400 : 20) + 1; i > 0; --i) {
      WriteBatch batch, other;
      for (uint64_t j = 1 + random.Below(5); j > 0; --j) AddPut(&random, &batch, &other);
      BOOST_REQUIRE_EQUAL(load.Add(batch).ToString(), "OK");
      BOOST_REQUIRE_EQUAL(Write(other).ToString(), "OK");
    }
    BOOST_REQUIRE_EQUAL(load.Commit().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Rows(), Rows("other"));
    for (const char* value : {"", "0", "11", "222"}) {
      BOOST_REQUIRE_EQUAL(Hits("t", value), Hits("other", value));
    }
    executor.Drain();
  }
  const auto report = (*this)->Verify(true);
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  BOOST_CHECK(report->findings.empty());
}

BOOST_AUTO_TEST_CASE(FilesOfTheSorterAreRemoved) {
  for (const bool is_committed : {true, false}) {
    const uint64_t before = StoreFiles();
    BulkLoad load = Begin();
    AddFallingRows(&load);
    BOOST_CHECK_GT(StoreFiles(), before);
    if (is_committed) {
      BOOST_REQUIRE_EQUAL(load.Commit().ToString(), "OK");
    } else {
      load.Abandon();
    }
    BOOST_CHECK_LE(StoreFiles(), before + (is_committed ? 1 : 0));
  }
  const auto count =
      (*this)->Count({}, "t", Predicate::Equal("c", std::string(100, 'v')), QueryOptions());
  BOOST_CHECK_EQUAL(count.value(), 300u);
}

// The files that a crash leaves are no store files, and the next open removes them.
BOOST_AUTO_TEST_CASE(FilesThatACrashLeavesAreRemoved) {
  const uint64_t before = StoreFiles();
  {
    BulkLoad load = Begin();
    AddFallingRows(&load);
    BOOST_CHECK_GT(StoreFiles(), before);
    Kill();
  }
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(StoreFiles(), before);
  BOOST_CHECK_EQUAL(Rows(), "");
}

// Each batch alone is below the limit of a row.
BOOST_AUTO_TEST_CASE(ARowWhosePartsAreTooLargeIsRefused) {
  BulkLoad load = Begin();
  const std::string value(kValueBytesMax, 'v');
  for (uint64_t i = 0; i <= kBatchBytesMax / kValueBytesMax; ++i) {
    WriteBatch batch;
    batch.Put("t", "row", "d", "q" + std::to_string(i), value);
    batch.Put("t", "a", "d", "q", "");
    BOOST_REQUIRE_EQUAL(load.Add(batch).ToString(), "OK");
  }
  BOOST_CHECK(load.Commit().ToString().find("row 'row' has more bytes") != std::string::npos);
  BOOST_CHECK_EQUAL(Rows(), "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
