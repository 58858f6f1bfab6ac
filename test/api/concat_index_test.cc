// concat of a column and texts, and of several columns: conditions, indexes, orders and groups
// answer as scans do, wherever the columns of a row lie.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/limits.h"
#include "tandem/tandem.h"
#include "test/api/index_fixture.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

TableOptions TableOfNames() {
  return {.name = "t",
          .families = {{.name = "d", .max_versions = 2}, {.name = "m"}, {.name = "brief"}},
          .indexes = {IndexOf("prefixed", "concat('a/', lower(last))"),
                      IndexOf("full", "lower(concat(first, ' ', last))"),
                      IndexOf("city_full", "city, concat(first, ' ', m:last) DESC"),
                      IndexOf("full_city", "concat(m:last, first), city"),
                      IndexOf("words", "words(concat(first, ' ', last))"),
                      IndexOf("short", "concat(first, brief:code)"),
                      IndexOf("key", "concat('k', _row)")}};
}

struct ConcatFixture : IndexFixture {
  ConcatFixture() : IndexFixture(TableOfNames()) {}

  static std::pair<std::string, std::string> Split(const std::string& name) {
    const size_t colon = name.find(':');
    if (colon == std::string::npos) return {"d", name};
    return {name.substr(0, colon), name.substr(colon + 1)};
  }
  // Names are of the family "d" unless they say another.
  void Put(const std::string& row, const std::vector<std::pair<std::string, std::string>>& columns,
           std::optional<int64_t> timestamp = {}) {
    WriteBatch batch;
    for (const auto& [name, value] : columns) {
      const auto [family, qualifier] = Split(name);
      batch.Put("t", row, family, qualifier, value, timestamp);
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void Delete(const std::string& row, const std::string& name) {
    WriteBatch batch;
    const auto [family, qualifier] = Split(name);
    batch.DeleteColumn("t", row, family, qualifier);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void DeleteRow(const std::string& row) {
    WriteBatch batch;
    batch.DeleteRow("t", row);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void Flush() { BOOST_REQUIRE(database->Flush("t").ok()); }
  /// Creates an index, and returns why not.
  std::string WhyNot(std::string_view columns, IndexOptions options = {}) {
    options.name = "new";
    options.columns = IndexOf("new", columns).columns;
    return std::string(database->CreateIndex("t", options).message());
  }
  std::string Groups(const std::vector<std::string>& group_by) {
    const AggregateOptions options{.group_by = group_by,
                                   .values = {{.kind = AggregateKind::kRows}}};
    auto groups = database->Aggregate({}, "t", {}, options);
    BOOST_REQUIRE_MESSAGE(groups.has_value(), groups.status().ToString());
    std::string text;
    while (groups->Next()) {
      for (const auto& key : groups->keys()) text.append(key.value_or("-")).append(":");
      text.append(groups->values()[0].value_or("-")).append(" ");
    }
    BOOST_TEST(groups->status().ToString() == "OK");
    return text;
  }
};

const QueryOptions kByPrefixed{.use_index = "prefixed"};
const QueryOptions kByFull{.use_index = "full"};
const QueryOptions kByCityFull{.use_index = "city_full"};
const QueryOptions kByFullCity{.use_index = "full_city"};
const QueryOptions kByWords{.use_index = "words"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(concat_indexes, ConcatFixture)

BOOST_AUTO_TEST_CASE(TextsAreJoinedWithOneColumn) {
  Put("a", {{"last", "Ott"}});
  Put("b", {{"last", "ott"}, {"first", "Ann"}});
  Put("c", {{"first", "Bob"}});
  AtEachStage([&] {
    BOOST_TEST(Rows("concat('a/', lower(last)) = 'a/ott'", kByPrefixed) == "a b ");
    BOOST_TEST(Rows("concat('a/', lower(last)) PREFIX 'a/o'", kByPrefixed) == "a b ");
    BOOST_TEST(Rows("concat('a/', lower(last)) IS NULL", kByPrefixed) == "c ");
    BOOST_TEST(Rows("concat(last, '!') = 'Ott!'") == "a ");
    BOOST_TEST(Rows("concat('k', _row) > 'ka'", {.use_index = "key"}) == "b c ");
    BOOST_TEST(Rows("TRUE", {.order_by = "prefixed", .use_index = "prefixed"}) == "a b ");
  });
  WriteBatch batch;
  batch.Put("t", "d", "d", "last", std::string(kIndexKeyBytesMax - 4, 'x'));
  const Status status = database->Write({}, batch);
  BOOST_TEST((status.code() == StatusCode::kInvalidArgument), status.ToString());
}

BOOST_AUTO_TEST_CASE(ColumnsAreJoinedWhereverTheyLie) {
  Put("whole", {{"first", "Ann"}, {"last", "Ott"}, {"m:last", "Ott"}, {"city", "Bern"}});
  Put("parts", {{"first", "Ann"}});
  Put("half", {{"first", "Ann"}, {"city", "Bern"}});
  Flush();
  Put("parts", {{"last", "Ott"}});
  Put("parts", {{"m:last", "Ott"}});
  Put("other", {{"first", "Ann"}, {"last", "Ott"}});
  Flush();
  Put("other", {{"last", "Lee"}});
  Put("parts", {{"city", "Bern"}});
  AtEachStage([&] {
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'ann ott'", kByFull) == "parts whole ");
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'ann lee'", kByFull) == "other ");
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) PREFIX 'ann '", kByFull) ==
               "other parts whole ");
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) IS NULL") == "half ");
    BOOST_TEST(Rows("NOT lower(concat(first, ' ', last)) = 'ann lee'") == "half parts whole ");
    BOOST_TEST(Rows("city = 'Bern' AND concat(first, ' ', m:last) = 'Ann Ott'", kByCityFull) ==
               "parts whole ");
    BOOST_TEST(Rows("city = 'Bern'", kByCityFull) == "half parts whole ");
    BOOST_TEST(Rows("concat(m:last, first) = 'OttAnn' AND city > 'A'", kByFullCity) ==
               "parts whole ");
    BOOST_TEST(Rows("concat(m:last, first) = 'OttAnn' OR city = 'Rome'") == "parts whole ");
    BOOST_TEST(Rows("words(concat(first, ' ', last)) = 'lee'", kByWords) == "other ");
    BOOST_TEST(Rows("words(concat(first, ' ', last)) CONTAINS 'ott ann'", kByWords) ==
               "parts whole ");
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) > 'a'", {.order_by = "full"}) ==
               "other parts whole ");
    BOOST_TEST(Groups({"lower(concat(first, ' ', last))"}) == "-:1 ann lee:1 ann ott:2 ");
    BOOST_TEST(Groups({"concat(m:last, first)", "city"}) == "-:-:1 -:Bern:1 OttAnn:Bern:2 ");
  });
  BOOST_TEST(Explained("lower(concat(first, ' ', last)) = 'ann lee'", kByFull).index == "full");
}

