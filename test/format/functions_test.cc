// What functions make of values. Index sections keep it, so no line here may ever change.
#define BOOST_TEST_DYN_LINK
#include "format/functions.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "format/json_scalar.h"
#include "format/text_terms.h"
#include "tandem/limits.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

constexpr int64_t kTimestamp = 1'700'000'000'123'456;

// "-" where the value is absent.
std::string Made(const Functions& functions, std::string_view value) {
  BOOST_TEST(CheckFunctions(functions).ok());
  std::string made;
  return ApplyFunctions(functions, value, kTimestamp, &made) ? made : "-";
}

std::string Truncated(std::string unit, std::string_view time) {
  return Made({Function::DateTrunc(std::move(unit))}, time);
}

// Of a time in RFC 3339, as microseconds.
std::string Micros(std::string_view time) { return Truncated("second", time); }

std::string Scalar(std::string path, std::string_view json) {
  return Made({Function::Json(std::move(path))}, json);
}

std::string Several(const Functions& functions, std::string_view value) {
  BOOST_TEST(CheckFunctions(functions).ok());
  BOOST_TEST(AreMultiValued(functions));
  ValueList values;
  values.Add("of before");
  ApplyMultiValued(functions, value, kTimestamp, &values);
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) text += std::string(values[i]) + "|";
  return text;
}

