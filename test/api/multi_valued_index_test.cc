// Indexes over columns of several values: parts of a text, elements of a JSON array, words,
// trigrams. A row is returned once, whatever number of its values match, and exactly as by a scan.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/index_fixture.h"
#include "test/support/print.h"
#include "test/support/test_random.h"
#include "tools/generator/regexps.h"

namespace tandem::test {
namespace {

struct MultiValuedFixture : IndexFixture {
  MultiValuedFixture() : IndexFixture(Table()) {}

  static TableOptions Table() {
    return {.name = "t",
            .families = {{.name = "d", .max_versions = 3}, {.name = "e"}},
            .indexes = {IndexOf("tags", "split(tags, ',')"), IndexOf("words", "words(title) DESC"),
                        IndexOf("years", "json_each(e:doc, '$.years')::int64"),
                        IndexOf("parts", "trigrams(title)")}};
  }
  Status Put(const std::string& row, const std::string& column, const std::string& value,
             std::optional<int64_t> timestamp = {}) {
    WriteBatch batch;
    const std::string family = column == "doc" ? "e" : "d";
    batch.Put("t", row, family, column, value, timestamp);
    return database->Write({}, batch);
  }
  void PutOk(const std::string& row, const std::string& column, const std::string& value,
             std::optional<int64_t> timestamp = {}) {
    BOOST_REQUIRE_EQUAL(Put(row, column, value, timestamp).ToString(), "OK");
  }
  std::string By(const std::string& index, std::string_view text,
                 const Snapshot* snapshot = nullptr) {
    return Rows(text, {.use_index = index}, {.snapshot = snapshot});
  }
  std::string ErrorOfCreate(const std::string& name, std::string_view columns) {
    return std::string(database->CreateIndex("t", IndexOf(name, columns)).message());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(multi_valued_indexes, MultiValuedFixture)

BOOST_AUTO_TEST_CASE(AConditionHoldsForOneOfTheValues) {
  PutOk("a", "tags", "red,green,red");
  PutOk("b", "tags", "green");
  PutOk("c", "tags", ",,");
  PutOk("d", "tags", "blue,,red ");
  PutOk("e", "title", "no tags");
  AtEachStage([&] {
    BOOST_TEST(By("tags", "split(tags, ',') = 'red'") == "a ");
    BOOST_TEST(By("tags", "split(tags, ',') = 'green'") == "a b ");
    BOOST_TEST(By("tags", "split(tags, ',') != 'red'") == "a b d ");
    BOOST_TEST(Rows("NOT split(tags, ',') = 'red'") == "b c d e ");
    BOOST_TEST(Rows("NOT split(tags, ',') != 'green'") == "b c e ");
    BOOST_TEST(By("tags", "split(tags, ',') PREFIX 're'") == "a d ");
    BOOST_TEST(By("tags", "split(tags, ',') BETWEEN 'b' AND 'h'") == "a b d ");
    BOOST_TEST(By("tags", "split(tags, ',') > 'g' AND split(tags, ',') < 'green'") == "d ");
    BOOST_TEST(By("tags", "split(tags, ',') >= 'red' AND split(tags, ',') < 'h'") == "a d ");
    BOOST_TEST(By("tags", "split(tags, ',') = 'red' AND split(tags, ',') = 'green'") == "a ");
    BOOST_TEST(By("tags", "split(tags, ',') = 'red' OR split(tags, ',') = 'green'") == "a b ");
    BOOST_TEST(By("tags", "split(tags, ',') IN ('blue', 'red ', 'green', 'red')") == "a b d ");
    BOOST_TEST(By("tags", "split(tags, ',') IS NOT NULL") == "a b d ");
    BOOST_TEST(By("tags", "split(tags, ',') IS NULL") == "c e ");
    BOOST_TEST(Rows("NOT split(tags, ',') = 'red' AND NOT split(tags, ',') = 'blue'") == "b c e ");
    BOOST_TEST(Rows("NOT split(tags, ',') = 'red' OR NOT split(tags, ',') = 'green'") ==
               "b c d e ");
  });
}

BOOST_AUTO_TEST_CASE(ElementsOfAnArrayHaveATypeOfTheirOwn) {
  PutOk("a", "doc", R"({"years":[1999,2004,"2010"]})");
  PutOk("b", "doc", R"({"years":2004})");
  PutOk("c", "doc", R"({"years":[[2004],{"x":2004},null,"late",7.5]})");
  PutOk("d", "doc", R"({"years":[1990)");
  PutOk("e", "doc", R"({"years":[]})");
  AtEachStage([&] {
    const std::string years = "json_each(e:doc, '$.years')::int64 ";
    BOOST_TEST(By("years", years + "= 2004") == "a b ");
    BOOST_TEST(By("years", years + "< 2004") == "a ");
    BOOST_TEST(By("years", years + ">= 2010") == "a ");
    BOOST_TEST(By("years", years + "IS NULL") == "c d e ");
    BOOST_TEST(Rows("json_each(e:doc, '$.years') = 'late'") == "c ");
    BOOST_TEST(Rows("json_each(e:doc, '$.years')::double = 7.5") == "c ");
    BOOST_TEST(Rows("length(json_each(e:doc, '$.years')) = 3") == "c ");
  });
}

BOOST_AUTO_TEST_CASE(WordsAreFoundInAnyOrderAndCase) {
  PutOk("a", "title", "The Storage Engine, second edition");
  PutOk("b", "title", "engine of STORAGE");
  PutOk("c", "title", "Engines");
  PutOk("d", "title",
        "Stra\xc3\x9f"
        "e nach M\xc3\xbcnchen");
  PutOk("e", "title", "\xe6\x9d\xb1\xe4\xba\xac engine");
  AtEachStage([&] {
    BOOST_TEST(By("words", "words(title) CONTAINS 'storage engine'") == "a b ");
    BOOST_TEST(By("words", "words(title) CONTAINS 'ENGINE'") == "a b e ");
    BOOST_TEST(By("words", "words(title) = 'ENGINE'") == "");
    BOOST_TEST(By("words", "words(title) PREFIX 'engin'") == "a b c e ");
    BOOST_TEST(By("words", "words(title) CONTAINS 'strasse'") == "d ");
    BOOST_TEST(By("words", "words(title) CONTAINS 'M\xc3\x9cNCHEN, strasse'") == "d ");
    BOOST_TEST(By("words", "words(title) CONTAINS '\xe4\xba\xac'") == "e ");
    BOOST_TEST(Rows("NOT words(title) CONTAINS 'storage engine'") == "c d e ");
    // No word, and what no row can have, is in no row.
    for (const std::string& none : {std::string(" ,. "), std::string(300, 'a') + " engine"}) {
      BOOST_TEST(Rows("words(title) CONTAINS '" + none + "'") == "");
      BOOST_TEST(Rows("NOT words(title) CONTAINS '" + none + "'") == "a b c d e ");
    }
    BOOST_TEST(Rows("words(title) CONTAINS x'656e67696e6520ff'") == "");
    BOOST_TEST(
        By("words", "words(title) CONTAINS 'engine' AND NOT words(title) CONTAINS 'storage'") ==
        "e ");
  });
  const Explanation explained = Explained("words(title) CONTAINS 'the storage engine'");
  BOOST_TEST(explained.rows == 1);
}

BOOST_AUTO_TEST_CASE(TrigramsFindPartsOfATextAsItIsWritten) {
  for (int i = 0; i < 300; ++i) {
    PutOk("row" + std::to_string(1000 + i), "title",
          i % 100 == 7 ? "A Needle in hay" : "only hay " + std::to_string(i));
  }
  AtEachStage([&] {
    BOOST_TEST(By("parts", "title CONTAINS 'Needle'") == "row1007 row1107 row1207 ");
    BOOST_TEST(By("parts", "title LIKE '%Needle%'") == "row1007 row1107 row1207 ");
    BOOST_TEST(By("parts", "title CONTAINS 'needle'") == "");
    BOOST_TEST(By("parts", "title CONTAINS 'hay 299'") == "row1299 ");
    BOOST_TEST(Rows("title CONTAINS 'A '") == "row1007 row1107 row1207 ");
    BOOST_TEST(By("parts", "title CONTAINS 'hay 29' AND NOT title CONTAINS '9'") == "");
    BOOST_TEST(By("parts", "title CONTAINS 'hay 2' AND title CONTAINS '99'") == "row1299 ");
    BOOST_TEST(By("parts", "title CONTAINS 'Needle' OR title CONTAINS ' 299'") ==
               "row1007 row1107 row1207 row1299 ");
  });
  const Explanation explained = Explained("title CONTAINS 'Needle'");
  BOOST_TEST(explained.index == "parts");
  BOOST_TEST(explained.candidate_rows == 3);
}

BOOST_AUTO_TEST_CASE(TrigramsFindCandidatesOfPatterns) {
  for (int i = 0; i < 300; ++i) {
    PutOk("row" + std::to_string(1000 + i), "title",
          i % 100 == 7 ? "A Needle in hay " + std::to_string(i) : "only hay " + std::to_string(i));
  }
  PutOk("bytes", "title", "Needle\xff hay");
  AtEachStage([&] {
    BOOST_TEST(By("parts", "title REGEXP 'Ne+dle in'") == "row1007 row1107 row1207 ");
    BOOST_TEST(By("parts", "title REGEXP '(?i)(needle|thread) .*7$'") ==
               "row1007 row1107 row1207 ");
    BOOST_TEST(By("parts", "title REGEXP '^(A Needle|only) .* 1?[01]7$'") ==
               "row1017 row1107 row1117 ");
    BOOST_TEST(By("parts", "title REGEXP 'needle'") == "");
    BOOST_TEST(By("parts", "title REGEXP 'Needle.+hay$'") == "bytes ");
    BOOST_TEST(By("parts", "title::text REGEXP 'Needle.+hay$'") == "");
    BOOST_TEST(By("parts", "title REGEXP 'Needle' AND title REGEXP '1' AND NOT title REGEXP '2'") ==
               "row1107 ");
    BOOST_TEST(By("parts", "title REGEXP 'Needle' OR title REGEXP 'hay 29[89]'") ==
               "bytes row1007 row1107 row1207 row1298 row1299 ");
    BOOST_TEST(Rows("title REGEXP '^.....$' OR title REGEXP '[^ -~]'") == "bytes ");
    BOOST_TEST(Rows("title NOT REGEXP 'hay [0-9]+$'") == "bytes ");
    BOOST_TEST(Rows("words(title) REGEXP '^n.*e$' AND NOT words(title) REGEXP '^1'") ==
               "row1007 row1207 ");
  });
  const Explanation explained = Explained("title REGEXP '(Needle|Thread) in' AND title != ''");
  BOOST_TEST(explained.index == "parts");
  BOOST_TEST(explained.candidate_rows == 3);
  BOOST_TEST(explained.reason == "fewest entries; looks for 'thread in' or 'needle in'");
  BOOST_TEST(explained.rows == 3);
}

// Of patterns by chance, those that have a literal.
BOOST_AUTO_TEST_CASE(AnyPatternFindsByTrigramsWhatAScanFinds) {
  TestRandom random("AnyPatternFindsByTrigramsWhatAScanFinds");
  Dice dice(random.Next());
  static const std::vector<std::string> kPieces = {
      "game", "Games", "gAME\xc5\xbf", "abc", "x", "y/z", "\xce\xa3\xce\xb1\xcf\x82", "\xff", " "};
  const auto text = [&] {
    std::string pieces;
    for (uint64_t n = 1 + random.Below(4); n > 0; --n) {
      pieces += kPieces[random.Below(kPieces.size())];
    }
    return pieces;
  };
  for (int i = 0; i < 200; ++i) PutOk("row" + std::to_string(i), "title", text());
  BOOST_REQUIRE(database->Flush("t").ok());
  size_t served = 0;
  for (size_t trial = 0; trial < Trials(400); ++trial) {
    const Predicate bytes = Predicate::Regexp("title", RandomRegexp(&dice, text()));
    for (const Predicate& predicate : {bytes, bytes.As(ColumnType::kText)}) {
      const auto explained = database->Explain({}, "t", predicate, {.use_index = "parts"});
      if (!explained.has_value()) continue;
      ++served;
      By("parts", predicate.ToString());
    }
  }
  BOOST_TEST(served > Trials(400) / 20);
}

BOOST_AUTO_TEST_CASE(PatternsAreBoundToParameters) {
  PutOk("a", "title", "an error");
  PutOk("b", "title", "no failure");
  const auto either = Predicate::Parse("title REGEXP ? OR tags REGEXP 'x'");
  BOOST_REQUIRE(either.has_value());
  auto query = database->Prepare("t", *either);
  BOOST_REQUIRE(query.has_value());
  BOOST_TEST(query->Bind(1, "a(b").ToString() ==
             "InvalidArgument: parameter ?1: REGEXP takes a pattern in RE2's syntax, not 'a(b': "
             "missing ): a(b");
  for (const char* pattern : {"err|fail", "^an e"}) {
    BOOST_REQUIRE(query->Bind(1, pattern).ok());
    const auto count = database->Count({}, &*query);
    BOOST_REQUIRE(count.has_value());
    BOOST_TEST(*count == (std::string_view(pattern) == "^an e" ? 1u : 2u));
  }
}

BOOST_AUTO_TEST_CASE(APredicateHasFewPatterns) {
  std::vector<Predicate> some(16, Predicate::Regexp("title", "a"));
  BOOST_TEST(database->Count({}, "t", Predicate::And(some)).status().ToString() == "OK");
  some.push_back(Predicate::Regexp("title", "a"));
  BOOST_TEST(database->Count({}, "t", Predicate::And(some)).status().ToString() ==
             "InvalidArgument: a predicate has more than 16 conditions with REGEXP: join patterns "
             "with |");
}

BOOST_AUTO_TEST_CASE(TheyFollowUpdatesDeletesAndSnapshots) {
  PutOk("a", "tags", "x,y", 10);
  PutOk("b", "tags", "y", 10);
  BOOST_REQUIRE(database->Flush("t").ok());
  const auto before = database->TakeSnapshot();
  BOOST_REQUIRE(before.has_value());
  PutOk("a", "tags", "y,z", 20);
  PutOk("b", "tags", "x", 5);  // Older than what is there.
  WriteBatch batch;
  batch.Put("t", "c", "d", "tags", "z,x", 20);
  BOOST_REQUIRE(database->Write({}, batch).ok());
  AtEachStage(
      [&] {
        BOOST_TEST(By("tags", "split(tags, ',') = 'x'") == "c ");
        BOOST_TEST(By("tags", "split(tags, ',') = 'y'") == "a b ");
        BOOST_TEST(By("tags", "split(tags, ',') = 'z'") == "a c ");
        BOOST_TEST(By("tags", "split(tags, ',') IN ('x', 'y', 'z')") == "a b c ");
        BOOST_TEST(By("tags", "split(tags, ',') = 'x'", &*before) == "a ");
        BOOST_TEST(By("tags", "split(tags, ',') = 'z'", &*before) == "");
      },
      /*reopens=*/false);
  WriteBatch deletes;
  deletes.DeleteColumn("t", "a", "d", "tags");
  deletes.DeleteCell("t", "c", "d", "tags", 20);
  BOOST_REQUIRE(database->Write({}, deletes).ok());
  BOOST_TEST(By("tags", "split(tags, ',') = 'y'") == "b ");
  BOOST_TEST(By("tags", "split(tags, ',') = 'z'") == "");
  BOOST_TEST(By("tags", "split(tags, ',') = 'y'", &*before) == "a b ");
}

BOOST_AUTO_TEST_CASE(CountsAreOfRows) {
  for (int i = 0; i < 500; ++i) {
    PutOk("row" + std::to_string(1000 + i), "tags",
          std::to_string(i % 7) + "," + std::to_string(i % 5) + "," + std::to_string(i % 3));
  }
  AtEachStage([&] {
    BOOST_TEST(Rows("split(tags, ',') <= '2'").size() > 0);
    BOOST_TEST(Rows("split(tags, ',') IN ('1', '2', '6')").size() > 0);
    BOOST_TEST(By("tags", "split(tags, ',') > '0'").size() > 0);
    const auto all = database->Count({}, "t", *Predicate::Parse("split(tags, ',') IS NOT NULL"),
                                     {.use_index = "tags"});
    BOOST_TEST(*all == 500);
  });
}

BOOST_AUTO_TEST_CASE(AnIndexMadeLaterAndOneMergedKnowTheSame) {
  for (int i = 0; i < 100; ++i) PutOk("row" + std::to_string(100 + i), "tags", "a b,b c");
  BOOST_REQUIRE(database->Flush("t").ok());
  BOOST_REQUIRE_EQUAL(database->CreateIndex("t", IndexOf("late", "upper(words(tags))")).ToString(),
                      "OK");
  PutOk("row100", "tags", "d");
  AtEachStage([&] {
    BOOST_TEST(Rows("upper(words(tags)) = 'B'").size() == 99 * 7);
    BOOST_TEST(Rows("upper(words(tags)) = 'D'") == "row100 ");
  });
}

BOOST_AUTO_TEST_CASE(WhatCannotBeIsRefused) {
  BOOST_TEST(ErrorOfCreate("two", "words(title), d:tags") ==
             "index 'two': words(title) has several values in a row: it can only be the single "
             "column of an index");
  PutOk("a", "tags", "x");
  const auto ordered = database->Query({}, "t", {}, {.order_by = "tags"});
  BOOST_REQUIRE(!ordered.has_value());
  BOOST_TEST(std::string(ordered.error().message()) ==
             "index 'tags' has several entries of a row: rows have no order by it");
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"_row CONTAINS 'x'", "the row key has no CONTAINS, which would read every row"},
           {"length(title) CONTAINS '1'",
            "length(title) is neither bytes nor text: it has no CONTAINS"}}) {
    const auto query = database->Query({}, "t", *Predicate::Parse(text));
    BOOST_REQUIRE(!query.has_value());
    BOOST_TEST(std::string(query.error().message()) == expected);
  }
  const auto unable = database->Query({}, "t", *Predicate::Parse("NOT split(tags, ',') = 'x'"),
                                      {.use_index = "tags"});
  BOOST_REQUIRE(!unable.has_value());
  BOOST_TEST(std::string(unable.error().message()) ==
             "index 'tags' cannot serve the predicate: its entries do not tell of rows of which no "
             "value satisfies a condition");
  const std::string too_long(3'000, 'x');
  BOOST_TEST(!Put("a", "tags", "ok," + too_long).ok());
  BOOST_TEST(Put("a", "title", "words leave out what is long: " + too_long).ok());
  BOOST_TEST(Rows("words(title) CONTAINS 'leave out'") == "a ");
}

BOOST_AUTO_TEST_CASE(PreparedQueriesTakeWordsAndParts) {
  PutOk("a", "title", "the storage engine");
  PutOk("b", "title", "the engine");
  auto prepared = database->Prepare("t", *Predicate::Parse("words(title) CONTAINS ?"));
  BOOST_REQUIRE_MESSAGE(prepared.has_value(), prepared.status().ToString());
  for (const auto& [text, rows] : std::vector<std::pair<std::string, std::string>>{
           {"Engine", "a b "}, {"engine storage", "a "}, {"x", ""}}) {
    BOOST_REQUIRE(prepared->Bind(1, text).ok());
    auto cursor = database->Query({}, &*prepared);
    BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
    std::string found;
    while (cursor->Next()) found += std::string(cursor->row().key()) + " ";
    BOOST_TEST(found == rows);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
