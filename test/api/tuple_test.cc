// Comparisons of tuples: what they mean, what is no tuple, and which index serves them.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

struct Line {
  std::optional<int> a, b;
};

struct TupleFixture {
  TupleFixture() : database(OpenSmall(directory.Path("db"))) {
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d"}};
    table.columns = {{.family = "d", .qualifier = "a", .type = ColumnType::kInt64},
                     {.family = "d", .qualifier = "b", .type = ColumnType::kInt64}};
    const auto column = [](const char* name, bool descending = false) {
      return IndexColumn{"d", name, ColumnType::kInt64, descending};
    };
    table.indexes = {{.name = "a", .columns = {column("a")}},
                     {.name = "a_falling", .columns = {column("a", true)}},
                     {.name = "a_b", .columns = {column("a"), column("b")}}};
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }

  void Put(const std::string& key, const Line& line) {
    WriteBatch batch;
    batch.Put("t", key, "d", "other", "x");
    if (line.a.has_value()) batch.Put("t", key, "d", "a", std::to_string(*line.a));
    if (line.b.has_value()) batch.Put("t", key, "d", "b", std::to_string(*line.b));
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
    lines[key] = line;
  }
  void PutAll() {
    int row = 0;
    for (const int a : {-1, 0, 1, 2, 3}) {  // -1: absent.
      for (const int b : {-1, 0, 1, 2, 3}) {
        Line line;
        if (a >= 0) line.a = a;
        if (b >= 0) line.b = b;
        Put("row" + std::to_string(100 + row++), line);
      }
    }
  }
  std::vector<std::string> Found(const Predicate& predicate, const QueryOptions& query = {}) {
    auto cursor = database->Query({}, "t", predicate, query);
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    std::vector<std::string> keys;
    for (const RowView& row : *cursor) keys.emplace_back(row.key());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return keys;
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
  std::map<std::string, Line> lines;
};

// How (a, b) compares with the values; nullopt: an absent column is reached.
std::optional<int> Compared(const Line& line, int a, int b) {
  for (const auto& [mine, other] : {std::pair(line.a, a), std::pair(line.b, b)}) {
    if (!mine.has_value()) return std::nullopt;
    if (*mine != other) return *mine < other ? -1 : 1;
  }
  return 0;
}

std::string ErrorOf(std::string_view text) {
  const auto predicate = Predicate::Parse(text);
  return predicate.has_value() ? "parsed: " + predicate->ToString()
                               : std::string(predicate.error().message());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(Tuples, TupleFixture)

BOOST_AUTO_TEST_CASE(ATupleComparesFromTheLeft) {
  PutAll();
  for (int state = 0; state < 2; ++state) {
    for (const char* symbol : {"=", "<", "<=", ">", ">="}) {
      for (int a = 0; a < 5; ++a) {
        for (int b = 0; b < 5; ++b) {
          const std::string text = "(a, b) " + std::string(symbol) + " (" + std::to_string(a) +
                                   ", " + std::to_string(b) + ")";
          const Predicate predicate = *Predicate::Parse(text);
          std::vector<std::string> expected, others;
          for (const auto& [key, line] : lines) {
            const std::optional<int> compared = Compared(line, a, b);
            const bool holds =
                compared.has_value() &&
                ((*compared == 0 && symbol[std::string(symbol).size() - 1] == '=') ||
                 (*compared < 0 && *symbol == '<') || (*compared > 0 && *symbol == '>'));
            (holds ? expected : others).push_back(key);
          }
          BOOST_TEST_CONTEXT(text) {
            BOOST_CHECK(Found(predicate) == expected);
            BOOST_CHECK(Found(predicate, {.no_index = true}) == expected);
            BOOST_CHECK(Found(predicate, {.use_index = "a"}) == expected);
            BOOST_CHECK(Found(predicate, {.use_index = "a_b"}) == expected);
            BOOST_CHECK(Found(Predicate::Not(predicate)) == others);
            BOOST_CHECK_EQUAL(*database->Count({}, "t", predicate), expected.size());
          }
        }
      }
    }
    BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
  }
}

BOOST_AUTO_TEST_CASE(BetweenHasBothEnds) {
  PutAll();
  const auto found = Found(*Predicate::Parse("(a, b) BETWEEN (1, 2) AND (2, 1)"));
  const auto same = Found(*Predicate::Parse("(a, b) >= (1, 2) AND (a, b) <= (2, 1)"));
  BOOST_CHECK(found == same);
  BOOST_CHECK_EQUAL(found.size(), 4u);
  BOOST_CHECK_EQUAL(Found(*Predicate::Parse("(a, b) NOT BETWEEN (1, 2) AND (2, 1)")).size(),
                    lines.size() - 4);
  BOOST_CHECK_EQUAL(Found(*Predicate::Parse("(a, b) BETWEEN (2, 2) AND (1, 1)")).size(), 0u);
}

BOOST_AUTO_TEST_CASE(TheRowKeyIsAColumn) {
  for (int row = 0; row < 30; ++row) Put("row" + std::to_string(100 + row), {row / 10, row});
  const Predicate rest = *Predicate::Parse("(a, _row) > (1, 'row114')");
  BOOST_CHECK_EQUAL(Found(rest).size(), 15u);
  BOOST_CHECK_EQUAL(Found(rest).front(), "row115");
  BOOST_CHECK_EQUAL(Found(*Predicate::Parse("(_row, a) <= ('row114', 0)")).size(), 14u);
  BOOST_CHECK_EQUAL(Found(*Predicate::Parse("(a, b, _row) = (1, 14, 'row114')")).size(), 1u);
}

BOOST_AUTO_TEST_CASE(WhatIsWrittenIsReadBack) {
  const auto check = [](std::string_view text, const Predicate& built) {
    BOOST_CHECK_EQUAL(Predicate::Parse(text)->ToString(), built.ToString());
    BOOST_CHECK_EQUAL(Predicate::Parse(built.ToString())->ToString(), built.ToString());
  };
  const auto tuple = [](Predicate a, Predicate b) {
    return Predicate::Tuple({std::move(a), std::move(b)});
  };
  check("(a, _row) > (5, 'k')",
        tuple(Predicate::Greater("a", "5"), Predicate::Greater("_row", "k")));
  check(
      "((lower(a)::text, \"b c\") <= ('x', ?))",
      tuple(
          Predicate::LessOrEqual("a", "x").WithFunctions({Function::Lower()}).As(ColumnType::kText),
          Predicate::LessOrEqual("b c", Parameter(1))));
  check(
      "NOT (a, b) BETWEEN (1, 2) AND (3, 4)",
      Predicate::Not(tuple(Predicate::Between("a", "1", "3"), Predicate::Between("b", "2", "4"))));
  check("(a, b) not between (?, ?) and (?, ?)",
        Predicate::Not(tuple(Predicate::Between("a", Parameter(1), Parameter(3)),
                             Predicate::Between("b", Parameter(2), Parameter(4)))));
  BOOST_CHECK_EQUAL(Predicate::Tuple({Predicate::Equal("a", "1")}).ToString(), "a = '1'");
  BOOST_CHECK_EQUAL(Predicate::Parse("(a IN (1, 2)) AND (b = 1)")->ToString(),
                    "a IN ('1', '2') AND b = '1'");
}

BOOST_AUTO_TEST_CASE(WhatIsNoTupleIsRefused) {
  BOOST_CHECK_EQUAL(ErrorOf("(a, b) = 1"), "at position 10: expected '(', found a value");
  BOOST_CHECK_EQUAL(ErrorOf("(a, b) != (1, 2)"),
                    "at position 8: expected =, <, <=, >, >= or BETWEEN (of tuples), found '!='");
  BOOST_CHECK_EQUAL(ErrorOf("(a, b) < (1)"),
                    "at position 12: expected , and 2 values in all, found ')'");
  BOOST_CHECK_EQUAL(ErrorOf("(a, b) < (1, 2, 3)"), "at position 15: expected ')', found ','");
  BOOST_CHECK_EQUAL(ErrorOf("(a, b) NOT < (1, 2)"), "at position 12: expected BETWEEN, found '<'");
  std::string many = "(a0";
  for (int i = 1; i < 17; ++i) many += ", a" + std::to_string(i);
  BOOST_CHECK(ErrorOf(many + ") = (1)").find("at most 16 columns in a tuple") != std::string::npos);
  const auto why = [&](const Predicate& predicate) {
    return database->Query({}, "t", predicate, {}).status().ToString();
  };
  BOOST_CHECK_EQUAL(why(Predicate::Tuple({})),
                    "InvalidArgument: a tuple has 0 columns, expected 1 to 16");
  BOOST_CHECK_EQUAL(
      why(Predicate::Tuple({Predicate::Less("a", "1"), Predicate::Greater("b", "1")})),
      "InvalidArgument: a tuple compares all its columns by one of =, <, <=, >, >= and "
      "BETWEEN, not by b > '1'");
  BOOST_CHECK_EQUAL(why(*Predicate::Parse("(words(other), a) > ('x', 1)")),
                    "InvalidArgument: words(other) has several values: it does not compare in a "
                    "tuple");
  BOOST_CHECK(why(*Predicate::Parse("(a, b) > ('x', 1)")).find("column 'a'") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ATuplePredicateIsARangeOfAnIndex) {
  for (int row = 0; row < 2'000; ++row) {
    Put("row" + std::to_string(10'000 + row), {row / 100, row % 7});
  }
  BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  const auto explained = [&](std::string_view text, const QueryOptions& query = {}) {
    return *database->Explain({}, "t", *Predicate::Parse(text), query);
  };
  const Explanation by_a = explained("(a, _row) >= (18, 'row11850')");
  BOOST_CHECK_EQUAL(by_a.rows, 150u);
  BOOST_CHECK_EQUAL(by_a.index, "a");
  BOOST_CHECK_LE(by_a.candidate_rows, 200u);
  BOOST_CHECK_LE(explained("(a, b) BETWEEN (4, 2) AND (4, 5)", {.use_index = "a_b"}).candidate_rows,
                 100u);
  // The next page of a query in the order of an index, without a token.
  for (const char* order : {"a", "a_falling"}) {
    const Explanation page =
        explained("(a, _row) > (7, 'row10750')", {.order_by = order, .limit = 20});
    BOOST_CHECK_EQUAL(page.rows, 20u);
    BOOST_CHECK_EQUAL(page.index, order);
    BOOST_CHECK_LE(page.candidate_rows, 32u);
    const Explanation back = explained("a < 7 OR a = 7 AND _row > 'row10750'",
                                       {.order_by = order, .descending = true, .limit = 20});
    BOOST_CHECK_LE(back.candidate_rows, 32u);
    const QueryOptions query{.order_by = order, .descending = true, .limit = 20};
    const auto found = Found(*Predicate::Parse("a < 7 OR a = 7 AND _row > 'row10750'"), query);
    BOOST_CHECK_EQUAL(found.front(), "row10751");
    BOOST_CHECK_EQUAL(
        Found(*Predicate::Parse("(a, _row) > (7, 'row10750')"), {.order_by = order}).front(),
        "row10751");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
