// Indexes that include columns: a query that asks for no others reads no block of rows, and answers
// as a scan does, wherever the columns of a row lie.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/index_fixture.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

IndexOptions Definition(std::string name, std::string_view text) {
  Result<IndexOptions> index = IndexOptions::Parse(text);
  BOOST_REQUIRE_MESSAGE(index.has_value(), index.status().ToString());
  index->name = std::move(name);
  return *std::move(index);
}

TableOptions TableOfPeople() {
  return {.name = "t",
          .families = {{.name = "d", .max_versions = 2}, {.name = "m"}},
          .indexes = {Definition("by_city", "city INCLUDE (phone, m:level)"),
                      Definition("by_age", "age::int64 DESC, city INCLUDE (name)")}};
}

struct CoveringFixture : IndexFixture {
  CoveringFixture() : IndexFixture(TableOfPeople()) {}

  void Put(const std::string& row, std::vector<std::pair<std::string, std::string>> columns) {
    WriteBatch batch;
    for (const auto& [name, value] : columns) {
      batch.Put("t", row, name == "level" ? "m" : "d", name, value);
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void DeleteRow(const std::string& row) {
    WriteBatch batch;
    batch.DeleteRow("t", row);
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  void PutPeople(int count, int from = 0) {
    for (int i = from; i < from + count; ++i) {
      const std::string n = std::to_string(i);
      Put("row" + std::string(4 - n.size(), '0') + n, {{"city", "city" + std::to_string(i % 10)},
                                                       {"age", "0" + std::to_string(i % 7)},
                                                       {"phone", "phone" + n},
                                                       {"name", std::string(200, 'n') + n},
                                                       {"level", "level" + n}});
    }
  }

  // The rows, which are the same by a scan.
  std::string Shown(std::string_view text, std::vector<ColumnName> columns,
                    const QueryOptions& options = {}, const Snapshot* snapshot = nullptr) {
    ReadOptions read;
    read.columns = std::move(columns);
    read.snapshot = snapshot;
    std::string found[2];
    for (const bool no_index : {false, true}) {
      QueryOptions query = options;
      query.no_index = no_index;
      if (no_index) query.use_index.clear();
      auto cursor = database->Query(read, "t", *Predicate::Parse(text), query);
      BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
      while (cursor->Next()) {
        const RowView row = cursor->row();
        found[no_index] += std::string(row.key()) + "(";
        for (const Cell& cell : row.cells()) {
          found[no_index] += std::string(cell.qualifier) + "=" + std::string(cell.value) + "@" +
                             std::to_string(cell.timestamp) + " ";
        }
        found[no_index] += ")";
      }
      BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    }
    BOOST_TEST(found[0] == found[1], text);
    return found[0];
  }
  Explanation ExplainedFor(std::string_view text, std::vector<ColumnName> columns,
                           const QueryOptions& query = {}) {
    ReadOptions read;
    read.columns = std::move(columns);
    return Explained(text, query, read);
  }
  void CheckCovered(std::string_view text, const std::vector<ColumnName>& columns,
                    const QueryOptions& query = {}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(!Shown(text, columns, query).empty());
      const Explanation explained = ExplainedFor(text, columns, query);
      BOOST_TEST(explained.covered);
      BOOST_TEST(explained.candidate_blocks == 0u);
      BOOST_TEST(explained.rows_from_index == explained.candidate_rows);
      BOOST_TEST(explained.rows_from_index > 0u);
    }
  }
  void Flush() { BOOST_REQUIRE(database->Flush("t").ok()); }
};

const QueryOptions kByCity{.use_index = "by_city"};
const QueryOptions kByAge{.use_index = "by_age"};
const QueryOptions kOrdered{.order_by = "by_age", .use_index = "by_age"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(covering_indexes, CoveringFixture)

BOOST_AUTO_TEST_CASE(AQueryForTheirColumnsReadsNoBlockOfRows) {
  PutPeople(300);
  Flush();
  for (const bool is_merged : {false, true}) {
    if (is_merged) BOOST_REQUIRE(database->Compact("t").ok());
    CheckCovered("city = 'city3'", {{"d", "phone"}}, kByCity);
    CheckCovered("city = 'city3'", {{"", "city"}, {"m", "level"}}, kByCity);
    CheckCovered("city IN ('city1', 'city5')", {{"d", "phone"}}, kByCity);
    CheckCovered("city > 'city7'", {{"d", "phone"}}, kByCity);
    CheckCovered("city = 'city3' AND phone = 'phone13'", {{"m", "level"}}, kByCity);
    CheckCovered("city = 'city3' AND m:level > 'level2'", {{"d", "phone"}}, kByCity);
    CheckCovered("age = 3", {{"d", "age"}, {"d", "name"}}, kByAge);
    CheckCovered("age = 3 AND city = 'city3'", {{"d", "name"}}, kByAge);
    CheckCovered("age > 2", {{"d", "name"}, {"d", "city"}}, kOrdered);
    CheckCovered("age > 2 AND city = 'city3'", {{"d", "name"}}, kOrdered);
    QueryOptions few = kOrdered;
    few.limit = 5;
    CheckCovered("age > 2", {{"d", "name"}}, few);
  }
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(AQueryForOtherColumnsReadsRows) {
  PutPeople(100);
  Flush();
  const auto is_covered = [&](std::string_view text, std::vector<ColumnName> columns) {
    Shown(text, columns, kByCity);
    const Explanation explained = ExplainedFor(text, std::move(columns), kByCity);
    BOOST_TEST((explained.covered || explained.candidate_blocks > 0));
    return explained.rows_from_index > 0;
  };
  BOOST_TEST(is_covered("city = 'city3'", {{"d", "phone"}}));
  BOOST_TEST(!is_covered("city = 'city3'", {{"d", "phone"}, {"d", "name"}}));
  BOOST_TEST(!is_covered("city = 'city3'", {}));
  BOOST_TEST(!is_covered("city = 'city3' AND name != 'x'", {{"d", "phone"}}));
}

BOOST_AUTO_TEST_CASE(ExactBytesAreReturned) {
  Put("a", {{"age", "007"}, {"city", "Bern"}, {"name", "Ann"}});
  Put("b", {{"age", "7"}, {"city", "Bern"}});
  Flush();
  ReadOptions read;
  read.columns = {{"d", "age"}};
  auto cursor = database->Query(read, "t", *Predicate::Parse("age = 7"), kByAge);
  std::string found;
  while (cursor->Next()) found += std::string(cursor->row().cells()[0].value) + " ";
  BOOST_TEST(found == "007 7 ");
  CheckCovered("age = 7", {{"d", "age"}, {"d", "name"}}, kByAge);
}

// Rows that another source has are read, whatever it has of them.
BOOST_AUTO_TEST_CASE(RowsThatLieInSeveralSourcesAreRead) {
  PutPeople(200);
  Flush();
  const std::vector<ColumnName> phone = {{"d", "phone"}};
  BOOST_TEST(ExplainedFor("city = 'city3'", phone, kByCity).rows_from_index == 20u);
  Put("row0003", {{"phone", "new"}});   // The included column.
  Put("row0013", {{"name", "new"}});    // Another one.
  Put("row0023", {{"city", "city4"}});  // That of the index.
  DeleteRow("row0033");
  Put("row0300", {{"city", "city3"}, {"phone", "here"}});
  const auto check = [&](uint64_t from_index) {
    const std::string shown = Shown("city = 'city3'", phone, kByCity);
    BOOST_TEST(shown.find("row0003(phone=new@") != std::string::npos);
    BOOST_TEST(shown.find("row0023") == std::string::npos);
    BOOST_TEST(shown.find("row0033") == std::string::npos);
    BOOST_TEST(shown.find("row0300(phone=here@") != std::string::npos);
    BOOST_TEST(ExplainedFor("city = 'city3'", phone, kByCity).rows_from_index == from_index);
  };
  check(16);
  Flush();
  check(17);
  BOOST_REQUIRE(database->Compact("t").ok());
  check(17);  // Two rows have two versions of a column.
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(ASnapshotSeesWhatItSaw) {
  PutPeople(100);
  Flush();
  const std::vector<ColumnName> phone = {{"d", "phone"}};
  const auto snapshot = database->TakeSnapshot();
  BOOST_REQUIRE(snapshot.has_value());
  const std::string before = Shown("city = 'city3'", phone, kByCity, &*snapshot);
  PutPeople(100, 50);
  Put("row0003", {{"phone", "new"}, {"city", "city4"}});
  BOOST_TEST(Shown("city = 'city3'", phone, kByCity, &*snapshot) == before);
  Flush();
  BOOST_TEST(Shown("city = 'city3'", phone, kByCity, &*snapshot) == before);
  BOOST_REQUIRE(database->Compact("t").ok());
  BOOST_TEST(Shown("city = 'city3'", phone, kByCity, &*snapshot) == before);
  BOOST_TEST(Shown("city = 'city3'", phone, kByCity) != before);
}

BOOST_AUTO_TEST_CASE(ALongRowIsRead) {
  Put("long", {{"city", "Bern"}, {"phone", std::string(5000, 'p')}, {"level", "1"}});
  Put("overflow", {{"city", "Bern"}, {"phone", std::string(100'000, 'p')}});
  Put("short", {{"city", "Bern"}, {"phone", "1"}});
  AtEachStage([&] {
    BOOST_TEST(Shown("city = 'Bern'", {{"d", "phone"}}, kByCity).size() > 105'000u);
    BOOST_TEST(Shown("city = 'Bern'", {{"m", "level"}}, kByCity).find("long(level=1@") == 0u);
  });
  const Explanation explained = ExplainedFor("city = 'Bern'", {{"d", "phone"}}, kByCity);
  BOOST_TEST(explained.rows_from_index == 1u);
  BOOST_TEST(explained.candidate_rows == 3u);
}

BOOST_AUTO_TEST_CASE(FilesFromBeforeTheIndexAreMadeAgain) {
  PutPeople(200);
  Flush();
  // Of one family, a copy of the file gets the index; of two, a merge makes it.
  for (const char* text : {"phone INCLUDE (city, age)", "phone INCLUDE (city, m:level)"}) {
    BOOST_REQUIRE_EQUAL(database->CreateIndex("t", Definition("by_phone", text)).ToString(), "OK");
    const QueryOptions by_phone{.use_index = "by_phone"};
    Shown("phone PREFIX 'phone11'", {{"d", "city"}}, by_phone);
    BOOST_REQUIRE(database->Compact("t").ok());
    CheckCovered("phone PREFIX 'phone11'", {{"d", "city"}}, by_phone);
    VerifyOk();
    BOOST_REQUIRE(database->DropIndex("t", "by_phone").ok());
  }
}

BOOST_AUTO_TEST_CASE(ALimitReadsRowsWhereTheyAreFewOfMany) {
  PutPeople(2000);
  Flush();
  QueryOptions query{.use_index = "by_city"};
  query.limit = 1;
  const std::vector<ColumnName> phone = {{"d", "phone"}};
  BOOST_TEST(!ExplainedFor("city > 'city0'", phone, query).covered);
  Shown("city > 'city0'", phone, query);
  query.limit = 300;
  BOOST_TEST(ExplainedFor("city > 'city0'", phone, query).covered);
  Shown("city > 'city0'", phone, query);
}

// Of indexes that lead to the same rows.
BOOST_AUTO_TEST_CASE(OneThatHasTheColumnsIsPreferred) {
  BOOST_REQUIRE(database->DropIndex("t", "by_city").ok());
  for (const auto& [name, text] :
       {std::pair("plain", "city"), std::pair("of_level", "city INCLUDE (m:level)"),
        std::pair("of_phone", "city, age::int64 INCLUDE (phone)")}) {
    BOOST_REQUIRE_EQUAL(database->CreateIndex("t", Definition(name, text)).ToString(), "OK");
  }
  PutPeople(400);
  BOOST_REQUIRE(database->Compact("t").ok());
  const ColumnName phone{"d", "phone"}, level{"m", "level"}, name{"d", "name"};
  const auto used = [&](std::string_view text, std::vector<ColumnName> columns) {
    Shown(text, columns);
    const Explanation explained = ExplainedFor(text, std::move(columns));
    return explained.index + (explained.covered ? ", covered" : "");
  };
  BOOST_TEST(used("city = 'city3'", {level}) == "of_level, covered");
  BOOST_TEST(used("city = 'city3'", {phone}) == "of_phone, covered");
  BOOST_TEST(used("city = 'city3'", {phone, level}) == "plain");
  BOOST_TEST(used("city = 'city3'", {}) == "plain");
  BOOST_TEST(used("city = 'city3' AND age::int64 > 90", {level}) == "by_age");  // Fewer entries.
  BOOST_TEST(used("city = 'city3' AND name != 'x'", {level}) == "of_level, covered");
  BOOST_TEST(used("city = 'city3' OR city = 'city4'", {level}) == "of_level, covered");
}

BOOST_AUTO_TEST_CASE(DefinitionsAreReadAndPrinted) {
  const IndexOptions index =
      Definition("i", "lower(d:city) DESC, age::int64 include(phone,m:\"a b\")");
  BOOST_TEST(index.ToString() == "lower(d:city) DESC, age::int64 INCLUDE (phone, m:\"a b\")");
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", index).ToString(), "OK");
  const auto table = database->Info().value().tables[0];
  BOOST_TEST(table.options.indexes.back().ToString() ==
             "lower(d:city)::text DESC, d:age::int64 INCLUDE (d:phone, m:\"a b\")");
  BOOST_TEST(Definition("i", "city").ToString() == "city");
  for (const char* text : {"city INCLUDE", "city INCLUDE ()", "city INCLUDE (phone", "INCLUDE (a)",
                           "city INCLUDE (lower(phone))", "city INCLUDE (age::int64)",
                           "city INCLUDE (_row)", "city INCLUDE (phone) DESC"}) {
    const auto parsed = IndexOptions::Parse(text);
    BOOST_TEST(parsed.status().code() == StatusCode::kInvalidArgument, text);
    BOOST_TEST(parsed.status().message().find("position") != std::string::npos, text);
  }
}

BOOST_AUTO_TEST_CASE(WhatCannotBeIncludedIsRefused) {
  const auto refusal = [&](std::string_view text) {
    const Status status = database->CreateIndex("t", Definition("refused", text));
    BOOST_TEST(status.code() == StatusCode::kInvalidArgument, text);
    return std::string(status.message());
  };
  BOOST_TEST(refusal("city INCLUDE (phone, d:phone)").find("'phone' twice") != std::string::npos);
  BOOST_TEST(refusal("city INCLUDE (d:city)").find("'city', which it is over") !=
             std::string::npos);
  BOOST_TEST(refusal("city INCLUDE (x:y)").find("no family 'x'") != std::string::npos);
  BOOST_TEST(refusal("words(city) INCLUDE (phone)").find("cannot include") != std::string::npos);
  IndexOptions index = Definition("refused", "city");
  for (int i = 0; i < 17; ++i) index.include.push_back({"d", std::to_string(i)});
  const Status status = database->CreateIndex("t", index);
  BOOST_TEST(status.message().find("includes 17 columns, the limit is 16") != std::string::npos);
  index.include.pop_back();
  BOOST_TEST(database->CreateIndex("t", index).ok());
  const Status dropped = database->DropFamily("t", "m");
  BOOST_TEST(dropped.message().find("index 'by_city' includes one of its columns") !=
             std::string::npos);
}

// Whatever is written, in whatever order it reaches files, a covered query is a scan.
BOOST_AUTO_TEST_CASE(RandomWritesAnswerAsAScan) {
  TestRandom random("writes");
  const std::vector<std::vector<ColumnName>> selections = {
      {{"d", "phone"}}, {{"m", "level"}, {"d", "city"}}, {{"d", "name"}}, {{"d", "age"}}};
  const char* const names[] = {"city", "age", "phone", "name", "level"};
  uint64_t from_index = 0;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 60; ++i) {
      const std::string row = "row" + std::to_string(random.Below(300));
      if (random.Below(12) == 0) {
        DeleteRow(row);
        continue;
      }
      std::vector<std::pair<std::string, std::string>> columns;
      for (const char* name : names) {
        if (random.Below(2) == 0) columns.emplace_back(name, std::to_string(random.Below(6)));
      }
      if (!columns.empty()) Put(row, columns);
    }
    if (random.Below(2) == 0) Flush();
    if (random.Below(8) == 0) BOOST_REQUIRE(database->Compact("t").ok());
    for (const std::vector<ColumnName>& columns : selections) {
      for (const char* text : {"city = '3'", "city > '1'", "city = '2' AND phone = '1'"}) {
        Shown(text, columns, kByCity);
        from_index += ExplainedFor(text, columns, kByCity).rows_from_index;
      }
      for (const char* text : {"age = 3", "age > 1 AND city = '2'", "age = 2 AND name = '1'"}) {
        Shown(text, columns, kByAge);
        Shown(text, columns, kOrdered);
        from_index += ExplainedFor(text, columns, kOrdered).rows_from_index;
      }
    }
  }
  BOOST_TEST(from_index > 1000u);
  VerifyOk();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
