// Records and rows in every form; no form loses a byte.
#define BOOST_TEST_DYN_LINK
#include "tools/tandem/output.h"

#include <boost/test/unit_test.hpp>
#include <cstdio>

#include "test/support/test_random.h"
#include "test/tools/input_from_text.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/json.h"
#include "tools/tandem/output_table.h"
#include "tools/tandem/row_output.h"

namespace tandem::test {
namespace {

using tools::OutputMode;

/// What `write` leaves on a stream.
template <typename Write>
std::string Captured(Write write) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* const out = open_memstream(&text, &size);
  write(out);
  std::fclose(out);
  std::string captured(text, size);
  std::free(text);
  return captured;
}

std::string OneRecord(OutputMode mode) {
  return Captured([mode](std::FILE* out) {
    const auto writer = tools::NewRecordWriter(mode, out);
    writer->Begin("thing", {"name", "count", "gone", "flag"});
    writer->Add({std::string_view("a,\"b\"\t\n\xff\\", 9), 42, {}, true});
    writer->End();
  });
}

BOOST_AUTO_TEST_SUITE(output)

BOOST_AUTO_TEST_CASE(ARecordLooksTheSameInEveryForm) {
  BOOST_CHECK_EQUAL(OneRecord(OutputMode::kJsonLines),
                    "{\"kind\":\"thing\",\"name_b64\":\"YSwiYiIJCv9c\",\"count\":42,\"gone\":null,"
                    "\"flag\":true}\n");
  BOOST_CHECK_EQUAL(OneRecord(OutputMode::kCsv),
                    "name,count,gone,flag\r\n\"a,\"\"b\"\"\t\n\xff\\\",42,,true\r\n");
  BOOST_CHECK_EQUAL(OneRecord(OutputMode::kTsv),
                    "name\tcount\tgone\tflag\na,\"b\"\\x09\\x0a\\xff\\x5c\t42\t\\N\ttrue\n");
  BOOST_CHECK_EQUAL(OneRecord(OutputMode::kRaw), "a,\"b\"\t\n\xff\\\n42\n\ntrue\n");
  BOOST_CHECK_EQUAL(OneRecord(OutputMode::kTable),
                    "name                   count  gone  flag\n"
                    "a,\"b\"\\x09\\x0a\\xff\\x5c     42        true\n");
}

BOOST_AUTO_TEST_CASE(PropertiesAreAlignedInATable) {
  const tools::Property properties[] = {{"rows", 3}, {"longer", "x"}};
  const auto write = [&](OutputMode mode) {
    return Captured(
        [&](std::FILE* out) { tools::NewRecordWriter(mode, out)->AddProperties("k", properties); });
  };
  BOOST_CHECK_EQUAL(write(OutputMode::kTable), "rows    3\nlonger  x\n");
  BOOST_CHECK_EQUAL(write(OutputMode::kJsonLines),
                    "{\"kind\":\"k\",\"rows\":3,\"longer\":\"x\"}\n");
}

BOOST_AUTO_TEST_CASE(LongTablesStreamBehindTheMeasuredRows) {
  const std::string text = Captured([](std::FILE* out) {
    const auto writer = tools::NewTableWriter(out);
    writer->Begin("k", {"n", "v"});
    for (size_t i = 0; i < tools::kTableRowsMeasured + 2; ++i) writer->Add({i, "value"});
    writer->End();
  });
  BOOST_CHECK_EQUAL(std::count(text.begin(), text.end(), '\n'), tools::kTableRowsMeasured + 3);
  BOOST_CHECK(text.ends_with("\n1001  value\n"));
}

BOOST_AUTO_TEST_CASE(CutTextCountsCharactersNotBytes) {
  BOOST_CHECK_EQUAL(tools::CutToWidth("äöü", 3), "äöü");
  BOOST_CHECK_EQUAL(tools::CutToWidth("äöüß", 3), "äö…");
}

std::string RandomBytes(TestRandom& random) {
  constexpr std::string_view kAlphabet("a,\"\t\r\n\0\\\xc3\xa9\xff ", 12);
  std::string bytes;
  for (size_t n = random.Below(12); n > 0; --n) bytes += kAlphabet[random.Below(kAlphabet.size())];
  return bytes;
}

/// A member of a line of JSON as bytes: `name`, or `name_b64` decoded.
std::string Member(const std::vector<tools::Field>& fields, const std::string& name) {
  for (const tools::Field& field : fields) {
    if (field.name == name) return std::string(field.value);
    if (field.name == name + "_b64") return *tools::DecodeBase64(field.value);
  }
  return "absent";
}

BOOST_AUTO_TEST_CASE(RandomRecordsComeBackFromJsonCsvAndTsv) {
  TestRandom random("output");
  tools::JsonObjectReader json;
  for (int i = 0; i < 3000; ++i) {
    const std::string a = RandomBytes(random), b = RandomBytes(random);
    const auto write = [&](OutputMode mode) {
      return Captured([&](std::FILE* out) {
        const auto writer = tools::NewRecordWriter(mode, out);
        writer->Begin("k", {"a", "b"});
        writer->Add({a, b});
        writer->End();
      });
    };
    std::string line = write(OutputMode::kJsonLines);
    std::vector<tools::Field> fields;
    BOOST_REQUIRE_EQUAL(json.Read(line.data(), &fields), "");
    BOOST_REQUIRE(Member(fields, "a") == a && Member(fields, "b") == b);

    const auto csv = ReadAll("csv", write(OutputMode::kCsv));
    BOOST_REQUIRE(csv == std::vector<std::string>{"2 a=" + a + "|b=" + b});

    std::string tsv = write(OutputMode::kTsv);
    tsv.erase(0, tsv.find('\n') + 1);
    tsv.pop_back();
    const auto parts = tools::SplitText(tsv, '\t');
    if (parts.size() != 2)
      BOOST_REQUIRE(a.empty() && b.empty());
    else
      BOOST_REQUIRE(*tools::ParseEscaped(parts[0]) == a && *tools::ParseEscaped(parts[1]) == b);
  }
}

std::string RowAs(OutputMode mode, std::vector<ColumnName> columns, uint32_t versions = 1) {
  const Cell cells[] = {{"d", "a", 7, "new"}, {"d", "a", 5, "old"}, {"d", "b", 6, "\n"}};
  return Captured([&](std::FILE* out) {
    std::vector<tools::SelectedField> fields;
    for (ColumnName& column : columns) fields.push_back({.column = std::move(column)});
    tools::RowWriter writer({mode, std::move(fields), {}, versions, "d"}, out);
    writer.Add(RowView("key", cells));
    writer.End();
  });
}

BOOST_AUTO_TEST_CASE(RowsAreCellsUnlessColumnsAreChosen) {
  BOOST_CHECK_EQUAL(RowAs(OutputMode::kTsv, {}, 2),
                    "row\tfamily\tcolumn\ttimestamp\tvalue\nkey\td\ta\t7\tnew\nkey\td\ta\t5\told\n"
                    "key\td\tb\t6\t\\x0a\n");
  BOOST_CHECK_EQUAL(RowAs(OutputMode::kTsv, {{"d", "b"}, {"", "a"}, {"d", "c:"}}),
                    "row\td:b\ta\td:c:\nkey\t\\x0a\tnew\t\\N\n");
  BOOST_CHECK_EQUAL(RowAs(OutputMode::kRaw, {}), "key\n");
  BOOST_CHECK_EQUAL(RowAs(OutputMode::kRaw, {{"d", "a"}}, 2), "new\nold\n");
  BOOST_CHECK_EQUAL(
      RowAs(OutputMode::kJsonLines, {}),
      "{\"row\":\"key\",\"cells\":[{\"family\":\"d\",\"column\":\"a\",\"timestamp\":7,"
      "\"value\":\"new\"},{\"family\":\"d\",\"column\":\"a\",\"timestamp\":5,\"value\":"
      "\"old\"},{\"family\":\"d\",\"column\":\"b\",\"timestamp\":6,\"value_b64\":"
      "\"Cg==\"}]}\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