std::string WhyNot(const Function& function) {
  return std::string(CheckFunctions({&function, 1}).message());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(functions)

BOOST_AUTO_TEST_CASE(SubstringsOfBytesCutAnyBytes) {
  const auto cut = [](uint64_t start, uint64_t count, std::string_view value) {
    return Made({Function::SubstringBytes(start, count)}, value);
  };
  BOOST_TEST(cut(1, 2, "abc") == "ab");
  BOOST_TEST(cut(2, 0, "abc") == "bc");
  BOOST_TEST(cut(3, 9, "abc") == "c");
  BOOST_TEST(cut(4, 1, "abc") == "");
  BOOST_TEST(cut(UINT64_MAX, UINT64_MAX, "abc") == "");
  BOOST_TEST(cut(1, 0, "") == "");
  BOOST_TEST(cut(2, 1, "\xc3\xa9") == "\xa9");  // Half of a character.
}

BOOST_AUTO_TEST_CASE(PartsBetweenSeparatorsHaveNumbers) {
  const auto part = [](const char* separator, uint64_t number, std::string_view value) {
    return Made({Function::SplitPart(separator, number)}, value);
  };
  BOOST_TEST(part("/", 1, "a/b/c") == "a");
  BOOST_TEST(part("/", 2, "a/b/c") == "b");
  BOOST_TEST(part("/", 3, "a/b/c") == "c");
  BOOST_TEST(part("/", 4, "a/b/c") == "-");
  BOOST_TEST(part("/", UINT64_MAX, "a/b/c") == "-");
  BOOST_TEST(part("/", 1, "") == "");
  BOOST_TEST(part("/", 2, "") == "-");
  BOOST_TEST(part("/", 2, "a//b/") == "");
  BOOST_TEST(part("/", 4, "a//b/") == "");
  BOOST_TEST(part("::", 2, "a:b::c:::d") == "c");
  BOOST_TEST(part("::", 3, "a:b::c:::d") == ":d");  // From the left.
  BOOST_TEST(part("\xff", 2, "a\xff\xfe") == "\xfe");
}

BOOST_AUTO_TEST_CASE(TextsAreJoined) {
  const auto value = ConcatPart::Value();
  const auto text = [](const char* constant) { return ConcatPart::Text(constant); };
  BOOST_TEST(Made({Function::Concat({value, text("-x")})}, "a") == "a-x");
  BOOST_TEST(Made({Function::Concat({text("a/"), value})}, "b") == "a/b");
  BOOST_TEST(Made({Function::Concat({value, text(""), value})}, "ab") == "abab");
  BOOST_TEST(Made({Function::Concat({text("\xff"), value})}, "") == "\xff");
  BOOST_TEST(Made({Function::Lower(), Function::Concat({text("A"), value}), Function::Reverse()},
                  "BC") == "cbA");
  BOOST_TEST(Several({Function::Split(","), Function::Concat({value, text("!")})}, "a,b") ==
             "a!|b!|");
  const std::string half(kFunctionValueBytesMax / 2, 'h');
  const Functions twice = {Function::Concat({value, value})};
  BOOST_TEST(Made(twice, half) == half + half);
  BOOST_TEST(Made(twice, half + "h") == "-");
}

BOOST_AUTO_TEST_CASE(ColumnsAreJoinedInTheirOrder) {
  const Functions functions = {
      Function::Upper(),
      Function::Concat({ConcatPart::Column("d", "b"), ConcatPart::Value(), ConcatPart::Text("/"),
                        ConcatPart::Column("e", "c")}),
      Function::Split("/")};
  BOOST_TEST(CheckFunctions(functions).ok());
  const std::vector<std::string_view> others = {"B", "c"};
  std::string made;
  BOOST_TEST(ApplyFunctions(std::span(functions).first(2), "a", 0, &made, others));
  BOOST_TEST(made == "BA/c");
  ValueList values;
  ApplyMultiValued(functions, "a", 0, &values, others);
  BOOST_REQUIRE(values.size() == 2u);
  BOOST_TEST(values[1] == "c");
  BOOST_TEST(TextOf(functions, "d:a") == "split(concat(d:b, upper(d:a), '/', e:c), '/')");
}

BOOST_AUTO_TEST_CASE(BadConcatsAreRefused) {
  const auto why = [](std::vector<ConcatPart> parts) {
    return WhyNot(Function::Concat(std::move(parts)));
  };
  const auto value = ConcatPart::Value();
  BOOST_TEST(why({value}) == "concat: it joins 1 parts, expected 2 to 16");
  BOOST_TEST(why(std::vector(17, value)) == "concat: it joins 17 parts, expected 2 to 16");
  BOOST_TEST(why({ConcatPart::Text("a"), ConcatPart::Column("", "b")}) ==
             "concat: no part is the column that it is applied to");
  BOOST_TEST(why({value, ConcatPart::Text(std::string(1025, 'x'))}) ==
             "concat: a text has 1025 bytes, the limit is 1024");
  BOOST_TEST(why({value, {.kind = ConcatPart::Kind::kText, .qualifier = "q"}}) ==
             "concat: a part has an argument too many");
  Function lower = Function::Lower();
  lower.parts = {value, value};
  BOOST_TEST(WhyNot(lower) == "lower: it has an argument too many");
  const Function joins = Function::Concat({value, ConcatPart::Column("", "b")});
  BOOST_TEST(CheckFunctions(Functions{joins, joins}).message() ==
             "concat: two of them join columns: name all columns in one");
  const Function twice = Function::Concat({value, value});
  BOOST_TEST(CheckFunctions(Functions{twice}).ok());
  BOOST_TEST(CheckFunctions(Functions{Function::Lower(), twice}).message() ==
             "concat: what a function returns is joined once");
  BOOST_TEST(CheckFunctions(Functions{Function::Split(","), joins}).message() ==
             "concat: columns are joined to one value, not to the several of split");
}

BOOST_AUTO_TEST_CASE(CutBytesMayBeReadAsBinaryNumbers) {
  const Functions bytes = {Function::Lower(), Function::SubstringBytes(1, 8)};
  const Functions text = {Function::SubstringBytes(1, 8), Function::Lower()};
  BOOST_TEST((*TypeOfFunctions(bytes, ColumnType::kUint64Be) == ColumnType::kUint64Be));
  BOOST_TEST((*TypeOfFunctions(bytes, ColumnType::kBytes) == ColumnType::kText));
  BOOST_TEST(TypeOfFunctions(text, ColumnType::kUint64Be).status().message() ==
             "lower: it returns text, and type uint64_be reads bytes");
}

BOOST_AUTO_TEST_CASE(CaseIsThatOfAscii) {
  BOOST_TEST(Made({Function::Lower()}, "MiXed @[`{ 19 \xc3\x84") == "mixed @[`{ 19 \xc3\x84");
  BOOST_TEST(Made({Function::Upper()}, "MiXed @[`{ 19 \xc3\xa4") == "MIXED @[`{ 19 \xc3\xa4");
  BOOST_TEST(Made({Function::Lower()}, "") == "");
  BOOST_TEST(Made({Function::Lower()}, "A\xff") == "a\xff");
}

BOOST_AUTO_TEST_CASE(CharactersAreThoseOfUtf8) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
  BOOST_TEST(Made({Function::Length()}, text) == "5");
  BOOST_TEST(Made({Function::Length()}, "") == "0");
  BOOST_TEST(Made({Function::Reverse()}, text) ==
             "z\xf0\x9f\x98\x80\xe2\x82\xac\xc3\xa9"
             "a");
  BOOST_TEST(Made({Function::Reverse()}, "") == "");
  BOOST_TEST(Made({Function::Substring(1)}, text) == text);
  BOOST_TEST(Made({Function::Substring(1, 1)}, text) == "a");
  BOOST_TEST(Made({Function::Substring(2, 2)}, text) == "\xc3\xa9\xe2\x82\xac");
  BOOST_TEST(Made({Function::Substring(4)}, text) == "\xf0\x9f\x98\x80z");
  BOOST_TEST(Made({Function::Substring(5, 9)}, text) == "z");
  BOOST_TEST(Made({Function::Substring(6)}, text) == "");
  BOOST_TEST(Made({Function::Substring(UINT64_MAX, UINT64_MAX)}, text) == "");
  for (const Function& function :
       {Function::Length(), Function::Reverse(), Function::Substring(1, 1)}) {
    BOOST_TEST(Made({function}, "a\xff") == "-");
  }
}

