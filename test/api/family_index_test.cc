// Indexes over the qualifiers and values of a family's columns: whatever columns a row has, it is
// found by each of them, once, and exactly as by a scan.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/index_fixture.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct FamilyFixture : IndexFixture {
  FamilyFixture() : IndexFixture(Table()) {}

  static TableOptions Table() {
    return {.name = "t",
            .families = {{.name = "d"}, {.name = "tags", .max_versions = 3}, {.name = "e"}},
            .indexes = {IndexOf("by_tag", "map_keys(tags)"),
                        IndexOf("by_small_tag", "lower(map_keys(tags)) DESC"),
                        IndexOf("by_number", "map_values(tags)::int64"),
                        IndexOf("by_value", "map_values(e)")}};
  }
  void Put(const std::string& row, const std::string& family, const std::string& qualifier,
           const std::string& value, std::optional<int64_t> timestamp = {}) {
    WriteBatch batch;
    batch.Put("t", row, family, qualifier, value, timestamp);
    Write(batch);
  }
  void Tag(const std::string& row, const std::string& qualifier, const std::string& value,
           std::optional<int64_t> timestamp = {}) {
    Put(row, "tags", qualifier, value, timestamp);
  }
  void Write(const WriteBatch& batch) {
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void Flush() { BOOST_REQUIRE(database->Flush("t").ok()); }
  std::string By(const std::string& index, std::string_view text, const ReadOptions& read = {}) {
    return Rows(text, {.use_index = index}, read);
  }
  std::string Tagged(const std::string& qualifier, const ReadOptions& read = {}) {
    return By("by_tag", "map_keys(tags) = '" + qualifier + "'", read);
  }
  std::string ErrorOfIndex(const IndexOptions& index) {
    return std::string(database->CreateIndex("t", index).message());
  }
  std::string ErrorOfQuery(const Predicate& predicate, const QueryOptions& query = {}) {
    return std::string(database->Query({}, "t", predicate, query).status().message());
  }
};

