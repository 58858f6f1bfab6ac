// Partial indexes: they leave out rows, and queries that they serve answer as a scan does, wherever
// the columns of a row lie.
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

IndexOptions PartialIndex(std::string name, std::string_view definition) {
  Result<IndexOptions> parsed = IndexOptions::Parse(definition);
  BOOST_REQUIRE_MESSAGE(parsed.has_value(), parsed.status().ToString());
  parsed->name = std::move(name);
  return *std::move(parsed);
}

TableOptions TableOfPeople() {
  return {.name = "t",
          .families = {{.name = "d", .max_versions = 2}, {.name = "m"}, {.name = "brief"}},
          .indexes = {PartialIndex("active", "city WHERE active = 'yes'"),
                      PartialIndex("either",
                                   "city, age::int64 DESC WHERE active = 'yes' OR "
                                   "m:level IS NULL"),
                      PartialIndex("old", "age::int64 WHERE age::int64 > 40 AND NOT m:level = '1'"),
                      PartialIndex("brief", "city WHERE brief:flag IS NULL")}};
}

struct PartialIndexFixture : IndexFixture {
  PartialIndexFixture() : IndexFixture(TableOfPeople()) {}

  // Names are of the family "d" unless they say another.
  void Put(const std::string& row, std::vector<std::pair<std::string, std::string>> columns,
           std::optional<int64_t> timestamp = {}) {
    WriteBatch batch;
    for (const auto& [name, value] : columns) {
      const size_t colon = name.find(':');
      const bool has_family = colon != std::string::npos;
      batch.Put("t", row, has_family ? name.substr(0, colon) : "d",
                has_family ? name.substr(colon + 1) : name, value, timestamp);
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void Flush() { BOOST_REQUIRE(database->Flush("t").ok()); }
  uint64_t EntriesOf(std::string_view name) {
    const DatabaseInfo info = *database->Info();
    for (const IndexInfo& index : info.tables.at(0).indexes) {
      if (index.options.name == name) return index.entries;
    }
    BOOST_FAIL("no index " << name);
    return 0;
  }
  std::string RejectedOf(std::string_view name, std::string_view predicate) {
    for (const std::string& why : Explained(predicate).rejected) {
      if (why.starts_with("index " + std::string(name) + ": ")) return why;
    }
    return "";
  }
  Status Create(std::string_view definition) {
    return database->CreateIndex("t", PartialIndex("new", definition));
  }
};

const QueryOptions kByActive{.use_index = "active"};
const QueryOptions kByEither{.use_index = "either"};
const QueryOptions kByOld{.use_index = "old"};
const QueryOptions kOrdered{.order_by = "active", .use_index = "active"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(partial_indexes, PartialIndexFixture)

BOOST_AUTO_TEST_CASE(TheyServeWhatImpliesTheirPredicate) {
  Put("a", {{"city", "Bern"}, {"age", "50"}, {"active", "yes"}, {"m:level", "1"}});
  Put("b", {{"city", "Bern"}, {"age", "40"}, {"active", "no"}, {"m:level", "1"}});
  Put("c", {{"city", "Bern"}, {"age", "60"}, {"active", "yes"}});
  Put("d", {{"city", "Rome"}, {"age", "45"}, {"active", "no"}, {"m:level", "2"}});
  Put("e", {{"active", "yes"}, {"age", "70"}});
  AtEachStage([&] {
    BOOST_TEST(Rows("city = 'Bern' AND active = 'yes'", kByActive) == "a c ");
    BOOST_TEST(Rows("city > 'A' AND active = 'yes' AND age::int64 > 55", kByActive) == "c ");
    BOOST_TEST(Rows("active = 'yes'", kByActive) == "a c e ");
    BOOST_TEST(Rows("city IS NULL AND active = 'yes'", kByActive) == "e ");
    BOOST_TEST(Rows("city IN ('Bern', 'Rome') AND active IN ('yes')", kByActive) == "a c ");
    BOOST_TEST(Rows("city = 'Bern' AND active = 'yes' OR city = 'Rome' AND active = 'yes'",
                    kByActive) == "a c ");
    BOOST_TEST(Rows("city = 'Bern' AND m:level IS NULL", kByEither) == "c ");
    BOOST_TEST(Rows("city = 'Bern' AND age::int64 < 55 AND active = 'yes'", kByEither) == "a ");
    BOOST_TEST(Rows("city = 'Bern' AND (m:level IS NULL OR active = 'yes')", kByEither) == "a c ");
    BOOST_TEST(Rows("age::int64 = 60 AND m:level IS NULL", kByOld) == "c ");
    BOOST_TEST(Rows("age::int64 > 42 AND m:level IN ('2', '3')", kByOld) == "d ");
    BOOST_TEST(Rows("active = 'yes'", kOrdered) == "a c ");
  });
  BOOST_TEST(EntriesOf("active") == 3u);
  BOOST_TEST(EntriesOf("old") == 3u);  // c, d and e.
}

BOOST_AUTO_TEST_CASE(OthersAreRefusedWithAReason) {
  Put("a", {{"city", "Bern"}, {"active", "yes"}});
  for (const char* text :
       {"city = 'Bern'", "city = 'Bern' AND active > 'a'", "city = 'Bern' AND active::text = 'yes'",
        "city = 'Bern' OR active = 'yes'", "city = 'Bern' AND NOT active = 'yes'"}) {
    const auto found = database->Query({}, "t", *Predicate::Parse(text), kByActive);
    BOOST_REQUIRE_MESSAGE(!found.has_value(), text);
    BOOST_TEST(found.status().code() == StatusCode::kInvalidArgument);
    BOOST_TEST(RejectedOf("active", text) ==
               "index active: its rows are those WHERE d:active::bytes = 'yes', which the query "
               "does not imply");
  }
  BOOST_TEST(Rows("city = 'Bern'") == "a ");
}

BOOST_AUTO_TEST_CASE(ColumnsMayLieAnywhere) {
  for (const bool flushes : {false, true}) {
    const std::string row = flushes ? "f" : "m";
    Put(row, {{"city", "Bern"}, {"active", "no"}});
    if (flushes) Flush();
    Put(row, {{"active", "yes"}});
    if (flushes) Flush();
    BOOST_TEST(Rows("city = 'Bern' AND active = 'yes'", kByActive).find(row) != std::string::npos);
    Put(row, {{"city", "Rome"}});
    if (flushes) Flush();
    BOOST_TEST(Rows("city = 'Rome' AND active = 'yes'", kByActive).find(row) != std::string::npos);
    BOOST_TEST(Rows("city = 'Bern' AND active = 'yes'", kByActive) == "");
    WriteBatch batch;
    batch.DeleteColumn("t", row, "d", "active");
    BOOST_REQUIRE(database->Write({}, batch).ok());
    if (flushes) Flush();
    BOOST_TEST(Rows("city = 'Rome' AND active = 'yes'", kByActive) == "");
    BOOST_TEST(Rows("city = 'Rome' AND m:level IS NULL", kByEither).find(row) != std::string::npos);
    Put(row, {{"active", "yes"}});
    Put(row, {{"active", "no"}}, 5);  // Timestamps go back: files and memstores are scanned.
    BOOST_TEST(Rows("city = 'Rome' AND active = 'yes'", kByActive) == row + " ");
    BOOST_TEST(Rows("city = 'Rome' AND active = 'no'") == "");
    BOOST_TEST(Explained("city = 'Rome' AND active = 'yes'", kByActive).memstores_scanned == 1u);
    Flush();
    BOOST_REQUIRE(database->Compact("t").ok());
    BOOST_TEST(Rows("city = 'Rome' AND active = 'yes'", kByActive) == row + " ");
    VerifyOk();
    batch.Clear();
    batch.DeleteRow("t", row);
    BOOST_REQUIRE(database->Write({}, batch).ok());
  }
}

BOOST_AUTO_TEST_CASE(SnapshotsAndThePastAreScanned) {
  Put("a", {{"city", "Bern"}, {"active", "yes"}}, 1'000);
  Flush();
  const auto snapshot = database->TakeSnapshot();
  Put("a", {{"active", "no"}}, 2'000);
  ReadOptions held, past;
  held.snapshot = &*snapshot;
  past.as_of = 1'500;
  for (int stage = 0; stage < 3; ++stage) {
    BOOST_TEST(Rows("city = 'Bern' AND active = 'yes'", kByActive, held) == "a ");
    BOOST_TEST(Rows("city = 'Bern' AND active = 'yes'", kByActive, past) == "a ");
    BOOST_TEST(Rows("city = 'Bern' AND active = 'yes'", kByActive) == "");
    if (stage == 0) Flush();
    if (stage == 1) BOOST_REQUIRE(database->Compact("t").ok());
  }
}

BOOST_AUTO_TEST_CASE(WhatMayBecomeTrueByExpiryDoesNotServe) {
  Put("a", {{"city", "Bern"}, {"brief:flag", "1"}}, 1'000);
  Put("b", {{"city", "Bern"}});
  Flush();
  const std::string asked = "city = 'Bern' AND brief:flag IS NULL";
  BOOST_TEST(Rows(asked, {.use_index = "brief"}) == "b ");
  BOOST_REQUIRE_EQUAL(
      database->AlterFamily("t", {.name = "brief", .ttl_micros = 1'000'000}).ToString(), "OK");
  BOOST_TEST(Rows(asked) == "a b ");  // The flag has expired.
  BOOST_TEST(RejectedOf("brief", asked) ==
             "index brief: rows may come to satisfy its WHERE brief:flag::bytes IS NULL when cells "
             "of column 'flag' expire, and it would not have them");
  BOOST_REQUIRE_EQUAL(database->AlterFamily("t", {.name = "brief"}).ToString(), "OK");
  BOOST_TEST(Rows(asked) == "a b ");
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(TheyAreAddedToTablesWithRows) {
  for (int i = 0; i < 200; ++i) {
    Put("r" + std::to_string(i), {{"n", std::to_string(i)}, {"kind", i % 100 == 0 ? "x" : "y"}});
  }
  Flush();
  Put("r1", {{"kind", "x"}});
  BOOST_REQUIRE_EQUAL(Create("n::int64 WHERE kind = 'x'").ToString(), "OK");
  Put("r2", {{"kind", "x"}});
  const QueryOptions by_new{.use_index = "new"};
  AtEachStage([&] {
    BOOST_TEST(Rows("n::int64 < 150 AND kind = 'x'", by_new) == "r0 r1 r100 r2 ");
    BOOST_TEST(Rows("n::int64 = 2 AND kind = 'x'", by_new) == "r2 ");
  });
  BOOST_TEST(EntriesOf("new") == 4u);
  const IndexInfo shown = database->Info()->tables.at(0).indexes.back();
  BOOST_TEST(shown.options.ToString() == "d:n::int64 WHERE d:kind::bytes = 'x'");
}

// The flag and the values of a row may lie in any sources.
BOOST_AUTO_TEST_CASE(OneMayBeOverSeveralValues) {
  BOOST_REQUIRE_EQUAL(Create("split(tags, ',') WHERE active = 'yes'").ToString(), "OK");
  for (int i = 0; i < 60; ++i) {
    const std::string row = "r" + std::to_string(100 + i);
    Put(row, {{"tags", "a,b" + std::to_string(i % 6)}, {"active", i % 3 == 0 ? "yes" : "no"}});
  }
  Put("none", {{"tags", ",,"}, {"active", "yes"}});
  Flush();
  Put("r100", {{"active", "no"}});
  Put("r101", {{"active", "yes"}});
  Put("r103", {{"tags", "b0,b1,c"}});
  Put("late", {{"tags", "c,b0"}});
  Flush();
  Put("late", {{"active", "yes"}});
  WriteBatch batch;
  batch.DeleteColumn("t", "r106", "d", "tags");
  BOOST_REQUIRE(database->Write({}, batch).ok());
  const QueryOptions by_new{.use_index = "new"};
  AtEachStage([&] {
    const auto rows = [&](std::string_view text) {
      return Rows(std::string(text) + " AND active = 'yes'", by_new);
    };
    BOOST_TEST(rows("split(tags, ',') = 'c'") == "late r103 ");
    BOOST_TEST(rows("split(tags, ',') = 'b1'") == "r101 r103 ");
    BOOST_TEST(rows("split(tags, ',') = 'b0'") ==
               "late r103 r112 r118 r124 r130 r136 r142 r148 r154 ");
    rows("split(tags, ',') >= 'b'");
    rows("split(tags, ',') IN ('a', 'b0', 'c')");
    rows("split(tags, ',') = 'a' AND split(tags, ',') = 'b3'");
    rows("NOT split(tags, ',') = 'a'");
    rows("split(tags, ',') IS NULL");
    Rows("split(tags, ',') = 'c' AND active = 'yes' OR active = 'yes' AND split(tags, ',') = 'b1'",
         by_new);
  });
  BOOST_TEST(EntriesOf("new") < 60u);
}

BOOST_AUTO_TEST_CASE(BadDefinitionsChangeNothing) {
  const auto message = [&](const std::string& where, bool unique = false) {
    IndexOptions index{.name = "new", .columns = {{.qualifier = "city"}}};
    index.unique = unique;
    index.where = where;
    const Status status = database->CreateIndex("t", index);
    BOOST_TEST(!status.ok(), where);
    return std::string(status.message());
  };
  BOOST_TEST(message("active = ?") == "index 'new': WHERE: it has a parameter");
  BOOST_TEST(message("_row = 'a'") == "index 'new': WHERE: it is over _row, which is no column");
  BOOST_TEST(message("none:active = 'a'").find("none") != std::string::npos);
  BOOST_TEST(message("active == 1").find("at position 9") != std::string::npos);
  BOOST_TEST(message("words(active) CONTAINS 'a'").find("several values") != std::string::npos);
  BOOST_TEST(message("active::int64 = 'a'").find("int64") != std::string::npos);
  BOOST_TEST(message("active = '" + std::string(kIndexWhereBytesMax, 'a') + "'")
                 .find("the limit is 4096") != std::string::npos);
  std::string deep = "a = 1";
  for (uint32_t i = 0; i < kIndexWhereDepthMax; ++i) {
    deep = (i % 2 == 0 ? "b = 1 AND (" : "b = 1 OR (") + deep + ")";
  }
  BOOST_TEST(message("NOT (" + deep + ")").find("levels") != std::string::npos);
  BOOST_TEST(message("active = 1", true) == "index 'new': it is unique: it cannot have a WHERE");
  const auto several = Create("trigrams(city) WHERE active = 'yes'");
  BOOST_TEST(several.code() == StatusCode::kInvalidArgument);
  BOOST_TEST(database->Info()->tables.at(0).indexes.size() == 4u);
  BOOST_TEST(database->DropFamily("t", "m").message().find("index 'either'") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(DefinitionsAreText) {
  const IndexOptions parsed = PartialIndex("x", "city, lower(d:name) DESC  where a = 1 OR b = 2");
  BOOST_TEST(parsed.columns.size() == 2u);
  BOOST_TEST(parsed.where == "a = 1 OR b = 2");
  BOOST_TEST(parsed.ToString() == "city, lower(d:name) DESC WHERE a = 1 OR b = 2");
  BOOST_TEST(PartialIndex("x", "city, age::int64").ToString() == "city, age::int64");
  for (const auto& [text, position] : std::vector<std::pair<std::string, std::string>>{
           {"city WHERE", "at position 11"},
           {"city WHERE a =", "at position 15"},
           {"city WHEN a = 1", "at position 6"},
           {"WHERE a = 1", "at position 7"},
           {"city WHERE a = 1, b", "at position 17"}}) {
    const auto wrong = IndexOptions::Parse(text);
    BOOST_REQUIRE_MESSAGE(!wrong.has_value(), text);
    BOOST_TEST(wrong.error().message().find(position) == 0u, wrong.error().message());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