BOOST_AUTO_TEST_CASE(RandomTextIsCutAndTurned) {
  test::TestRandom random("functions/RandomTextIsCutAndTurned");
  const std::vector<std::string> kCharacters = {"a", "B", "\xc3\xa9", "\xe2\x82\xac",
                                                "\xf0\x9f\x98\x80"};
  for (int i = 0; i < 2'000; ++i) {
    std::vector<std::string> characters(random.Below(9));
    for (std::string& character : characters) {
      character = kCharacters[random.Below(kCharacters.size())];
    }
    std::string text, turned, cut;
    const size_t first = 1 + random.Below(10), count = 1 + random.Below(10);
    for (size_t at = 0; at < characters.size(); ++at) {
      text += characters[at];
      turned = characters[at] + turned;
      if (at + 1 >= first && at + 1 < first + count) cut += characters[at];
    }
    BOOST_TEST(Made({Function::Reverse()}, text) == turned);
    BOOST_TEST(Made({Function::Substring(first, count)}, text) == cut);
    BOOST_TEST(Made({Function::Length()}, text) == std::to_string(characters.size()));
  }
}

BOOST_AUTO_TEST_CASE(HashesAreXxh3) {
  BOOST_TEST(Made({Function::Hash()}, "") == "3244421341483603138");
  BOOST_TEST(Made({Function::Bucket(1)}, "a") == "0");
  BOOST_TEST(Made({Function::Bucket(10)}, "") == "8");
  BOOST_TEST(Made({Function::Bucket(UINT64_MAX)}, "") == "3244421341483603138");
}

BOOST_AUTO_TEST_CASE(TimesAreCutInUtc) {
  const std::string time = "2024-02-29T23:59:59.999999Z";
  BOOST_TEST(Truncated("second", time) == Micros("2024-02-29T23:59:59Z"));
  BOOST_TEST(Truncated("minute", time) == Micros("2024-02-29T23:59:00Z"));
  BOOST_TEST(Truncated("hour", time) == Micros("2024-02-29T23:00:00Z"));
  BOOST_TEST(Truncated("day", time) == Micros("2024-02-29T00:00:00Z"));
  BOOST_TEST(Truncated("week", time) == Micros("2024-02-26T00:00:00Z"));
  BOOST_TEST(Truncated("month", time) == Micros("2024-02-01T00:00:00Z"));
  BOOST_TEST(Truncated("quarter", "2024-06-30T23:59:59Z") == Micros("2024-04-01T00:00:00Z"));
  BOOST_TEST(Truncated("year", time) == Micros("2024-01-01T00:00:00Z"));
  // Another zone's day may be another one in UTC.
  BOOST_TEST(Truncated("day", "2024-03-01T00:30:00+01:00") == Micros("2024-02-29T00:00:00Z"));
  BOOST_TEST(Truncated("week", "2024-02-26T00:00:00Z") == Micros("2024-02-26T00:00:00Z"));
  BOOST_TEST(Truncated("week", "2024-03-03T23:59:59Z") == Micros("2024-02-26T00:00:00Z"));
  BOOST_TEST(Truncated("second", "1500000") == "1000000");
}

