// Reads of many rows by key: each is what a get returns, as of one point in time.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "test/engine/jobs/region_fixture.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

struct MultiGetFixture : RegionFixture {
  using Keys = std::vector<std::string_view>;

  /// "KEY=VALUE" for each row, "-" where there is none.
  std::vector<std::string> Read(const Keys& keys, const ReadOptions& read = {}) {
    const auto rows = engine().MultiGet(read, "t", keys);
    BOOST_REQUIRE_EQUAL(rows.status().ToString(), "OK");
    std::vector<std::string> text;
    for (const std::optional<Row>& row : *rows) {
      text.push_back(row.has_value() ? std::string(row->key()) + "=" +
                                           std::string(row->Find("d", "q").value_or("-"))
                                     : "-");
    }
    return text;
  }
  std::string Error(std::string_view table, const ReadOptions& read = {}) {
    return engine().MultiGet(read, table, Keys{"a"}).status().ToString();
  }
};

using Texts = std::vector<std::string>;

BOOST_FIXTURE_TEST_SUITE(MultiGetTest, MultiGetFixture)

BOOST_AUTO_TEST_CASE(RowsComeInTheOrderOfTheirKeys) {
  PutRows(0, 10, "a");
  Flush();
  PutRows(5, 12, "b");
  const std::string two = Key(2), seven = Key(7), eleven = Key(11), nowhere = Key(12);
  BOOST_TEST(Read({seven, two, nowhere, eleven, two, "", seven + "x"}) ==
                 (Texts{seven + "=b", two + "=a", "-", eleven + "=b", two + "=a", "-", "-"}),
             boost::test_tools::per_element());
  BOOST_TEST(Read({}).empty());
}

BOOST_AUTO_TEST_CASE(RowsOfManyRegionsAreOfOneMoment) {
  PutRows(0, 100, "a");
  Flush();
  for (uint64_t row = 10; row < 100; row += 10) Split({.key = Key(row)});
  const auto snapshot = engine().TakeSnapshot();
  BOOST_REQUIRE(snapshot.has_value());
  PutRows(0, 100, "b");
  TestRandom random("MultiGetTest/RowsOfManyRegionsAreOfOneMoment");
  for (int i = 0; i < 50; ++i) {
    std::vector<std::string> keys(random.Below(30));
    for (std::string& key : keys) key = Key(random.Below(100));
    const Keys wanted(keys.begin(), keys.end());
    Texts before, now;
    for (const std::string& key : keys) {
      before.push_back(key + "=a");
      now.push_back(key + "=b");
    }
    BOOST_TEST(Read(wanted, {.snapshot = &*snapshot}) == before, boost::test_tools::per_element());
    BOOST_TEST(Read(wanted) == now, boost::test_tools::per_element());
    if (i == 25) Flush();
  }
}

BOOST_AUTO_TEST_CASE(ASnapshotHasTheRowsOfADroppedTable) {
  PutRows(0, 60, "a");
  for (const uint64_t row : {10, 20, 30, 40, 50}) Split({.key = Key(row)});
  const auto snapshot = engine().TakeSnapshot();
  BOOST_REQUIRE(snapshot.has_value());
  BOOST_REQUIRE_EQUAL(engine().TruncateTable("t").ToString(), "OK");
  const std::string first = Key(5), third = Key(25), last = Key(55);
  BOOST_TEST(Read({last, third, first}, {.snapshot = &*snapshot}) ==
                 (Texts{last + "=a", third + "=a", first + "=a"}),
             boost::test_tools::per_element());
  BOOST_TEST(Read({third}) == Texts{"-"}, boost::test_tools::per_element());
}

// Queries have made bits of what the memstore holds of the file. Rows that are younger than those
// are not in them.
BOOST_AUTO_TEST_CASE(ASnapshotHasNoRowsThatWereAddedLater) {
  constexpr uint64_t kRows = 2000;
  PutRows(0, kRows, "a");
  Flush();
  PutRows(0, kRows / 2, "b");
  const auto predicate = Predicate::Prefix("c", "");
  for (int i = 0; i < 20; ++i) {
    BOOST_REQUIRE_EQUAL(*engine().Count({}, "t", predicate, {}), kRows);
    auto cursor = engine().Query({}, "t", predicate, {.use_index = "by_c"});
    BOOST_REQUIRE(cursor.has_value());
    while (cursor->Next()) {
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
  }
  const auto snapshot = engine().TakeSnapshot();
  BOOST_REQUIRE(snapshot.has_value());
  PutRows(kRows, 2 * kRows, "c");
  std::vector<std::string> keys;
  for (uint64_t row = 0; row < 2 * kRows; row += 3) keys.push_back(Key(row));
  const Texts rows = Read({keys.begin(), keys.end()}, {.snapshot = &*snapshot});
  for (size_t i = 0; i < keys.size(); ++i) {
    const uint64_t row = 3 * i;
    const char* const value = row < kRows / 2 ? "=b" : "=a";
    BOOST_REQUIRE_EQUAL(rows[i], row < kRows ? keys[i] + value : "-");
  }
}

BOOST_AUTO_TEST_CASE(DeletedRowsAndThoseWithoutTheColumnsAreNone) {
  PutRows(0, 4, "a");
  Flush();
  WriteBatch batch;
  batch.DeleteRow("t", Key(1));
  BOOST_REQUIRE_EQUAL(engine().Write({}, batch).ToString(), "OK");
  BOOST_TEST(Read({Key(0), Key(1)}) == (Texts{Key(0) + "=a", "-"}),
             boost::test_tools::per_element());
  ReadOptions other;
  other.columns.push_back({"d", "other"});
  BOOST_TEST(Read({Key(0)}, other) == Texts{"-"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(WhatCannotBeReadIsRefused) {
  PutRows(0, 1, "a");
  BOOST_TEST(Error("nowhere") == "NotFound: table 'nowhere' does not exist");
  BOOST_TEST(Error("t", {.versions = 0}).starts_with("InvalidArgument"));
  ReadOptions unknown;
  unknown.families.push_back("x");
  BOOST_TEST(Error("t", unknown).starts_with("NotFound"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
