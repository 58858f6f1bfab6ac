// The predicate's text: what it means, that it comes back, and where its errors are.
#define BOOST_TEST_DYN_LINK
#include "tandem/predicate.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tandem/limits.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using Kind = Predicate::Kind;

bool Same(const Predicate& a, const Predicate& b) {
  if (a.kind() != b.kind() || a.is_row_key() != b.is_row_key() || a.family() != b.family() ||
      a.qualifier() != b.qualifier() || a.values() != b.values() ||
      a.parameters() != b.parameters() || a.children().size() != b.children().size()) {
    return false;
  }
  for (size_t i = 0; i < a.children().size(); ++i) {
    if (!Same(a.children()[i], b.children()[i])) return false;
  }
  return true;
}

Predicate Parsed(std::string_view text) {
  const auto predicate = Predicate::Parse(text);
  BOOST_REQUIRE_MESSAGE(predicate.has_value(), text << ": " << predicate.status().ToString());
  return *predicate;
}

void CheckParses(std::string_view text, const Predicate& expected) {
  const Predicate parsed = Parsed(text);
  BOOST_CHECK_MESSAGE(Same(parsed, expected), text << " is read as " << parsed.ToString());
}

std::string ErrorOf(std::string_view text) {
  const auto predicate = Predicate::Parse(text);
  if (predicate.has_value()) return "parsed: " + predicate->ToString();
  BOOST_CHECK_EQUAL(predicate.error().code(), StatusCode::kInvalidArgument);
  return std::string(predicate.error().message());
}