BOOST_AUTO_TEST_CASE(TimesBefore1970AreCutDownwards) {
  BOOST_TEST(Truncated("second", "-1") == "-1000000");
  BOOST_TEST(Truncated("second", "-1000000") == "-1000000");
  BOOST_TEST(Truncated("day", "-1") == Micros("1969-12-31T00:00:00Z"));
  BOOST_TEST(Truncated("week", "-1") == Micros("1969-12-29T00:00:00Z"));
  BOOST_TEST(Truncated("month", "-1") == Micros("1969-12-01T00:00:00Z"));
  BOOST_TEST(Truncated("quarter", "-1") == Micros("1969-10-01T00:00:00Z"));
  BOOST_TEST(Truncated("year", "-1") == Micros("1969-01-01T00:00:00Z"));
  BOOST_TEST(Truncated("year", "0") == "0");
}

BOOST_AUTO_TEST_CASE(TimesOutOfRangeAreAbsent) {
  const std::string least = std::to_string(std::numeric_limits<int64_t>::min());
  const std::string most = std::to_string(std::numeric_limits<int64_t>::max());
  for (const char* unit : {"second", "minute", "hour", "day", "week", "month", "quarter", "year"}) {
    BOOST_TEST(Truncated(unit, least) == "-");
    BOOST_TEST(Truncated(unit, "never") == "-");
    BOOST_TEST(Truncated(unit, "") == "-");
  }
  BOOST_TEST(Truncated("second", most) == "9223372036854000000");
  BOOST_TEST(Truncated("year", most) == "-");
}

BOOST_AUTO_TEST_CASE(JsonHasScalars) {
  const std::string json = R"({"s":"t\u00e4xt \"q\"","n":-1.50e3,"t":true,"f":false,"z":null,)"
                           R"("o":{"a":[1,[2,3],{"b":"deep"}]},)"
                           R"("a b":7,"":8,"q\"\\":9,"e":""})";
  BOOST_TEST(Scalar("$.s", json) == "t\xc3\xa4xt \"q\"");
  BOOST_TEST(Scalar("$.n", json) == "-1.50e3");
  BOOST_TEST(Scalar("$.t", json) == "true");
  BOOST_TEST(Scalar("$.f", json) == "false");
  BOOST_TEST(Scalar("$.e", json) == "");
  BOOST_TEST(Scalar("$.o.a[0]", json) == "1");
  BOOST_TEST(Scalar("$.o.a[1][1]", json) == "3");
  BOOST_TEST(Scalar("$.o.a[2].b", json) == "deep");
  BOOST_TEST(Scalar(R"($."a b")", json) == "7");
  BOOST_TEST(Scalar(R"($."")", json) == "8");
  BOOST_TEST(Scalar(R"($."q\"\\")", json) == "9");
  for (const char* path : {"$", "$.z", "$.o", "$.o.a", "$.o.a[1]", "$.o.a[3]", "$.o.a.b", "$.s[0]",
                           "$.s.s", "$.missing", "$[0]", "$.o.a[2].c"}) {
    BOOST_TEST(Scalar(path, json) == "-", path);
  }
  BOOST_TEST(Scalar("$", "17") == "17");
  BOOST_TEST(Scalar("$", " \"x\" ") == "x");
  BOOST_TEST(Scalar("$[1]", "[[0],\"x\",[0,1]]") == "x");
  BOOST_TEST(Scalar("$[2][1]", "[[0],{\"a\":5},[0,1]]") == "1");
  // Of members with one name the first that leads on counts.
  BOOST_TEST(Scalar("$.a", R"({"a":1,"a":2})") == "1");
  BOOST_TEST(Scalar("$.a", R"({"a":null,"a":2})") == "-");
  BOOST_TEST(Scalar("$.a.b", R"({"a":1,"a":{"b":2}})") == "2");
  BOOST_TEST(Scalar("$.a", R"({"b":{"a":1},"c":[{"a":2}]})") == "-");
}

