// Indexes over several columns: they answer as a scan does, wherever the columns of a row lie, and
// no write reads an old row for them.
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

TableOptions TableOfPeople() {
  return {.name = "t",
          .families = {{.name = "d", .max_versions = 2}, {.name = "m"}},
          .indexes = {IndexOf("pair", "city, age::int64 DESC"),
                      IndexOf("triple", "city, m:level::int64, lower(name)")}};
}

struct CompositeIndexFixture : IndexFixture {
  CompositeIndexFixture() : IndexFixture(TableOfPeople()) {}

  void Put(const std::string& row, std::vector<std::pair<std::string, std::string>> columns,
           std::optional<int64_t> timestamp = {}) {
    WriteBatch batch;
    for (const auto& [name, value] : columns) {
      const bool is_level = name == "level";
      batch.Put("t", row, is_level ? "m" : "d", name, value, timestamp);
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
};

TableOptions TableOfOneVersion() {
  IndexOptions ageless = IndexOf("ageless", "city");
  ageless.where = "age IS NULL";
  return {.name = "t",
          .families = {{.name = "d", .max_versions = 1}},
          .indexes = {IndexOf("pair", "city, age::int64 DESC"), ageless}};
}

struct OneVersionFixture : IndexFixture {
  OneVersionFixture() : IndexFixture(TableOfOneVersion()) {}
};

const QueryOptions kByPair{.use_index = "pair"};
const QueryOptions kByTriple{.use_index = "triple"};
const QueryOptions kOrderedByPair{.order_by = "pair", .use_index = "pair"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(composite_indexes, CompositeIndexFixture)

BOOST_AUTO_TEST_CASE(TheyServeTheirFirstColumns) {
  Put("a", {{"city", "Bern"}, {"age", "30"}, {"name", "Ann"}, {"level", "1"}});
  Put("b", {{"city", "Bern"}, {"age", "40"}, {"name", "BOB"}, {"level", "1"}});
  Put("c", {{"city", "Bern"}, {"name", "bob"}, {"level", "2"}});
  Put("d", {{"city", "Rome"}, {"age", "30"}, {"name", "Ann"}});
  Put("e", {{"age", "30"}, {"level", "1"}});
  AtEachStage([&] {
    BOOST_TEST(Rows("city = 'Bern'", kByPair) == "a b c ");
    BOOST_TEST(Rows("city = 'Bern' AND age = 30", kByPair) == "a ");
    BOOST_TEST(Rows("city = 'Bern' AND age > 30", kByPair) == "b ");
    BOOST_TEST(Rows("city = 'Bern' AND age >= 30 AND age < 50", kByPair) == "a b ");
    BOOST_TEST(Rows("city IN ('Bern', 'Rome') AND age = 30", kByPair) == "a d ");
    BOOST_TEST(Rows("city PREFIX 'B' AND age = 30", kByPair) == "a ");
    BOOST_TEST(Rows("city = 'Bern' AND age IS NULL", kByPair) == "c ");
    BOOST_TEST(Rows("city = 'Bern' AND age IS NOT NULL", kByPair) == "a b ");
    BOOST_TEST(Rows("city = 'Bern' AND NOT age = 30", kByPair) == "b c ");
    BOOST_TEST(Rows("city IS NULL AND age = 30", kByPair) == "e ");
    BOOST_TEST(Rows("city = 'Bern' AND age = 30 OR city = 'Rome' AND age = 30") == "a d ");
    BOOST_TEST(Rows("city = 'Bern' AND m:level = 1", kByTriple) == "a b ");
    BOOST_TEST(Rows("city = 'Bern' AND m:level = 1 AND lower(name) = 'bob'", kByTriple) == "b ");
    BOOST_TEST(Rows("city = 'Bern' AND m:level IN (1, 2) AND lower(name) PREFIX 'b'", kByTriple) ==
               "b c ");
    BOOST_TEST(Rows("city = 'Bern' AND m:level = 1 AND age = 40", kByTriple) == "b ");
    BOOST_TEST(Rows("city = 'Bern' AND lower(name) = 'bob'", kByTriple) == "b c ");
    BOOST_TEST(Rows("city = 'Bern' AND age = 30 AND m:level = 1") == "a ");
    BOOST_TEST(Rows("city = '' AND age = 30", kByPair) == "");
  });
}

BOOST_AUTO_TEST_CASE(TheyOrderByAllColumns) {
  Put("a", {{"city", "Bern"}, {"age", "30"}});
  Put("b", {{"city", "Bern"}, {"age", "40"}});
  Put("c", {{"city", "Bern"}});
  Put("d", {{"city", "Aarau"}, {"age", "5"}});
  Put("e", {{"age", "30"}});
  BOOST_REQUIRE(database->Flush("t").ok());
  Put("f", {{"city", "Bern"}});
  Put("f", {{"age", "35"}});
  const QueryOptions forward{.order_by = "pair"}, backward{.order_by = "pair", .descending = true};
  BOOST_TEST(Rows("_row != ''", forward) == "d b f a c ");
  BOOST_TEST(Rows("_row != ''", backward) == "c a f b d ");
  BOOST_TEST(Rows("city = 'Bern'", forward) == "b f a c ");
  QueryOptions limited = forward;
  limited.limit = 2;
  BOOST_TEST(Rows("city = 'Bern'", limited) == "b f ");
}

// More rows than are sorted at once have one first value, and some both values.
BOOST_AUTO_TEST_CASE(LongOrdersAreWalkedInParts) {
  TestRandom random("LongOrdersAreWalkedInParts");
  constexpr uint64_t kRows = 20'000;
  const auto city = [&] { return "c" + std::to_string(random.OneIn(2) ? 0 : random.Below(4)); };
  const auto put_some = [&](uint64_t count, bool whole) {
    WriteBatch batch;
    for (uint64_t i = 0; i < count; ++i) {
      const std::string row = "r" + std::to_string(whole ? i : random.Below(kRows));
      const std::string age = random.OneIn(3) ? "7" : std::to_string(random.Below(5000));
      if (whole || random.OneIn(2)) batch.Put("t", row, "d", "city", city());
      if (!random.OneIn(9)) batch.Put("t", row, "d", "age", age);
      if (random.OneIn(9)) batch.Put("t", row, "m", "level", age);
      if (random.OneIn(300)) batch.DeleteColumn("t", row, "d", "age");
    }
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  };
  put_some(kRows, true);
  BOOST_REQUIRE(database->Flush("t").ok());
  put_some(2000, false);
  BOOST_REQUIRE(database->Flush("t").ok());
  put_some(1000, false);
  for (const char* order : {"pair", "triple"}) {
    for (const bool descending : {false, true}) {
      QueryOptions query{.order_by = order, .descending = descending};
      for (const char* text : {"_row != ''", "city = 'c0'", "city = 'c0' AND age > 100",
                               "city = 'c1' AND age = 7", "city = 'c2' AND m:level < 100"}) {
        BOOST_TEST_CONTEXT(order << (descending ? " falling: " : ": ") << text) {
          query.limit = 0;
          const std::string all = Rows(text, query);
          query.limit = 25;
          query.use_index = order;
          const std::string first = Rows(text, query);
          BOOST_TEST(all.starts_with(first));
          BOOST_TEST(Explained(text, query).reason == "in the order of the index");
          query.use_index.clear();
        }
      }
    }
  }
}

// Half of the rows of one value have the second column in another file.
BOOST_AUTO_TEST_CASE(AValueWithManyPartialEntriesIsSortedAsAWhole) {
  constexpr int kRows = 40'000;
  WriteBatch first, second;
  for (int i = 0; i < kRows; ++i) {
    const std::string row = "r" + std::to_string(i);
    first.Put("t", row, "d", "city", i % 5 == 0 ? "Rome" : "Bern");
    (i % 2 == 0 ? first : second).Put("t", row, "d", "age", std::to_string(i * 7919 % kRows));
  }
  BOOST_REQUIRE_EQUAL(database->Write({}, first).ToString(), "OK");
  BOOST_REQUIRE(database->Flush("t").ok());
  BOOST_REQUIRE_EQUAL(database->Write({}, second).ToString(), "OK");
  for (const bool descending : {false, true}) {
    const QueryOptions query{.order_by = "pair", .descending = descending, .use_index = "pair"};
    BOOST_TEST(Rows("_row != ''", query).size() > kRows * 6);
    BOOST_TEST(Explained("_row != ''", query).reason == "in the order of the index");
    BOOST_TEST(Rows("city = 'Bern' AND age > 30000", query).size() > 8000u * 6);
  }
}

BOOST_AUTO_TEST_CASE(TheOrderOfThePastIsThatOfAScan) {
  for (int i = 0; i < 3000; ++i) {
    Put("r" + std::to_string(i), {{"city", "x"}, {"level", std::to_string(i)}}, 10);
  }
  for (int i = 0; i < 3000; i += 2) {
    Put("r" + std::to_string(i), {{"level", std::to_string(i + 7)}}, 20);
  }
  for (const bool descending : {false, true}) {
    Rows("_row != ''", {.order_by = "triple", .descending = descending}, {.as_of = 15});
  }
}

// A memstore of before the index waits for its flush, in a table that had none or another.
BOOST_AUTO_TEST_CASE(MemstoresOfBeforeTheIndexAreAsked) {
  for (const bool has_other : {false, true}) {
    for (const char* columns : {"a", "a, b"}) {
      const std::string table = (has_other ? "with " : "without ") + std::string(columns);
      TableOptions options{.name = table, .families = {{.name = "d"}}};
      if (has_other) options.indexes.push_back(IndexOf("other", "b"));
      BOOST_REQUIRE_EQUAL(database->CreateTable(options).ToString(), "OK");
      const auto put = [&](const std::string& column, const std::string& value, int step,
                           int rows) {
        WriteBatch batch;
        for (int i = 0; i < rows; i += step) {
          batch.Put(table, "r" + std::to_string(i), "d", column, value);
        }
        BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
      };
      put("a", "y", 1, 50);
      put("b", "k", 1, 50);
      BOOST_REQUIRE(database->Flush(table).ok());
      put("z", "q", 2, 50);
      put("other", std::string(100, 'o'), 1, 20'000);
      auto transaction = database->Begin();
      BOOST_REQUIRE(transaction.has_value());
      BOOST_REQUIRE(transaction->Put(table, "r1", "d", "a", "y").ok());
      BOOST_REQUIRE_EQUAL(database->CreateIndex(table, IndexOf("new", columns)).ToString(), "OK");
      const Predicate equal = *Predicate::Parse("a = 'y' AND b = 'k'");
      for (int i = 0; i < 3; ++i) {
        BOOST_TEST(*database->Count({}, table, equal, {.use_index = "new"}) == 50u);
        BOOST_TEST(
            *database->Count({}, table, *Predicate::Parse("a = 'y'"), {.use_index = "new"}) == 50u);
        auto cursor = transaction->Query({}, table, equal, {.use_index = "new"});
        BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
        uint64_t cells = 0;
        while (cursor->Next()) cells += cursor->row().cells().size();
        BOOST_TEST(cells == 50 * 3 + 25u);
      }
    }
  }
}

// Each column of a row in a source of its own: no source has an entry with both.
BOOST_AUTO_TEST_CASE(ColumnsOfARowMayLieInSeveralSources) {
  Put("a", {{"city", "Bern"}, {"age", "30"}, {"level", "1"}});
  Put("b", {{"city", "Rome"}, {"age", "30"}, {"level", "1"}});
  BOOST_REQUIRE(database->Flush("t").ok());
  Put("a", {{"age", "31"}});
  BOOST_REQUIRE(database->Flush("t").ok());
  Put("b", {{"city", "Bern"}});
  AtEachStage([&] {
    BOOST_TEST(Rows("city = 'Bern' AND age = 31", kByPair) == "a ");
    BOOST_TEST(Rows("city = 'Bern' AND age = 30", kByPair) == "b ");
    BOOST_TEST(Rows("city = 'Rome' AND age = 30", kByPair) == "");
    BOOST_TEST(Rows("city = 'Bern' AND m:level = 1", kByTriple) == "a b ");
  });
}

// A newer write with an older timestamp does not count where it writes, but elsewhere.
BOOST_AUTO_TEST_CASE(TimestampsMayGoBack) {
  Put("a", {{"city", "Bern"}}, 9);
  Put("a", {{"age", "1"}}, 2);
  BOOST_REQUIRE(database->Flush("t").ok());
  Put("a", {{"city", "Rome"}, {"age", "7"}}, 5);
  AtEachStage([&] {
    BOOST_TEST(Rows("city = 'Bern' AND age = 7", kByPair) == "a ");
    BOOST_TEST(Rows("city = 'Rome' AND age = 7", kByPair) == "");
    BOOST_TEST(Rows("city = 'Bern' AND age = 1", kByPair) == "");
    BOOST_TEST(Rows("city = 'Bern' AND age = 7", kOrderedByPair) == "a ");
  });
}

BOOST_AUTO_TEST_CASE(SnapshotsAndThePastAreRight) {
  Put("a", {{"city", "Bern"}, {"age", "1"}}, 10);
  auto before = database->TakeSnapshot();
  BOOST_REQUIRE(before.has_value());
  Put("a", {{"age", "2"}}, 20);
  const ReadOptions at{.snapshot = &*before}, as_of{.as_of = 15};
  AtEachStage(
      [&] {
        BOOST_TEST(Rows("city = 'Bern' AND age = 1", kByPair, at) == "a ");
        BOOST_TEST(Rows("city = 'Bern' AND age = 2", kByPair, at) == "");
        BOOST_TEST(Rows("city = 'Bern' AND age = 1", kByPair, as_of) == "a ");
        BOOST_TEST(Rows("city = 'Bern' AND age = 2", kByPair) == "a ");
        BOOST_TEST(Rows("city = 'Bern' AND age = 1", kByPair) == "");
        BOOST_TEST(Rows("city = 'Bern' AND age = 1", kOrderedByPair, at) == "a ");
      },
      /*reopens=*/false);
}

BOOST_AUTO_TEST_CASE(DeletesOfOneColumnAreSeen) {
  Put("a", {{"city", "Bern"}, {"age", "1"}, {"level", "3"}});
  Put("b", {{"city", "Bern"}, {"age", "1"}, {"level", "3"}});
  BOOST_REQUIRE(database->Flush("t").ok());
  WriteBatch batch;
  batch.DeleteColumn("t", "a", "d", "age");
  batch.DeleteFamily("t", "b", "m");
  BOOST_REQUIRE(database->Write({}, batch).ok());
  AtEachStage([&] {
    BOOST_TEST(Rows("city = 'Bern' AND age = 1", kByPair) == "b ");
    BOOST_TEST(Rows("city = 'Bern' AND age IS NULL", kByPair) == "a ");
    BOOST_TEST(Rows("city = 'Bern' AND m:level = 3", kByTriple) == "a ");
  });
}

BOOST_AUTO_TEST_CASE(OneIsMadeOverATableWithRows) {
  TestRandom random("OneIsMadeOverATableWithRows");
  for (int i = 0; i < 600; ++i) {
    const std::string row = "r" + std::to_string(random.Below(200));
    const std::string value = std::to_string(random.Below(5));
    if (random.OneIn(2)) Put(row, {{"x", value}});
    if (random.OneIn(2)) Put(row, {{"y", value}});
    if (random.OneIn(60)) BOOST_REQUIRE(database->Flush("t").ok());
  }
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", IndexOf("xy", "x, y")).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", IndexOf("xl", "x, m:level")).ToString(), "OK");
  const auto compare = [&] {
    for (const char* text :
         {"x = '1' AND y = '2'", "x = '1' AND y > '2'", "x IN ('1', '3') AND y = '4'"}) {
      Rows(text, {.use_index = "xy"});
      Rows(text);
    }
  };
  compare();
  for (int i = 0; i < 100; ++i) Put("r" + std::to_string(i), {{"y", "2"}});
  compare();
  BOOST_REQUIRE(database->Flush("t").ok());
  BOOST_REQUIRE(database->Compact("t").ok());
  compare();
  VerifyOk();
  BOOST_REQUIRE(database->DropIndex("t", "xy").ok());
  BOOST_TEST(Rows("x = '1' AND y = '2'") != "");
}

BOOST_AUTO_TEST_CASE(ExplainSaysHowManyColumnsAreAskedFor) {
  for (int i = 0; i < 1000; ++i) {
    Put("r" + std::to_string(i),
        {{"city", i % 2 == 0 ? "Bern" : "Rome"}, {"age", std::to_string(i % 100)}});
  }
  BOOST_REQUIRE(database->Flush("t").ok());
  BOOST_REQUIRE(database->Compact("t").ok());
  const Explanation both = Explained("city = 'Bern' AND age = 42");
  BOOST_TEST(both.index == "pair");
  BOOST_TEST(both.entries == 10u);
  BOOST_TEST(both.rows == 10u);
  BOOST_TEST(both.reason.find("2 of 2 columns of pair") != std::string::npos, both.reason);
  BOOST_TEST(both.intersected.empty());
  Put("r0", {{"age", "42"}}, 5);  // The time goes back.
  const Explanation one = Explained("city = 'Bern' AND age = 42", kByPair);
  BOOST_TEST(one.reason.find("the first alone") != std::string::npos, one.reason);
  BOOST_TEST(one.entries >= 500u);
  BOOST_TEST(one.rows == 10u);
}

BOOST_AUTO_TEST_CASE(WrongDefinitionsAreRefused) {
  const auto refused = [&](const IndexOptions& index) {
    return database->CreateIndex("t", index).ToString();
  };
  BOOST_TEST(refused(IndexOf("twice", "city, age, city")) ==
             "InvalidArgument: index 'twice': declares column 'city' twice");
  std::string many;
  for (int i = 0; i < 17; ++i) many += (i > 0 ? ", c" : "c") + std::to_string(i);
  BOOST_TEST(refused(IndexOf("many", many)) ==
             "InvalidArgument: index 'many': declares 17 columns, expected 1 to 16");
  BOOST_TEST(!IndexColumn::ParseList("city, ").has_value());
  BOOST_TEST(!IndexColumn::ParseList("city age").has_value());
  BOOST_TEST(!IndexColumn::ParseList("").has_value());
  // A value that does not fit the second column is refused as for an index over it alone.
  WriteBatch batch;
  batch.Put("t", "a", "d", "age", "old");
  BOOST_TEST(database->Write({}, batch).code() == StatusCode::kInvalidArgument);
}

// Against a scan, while rows are updated column by column, with flushes and merges in between.
BOOST_AUTO_TEST_CASE(RandomUpdatesAnswerAsAScan) {
  TestRandom random("RandomUpdatesAnswerAsAScan");
  for (int i = 0; i < 3000; ++i) {
    const std::string row = "r" + std::to_string(random.Below(150));
    const auto value = [&] { return std::to_string(random.Below(4)); };
    std::optional<int64_t> timestamp;
    if (random.OneIn(200)) timestamp = static_cast<int64_t>(random.Below(100));
    switch (random.Below(6)) {
      case 0:
        Put(row, {{"city", value()}, {"age", value()}, {"level", value()}}, timestamp);
        break;
      case 1:
        Put(row, {{"city", value()}}, timestamp);
        break;
      case 2:
        Put(row, {{"age", value()}}, timestamp);
        break;
      case 3:
        Put(row, {{"level", value()}}, timestamp);
        break;
      case 4:
        Put(row, {{"city", value()}, {"age", value()}}, timestamp);
        break;
      default: {
        WriteBatch batch;
        if (random.OneIn(3)) batch.DeleteRow("t", row);
        if (random.OneIn(3)) batch.DeleteColumn("t", row, "d", "city");
        if (random.OneIn(3)) batch.DeleteFamily("t", row, "m");
        BOOST_REQUIRE(database->Write({}, batch).ok());
      }
    }
    if (random.OneIn(120)) BOOST_REQUIRE(database->Flush("t").ok());
    if (random.OneIn(600)) BOOST_REQUIRE(database->Compact("t").ok());
    if (!random.OneIn(10)) continue;
    Rows("city = '" + value() + "' AND age = " + value(), kByPair);
    Rows("city IN ('0', '2') AND age > " + value(), kByPair);
    Rows("city = '" + value() + "' AND m:level = " + value(), kByTriple);
    Rows("_row != ''", {.order_by = "pair"});
  }
  VerifyOk();
}

// A condition on the second column alone: the few values of the first are skipped over.
BOOST_AUTO_TEST_CASE(ASkipScanFindsTheSecondColumn) {
  const char* const cities[] = {"Bergen", "Oslo", "Tromso"};
  for (int i = 0; i < 900; ++i) {
    const std::string row = "row" + std::to_string(1000 + i);
    if (i % 10 != 9) Put(row, {{"city", cities[i % 3]}});
    Put(row, {{"age", std::to_string(i % 90)}});
  }
  AtEachStage([&] {
    BOOST_TEST(Rows("age = 30").size() == 10 * 8);
    BOOST_TEST(Rows("age = 39").size() == 10 * 8);  // Of rows without a city.
    BOOST_TEST(Rows("age > 87 OR city = 'Oslo'").size() > 0);
    BOOST_TEST(Rows("age IN (3, 4) AND name IS NULL").size() == 20 * 8);
    BOOST_TEST(Rows("age = 39 OR city IS NULL").size() == 90 * 8);
    BOOST_TEST(Rows("age IS NULL") == "");
  });
  const Explanation explained = Explained("age = 30");
  BOOST_TEST(explained.index == "pair");
  BOOST_TEST(explained.entries == 10);
  BOOST_TEST(explained.reason ==
             "fewest entries; 2 of 2 columns of pair, the second one for each of 4 values of "
             "the first");
  // An update of one column, in a memstore and then in a file of its own.
  Put("row1000", {{"age", "30"}});
  BOOST_TEST(Rows("age = 30").size() == 11 * 8);
  BOOST_TEST(Rows("age = 0").size() == 9 * 8);
  BOOST_REQUIRE(database->Flush("t").ok());
  BOOST_TEST(Rows("age = 30").size() == 11 * 8);
  BOOST_TEST(Rows("age = 0").size() == 9 * 8);
  // With many cities there is no skip scan.
  for (int i = 0; i < 100; ++i) {
    Put("more" + std::to_string(100 + i), {{"city", "city " + std::to_string(i)}});
  }
  BOOST_REQUIRE(database->Compact("t").ok());
  BOOST_TEST(Explained("age = 30").index == "");
  BOOST_TEST(Rows("age = 30").size() == 11 * 8);
  VerifyOk();
}

// With one version only the newest Put counts. Where it is taken back after the number was raised,
// the one before it does not come back, though a file has it and an entry of it.
BOOST_FIXTURE_TEST_CASE(APutBeyondAFormerLimitIsAbsent, OneVersionFixture) {
  WriteBatch batch;
  for (int row = 0; row < 300; ++row) {
    batch.Put("t", "row" + std::to_string(1000 + row), "d", "city", "Bern");
    batch.Put("t", "row" + std::to_string(1000 + row), "d", "age", std::to_string(row));
  }
  BOOST_REQUIRE(database->Write({}, batch).ok());
  const auto snapshot = database->TakeSnapshot();  // Files keep all cells for it.
  batch.Clear();
  batch.Put("t", "row1150", "d", "age", "7");
  BOOST_REQUIRE(database->Write({}, batch).ok());
  BOOST_REQUIRE(database->AlterFamily("t", {.name = "d", .max_versions = 2}).ok());
  batch.Clear();
  batch.DeleteCell("t", "row1150", "d", "age");
  BOOST_REQUIRE(database->Write({}, batch).ok());
  AtEachStage(
      [&] {
        BOOST_TEST(Rows("age IS NULL") == "row1150 ");
        BOOST_TEST(Rows("city = 'Bern' AND age IS NULL") == "row1150 ");
        for (const bool descending : {false, true}) {
          uint64_t rows = 0;
          auto cursor =
              database->Query({}, "t", {}, {.order_by = "pair", .descending = descending});
          BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
          while (cursor->Next()) ++rows;
          BOOST_TEST(rows == 300u);
        }
      },
      /*reopens=*/false);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