Predicate A(std::string value) { return Predicate::Equal("a", std::move(value)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(predicate)

BOOST_AUTO_TEST_CASE(FieldsOfTheRowKeyAreNamedAfterIt) {
  const Predicate field = Parsed("_row.user = 'ann'");
  BOOST_TEST(field.is_row_key());
  BOOST_TEST(field.family() == "");
  BOOST_TEST(field.qualifier() == "user");
  CheckParses("_row.user = 'ann'", Predicate::Equal("_row.user", "ann"));
  CheckParses("_row.in IN ('a', ?)", Parsed("_row.in IN ('a', ?1)"));
  CheckParses(
      "(_row.a, _row.b, _row) > (1, 2, 'k')",
      Predicate::Tuple({Predicate::Greater("_row.a", "1"), Predicate::Greater("_row.b", "2"),
                        Predicate::Greater("_row", "k")}));
  BOOST_TEST(Predicate::In("_row.user", {"a", "b"}).ToString() == "_row.user IN ('a', 'b')");
  // Columns of such names are in quotes, or have a family.
  const Predicate quoted = Parsed("\"_row.user\" = 'ann'");
  BOOST_TEST(!quoted.is_row_key());
  BOOST_TEST(quoted.qualifier() == "_row.user");
  BOOST_TEST(quoted.ToString() == "\"_row.user\" = 'ann'");
  CheckParses("d:_row.user = 'ann'", Predicate::Equal("d:_row.user", "ann"));
  for (const char* name : {"_row.", "_row.a b", "_rows.a", "_row.\xc3\xa4"}) {
    const Predicate column = Predicate::Equal(name, "1");
    BOOST_TEST(!column.is_row_key());
    CheckParses(column.ToString(), column);
  }
}

BOOST_AUTO_TEST_CASE(FieldsOfTheRowKeyTakeNoFunctionsAndTypes) {
  BOOST_TEST(ErrorOf("lower(_row.user) = 'ann'") ==
             "at position 7: expected a column or _row: functions take no field of the row key, "
             "found '_row.user'");
  BOOST_TEST(ErrorOf("_row.n::int64 = 1") == "at position 7: expected an operator, found '::'");
  BOOST_TEST(Predicate::Equal("_row.user", "ann").WithFunctions({Function::Lower()}).values()[0] ==
             "functions do not take a field of the row key, as in _row.user = 'ann'");
  BOOST_TEST(Predicate::Equal("_row.n", "1").As(ColumnType::kInt64).values()[0] ==
             "only a comparison of a column is cast, not _row.n = '1'");
  const auto index = IndexColumn::Parse("_row.user");
  BOOST_REQUIRE(!index.has_value());
  BOOST_TEST(index.error().message() ==
             "at position 1: expected a column: fields of the row key are for conditions alone, "
             "found '_row.user'");
}

BOOST_AUTO_TEST_CASE(EveryOperatorIsRead) {
  const auto compare = [](Kind kind, std::vector<std::string> values) {
    return Predicate::Compare(kind, "a", std::move(values));
  };
  CheckParses("a = 'x'", compare(Kind::kEqual, {"x"}));
  CheckParses("a != 1", compare(Kind::kNotEqual, {"1"}));
  CheckParses("a<>1", compare(Kind::kNotEqual, {"1"}));
  CheckParses("a < -1.5e3", compare(Kind::kLess, {"-1.5e3"}));
  CheckParses("a<=1", compare(Kind::kLessOrEqual, {"1"}));
  CheckParses("a > +7", compare(Kind::kGreater, {"+7"}));
  CheckParses("a >= .5", compare(Kind::kGreaterOrEqual, {".5"}));
  CheckParses("a between 1 and 2", compare(Kind::kBetween, {"1", "2"}));
  CheckParses("a IN (1,'b' , x'6300')", compare(Kind::kIn, {"1", "b", std::string("c\0", 2)}));
  CheckParses("a IN ()", compare(Kind::kIn, {}));
  CheckParses("a PREFIX 'p_%'", compare(Kind::kPrefix, {"p_%"}));
  CheckParses("a LIKE 'p%'", compare(Kind::kPrefix, {"p"}));
  CheckParses("a LIKE '%'", compare(Kind::kPrefix, {""}));
  CheckParses("a CONTAINS 'p_%'", compare(Kind::kContains, {"p_%"}));
  CheckParses("a LIKE '%p%'", compare(Kind::kContains, {"p"}));
  CheckParses("a LIKE '%%'", compare(Kind::kContains, {""}));
  CheckParses("a REGEXP '^p(a|b)'", compare(Kind::kRegexp, {"^p(a|b)"}));
  CheckParses("regexp regexp x'ff'", Predicate::Regexp("regexp", "\xff"));
  CheckParses("a IS NULL", compare(Kind::kIsNull, {}));
  CheckParses("a is not null", compare(Kind::kIsNotNull, {}));
  CheckParses("a = TRUE", compare(Kind::kEqual, {"true"}));
  CheckParses("a = False", compare(Kind::kEqual, {"false"}));
  CheckParses("a = 'it''s'", compare(Kind::kEqual, {"it's"}));
  CheckParses("a = ''", compare(Kind::kEqual, {""}));
  CheckParses("TRUE", Predicate());
}

BOOST_AUTO_TEST_CASE(EveryOperatorHasABuilder) {
  CheckParses("a = 1", Predicate::Equal("a", "1"));
  CheckParses("a != 1", Predicate::NotEqual("a", "1"));
  CheckParses("a < 1", Predicate::Less("a", "1"));
  CheckParses("a <= 1", Predicate::LessOrEqual("a", "1"));
  CheckParses("a > 1", Predicate::Greater("a", "1"));
  CheckParses("a >= 1", Predicate::GreaterOrEqual("a", "1"));
  CheckParses("a BETWEEN 1 AND 2", Predicate::Between("a", "1", "2"));
  CheckParses("a IN (1, 2)", Predicate::In("a", {"1", "2"}));
  CheckParses("a PREFIX 'p'", Predicate::Prefix("a", "p"));
  CheckParses("a CONTAINS 'p'", Predicate::Contains("a", "p"));
  CheckParses("a REGEXP 'p'", Predicate::Regexp("a", "p"));
  CheckParses("a IS NULL", Predicate::IsNull("a"));
  CheckParses("a IS NOT NULL", Predicate::IsNotNull("a"));
}

BOOST_AUTO_TEST_CASE(ParametersHaveNumbers) {
  CheckParses("a = ?", Predicate::Equal("a", Parameter(1)));
  CheckParses("a != ?3", Predicate::NotEqual("a", Parameter(3)));
  CheckParses("a < ?1", Predicate::Less("a", Parameter(1)));
  CheckParses("a<=?1", Predicate::LessOrEqual("a", Parameter(1)));
  CheckParses("a > ?1", Predicate::Greater("a", Parameter(1)));
  CheckParses("a >= ?1", Predicate::GreaterOrEqual("a", Parameter(1)));
  CheckParses("_row PREFIX ?", Predicate::Prefix("_row", Parameter(1)));
  CheckParses("a CONTAINS ?", Predicate::Contains("a", Parameter(1)));
  CheckParses("a REGEXP ?", Predicate::Regexp("a", Parameter(1)));
  CheckParses("a BETWEEN ? AND ?", Predicate::Between("a", Parameter(1), Parameter(2)));
  // The next one is the largest so far and one.
  BOOST_CHECK_EQUAL(Parsed("a = ?5 AND b IN (1, ?, ?2, ?) OR NOT c = ?").ToString(),
                    "(a = ?5 AND b IN ('1', ?6, ?2, ?7)) OR NOT c = ?8");
  BOOST_CHECK_EQUAL(Parsed("a = ?5 AND b IN (1, ?, ?2, ?) OR NOT c = ?").parameter_count(), 8u);
  BOOST_CHECK_EQUAL(Parsed("a BETWEEN ? AND 7").ToString(), "a BETWEEN ?1 AND '7'");
  BOOST_CHECK_EQUAL(Parsed("a = '?'").parameter_count(), 0u);
  BOOST_CHECK_EQUAL(Parsed("a = ?32766").parameter_count(), kParametersMax);
  const std::string numbers = "expected a parameter from ?1 to ?32766, found the parameter ";
  BOOST_CHECK_EQUAL(ErrorOf("a = ?0"), "at position 5: " + numbers + "?0");
  BOOST_CHECK_EQUAL(ErrorOf("a = ?32767"), "at position 5: " + numbers + "?32767");
  BOOST_CHECK_EQUAL(ErrorOf("a = ?99999999999"), "at position 5: " + numbers + "?99999999999");
  BOOST_CHECK_EQUAL(ErrorOf("a = ?32766 OR b = ?"), "at position 19: " + numbers + "?");
  BOOST_CHECK_EQUAL(
      ErrorOf("a LIKE ?"),
      "at position 8: expected a pattern in quotes (PREFIX and CONTAINS take a parameter), found "
      "the parameter ?");
  for (const uint32_t number : {uint32_t{0}, kParametersMax + 1}) {
    BOOST_CHECK(Predicate::Equal("a", Parameter(number)).kind() == Kind::kInvalid);
  }
  const Parameter two[] = {Parameter(1), Parameter(2)};
  BOOST_CHECK(Predicate::CompareWith(Kind::kEqual, "a", two).kind() == Kind::kInvalid);
  BOOST_CHECK_EQUAL(Predicate::CompareWith(Kind::kIn, "a", two).ToString(), "a IN (?1, ?2)");
}

BOOST_AUTO_TEST_CASE(NotBeforeAnOperatorNegatesIt) {
  CheckParses("a NOT IN (1)", Predicate::Not(Predicate::In("a", {"1"})));
  CheckParses("a NOT BETWEEN 1 AND 2", Predicate::Not(Predicate::Between("a", "1", "2")));
  CheckParses("a NOT REGEXP 'x'", Predicate::Not(Predicate::Regexp("a", "x")));
  CheckParses("a NOT LIKE 'x%'", Predicate::Not(Predicate::Prefix("a", "x")));
  CheckParses("NOT a IS NULL", Predicate::Not(Predicate::IsNull("a")));
}

BOOST_AUTO_TEST_CASE(OrBindsLooserThanAndLooserThanNot) {
  CheckParses("a = 1 OR a = 2 AND NOT a = 3 AND a = 4",
              Predicate::Or({A("1"), Predicate::And({A("2"), Predicate::Not(A("3")), A("4")})}));
  CheckParses("(a = 1 OR a = 2) AND a = 3",
              Predicate::And({Predicate::Or({A("1"), A("2")}), A("3")}));
  CheckParses("NOT (a = 1 AND a = 2) OR a = 3",
              Predicate::Or({Predicate::Not(Predicate::And({A("1"), A("2")})), A("3")}));
  CheckParses("a BETWEEN 1 AND 2 AND a = 3",
              Predicate::And({Predicate::Between("a", "1", "2"), A("3")}));
  CheckParses("NOT NOT a = 1", Predicate::Not(Predicate::Not(A("1"))));
}

BOOST_AUTO_TEST_CASE(ColumnsHaveFamiliesAndQuotes) {
  const Predicate plain = Parsed("Installed-Size = 1");
  BOOST_CHECK_EQUAL(plain.qualifier(), "Installed-Size");
  BOOST_CHECK_EQUAL(plain.family(), "");
  const Predicate both = Parsed("meta:size = 1");
  BOOST_CHECK_EQUAL(both.family(), "meta");
  BOOST_CHECK_EQUAL(both.qualifier(), "size");
  const Predicate quoted = Parsed("\"a b\"\"c\" = 1");
  BOOST_CHECK_EQUAL(quoted.qualifier(), "a b\"c");
  const Predicate colon = Parsed("\"x:y\" = 1");
  BOOST_CHECK_EQUAL(colon.family(), "");
  BOOST_CHECK_EQUAL(colon.qualifier(), "x:y");
  const Predicate quoted_both = Parsed("\"my f\":\"my q\" = 1");
  BOOST_CHECK_EQUAL(quoted_both.family(), "my f");
  BOOST_CHECK_EQUAL(quoted_both.qualifier(), "my q");
  BOOST_CHECK(Parsed("_row = 'k'").is_row_key());
  BOOST_CHECK(!Parsed("\"_row\" = 'k'").is_row_key());
  BOOST_CHECK(!Parsed("f:_row = 'k'").is_row_key());
  BOOST_CHECK_EQUAL(Parsed("\"and\" = 1").qualifier(), "and");
  BOOST_CHECK_EQUAL(Parsed("x = 1").qualifier(), "x");
  BOOST_CHECK_EQUAL(Parsed("\"\" = 1").qualifier(), "");
}

BOOST_AUTO_TEST_CASE(ColumnsHaveFunctions) {
  const auto with = [](Functions functions) { return A("1").WithFunctions(std::move(functions)); };
  CheckParses("lower(a) = 1", with({Function::Lower()}));
  CheckParses("UPPER ( a ) = 1", with({Function::Upper()}));
  CheckParses("reverse(substr(a, 2, 3)) = 1",
              with({Function::Substring(2, 3), Function::Reverse()}));
  CheckParses("substr(a, 7) = 1", with({Function::Substring(7)}));
  CheckParses("length(a) = 1", with({Function::Length()}));
  CheckParses("hash(a) = 1", with({Function::Hash()}));
  CheckParses("bucket(a, 16) = 1", with({Function::Bucket(16)}));
  CheckParses("date_trunc('day', timestamp_of(a)) = 1",
              with({Function::TimestampOf(), Function::DateTrunc("day")}));
  CheckParses("lower(json(a, '$.x[0].\"it''s\"')) = 1",
              with({Function::Json("$.x[0].\"it's\""), Function::Lower()}));
  CheckParses("length(a)::text = 1", with({Function::Length()}).As(ColumnType::kText));
  CheckParses("lower(f:\"a b\") IS NULL",
              Predicate::IsNull("f:a b").WithFunctions({Function::Lower()}));
  CheckParses("lower(\"_row\") IS NULL",
              Parsed("\"_row\" IS NULL").WithFunctions({Function::Lower()}));
  CheckParses("split(a, ''',') = 1", with({Function::Split("',")}));
  CheckParses("upper(json_each(a, '$.x')) = 1",
              with({Function::JsonEach("$.x"), Function::Upper()}));
  CheckParses(
      "words(lower(a)) CONTAINS 'x y'",
      Predicate::Contains("a", "x y").WithFunctions({Function::Lower(), Function::Words()}));
  CheckParses("trigrams(a) IS NULL", Predicate::IsNull("a").WithFunctions({Function::Trigrams()}));
  CheckParses("substr_bytes(a, 2, 3) = 1", with({Function::SubstringBytes(2, 3)}));
  CheckParses("substr_bytes(a, 2)::uint64_be = 1",
              with({Function::SubstringBytes(2)}).As(ColumnType::kUint64Be));
  CheckParses("lower(split_part(a, '/', 2)) = 1",
              with({Function::SplitPart("/", 2), Function::Lower()}));
  const auto of_key = [](Functions functions) {
    return Predicate::Equal("_row", "1").WithFunctions(std::move(functions));
  };
  CheckParses("split_part(_row, '''', 1) = 1", of_key({Function::SplitPart("'", 1)}));
  CheckParses("length(upper(_row))::text = 1",
              of_key({Function::Upper(), Function::Length()}).As(ColumnType::kText));
  BOOST_CHECK(Parsed("lower(_row) = 1").is_row_key());
  BOOST_CHECK(!Parsed("lower(\"_row\") = 1").is_row_key());
  const auto value = ConcatPart::Value();
  const auto column = [](const char* name) { return ConcatPart::Column("", name); };
  CheckParses("concat(a, '-', x'41') = 1",
              with({Function::Concat({value, ConcatPart::Text("-"), ConcatPart::Text("A")})}));
  CheckParses("lower(concat(a, \"b c\", d:e)) = 1",
              with({Function::Concat({value, column("b c"), ConcatPart::Column("d", "e")}),
                    Function::Lower()}));
  CheckParses("concat(b, lower(a), a) = 1",
              with({Function::Lower(), Function::Concat({column("b"), value, column("a")})}));
  CheckParses("concat(a, a) = 1", with({Function::Concat({value, value})}));
  CheckParses("concat('k', _row, _row) = 1",
              of_key({Function::Concat({ConcatPart::Text("k"), value, value})}));
  CheckParses("concat(a, \"_row\") = 1", with({Function::Concat({value, column("_row")})}));
  // A name like a function's is a column's where nothing is applied.
  CheckParses("lower = 1", Predicate::Equal("lower", "1"));
  CheckParses("lower(lower) = 1",
              Predicate::Equal("lower", "1").WithFunctions({Function::Lower()}));
}

BOOST_AUTO_TEST_CASE(ErrorsOfFunctionsNameTheirPosition) {
  BOOST_CHECK_EQUAL(
      ErrorOf("lowr(a) = 1"),
      "at position 1: expected a function: lower, upper, reverse, substr, length, "
      "hash, bucket, date_trunc, json, timestamp_of, split, json_each, words, trigrams, "
      "substr_bytes, split_part, concat, call, map_keys, map_values, found 'lowr'");
  BOOST_CHECK_EQUAL(ErrorOf("lower() = 1"), "at position 7: expected a column, found ')'");
  BOOST_CHECK_EQUAL(ErrorOf("lower(a = 1"), "at position 9: expected ')', found '='");
  BOOST_CHECK_EQUAL(ErrorOf("lower(a, 1) = 1"), "at position 8: expected ')', found ','");
  BOOST_CHECK_EQUAL(ErrorOf("substr(a) = 1"), "at position 9: expected ',', found ')'");
  BOOST_CHECK_EQUAL(ErrorOf("substr(a, 0) = 1"),
                    "at position 11: expected a number from 1, found a value");
  BOOST_CHECK_EQUAL(ErrorOf("bucket(a, -4) = 1"),
                    "at position 11: expected a number from 1, found a value");
  BOOST_CHECK_EQUAL(ErrorOf("bucket(a, b) = 1"),
                    "at position 11: expected a number from 1, found 'b'");
  BOOST_CHECK_EQUAL(ErrorOf("json(a, b) = 1"),
                    "at position 9: expected a path in quotes, found 'b'");
  BOOST_CHECK_EQUAL(ErrorOf("length(json(a, 'b')) = 1"),
                    "at position 8: json: 'b' is no path: expected $ and then .name, .\"any name\" "
                    "or [0]");
  BOOST_CHECK_EQUAL(ErrorOf("date_trunc(a, 'day') = 1"),
                    "at position 12: expected a unit in quotes, found 'a'");
  BOOST_CHECK_EQUAL(ErrorOf("timestamp_of(_row) = 1"),
                    "at position 1: expected a function of the row key, which has no timestamp, "
                    "found 'timestamp_of'");
  BOOST_CHECK_EQUAL(ErrorOf("_row::text = 1"), "at position 5: expected an operator, found '::'");
  BOOST_CHECK_EQUAL(ErrorOf("split_part(a, '/') = 1"), "at position 18: expected ',', found ')'");
  BOOST_CHECK_EQUAL(ErrorOf("split_part(a, b, 1) = 1"),
                    "at position 15: expected a separator in quotes, found 'b'");
  BOOST_CHECK_EQUAL(
      ErrorOf("timestamp_of(lower(a)) = 1"),
      "at position 1: timestamp_of: expected a column, found what a function returns");
  BOOST_CHECK_EQUAL(ErrorOf("split(a) = 1"), "at position 8: expected ',', found ')'");
  BOOST_CHECK_EQUAL(ErrorOf("split(a, '') = 1"), "at position 1: split: its separator is empty");
  BOOST_CHECK_EQUAL(ErrorOf("words(split(a, ',')) = 1"),
                    "at position 1: words: expected one value, found the several of split");
  BOOST_CHECK_EQUAL(ErrorOf("lower(a)::decimal = 1"),
                    "at position 11: expected a type (bytes, text, int64, ...), found 'decimal'");
  BOOST_CHECK_EQUAL(ErrorOf("concat(a) = 1"),
                    "at position 1: concat: it joins 1 parts, expected 2 to 16");
  BOOST_CHECK_EQUAL(ErrorOf("concat('a', 'b') = 1"),
                    "at position 1: expected a column among the parts of concat, found 'concat'");
  BOOST_CHECK_EQUAL(ErrorOf("concat(a, ) = 1"),
                    "at position 11: expected a column or a text in quotes, found ')'");
  BOOST_CHECK_EQUAL(ErrorOf("concat(a b) = 1"), "at position 10: expected ')', found 'b'");
  BOOST_CHECK_EQUAL(ErrorOf("concat(a, ?) = 1"),
                    "at position 11: expected a column or a text in quotes, found the parameter ?");
  BOOST_CHECK_EQUAL(
      ErrorOf("concat(lower(a), upper(b)) = 1"),
      "at position 1: expected a concat with functions of one column alone, or around "
      "it, found 'concat'");
  BOOST_CHECK_EQUAL(ErrorOf("concat(lower(a), lower(a)) = 1"),
                    "at position 1: concat: what a function returns is joined once");
  BOOST_CHECK_EQUAL(ErrorOf("concat(a, _row) = 1"),
                    "at position 1: expected a concat of _row and texts, without columns, found "
                    "'concat'");
  BOOST_CHECK_EQUAL(ErrorOf("concat(concat(a, b), c) = 1"),
                    "at position 1: concat: two of them join columns: name all columns in one");
  std::string deep = "a";
  for (size_t i = 0; i < kFunctionsMax; ++i) deep = "lower(" + deep + ")";
  BOOST_CHECK(Predicate::Parse(deep + " = 1").has_value());
  BOOST_CHECK_EQUAL(ErrorOf("lower(" + deep + ") = 1"),
                    "at position 49: expected at most 8 functions, found 'lower'");
}

BOOST_AUTO_TEST_CASE(OnlyComparisonsOfColumnsHaveFunctions) {
  for (const Predicate& none :
       {Predicate(), Predicate::Not(A("1")), Predicate::And({A("1"), A("2")})}) {
    BOOST_CHECK(none.WithFunctions({Function::Lower()}).kind() == Kind::kInvalid);
  }
  const Predicate key = Predicate::Equal("_row", "1");
  BOOST_CHECK(key.As(ColumnType::kText).kind() == Kind::kInvalid);
  BOOST_CHECK(key.WithFunctions({Function::TimestampOf()}).kind() == Kind::kInvalid);
  BOOST_CHECK_EQUAL(A("1").WithFunctions({Function::Bucket(0)}).values()[0],
                    "a condition on column 'a': bucket: expected a number from 1, found 0");
}

BOOST_AUTO_TEST_CASE(ColumnsOfIndexesAreReadBackFromTheirText) {
  const auto text = [](std::string_view column) {
    const auto parsed = IndexColumn::Parse(column);
    return parsed.has_value() ? parsed->ToString() : std::string(parsed.error().message());
  };
  for (const char* same :
       {"city", "d:city", "\"a b\":\"\" DESC", "size::int64", "lower(d:name)",
        "substr(reverse(name), 1, 2) DESC", "json(doc, '$.a')::double",
        "date_trunc('week', timestamp_of(d:x))::timestamp DESC", "split_part(_row, '/', 2)",
        "substr_bytes(_row, 1, 8)::int64_be DESC", "lower(concat(first, ' ', d:\"a b\")) DESC",
        "concat(\"not\", lower(a), '''')", "concat('x', _row)"}) {
    BOOST_CHECK_EQUAL(text(same), same);
  }
  BOOST_CHECK_EQUAL(text("city asc"), "city");
  BOOST_CHECK_EQUAL(text("city::bytes desc"), "city DESC");
  BOOST_CHECK_EQUAL(text(""), "at position 1: expected a column, found the end of the text");
  BOOST_CHECK_EQUAL(text("_row"),
                    "at position 1: expected a column: rows are in the order of "
                    "their keys, found '_row'");
  BOOST_CHECK_EQUAL(text("timestamp_of(_row)"),
                    "at position 1: expected a function of the row key, which has no timestamp, "
                    "found 'timestamp_of'");
  BOOST_CHECK_EQUAL(text("city up"), "at position 6: expected ASC, DESC or the end, found 'up'");
}

BOOST_AUTO_TEST_CASE(ErrorsNameTheirPosition) {
  BOOST_CHECK_EQUAL(ErrorOf(""), "at position 1: expected a condition, found the end of the text");
  BOOST_CHECK_EQUAL(ErrorOf("a = 1 b = 2"),
                    "at position 7: expected AND, OR or the end, found 'b'");
  BOOST_CHECK_EQUAL(ErrorOf("a ="), "at position 4: expected a value, found the end of the text");
  BOOST_CHECK_EQUAL(ErrorOf("a = b"), "at position 5: expected a value, found 'b'");
  BOOST_CHECK_EQUAL(ErrorOf("a ~ 1"),
                    "at position 3: expected a name, a value or an operator, found '~'");
  BOOST_CHECK_EQUAL(ErrorOf("a BETWEEN 1, 2"), "at position 12: expected AND, found ','");
  BOOST_CHECK_EQUAL(ErrorOf("a IN (1,)"), "at position 9: expected a value, found ')'");
  BOOST_CHECK_EQUAL(ErrorOf("(a = 1"), "at position 7: expected ')', found the end of the text");
  BOOST_CHECK_EQUAL(ErrorOf("a = 'x"),
                    "at position 7: expected a closing ', found the end of the text");
  BOOST_CHECK_EQUAL(ErrorOf("a = x'0'"),
                    "at position 7: expected pairs of hexadecimal digits, found '0'");
  BOOST_CHECK_EQUAL(ErrorOf("a = 12ab"), "at position 7: expected a number, found 'a'");
  BOOST_CHECK_EQUAL(ErrorOf("AND = 1"), "at position 1: expected a condition, found 'AND'");
  BOOST_CHECK_EQUAL(ErrorOf("a NOT 1"),
                    "at position 7: expected BETWEEN, IN, PREFIX, CONTAINS, REGEXP or LIKE, found "
                    "a value");
  BOOST_CHECK_EQUAL(ErrorOf("1 = a"), "at position 1: expected a condition, found a value");
  BOOST_CHECK(ErrorOf("a LIKE '%x_y%'").starts_with("at position 8: expected a pattern"));
  BOOST_CHECK(ErrorOf("a LIKE '%x'").starts_with("at position 8: expected a pattern"));
  BOOST_CHECK(ErrorOf("a LIKE 'a_b%'").starts_with("at position 8: expected a pattern"));
  BOOST_CHECK(ErrorOf("a LIKE ''").starts_with("at position 8: expected a pattern"));
}

BOOST_AUTO_TEST_CASE(DeepNestingIsRefused) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '(') + "a = 1" + std::string(depth, ')');
  };
  CheckParses(nested(150), A("1"));
  BOOST_CHECK(ErrorOf(nested(100'000)).find("levels of nesting") != std::string::npos);
  std::string nots;
  for (int i = 0; i < 100'000; ++i) nots += "NOT ";
  BOOST_CHECK(ErrorOf(nots + "a = 1").find("levels of nesting") != std::string::npos);
}

// Levels of one kind after the other, `depth` of them.
Predicate Nested(size_t depth, const std::vector<Kind>& kinds) {
  Predicate predicate = A("0");
  for (size_t i = 0; i < depth; ++i) {
    const Kind kind = kinds[i % kinds.size()];
    if (kind == Kind::kNot) {
      predicate = Predicate::Not(std::move(predicate));
      continue;
    }
    std::vector<Predicate> children;
    children.push_back(std::move(predicate));
    children.push_back(A(std::to_string(i)));
    predicate = kind == Kind::kAnd ? Predicate::And(std::move(children))
                                   : Predicate::Or(std::move(children));
  }
  return predicate;
}

BOOST_AUTO_TEST_CASE(TheLimitOfDepthHoldsForBuiltPredicates) {
  const std::vector<std::vector<Kind>> shapes = {{Kind::kNot},
                                                 {Kind::kAnd, Kind::kOr},
                                                 {Kind::kAnd, Kind::kNot},
                                                 {Kind::kOr, Kind::kNot, Kind::kAnd}};
  for (const std::vector<Kind>& kinds : shapes) {
    const Predicate deepest = Nested(kPredicateDepthMax, kinds);
    BOOST_CHECK_EQUAL(deepest.depth(), kPredicateDepthMax);
    CheckParses(deepest.ToString(), deepest);
    for (const size_t depth : {kPredicateDepthMax + 1, 20'000u}) {
      const Predicate deeper = Nested(depth, kinds);
      const Predicate copy = deeper;
      BOOST_CHECK(copy.kind() == Kind::kInvalid);
      BOOST_CHECK(copy.children().empty());
      BOOST_CHECK_EQUAL(copy.values()[0],
                        "a predicate has more than 200 levels of AND, OR and NOT");
      BOOST_CHECK(!Predicate::Parse(copy.ToString()).has_value());
    }
  }
}

BOOST_AUTO_TEST_CASE(AChainOfOneKindHasOneLevel) {
  for (const Kind kind : {Kind::kAnd, Kind::kOr}) {
    const Predicate chain = Nested(20'000, {kind});
    BOOST_CHECK(chain.kind() == kind);
    BOOST_CHECK_EQUAL(chain.depth(), 1u);
    BOOST_REQUIRE_EQUAL(chain.children().size(), 20'001u);
    BOOST_CHECK_EQUAL(chain.children().back().values()[0], "19999");
  }
  CheckParses("a = 1 AND (a = 2 AND a = 3)", Predicate::And({A("1"), A("2"), A("3")}));
}

BOOST_AUTO_TEST_CASE(WhatIsNoComparisonIsInvalid) {
  const auto why = [](Kind kind, std::vector<std::string> values) {
    const Predicate predicate = Predicate::Compare(kind, "a", std::move(values));
    BOOST_REQUIRE(predicate.kind() == Kind::kInvalid);
    BOOST_CHECK(!Predicate::Parse(predicate.ToString()).has_value());
    // A tree with it in is no predicate either.
    for (const Predicate& tree :
         {Predicate::Not(predicate), Predicate::And({A("1"), predicate}),
          Predicate::Or({Predicate::And({A("1"), predicate, A("2")}), A("3")})}) {
      BOOST_CHECK(tree.kind() == Kind::kInvalid);
      BOOST_CHECK_EQUAL(tree.values()[0], predicate.values()[0]);
    }
    return predicate.values()[0];
  };
  for (const Kind kind :
       {Kind::kTrue, Kind::kAnd, Kind::kOr, Kind::kNot, Kind::kInvalid, static_cast<Kind>(200)}) {
    BOOST_CHECK(why(kind, {"1"}).starts_with("a condition on column 'a' is no comparison"));
  }
  BOOST_CHECK_EQUAL(why(Kind::kEqual, {}), "a condition on column 'a' has 0 values, expected 1");
  BOOST_CHECK_EQUAL(why(Kind::kBetween, {"1"}),
                    "a condition on column 'a' has 1 values, expected 2");
  BOOST_CHECK_EQUAL(why(Kind::kIsNull, {"1"}),
                    "a condition on column 'a' has 1 values, expected 0");
}

Predicate RandomPredicate(TestRandom& random, int depth) {
  static constexpr std::string_view kBytes("ab_:\"' \0\xff%X.-1", 15);
  const uint64_t choice = random.Below(depth == 0 ? 1 : 5);
  if (choice == 1) return Predicate::Not(RandomPredicate(random, depth - 1));
  if (choice == 2 || choice == 3) {
    std::vector<Predicate> children;
    for (uint64_t i = 2 + random.Below(3); i > 0; --i) {
      children.push_back(RandomPredicate(random, depth - 1));
    }
    return choice == 2 ? Predicate::And(std::move(children)) : Predicate::Or(std::move(children));
  }
  if (choice == 4 && random.OneIn(4)) return {};
  const auto kind = static_cast<Kind>(1 + random.Below(11));
  std::vector<std::string> values;
  const size_t count = kind == Kind::kBetween                              ? 2
                       : kind == Kind::kIn                                 ? random.Below(4)
                       : kind == Kind::kIsNull || kind == Kind::kIsNotNull ? 0
                                                                           : 1;
  while (values.size() < count) values.push_back(random.Text(6, kBytes));
  static const std::vector<std::string> kNames = {"a",   "_row", ":_row", "and", "f:x", "f:a b",
                                                  "\"q", "Not",  "x",     "",    "f:",  "a-b.c"};
  std::string column = kNames[random.Below(kNames.size())];
  if (random.OneIn(4)) column = random.Text(6, kBytes);
  const Predicate leaf = Predicate::Compare(kind, std::move(column), std::move(values));
  if (random.OneIn(2)) return leaf;
  static const Functions kFunctions = {
      Function::Lower(),
      Function::Substring(2),
      Function::Substring(1, 3),
      Function::Bucket(7),
      Function::Json("$.a"),
      Function::DateTrunc("day"),
      Function::SplitPart("'", 2),
      Function::SubstringBytes(3, 1),
      Function::Concat({ConcatPart::Text("'"), ConcatPart::Value()})};
  Functions functions;
  for (uint64_t i = random.Below(4); i > 0; --i) {
    functions.push_back(kFunctions[random.Below(kFunctions.size())]);
  }
  return leaf.WithFunctions(std::move(functions));
}

BOOST_AUTO_TEST_CASE(EveryPredicateIsReadBackFromItsText) {
  TestRandom random("predicate/EveryPredicateIsReadBackFromItsText");
  for (int i = 0; i < 20'000; ++i) {
    const Predicate predicate = RandomPredicate(random, 3);
    CheckParses(predicate.ToString(), predicate);
  }
}

BOOST_AUTO_TEST_CASE(AnyTextIsReadOrRefused) {
  TestRandom random("predicate/AnyTextIsReadOrRefused");
  const std::vector<std::string> words = {
      "a",  "=",  "'x'",  "AND",  "OR",       "NOT",     "(",     ")",
      "IN", ",",  "1",    "NULL", "IS",       "BETWEEN", "LIKE",  "'p%'",
      ":",  "x'", "\"",   "'",    "_row",     "TRUE",    "x'00'", "<",
      "!=", "-",  "\xff", ".",    "lower(a)", "substr(", "json("};
  size_t read = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (uint64_t n = random.Below(12); n > 0; --n) {
      text += words[random.Below(words.size())];
      if (random.OneIn(2)) text += ' ';
    }
    const auto predicate = Predicate::Parse(text);
    if (!predicate.has_value()) {
      BOOST_REQUIRE(predicate.error().message().starts_with("at position "));
      continue;
    }
    ++read;
    CheckParses(predicate->ToString(), *predicate);
  }
  BOOST_CHECK(read > 100);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