BOOST_AUTO_TEST_CASE(WhatIsNoJsonIsAbsent) {
  const auto with_zero = [](std::string text) {
    std::ranges::replace(text, '0', '\0');
    return text;
  };
  for (const std::string& json : std::vector<std::string>{
           "", "{", "{\"a\":1", "{\"a\":1}}", "{\"a\":1} x", "{a:1}", "{\"a\":01}", "{\"a\":1,}",
           "{\"a\":'1'}", with_zero("{\"a\":1}0x"), with_zero("0{\"a\":1}"), "{\"a\":\"\xff\"}",
           "{\"a\":\"\\ud800\"}", "{\"a\":nul}", "{\"a\":+1}"}) {
    BOOST_TEST(Scalar("$.a", json) == "-", json);
  }
  // Neither deep nor large text takes more than its own size.
  const std::string deep = std::string(30'000, '[') + std::string(30'000, ']');
  BOOST_TEST(Scalar("$.a", deep) == "-");
  BOOST_TEST(Scalar("$[0][0].a", std::string(60'000, '[')) == "-");
}

BOOST_AUTO_TEST_CASE(FunctionsFollowEachOther) {
  BOOST_TEST(Made({Function::Json("$.name"), Function::Substring(1, 2), Function::Upper()},
                  R"({"name":"ann"})") == "AN");
  BOOST_TEST(Made({Function::Json("$.name"), Function::Length()}, R"({"name":1})") == "1");
  BOOST_TEST(Made({Function::Json("$.no"), Function::Length()}, R"({"name":1})") == "-");
  BOOST_TEST(Made({Function::TimestampOf()}, "any") == "1700000000123456");
  BOOST_TEST(Made({Function::TimestampOf(), Function::DateTrunc("hour")}, "\xff") ==
             Micros("2023-11-14T22:00:00Z"));
}

BOOST_AUTO_TEST_CASE(LongValuesHaveOnlyATimestamp) {
  const std::string longest(kFunctionValueBytesMax, 'A');
  BOOST_TEST(Made({Function::Length()}, longest) == std::to_string(kFunctionValueBytesMax));
  for (const Function& function : {Function::Length(), Function::Lower(), Function::Hash()}) {
    BOOST_TEST(Made({function}, longest + 'A') == "-");
  }
  BOOST_TEST(Made({Function::TimestampOf()}, longest + 'A') == "1700000000123456");
}

BOOST_AUTO_TEST_CASE(WrongArgumentsAreRefused) {
  BOOST_TEST(WhyNot(Function::Substring(0)) == "substr: expected a number from 1, found 0");
  BOOST_TEST(WhyNot(Function::Bucket(0)) == "bucket: expected a number from 1, found 0");
  BOOST_TEST(WhyNot(Function::DateTrunc("fortnight")) ==
             "date_trunc: 'fortnight' is no unit: second, minute, hour, day, week, month, quarter, "
             "year");
  for (const char* path :
       {"", "a", "$.", "$a", "$.a.", "$[", "$[]", "$[x]", "$[1", "$[-1]", "$.\"a", "$.\"a\\n\"",
        "$..a", "$.a b", "$ ", "$[99999999999999999999]"}) {
    BOOST_TEST(WhyNot(Function::Json(path))
                   .ends_with(" is no path: expected $ and then .name, .\"any name\" or [0]"),
               path);
  }
  const std::string most = "$." + std::string(kFunctionTextBytesMax - 2, 'a');
  BOOST_TEST(WhyNot(Function::Json(most)) == "");
  BOOST_TEST(WhyNot(Function::Json(most + "a")) ==
             "json: its path has more than 1024 bytes, the limit");
  BOOST_TEST(WhyNot({.kind = FunctionKind::kLower, .first = 1}) ==
             "lower: it has an argument too many");
  BOOST_TEST(WhyNot({.kind = FunctionKind::kBucket, .first = 1, .count = 1}) ==
             "bucket: it has an argument too many");
  BOOST_TEST(WhyNot({.kind = FunctionKind::kHash, .text = "x"}) ==
             "hash: it has an argument too many");
  BOOST_TEST(WhyNot({.kind = static_cast<FunctionKind>(99)}) == "function number 99 is not known");
  BOOST_TEST(WhyNot(Function::Split("")) == "split: its separator is empty");
  BOOST_TEST(WhyNot(Function::SplitPart("", 1)) == "split_part: its separator is empty");
  BOOST_TEST(WhyNot(Function::SplitPart("/", 0)) ==
             "split_part: expected a number from 1, found 0");
  BOOST_TEST(WhyNot(Function::SubstringBytes(0)) ==
             "substr_bytes: expected a number from 1, found 0");
  BOOST_TEST(WhyNot(Function::Split(std::string(kFunctionTextBytesMax + 1, ','))) ==
             "split: its separator has more than 1024 bytes, the limit");
  BOOST_TEST(WhyNot(Function::JsonEach("a")) ==
             "json_each: 'a' is no path: expected $ and then .name, .\"any name\" or [0]");
  const Functions twice = {Function::Words(), Function::Lower(), Function::Trigrams()};
  BOOST_TEST(CheckFunctions(twice).message() ==
             "trigrams: expected one value, found the several of words");
  const Functions late = {Function::Lower(), Function::TimestampOf()};
  BOOST_TEST(CheckFunctions(late).message() ==
             "timestamp_of: expected a column, found what a function returns");
  const Functions after = {Function::Lower(), Function::MapKeys()};
  BOOST_TEST(CheckFunctions(after).message() ==
             "map_keys: expected a family, found what a function returns");
  BOOST_TEST(CheckFunctions(Functions(kFunctionsMax, Function::Lower())).ok());
  BOOST_TEST(CheckFunctions(Functions(kFunctionsMax + 1, Function::Lower())).message() ==
             "9 functions are applied to a column, the limit is 8");
}

BOOST_AUTO_TEST_CASE(SomeMakeSeveralValues) {
  BOOST_TEST(Several({Function::Split(",")}, "a,,b,a,") == "a|b|a|");
  BOOST_TEST(Several({Function::Split(", ")}, "a, b,c,  d") == "a|b,c| d|");
  BOOST_TEST(Several({Function::Split(",")}, "") == "");
  BOOST_TEST(Several({Function::Split("\xff")},
                     "a\xff"
                     "b") == "a|b|");
  BOOST_TEST(Several({Function::JsonEach("$.a")}, R"({"a":["x",1,true,null,[2],{"b":3}]})") ==
             "x|1|true|");
  BOOST_TEST(Several({Function::JsonEach("$.a")}, R"({"a":"x"})") == "x|");
  BOOST_TEST(Several({Function::JsonEach("$.a")}, R"({"a":{"b":1}})") == "");
  BOOST_TEST(Several({Function::JsonEach("$.a")}, R"({"a":[1],"a":[2]})") == "1|");
  BOOST_TEST(Several({Function::JsonEach("$.a")}, R"({"b":[1],"a":null,"c":[2]})") == "");
  BOOST_TEST(Several({Function::JsonEach("$")}, "[[1],2]") == "2|");
  BOOST_TEST(Several({Function::JsonEach("$[0]")}, "[[1],2]") == "1|");
  BOOST_TEST(Several({Function::JsonEach("$.a")}, R"({"a":[1)") == "");
  BOOST_TEST(Several({Function::Words()}, "Two Words") == "two|words|");
  BOOST_TEST(Several({Function::Trigrams()}, "Four") == "fou|our|");
  BOOST_TEST(Several({Function::MapKeys()}, "of one column") == "of one column|");
  BOOST_TEST(Several({Function::MapValues(), Function::Upper()}, "a") == "A|");
}

BOOST_AUTO_TEST_CASE(OthersApplyToEachOfSeveralValues) {
  BOOST_TEST(Several({Function::Split(","), Function::Upper()}, "a,b") == "A|B|");
  BOOST_TEST(Several({Function::Lower(), Function::Split("b")}, "aBc") == "a|c|");
  BOOST_TEST(Several({Function::Json("$.t"), Function::Words()}, R"({"t":"a b"})") == "a|b|");
  BOOST_TEST(Several({Function::Json("$.t"), Function::Words()}, "no json") == "");
  // Those without a result are left out.
  BOOST_TEST(Several({Function::Split(","), Function::Json("$.x")}, R"({"x":1},{},7)") == "1|");
  BOOST_TEST(Several({Function::TimestampOf(), Function::Split("0")}, "") == "17|123456|");
}

BOOST_AUTO_TEST_CASE(ThoseOfUnicodeKnowItsVersion) {
  Functions functions = {Function::Lower(), Function::Words()};
  BOOST_TEST(!ArePinnedByOthers(functions));
  PinFunctions(functions);
  BOOST_TEST(functions[0].first == 0u);
  BOOST_TEST(functions[1].first == UnicodeVersion());
  BOOST_TEST(!ArePinnedByOthers(functions));
  BOOST_TEST(Several(functions, "A b") == "a|b|");
  BOOST_TEST(TextOf(functions, "x") == "words(lower(x))");
  BOOST_CHECK(AsDeclared(functions) == Functions({Function::Lower(), Function::Words()}));
  functions[1].first = 10'000;
  BOOST_TEST(ArePinnedByOthers(functions));
  BOOST_TEST(Several(functions, "A b") == "");
  BOOST_CHECK(AsDeclared(functions) == functions);
  BOOST_TEST(TextOf(functions, "x") == "words(lower(x))");
}

BOOST_AUTO_TEST_CASE(CallsKnowTheVersionOfTheirFunction) {
  RegisteredFunction half{.version = 7, .apply = [](std::string_view value) {
                            if (value == "throw") throw 1;
                            if (value == "long") {
                              return std::optional(std::string(kFunctionValueBytesMax + 1, 'x'));
                            }
                            if (value == "memory") throw std::bad_alloc();
                            return value.empty() ? std::nullopt
                                                 : std::optional(std::string(value, 0, 1));
                          }};
  Functions functions = {Function::Lower(), Function::Call("half")};
  BOOST_TEST(HaveCalls(functions));
  BOOST_TEST(!HaveCalls({functions.data(), 1}));
  BOOST_TEST(WhyPinnedByOthers(functions) == "function 'half' of version 0 is not registered");
  BOOST_TEST(Made(functions, "AB") == "-");
  functions[1].first = 7;
  functions[1].registered = std::make_shared<const RegisteredFunction>(half);
  BOOST_TEST(!ArePinnedByOthers(functions));
  BOOST_TEST(WhyPinnedByOthers(functions) == "");
  BOOST_TEST(Made(functions, "AB") == "a");
  BOOST_TEST(Made(functions, "") == "-");
  BOOST_TEST(Made(functions, "throw") == "-");
  BOOST_TEST(Made(functions, "long") == "-");
  std::string made;
  BOOST_CHECK_THROW(ApplyFunctions(functions, "memory", 0, &made), std::bad_alloc);
  BOOST_TEST(TextOf(functions, "x") == "call('half', lower(x))");
  BOOST_CHECK(AsDeclared(functions) == Functions({Function::Lower(), Function::Call("half")}));
  functions[1].first = 6;
  BOOST_TEST(ArePinnedByOthers(functions));
  BOOST_TEST(WhyPinnedByOthers(functions) ==
             "function 'half' is registered with version 7, and it has version 6: drop it and "
             "create it again");
  BOOST_TEST(Made(functions, "AB") == "-");
  BOOST_CHECK(AsDeclared(functions) == functions);
  BOOST_TEST(WhyNot(Function::Call("")) == "call: expected the name of a function, 1 to 255 bytes");
  BOOST_TEST(WhyNot(Function::Call(std::string(256, 'x'))) ==
             "call: expected the name of a function, 1 to 255 bytes");
}

BOOST_AUTO_TEST_CASE(TheyHaveTypes) {
  const auto type = [](Function function, std::optional<ColumnType> asked = std::nullopt) {
    const Result<ColumnType> found = TypeOfFunctions({&function, 1}, asked);
    return found.has_value() ? std::string(ColumnTypeName(*found))
                             : std::string(found.error().message());
  };
  BOOST_TEST(type(Function::Lower()) == "text");
  BOOST_TEST(type(Function::Json("$.a")) == "text");
  BOOST_TEST(type(Function::Json("$.a"), ColumnType::kDouble) == "double");
  BOOST_TEST(type(Function::Json("$.a"), ColumnType::kBytes) == "text");
  BOOST_TEST(type(Function::Length()) == "int64");
  BOOST_TEST(type(Function::Hash()) == "uint64");
  BOOST_TEST(type(Function::Bucket(3)) == "uint64");
  BOOST_TEST(type(Function::DateTrunc("day")) == "timestamp");
  BOOST_TEST(type(Function::TimestampOf()) == "timestamp");
  BOOST_TEST(type(Function::MapKeys()) == "bytes");
  BOOST_TEST(type(Function::MapValues(), ColumnType::kText) == "text");
  BOOST_TEST(type(Function::MapValues(), ColumnType::kInt64Be) == "int64_be");
  BOOST_TEST(type(Function::TimestampOf(), ColumnType::kInt64Be) ==
             "timestamp_of: it returns text, and type int64_be reads bytes");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::format
