// The readers of deb822, jsonl and csv: what they take, what they call malformed and where.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdio>

#include "test/support/test_random.h"
#include "test/tools/input_from_text.h"

namespace tandem::test {
namespace {

using Lines = std::vector<std::string>;

void Check(const char* format, const std::string& text, const Lines& expected) {
  const Lines found = ReadAll(format, text);
  BOOST_CHECK_EQUAL_COLLECTIONS(found.begin(), found.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_SUITE(record_reader)

BOOST_AUTO_TEST_CASE(Deb822ParagraphsAreRecords) {
  Check("deb822", "Package: a\nVersion: 1\n\nPackage: b\n",
        {"1 Package=a|Version=1", "4 Package=b"});
  Check("deb822", "\n\n \t\nPackage: a\n\n\n\nPackage: b", {"4 Package=a", "8 Package=b"});
  Check("deb822", "", {});
  Check("deb822", "\n\n", {});
}

BOOST_AUTO_TEST_CASE(Deb822ContinuationLinesStayAsTheyAre) {
  Check("deb822", "D: short\n long\n .\n\tend\nE: x\n", {"1 D=short\n long\n .\n\tend|E=x"});
  Check("deb822", "Files:\n a b\n c\nE:\n", {"1 Files=\n a b\n c|E="});
  Check("deb822", "D: short  \n long\n", {"1 D=short  \n long"});
}

BOOST_AUTO_TEST_CASE(Deb822CommentsAreLeftOut) {
  Check("deb822", "# head\nA: 1\n#middle\nB: 2\n", {"2 A=1|B=2"});
  Check("deb822", "A: 1\n x\n# c\n y\n# d\n z\nB: 2\n", {"1 A=1\n x\n y\n z|B=2"});
}

BOOST_AUTO_TEST_CASE(Deb822ValuesAreTrimmedAndMayHoldColons) {
  Check("deb822", "A:1\nB: \t x:y \t\r\nC:\n", {"1 A=1|B=x:y|C="});
}

BOOST_AUTO_TEST_CASE(Deb822MalformedParagraphsNameTheirLine) {
  Check("deb822", "A: 1\nno colon\n\nB: 2\n",
        {"2 ! expected 'Name: value', found 'no colon'", "4 B=2"});
  Check("deb822", " x\n", {"1 ! starts with a continuation line"});
  Check("deb822", "A: 1\nB: 2\nA: 3\n", {"1 ! field 'A' occurs twice"});
  Check("deb822", ": 1\n", {"1 ! expected 'Name: value', found ': 1'"});
  Check("deb822", "A b: 1\n", {"1 ! expected 'Name: value', found 'A b: 1'"});
}

BOOST_AUTO_TEST_CASE(Deb822ParagraphsOverManyReadsAreWhole) {
  std::string text;
  Lines expected;
  size_t line = 1;
  for (int i = 0; i < 2000; ++i) {
    const std::string value(static_cast<size_t>(1 + i % 997), 'v');
    text += "A: " + std::to_string(i) + "\nB:\n " + value + "\n\n";
    expected.push_back(std::to_string(line) + " A=" + std::to_string(i) + "|B=\n " + value);
    line += 4;
  }
  Check("deb822", text, expected);
}

BOOST_AUTO_TEST_CASE(TooLongRecordsAreSkippedAndCounted) {
  const std::string large(tools::kRecordBytesMax + 300'000, 'x');
  Check("deb822", "A: " + large + "\nB: 1\n\nA: 2\n", {"1 ! " + tools::TooLongProblem(), "4 A=2"});
  Check("jsonl", "{\"a\":\"" + large + "\"}\n{\"a\":2}\n",
        {"1 ! " + tools::TooLongProblem(), "2 a=2"});
  Check("csv", "a\n" + large + "\n2\n", {"2 ! " + tools::TooLongProblem(), "3 a=2"});
}

BOOST_AUTO_TEST_CASE(JsonScalarsAreTheirText) {
  Check("jsonl", R"({"s":"x\ny\u00e9","n":1.50e3,"i":-0,"t":true,"f":false,"z":null,"e":""})",
        {"1 s=x\ny\xc3\xa9|n=1.50e3|i=-0|t=true|f=false|e="});
  Check("jsonl", "{\"big\":123456789012345678901234567890}\n",
        {"1 big=123456789012345678901234567890"});
  Check("jsonl", "{}\n\n  \r\n{\"a\":1}\r\n", {"1 ", "4 a=1"});
}

BOOST_AUTO_TEST_CASE(NestedJsonIsKeptCompact) {
  Check("jsonl", R"({ "a" : [ 1 , {"b" : null, "c":"\"\u0001"} ], "o":{ "x":[] }, "p":2})",
        {R"(1 a=[1,{"b":null,"c":"\"\u0001"}]|o={"x":[]}|p=2)"});
}

