// Indexes over parts of the row key: every row of the table is in them, whatever its cells, as long
// as it has any.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "tandem/encoding.h"
#include "tandem/tandem.h"
#include "test/api/index_fixture.h"

namespace tandem::test {
namespace {

TableOptions TableOfEvents() {
  IndexOptions covering = IndexOf("covering", "split_part(_row, '/', 2)");
  covering.include = {{.family = "d", .qualifier = "size"}};
  return {.name = "t",
          .families = {{.name = "d", .max_versions = 2}, {.name = "m"}},
          .indexes = {IndexOf("kind", "split_part(_row, '/', 2)"),
                      IndexOf("kind_size", "split_part(_row, '/', 2), size::int64 DESC"),
                      std::move(covering)}};
}

struct RowKeyIndexFixture : IndexFixture {
  RowKeyIndexFixture() : IndexFixture(TableOfEvents()) {}

  void Put(const std::string& row, const std::string& qualifier, const std::string& value,
           std::optional<int64_t> timestamp = std::nullopt, const std::string& family = "d") {
    WriteBatch batch;
    batch.Put("t", row, family, qualifier, value, timestamp);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  std::string Create(std::string_view columns) {
    return database->CreateIndex("t", IndexOf("new", columns)).ToString();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(row_key_indexes, RowKeyIndexFixture)

BOOST_AUTO_TEST_CASE(TheyAnswerConditionsOnAPart) {
  Put("1/new/a", "size", "7");
  Put("1/old/b", "size", "5");
  Put("2/new/c", "size", "6");
  Put("2/new", "note", "n", std::nullopt, "m");  // No cell in the other family.
  Put("none", "size", "1");
  Put("3/\xff/d", "size", "1");  // The part is no text.
  const QueryOptions by_kind{.use_index = "kind"};
  AtEachStage([&] {
    BOOST_TEST(Rows("split_part(_row, '/', 2) = 'new'", by_kind) == "1/new/a 2/new 2/new/c ");
    BOOST_TEST(Rows("split_part(_row, '/', 2) IN ('old', 'x')", by_kind) == "1/old/b ");
    BOOST_TEST(Rows("NOT split_part(_row, '/', 2) = 'new'", by_kind) == "1/old/b 3/\xff/d none ");
    BOOST_TEST(Rows("split_part(_row, '/', 2) IS NULL", by_kind) == "3/\xff/d none ");
    BOOST_TEST(Rows("split_part(_row, '/', 2) PREFIX 'n' AND size::int64 > 6") == "1/new/a ");
    BOOST_TEST(Rows("split_part(_row, '/', 2) = 'new' AND _row >= '2'") == "2/new 2/new/c ");
    BOOST_TEST(Rows("split_part(_row, '/', 2) = 'old' OR size::int64 = 1") ==
               "1/old/b 3/\xff/d none ");
    BOOST_TEST(Rows("split_part(_row, '/', 2) = 'new' AND size::int64 >= 6",
                    {.use_index = "kind_size"}) == "1/new/a 2/new/c ");
    BOOST_TEST(Rows("upper(split_part(_row, '/', 3)) = 'B'") == "1/old/b ");
    BOOST_TEST(Rows("split(_row, '/') = 'b'") == "1/old/b ");
    BOOST_TEST(Rows("(split_part(_row, '/', 1), size) > ('1', '5')") ==
               "1/new/a 2/new 2/new/c 3/\xff/d none ");
  });
  BOOST_TEST(Explained("split_part(_row, '/', 2) = 'old'").index == "kind");
  BOOST_TEST(Explained("split_part(_row, '/', 3) = 'a'").index == "");
}

// Rows come and go by any cell, in whatever source it lies.
BOOST_AUTO_TEST_CASE(TheyHaveTheRowsThatExist) {
  for (int i = 0; i < 200; ++i) {
    Put(std::to_string(1000 + i) + (i % 20 == 3 ? "/few" : "/many"), "size", std::to_string(i));
  }
  BOOST_REQUIRE(database->Flush("t").ok());
  const auto before = database->TakeSnapshot();
  BOOST_REQUIRE(before.has_value());
  WriteBatch batch;
  batch.DeleteRow("t", "1003/few");
  batch.DeleteColumn("t", "1023/few", "d", "size");
  batch.DeleteFamily("t", "1043/few", "m");
  batch.Put("t", "1063/few", "m", "note", "n");
  batch.Put("t", "1004/few", "m", "note", "n");
  batch.DeleteRow("t", "1005/few");  // Of a row that is not there.
  BOOST_REQUIRE(database->Write({}, batch).ok());
  const std::string text = "split_part(_row, '/', 2) = 'few'";
  const std::string now =
      "1004/few 1043/few 1063/few 1083/few 1103/few 1123/few 1143/few 1163/few 1183/few ";
  const std::string then =
      "1003/few 1023/few 1043/few 1063/few 1083/few 1103/few 1123/few 1143/few 1163/few 1183/few ";
  const auto check = [&] {
    for (const char* index : {"kind", "kind_size", "covering"}) {
      const std::string also =
          std::string_view(index) == "kind_size" ? " AND size IS NOT NULL" : "";
      BOOST_TEST_CONTEXT(index) {
        if (also.empty()) BOOST_TEST(Rows(text, {.use_index = index}) == now);
        if (also.empty()) {
          BOOST_TEST(Rows(text, {.use_index = index}, {.snapshot = &*before}) == then);
        }
        Rows(text + " AND size::int64 IN (63, 83)", {.use_index = index});
      }
    }
  };
  AtEachStage(check, /*reopens=*/false);
}

BOOST_AUTO_TEST_CASE(TheirOrderIsThatOfTheParts) {
  Put("a/3", "size", "1");
  Put("b/1", "size", "2");
  Put("c/2", "size", "1");
  Put("d", "size", "1");
  Put("e/1", "size", "3");
  AtEachStage([&] {
    const auto in_order = [&](const std::string& index, bool descending) {
      auto cursor = database->Query({}, "t", {}, {.order_by = index, .descending = descending});
      BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
      std::string rows;
      while (cursor->Next()) rows += std::string(cursor->row().key()) + " ";
      return rows;
    };
    BOOST_TEST(in_order("kind", false) == "b/1 e/1 c/2 a/3 ");
    BOOST_TEST(in_order("kind", true) == "a/3 c/2 b/1 e/1 ");
    BOOST_TEST(in_order("kind_size", false) == "e/1 b/1 c/2 a/3 ");
    BOOST_TEST(in_order("kind_size", true) == "a/3 c/2 b/1 e/1 ");
  });
}

BOOST_AUTO_TEST_CASE(BytesOfKeysMayBeBinaryNumbers) {
  BOOST_REQUIRE_EQUAL(Create("substr_bytes(_row, 3, 8)::uint64_be"), "OK");
  for (uint64_t i = 0; i < 50; ++i) Put("k:" + EncodeUint64Be(i * 100), "size", "1");
  Put("k:short", "size", "1");
  AtEachStage([&] {
    BOOST_TEST(Rows("substr_bytes(_row, 3, 8)::uint64_be = 300", {.use_index = "new"}) ==
               "k:" + EncodeUint64Be(300) + " ");
    const std::string rows = Rows("substr_bytes(_row, 3, 8)::uint64_be > 4700");
    BOOST_TEST(rows == "k:" + EncodeUint64Be(4800) + " k:" + EncodeUint64Be(4900) + " ");
    BOOST_TEST(Rows("substr_bytes(_row, 3, 8)::uint64_be IS NULL") == "k:short ");
  });
}

BOOST_AUTO_TEST_CASE(OneIsMadeOnATableWithData) {
  for (int i = 0; i < 300; ++i) {
    Put(std::to_string(1000 + i), i % 2 == 0 ? "size" : "note", std::to_string(i), std::nullopt,
        i % 3 == 0 ? "m" : "d");
  }
  BOOST_REQUIRE(database->Flush("t").ok());
  Put("1003x", "size", "1");
  BOOST_REQUIRE_EQUAL(Create("substr(_row, 4, 1), size"), "OK");
  const IndexOptions made = database->Info().value().tables[0].options.indexes.back();
  BOOST_TEST(made.ToString() == "substr(_row, 4, 1)::text, d:size");
  BOOST_TEST(made.columns[0].is_row_key);
  AtEachStage([&] {
    const std::string rows = Rows("substr(_row, 4, 1) = '3'");
    BOOST_TEST(std::ranges::count(rows, ' ') == 31);
    BOOST_TEST(Rows("substr(_row, 4, 1) = '4' AND size = '4'", {.use_index = "new"}) == "1004 ");
  });
  BOOST_TEST(Explained("substr(_row, 4, 1) = '4'").index == "new");
}

BOOST_AUTO_TEST_CASE(CoveredCellsOfAPart) {
  for (int i = 0; i < 400; ++i) {
    Put(std::to_string(1000 + i) + "/" + std::to_string(i % 40), "size", std::to_string(i));
  }
  Put("2000/7", "note", "n");  // It has none of the included columns.
  BOOST_REQUIRE(database->Compact("t").ok());
  ReadOptions read;
  read.columns = {{.family = "d", .qualifier = "size"}};
  const std::string text = "split_part(_row, '/', 2) = '7'";
  Rows(text, {.use_index = "covering"}, read);
  const Explanation explained = Explained(text, {.use_index = "covering"}, read);
  BOOST_TEST(explained.covered);
  BOOST_TEST(explained.rows_from_index > 9u);
}

BOOST_AUTO_TEST_CASE(WhatAnIndexOfTheRowKeyCannotBeIsRefused) {
  const auto refused = [&](IndexOptions index) {
    const Status status = database->CreateIndex("t", index);
    BOOST_TEST((status.code() == StatusCode::kInvalidArgument));
    return std::string(status.message());
  };
  IndexOptions index = IndexOf("new", "lower(_row)");
  index.unique = true;
  BOOST_TEST(refused(index) ==
             "index 'new': lower(_row) is a part of the row key: the index cannot be unique");
  BOOST_TEST(refused(IndexOf("new", "split(_row, '/')")) ==
             "index 'new': split(_row, '/') has several values: an index is over parts of the row "
             "key with one");
  index = IndexOf("new", "lower(_row)");
  index.columns[0].qualifier = "size";
  BOOST_TEST(refused(index) == "index 'new': a part of the row key has no family and no qualifier");
  index = IndexOf("new", "size");
  index.columns = {{.is_row_key = true}};
  BOOST_TEST(refused(index) ==
             "index 'new': _row without a function: rows are in the order of their keys");
  index.columns[0].functions = {Function::TimestampOf()};
  BOOST_TEST(refused(index) == "index 'new': timestamp_of: the row key has no timestamp");
  BOOST_TEST(database->Info().value().tables[0].options.indexes.size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