BOOST_AUTO_TEST_CASE(DeletesTakeTheTextAway) {
  for (const bool flushes : {false, true}) {
    const std::string row = flushes ? "f" : "m";
    const auto step = [&] {
      if (flushes) Flush();
    };
    Put(row, {{"first", "Ann"}, {"last", "Ott"}});
    step();
    Delete(row, "last");
    step();
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'ann ott'", kByFull) == "");
    Put(row, {{"last", "Lee"}});
    step();
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'ann lee'", kByFull) == row + " ");
    Delete(row, "first");
    step();
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'ann lee'", kByFull) == "");
    Put(row, {{"first", "Bob"}});
    step();
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'bob lee'", kByFull) == row + " ");
    DeleteRow(row);
  }
  VerifyOk();
}

// Those of the joined column alone. Of the older source the entry is "7 b", of the newer one "a 9",
// and the row has "a b".
BOOST_AUTO_TEST_CASE(TimestampsOfJoinedColumnsMayGoBack) {
  WriteBatch older, newer;
  older.Put("t", "r", "d", "first", "7", 1);
  older.Put("t", "r", "d", "last", "B", 6);
  newer.Put("t", "r", "d", "first", "A", 5);
  newer.Put("t", "r", "d", "last", "9", 4);
  BOOST_REQUIRE(database->Write({}, older).ok());
  Flush();
  BOOST_REQUIRE(database->Write({}, newer).ok());
  AtEachStage([&] {
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'a b'", kByFull) == "r ");
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'a 9'", kByFull) == "");
  });
}

// Of the older source the entry is "a 7", of the newer one "9 2", and the row has "a 2".
BOOST_AUTO_TEST_CASE(SourcesAreScannedWhereTimestampsGoBack) {
  for (const bool flushes : {true, false}) {
    const std::string row = flushes ? "f" : "m";
    WriteBatch older, newer;
    older.Put("t", row, "d", "first", "A", 5);
    older.Put("t", row, "d", "last", "7", 1);
    newer.Put("t", row, "d", "first", "9", 4);
    newer.Put("t", row, "d", "last", "2", 6);
    for (const WriteBatch* batch : {&older, &newer}) {
      BOOST_REQUIRE(database->Write({}, *batch).ok());
      if (flushes) Flush();
    }
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'a 2'", kByFull) == row + " ");
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'a 7'", kByFull) == "");
    const Explanation explained = Explained("lower(concat(first, ' ', last)) = 'a 2'", kByFull);
    BOOST_TEST(explained.files_scanned + explained.memstores_scanned > 0u);
    Flush();
    BOOST_REQUIRE(database->Compact("t").ok());
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'a 2'", kByFull) == row + " ");
    BOOST_TEST(Explained("lower(concat(first, ' ', last)) = 'a 2'", kByFull).files_scanned == 0u);
    DeleteRow(row);
    Flush();
    BOOST_REQUIRE(database->Compact("t").ok());
  }
}