std::string ErrorOf(std::string_view text) {
  return std::string(Predicate::Parse(text).status().message());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(family_indexes, FamilyFixture)

BOOST_AUTO_TEST_CASE(AConditionHoldsForOneOfTheColumns) {
  Tag("a", "red", "1");
  Tag("a", "Green", "20");
  Tag("b", "green", "x");
  Tag("b", "blue", "1");
  Tag("c", "", "7");
  Put("d", "d", "red", "1");
  AtEachStage([&] {
    BOOST_TEST(Tagged("red") == "a ");
    BOOST_TEST(Tagged("green") == "b ");
    BOOST_TEST(Tagged("") == "c ");
    BOOST_TEST(By("by_tag", "map_keys(tags) != 'red'") == "a b c ");
    BOOST_TEST(Rows("NOT map_keys(tags) = 'red'") == "b c d ");
    BOOST_TEST(By("by_tag", "map_keys(tags) PREFIX 'gre'") == "b ");
    BOOST_TEST(By("by_tag", "map_keys(tags) IN ('red', 'blue', 'Green')") == "a b ");
    BOOST_TEST(By("by_tag", "map_keys(tags) = 'red' AND map_keys(tags) = 'Green'") == "a ");
    BOOST_TEST(By("by_tag", "map_keys(tags) = 'red' AND map_keys(tags) = 'blue'") == "");
    BOOST_TEST(By("by_tag", "map_keys(tags) > 'c' AND map_keys(tags) < 'c'") == "a b ");
    BOOST_TEST(By("by_tag", "map_keys(tags) = 'red' OR map_keys(tags) = 'blue'") == "a b ");
    BOOST_TEST(By("by_tag", "map_keys(tags) = 'blue' AND tags:green = 'x'") == "b ");
    BOOST_TEST(By("by_tag", "map_keys(tags) IS NULL") == "d ");
    BOOST_TEST(By("by_tag", "map_keys(tags) IS NOT NULL") == "a b c ");
    BOOST_TEST(By("by_small_tag", "lower(map_keys(tags)) = 'green'") == "a b ");
    BOOST_TEST(By("by_small_tag", "lower(map_keys(tags)) >= 'green'") == "a b ");
    BOOST_TEST(By("by_number", "map_values(tags)::int64 = 1") == "a b ");
    BOOST_TEST(By("by_number", "map_values(tags)::int64 > 5") == "a c ");
    BOOST_TEST(By("by_number", "map_values(tags)::int64 IS NULL") == "d ");
    BOOST_TEST(Rows("map_values(tags) = 'x'") == "b ");
    BOOST_TEST(Rows("map_keys(tags) CONTAINS 'ee'") == "a b ");
  });
}

BOOST_AUTO_TEST_CASE(ANewerPutOfAnotherColumnLeavesTheEntry) {
  Tag("a", "x", "1");
  Tag("b", "x", "1");
  Flush();
  Tag("a", "y", "2");
  Tag("b", "x", "3");
  AtEachStage([&] {
    BOOST_TEST(Tagged("x") == "a b ");
    BOOST_TEST(Tagged("y") == "a ");
    BOOST_TEST(By("by_number", "map_values(tags)::int64 = 1") == "a ");
    BOOST_TEST(By("by_number", "map_values(tags)::int64 >= 2") == "a b ");
  });
}

BOOST_AUTO_TEST_CASE(ColumnsComeAndGo) {
  for (const char* row : {"a", "b", "c", "d", "e"}) {
    Tag(row, "x", "1", 10);
    Tag(row, "y", "2", 10);
  }
  Flush();
  const auto before = database->TakeSnapshot();
  BOOST_REQUIRE(before.has_value());
  Tag("b", "x", "5", 20);
  Flush();
  WriteBatch batch;
  batch.DeleteColumn("t", "a", "tags", "x");
  batch.DeleteCell("t", "b", "tags", "x", 20);  // Which reveals 1.
  batch.DeleteFamily("t", "c", "tags");
  batch.DeleteRow("t", "d");
  batch.Put("t", "d", "tags", "z", "9");
  Write(batch);
  AtEachStage(
      [&] {
        BOOST_TEST(Tagged("x") == "b e ");
        BOOST_TEST(Tagged("y") == "a b e ");
        BOOST_TEST(Tagged("z") == "d ");
        BOOST_TEST(By("by_number", "map_values(tags)::int64 = 1") == "b e ");
        BOOST_TEST(By("by_number", "map_values(tags)::int64 = 5") == "");
        BOOST_TEST(Rows("map_keys(tags) IS NULL") == "");  // Row "c" is gone.
        BOOST_TEST(Tagged("x", {.snapshot = &*before}) == "a b c d e ");
        BOOST_TEST(Tagged("z", {.snapshot = &*before}) == "");
      },
      /*reopens=*/false);
}

BOOST_AUTO_TEST_CASE(ThePastAndEveryVersionAreAskedFor) {
  Tag("a", "x", "1", 10);
  Tag("a", "x", "2", 20);
  Tag("a", "y", "3", 20);
  Flush();
  Tag("b", "y", "1", 30);
  AtEachStage([&] {
    const std::string is_one = "map_values(tags)::int64 = 1";
    BOOST_TEST(By("by_number", is_one) == "b ");
    BOOST_TEST(By("by_number", is_one, {.as_of = 15}) == "a ");
    BOOST_TEST(Tagged("y", {.as_of = 15}) == "");
    BOOST_TEST(Tagged("y", {.since = 25}) == "b ");
    BOOST_TEST(Rows(is_one, {.use_index = "by_number", .any_version = true}) == "a b ");
    BOOST_TEST(Rows("NOT " + is_one, {.any_version = true}) == "");
  });
}

BOOST_AUTO_TEST_CASE(ARowCountsOnce) {
  for (int i = 0; i < 200; ++i) {
    const std::string row = "row" + std::to_string(1000 + i);
    for (int column = 0; column < 4; ++column) {
      Tag(row, "c" + std::to_string((i + column) % 9), std::to_string(i % 2));
    }
  }
  AtEachStage([&] {
    const auto count = [&](std::string_view text) {
      return *database->Count({}, "t", *Predicate::Parse(text));
    };
    BOOST_TEST(count("map_values(tags)::int64 = 0") == 100u);
    BOOST_TEST(count("map_values(tags)::int64 >= 0") == 200u);
    BOOST_TEST(count("map_keys(tags) >= 'c0'") == 200u);
    BOOST_TEST(By("by_number", "map_values(tags)::int64 IN (0, 1)").size() == 200u * 8);
  });
}

BOOST_AUTO_TEST_CASE(AnIndexMadeLaterKnowsTheSame) {
  for (int i = 0; i < 100; ++i) {
    Tag("row" + std::to_string(100 + i), "c" + std::to_string(i % 10), "v");
  }
  for (int i = 0; i < 3'000; ++i) Put("wide", "e", "column" + std::to_string(i), "value");
  Flush();
  BOOST_REQUIRE_EQUAL(ErrorOfIndex(IndexOf("late", "upper(map_keys(tags))")), "");
  BOOST_REQUIRE_EQUAL(ErrorOfIndex(IndexOf("late_e", "substr(map_keys(e), 7)")), "");
  Tag("row100", "c1", "w");
  AtEachStage([&] {
    BOOST_TEST(Rows("upper(map_keys(tags)) = 'C1'").size() == 11 * 7);
    BOOST_TEST(Rows("upper(map_keys(tags)) = 'C0'").size() == 10 * 7);
    BOOST_TEST(Rows("substr(map_keys(e), 7) = '2999'") == "wide ");
  });
}

BOOST_AUTO_TEST_CASE(ARowOfManyColumnsIsDecidedColumnByColumn) {
  constexpr int kColumns = 12'000;
  for (int first = 0; first < kColumns; first += 1'000) {
    WriteBatch batch;
    for (int i = first; i < first + 1'000; ++i) {
      batch.Put("t", "wide", "tags", "column" + std::to_string(i), std::to_string(i));
    }
    batch.Put("t", "plain", "tags", "column7", "7");
    batch.Put("t", "wide", "d", "n", "1");
    Write(batch);
  }
  AtEachStage([&] {
    BOOST_TEST(Tagged("column11999") == "wide ");
    BOOST_TEST(Tagged("column7") == "plain wide ");
    BOOST_TEST(Tagged("column12000") == "");
    BOOST_TEST(By("by_number", "map_values(tags)::int64 > 11990") == "wide ");
    BOOST_TEST(Rows("NOT map_keys(tags) = 'column8000'") == "plain ");
    BOOST_TEST(Rows("map_keys(tags) IS NULL") == "");
    BOOST_TEST(Rows("map_keys(tags) = 'column9' AND d:n = '1'") == "wide ");
    BOOST_TEST(Rows("map_keys(tags) = 'column9' AND tags:column10 = '10'") == "wide ");
    BOOST_TEST(Rows("map_keys(tags) = 'none' OR tags:column10 = '11'") == "");
    BOOST_TEST(Rows("map_keys(tags) = 'column9'", {.any_version = true}) == "wide ");
  });
  WriteBatch batch;
  for (int i = 0; i < kColumns; i += 2) {
    batch.DeleteColumn("t", "wide", "tags", "column" + std::to_string(i));
  }
  Write(batch);
  AtEachStage([&] {
    BOOST_TEST(Tagged("column11998") == "");
    BOOST_TEST(Tagged("column11999") == "wide ");
    BOOST_TEST(Rows("map_keys(tags) = 'column10'", {}, {.columns = {{"tags", "column11"}}}) == "");
  });
}

BOOST_AUTO_TEST_CASE(LongValuesAreAbsentOrRefused) {
  Tag("a", "long", std::string(70'000, 'x'));
  AtEachStage([&] {
    BOOST_TEST(Tagged("long") == "a ");
    BOOST_TEST(Rows("map_values(tags) IS NULL") == "a ");
  });
  WriteBatch batch;
  batch.Put("t", "b", "e", "c", std::string(3'000, 'x'));
  BOOST_TEST(std::string(database->Write({}, batch).message())
                 .starts_with("row 'b', column 'e:c', index 'by_value': value "));
  WriteBatch name;
  name.Put("t", "b", "tags", std::string(2'048, 'q'), "");
  BOOST_TEST(!database->Write({}, name).ok());
  Put("b", "d", std::string(2'048, 'q'), "");  // No index is over it.
}

BOOST_AUTO_TEST_CASE(ATransactionSeesItsOwnColumns) {
  Tag("a", "x", "1");
  auto transaction = database->Begin();
  BOOST_REQUIRE(transaction.has_value());
  BOOST_REQUIRE(transaction->Put("t", "b", "tags", "x", "1").ok());
  BOOST_REQUIRE(transaction->DeleteColumn("t", "a", "tags", "x").ok());
  auto cursor = transaction->Query({}, "t", *Predicate::Parse("map_keys(tags) = 'x'"));
  BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
  std::string found;
  while (cursor->Next()) found += std::string(cursor->row().key()) + " ";
  BOOST_TEST(found == "b ");
}

BOOST_AUTO_TEST_CASE(TheyArePrintedAsTheyAreRead) {
  for (const char* text : {"map_keys(tags)", "lower(map_keys(\"my tags\"))::text DESC",
                           "map_values(tags)::int64_be", "length(map_values(\"a:b\"))::int64"}) {
    const auto column = IndexColumn::Parse(text);
    BOOST_REQUIRE_MESSAGE(column.has_value(), column.status().ToString());
    BOOST_TEST(column->ToString() == text);
    BOOST_TEST(column->qualifier == "");
  }
  for (const char* text : {"map_keys(tags) = 'x'", "NOT lower(map_values(tags))::text IS NULL"}) {
    BOOST_TEST(Predicate::Parse(text)->ToString() == text);
  }
  const Predicate built = Predicate::Equal("tags", "x").WithFunctions({Function::MapKeys()});
  BOOST_TEST(built.ToString() == "map_keys(tags) = 'x'");
  BOOST_TEST(built.family() == "tags");
  const IndexOptions options{
      .name = "again",
      .columns = {{.family = "tags", .functions = {Function::MapKeys(), Function::Upper()}}}};
  BOOST_TEST(options.ToString() == "upper(map_keys(tags))");
  BOOST_TEST(ErrorOfIndex(options) == "");
}

BOOST_AUTO_TEST_CASE(WhatCannotBeIsRefused) {
  BOOST_TEST(ErrorOf("map_keys(d:c) = 'x'") ==
             "at position 10: expected the name of a family alone, found 'd'");
  BOOST_TEST(ErrorOf("map_values(_row) = 'x'") ==
             "at position 12: expected the name of a family alone, found '_row'");
  BOOST_TEST(ErrorOf("map_keys(lower(c)) = 'x'") ==
             "at position 1: map_keys: expected a family, found what a function returns");
  BOOST_TEST(ErrorOf("timestamp_of(map_keys(d)) = 'x'") ==
             "at position 1: timestamp_of: expected a column, found what a function returns");
  BOOST_TEST(ErrorOf("split(map_keys(d), 'x') = 'x'") ==
             "at position 1: split: expected one value, found the several of map_keys");
  BOOST_TEST(ErrorOfQuery(*Predicate::Parse("map_keys(none) = 'x'")) ==
             "table 't' has no family 'none'");
  BOOST_TEST(ErrorOfQuery(Predicate::Equal("d:c", "x").WithFunctions({Function::MapKeys()})) ==
             "map_keys(d:c): expected the name of a family alone");
  BOOST_TEST(ErrorOfQuery({}, {.order_by = "by_tag"}) ==
             "index 'by_tag' has several entries of a row: rows have no order by it");
  BOOST_TEST(ErrorOfQuery(*Predicate::Parse("(map_keys(tags), _row) > ('a', 'b')")) ==
             "map_keys(...) has several values: it does not compare in a tuple");
  BOOST_TEST(ErrorOfQuery(*Predicate::Parse("NOT map_keys(tags) = 'x'"), {.use_index = "by_tag"}) ==
             "index 'by_tag' cannot serve the predicate: its entries do not tell of rows of which "
             "no value satisfies a condition");
  const auto changed = database->CheckAndMutate(
      {}, "t", "a", *Predicate::Parse("map_keys(tags) = 'x'"), WriteBatch());
  BOOST_TEST(std::string(changed.status().message()) ==
             "the condition of a write names its columns: it cannot be on map_keys or map_values, "
             "which are of all columns of a family");
  BOOST_TEST(ErrorOfQuery(*Predicate::Parse("map_values(tags)::int64 = 'x'"))
                 .starts_with("map_values(...): "));
}

BOOST_AUTO_TEST_CASE(AnIndexIsOverTheFamilyAlone) {
  const std::string start = "index 'i': ";
  const IndexColumn keys{.family = "tags", .functions = {Function::MapKeys()}};
  BOOST_TEST(ErrorOfIndex({.name = "i", .columns = {keys, {.qualifier = "c"}}}) ==
             start +
                 "map_keys(...) has several values in a row: it can only be the single column "
                 "of an index");
  BOOST_TEST(ErrorOfIndex({.name = "i", .columns = {keys}, .unique = true}) ==
             start + "map_keys(...) has several values in a row: the index cannot be unique");
  BOOST_TEST(ErrorOfIndex({.name = "i", .columns = {keys}, .include = {{"d", "c"}}}) ==
             start + "map_keys(...) has several values in a row: the index cannot include columns");
  BOOST_TEST(ErrorOfIndex({.name = "i", .columns = {keys}, .where = "d:c = '1'"}) ==
             start + "map_keys(...) is of all columns of a family: it cannot have a WHERE");
  BOOST_TEST(ErrorOfIndex({.name = "i", .columns = {keys}, .placement = IndexPlacement::kGlobal}) ==
             start + "it is global: map_keys(...) has several values in a row");
  BOOST_TEST(ErrorOfIndex({.name = "i",
                           .columns = {{.family = "d", .qualifier = "c"}},
                           .where = "map_keys(tags) = 'x'"}) ==
             start +
                 "WHERE: map_keys(...) has several values in a row: WHERE of an index cannot be "
                 "over it");
  for (const IndexColumn& column :
       {IndexColumn{.qualifier = "c", .functions = {Function::MapKeys()}},
        IndexColumn{.family = "d", .qualifier = "c", .functions = {Function::MapValues()}},
        IndexColumn{.functions = {Function::MapKeys()}, .is_row_key = true}}) {
    BOOST_TEST(ErrorOfIndex({.name = "i", .columns = {column}}).find("the name of a family") !=
               std::string::npos);
  }
  BOOST_TEST(ErrorOfIndex({.name = "i",
                           .columns = {{.family = "none", .functions = {Function::MapKeys()}}}}) ==
             start + "there is no family 'none'");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