BOOST_AUTO_TEST_CASE(MalformedJsonSaysWhere) {
  const Lines found =
      ReadAll("jsonl", "{\"a\":1}\n{\"a\":}\n[1]\n7\n{\"a\":1,\"a\":2}\n{\"a\":1} x\n\"\n");
  BOOST_REQUIRE_EQUAL(found.size(), 7);
  BOOST_CHECK_EQUAL(found[0], "1 a=1");
  BOOST_CHECK(found[1].starts_with("2 ! not JSON at byte 6: "));
  BOOST_CHECK_EQUAL(found[2], "3 ! expected an object, found an array");
  BOOST_CHECK_EQUAL(found[3], "4 ! expected an object, found a single value");
  BOOST_CHECK_EQUAL(found[4], "5 ! field 'a' occurs twice");
  BOOST_CHECK(found[5].starts_with("6 ! not JSON at byte 9"));
  BOOST_CHECK(found[6].starts_with("7 ! not JSON"));
}

BOOST_AUTO_TEST_CASE(JsonThatIsNoUtf8OrHoldsNulIsMalformed) {
  const Lines invalid = ReadAll("jsonl", "{\"a\":\"\xff\"}\n");
  BOOST_REQUIRE_EQUAL(invalid.size(), 1);
  BOOST_CHECK(invalid[0].starts_with("1 ! not JSON"));
  Check("jsonl", std::string("{\"a\":1}\0\n", 9), {"1 ! holds a NUL byte"});
  Check("jsonl", R"({"a":"x\u0000y"})", {std::string("1 a=x\0y", 7)});
}

BOOST_AUTO_TEST_CASE(DeeplyNestedJsonIsRefusedWithoutRecursion) {
  const std::string deep(1'000'000, '[');
  Check("jsonl", "{\"a\":" + deep + "}\n{\"a\":1}\n", {"1 ! nested deeper than 512", "2 a=1"});
}

BOOST_AUTO_TEST_CASE(CsvFollowsRfc4180) {
  Check("csv", "a,b\r\n1,2\r\n\"x,\"\"y\"\"\",\"line\r\nend\"\r\n",
        {"2 a=1|b=2", "3 a=x,\"y\"|b=line\r\nend"});
  Check("csv", "a,b\n1,2", {"2 a=1|b=2"});
  Check("csv",
        "\xef\xbb\xbf"
        "a,b\n1,2\n",
        {"2 a=1|b=2"});
}

BOOST_AUTO_TEST_CASE(EmptyCsvFieldsAreAbsentUnlessQuoted) {
  Check("csv", "a,b,c\n,\"\",3\n", {"2 b=|c=3"});
  Check("csv", "a,b\n,\n", {"2 "});
}

BOOST_AUTO_TEST_CASE(LinesOfCsvAreCountedInsideQuotes) {
  Check("csv", "a\n\"1\n2\n\"\n\nx\n", {"2 a=1\n2\n", "6 a=x"});
}

BOOST_AUTO_TEST_CASE(MalformedCsvNamesFieldAndLine) {
  Check("csv", "a,b\n1\n1,2,3\n1,x\"y\n\"1\"z,2\n1,2\n",
        {"2 ! 1 fields; the header has 2", "3 ! 3 fields; the header has 2",
         "4 ! field 2: a quote inside a field without quotes",
         "5 ! field 1: text behind a closing quote", "6 a=1|b=2"});
  Check("csv", "a\n\"open\n1\n", {"2 ! field 1: a quote is opened and not closed"});
  Check("csv", "a,a\n1,2\n", {"InvalidArgument: text:1: header: name 'a' occurs twice"});
  Check("csv", "", {});
}

BOOST_AUTO_TEST_CASE(UnknownFormatsAreSuggestedFor) {
  Check("json", "",
        {"InvalidArgument: --format 'json': expected one of jsonl, csv, tsv, deb822, "
         "apt-contents, dpkg-log; did you mean 'jsonl'?"});
}

/// What RFC 4180 says a record looks like.
std::string CsvOf(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (!line.empty()) line += ',';
    line += '"';
    for (const char byte : field) line += byte == '"' ? std::string("\"\"") : std::string(1, byte);
    line += '"';
  }
  return line + "\n";
}

BOOST_AUTO_TEST_CASE(RandomCsvComesBackAsWritten) {
  TestRandom random("record_reader");
  constexpr std::string_view kAlphabet("a,\"\r\n\0 \xff", 8);
  std::string text = "a,b,c\n";
  std::vector<std::vector<std::string>> rows;
  for (int i = 0; i < 20'000; ++i) {
    auto& row = rows.emplace_back(3);
    for (std::string& field : row) {
      for (size_t n = random.Below(40); n > 0; --n)
        field += kAlphabet[random.Below(kAlphabet.size())];
    }
    text += CsvOf(row);
  }
  TextStream stream(text);
  tools::InputBuffer input(stream.file(), "text");
  const auto reader = tools::NewCsvReader(&input, true);
  tools::Record record;
  for (const auto& row : rows) {
    BOOST_REQUIRE(*reader->Next(&record));
    BOOST_REQUIRE_EQUAL(record.problem, "");
    BOOST_REQUIRE_EQUAL(record.fields.size(), 3);
    for (size_t i = 0; i < 3; ++i) BOOST_REQUIRE(record.fields[i].value == row[i]);
  }
  BOOST_CHECK(!*reader->Next(&record));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