BOOST_AUTO_TEST_CASE(SnapshotsAndReadsOfThePastSeeTheirOwnText) {
  Put("a", {{"first", "Ann"}, {"last", "Ott"}}, 10);
  Flush();
  const Snapshot snapshot = *database->TakeSnapshot();
  Put("a", {{"last", "Lee"}}, 20);
  for (const bool flushes : {false, true}) {
    if (flushes) Flush();
    const ReadOptions then{.snapshot = &snapshot}, past{.as_of = 15};
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'ann ott'", kByFull, then) == "a ");
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'ann ott'", kByFull, past) == "a ");
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'ann ott'", kByFull) == "");
    BOOST_TEST(Rows("lower(concat(first, ' ', last)) = 'ann lee'", kByFull) == "a ");
  }
}

BOOST_AUTO_TEST_CASE(TextsThatAreTooLongAreAbsent) {
  const std::string half(kIndexKeyBytesMax / 2, 'h');
  Put("a", {{"first", half}, {"last", "y"}});
  Put("a", {{"m:last", half}});
  Put("b", {{"first", half}, {"m:last", "x"}});
  AtEachStage([&] {
    BOOST_TEST(Rows("concat(m:last, first) IS NULL") == "a ");
    BOOST_TEST(Rows("concat(m:last, first) > 'a'", kByFullCity) == "b ");
  });
}

BOOST_AUTO_TEST_CASE(WhatIsNotAllowedSaysWhatIs) {
  BOOST_TEST(
      WhyNot("concat(first, last)", {.unique = true}) ==
      "index 'new': concat(first, d:last) is of several columns: the index cannot be unique; "
      "one over the columns themselves can");
  BOOST_TEST(
      WhyNot("concat(first, last)", {.placement = IndexPlacement::kGlobal}) ==
      "index 'new': it is global: concat(first, d:last) is of several columns: a local index "
      "can be over it");
  BOOST_TEST(WhyNot("trigrams(concat(first, last))") ==
             "index 'new': trigrams(concat(first, d:last)) is of trigrams, which memstores do not "
             "keep, and of several columns: make an index over the trigrams of each");
  BOOST_TEST(WhyNot("city", {.where = "concat(first, last) = 'a'"}) ==
             "index 'new': WHERE: concat(first, d:last) is of several columns: WHERE of an index "
             "compares one at a time");
  BOOST_TEST(WhyNot("concat(first, x:last)") == "index 'new': table 't' has no family 'x'");
  BOOST_TEST(WhyNot("concat(first, m:last), concat(d:first, m:last)") ==
             "index 'new': declares concat(first, m:last) twice");
  QueryOptions any_version;
  any_version.any_version = true;
  const auto found =
      database->Query({}, "t", *Predicate::Parse("concat(first, last) = 'a'"), any_version);
  BOOST_TEST(found.status().message() ==
             "any_version: concat(first, d:last) is of several columns, which have no versions in "
             "common");
  BOOST_TEST(!database->DropFamily("t", "m").ok());
  BOOST_TEST(WhyNot("city", {.where = "concat(first, '-') = 'a-'"}) == "");
}

BOOST_AUTO_TEST_CASE(IndexesOfJoinedColumnsAreBuiltOnDataThatIsThere) {
  Put("a", {{"first", "Ann"}, {"last", "Ott"}, {"m:code", "1"}});
  Put("b", {{"first", "Ann"}});
  Flush();
  Put("b", {{"m:code", "1"}});
  BOOST_REQUIRE_EQUAL(WhyNot("concat(first, m:code)"), "");
  Put("c", {{"first", "Ann"}, {"m:code", "1"}});
  AtEachStage([&] {
    BOOST_TEST(Rows("concat(first, m:code) = 'Ann1'", {.use_index = "new"}) == "a b c ");
    const DatabaseInfo info = *database->Info();
    BOOST_TEST(info.tables.at(0).options.indexes.back().ToString() ==
               "concat(d:first, m:code)::text");
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
