// export and import: random tables come back to the byte, and what is exported is what was written.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>

#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"
#include "test/tools/input_from_text.h"
#include "test/tools/program.h"
#include "test/tools/require_ok.h"
#include "tools/tandem/bytes_text.h"

namespace tandem::test {
namespace {

constexpr uint32_t kVersions = 4;
constexpr const char* kFormats[] = {"jsonl", "csv", "tsv"};

std::vector<std::string> FamilyNames() {
  const std::vector<std::string> names = {"d", "e,", "f\xff\\"};
  return {names.begin(), names.begin() + std::min<size_t>(names.size(), kFamiliesMax)};
}

std::string Run(const std::vector<std::string>& words, const std::string& input = {}) {
  const ProgramRun run = RunProgram(words, input);
  BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.err);
  BOOST_REQUIRE_MESSAGE(run.err.find("malformed records 0") != std::string::npos || input.empty(),
                        run.err);
  return run.out;
}

void Create(const std::string& path) {
  TableOptions table;
  table.name = "t";
  for (const std::string& name : FamilyNames()) {
    table.families.push_back({.name = name, .max_versions = kVersions});
  }
  Options options;
  options.create_if_missing = true;
  auto database = Database::Open(path, options);
  BOOST_REQUIRE(database.has_value());
  RequireOk((*database)->CreateTable(table));
  RequireOk((*database)->Close());
}

/// Bytes that mean something in one of the forms, and any others.
std::string RandomBytes(TestRandom& random, size_t size_max) {
  if (random.OneIn(3)) {
    return random.Text(size_max, std::string_view("a\\xN0\"',\t\r\n\0{}[]:=\xc3\xa9\xff ", 24));
  }
  std::string bytes(random.Below(size_max + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
  return bytes;
}

/// What a table holds: by row, family and qualifier, newest first.
class Model {
 public:
  void Put(const std::string& row, const Cell& cell) {
    auto& versions = rows_[row][{std::string(cell.family), std::string(cell.qualifier)}];
    versions[cell.timestamp] = cell.value;
  }
  /// As tsv, written independently of the program's writers.
  std::string Tsv() const {
    std::string text = "row\tfamily\tcolumn\ttimestamp\tvalue\n";
    for (const auto& [row, columns] : rows_) {
      for (const auto& [name, versions] : columns) {
        uint32_t count = 0;
        for (const auto& [timestamp, value] : versions) {
          if (count++ == kVersions) break;
          text += tools::EscapeBytes(row) + "\t" + tools::EscapeBytes(name.first) + "\t" +
                  tools::EscapeBytes(name.second) + "\t" + std::to_string(timestamp) + "\t" +
                  tools::EscapeBytes(value) + "\n";
        }
      }
    }
    return text;
  }

 private:
  using Versions = std::map<int64_t, std::string, std::greater<>>;
  std::map<std::string, std::map<std::pair<std::string, std::string>, Versions>> rows_;
};

int64_t RandomTime(TestRandom& random) {
  if (random.OneIn(10)) return static_cast<int64_t>(random.Next());
  return static_cast<int64_t>(random.Below(12)) - 4;
}

/// Random puts, some flushed and some not; one row is wider than an object of jsonl gets.
void Fill(const std::string& path, TestRandom& random, Model* model) {
  auto database = Database::Open(path, {});
  BOOST_REQUIRE(database.has_value());
  const std::vector<std::string> families = FamilyNames();
  std::vector<std::string> keys(1, "wide");
  while (keys.size() < 60) keys.push_back("k" + RandomBytes(random, 20));
  std::vector<std::string> qualifiers(1);
  while (qualifiers.size() < 12) qualifiers.push_back(RandomBytes(random, 12));
  for (int i = 0; i < 3000; ++i) {
    const bool wide = random.OneIn(8);
    const std::string& key = wide ? keys[0] : keys[random.Below(keys.size())];
    const std::string qualifier =
        wide ? "w" + std::to_string(i) : qualifiers[random.Below(qualifiers.size())];
    const std::string value = RandomBytes(random, wide ? 9000 : random.OneIn(100) ? 300'000 : 30);
    const Cell cell{families[random.Below(families.size())], qualifier, RandomTime(random), value};
    WriteBatch batch;
    batch.Put("t", key, cell.family, cell.qualifier, cell.value, cell.timestamp);
    RequireOk((*database)->Write({.durability = Durability::kBuffered}, batch));
    model->Put(key, cell);
    if (random.OneIn(700)) RequireOk((*database)->Flush("t"));
  }
  RequireOk((*database)->Close());
}

BOOST_AUTO_TEST_SUITE(exports)

BOOST_AUTO_TEST_CASE(RandomTablesComeBackToTheByte) {
  TestRandom random("export");
  TemporaryDirectory directory;
  const std::string source = directory.Path("source");
  Create(source);
  Model model;
  Fill(source, random, &model);
  BOOST_REQUIRE(Run({"export", source, "t", "--format", "tsv"}) == model.Tsv());
  for (const std::string format : kFormats) {
    BOOST_TEST_CONTEXT(format) {
      const std::string exported = Run({"export", source, "t", "--format", format});
      const std::string copy = directory.Path(format);
      Create(copy);
      Run({"import", copy, "t", "-", "--format", format}, exported);
      BOOST_CHECK(Run({"export", copy, "t", "--format", format}) == exported);
      BOOST_CHECK(Run({"export", copy, "t", "--format", "tsv"}) == model.Tsv());
      // The same import again changes nothing.
      Run({"import", copy, "t", "-", "--format", format, "--batch", "7"}, exported);
      BOOST_CHECK(Run({"export", copy, "t", "--format", format}) == exported);
    }
  }
}

BOOST_AUTO_TEST_CASE(LongRowsAreSeveralObjectsAndOneRow) {
  TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  Run({"create", path, "t"});
  std::string csv = "key";
  std::string line = "\nwide";
  for (int i = 0; i < 200; ++i) {
    csv += ",c" + std::to_string(i);
    line += "," + std::string(20'000, 'v');
  }
  Run({"import", path, "t", "-", "--format", "csv"}, csv + line + "\nx" + std::string(200, ','));
  const std::string json = Run({"export", path, "t"});
  BOOST_CHECK_EQUAL(std::count(json.begin(), json.end(), '\n'), 5);
  size_t continued = 0;
  for (size_t at = 0; (at = json.find("],\"continues\":true}\n", at)) != json.npos; ++at)
    ++continued;
  BOOST_CHECK_EQUAL(continued, 3);
  BOOST_CHECK(Run({"scan", path, "t", "--output", "jsonl"}) == json);
  BOOST_CHECK_EQUAL(Run({"scan", path, "t", "--output", "raw"}), "wide\nx\n");
  const std::string chosen = Run({"scan", path, "t", "--columns", "c0,c199", "--output", "csv"});
  BOOST_CHECK_EQUAL(std::count(chosen.begin(), chosen.end(), '\n'), 2);
}

BOOST_AUTO_TEST_CASE(StoreFilesOfANamedSnapshotAreWritten) {
  TemporaryDirectory directory;
  const std::string path = directory.Path("db"), past = directory.Path("past");
  Run({"create", path, "t"});
  Run({"put", path, "t", "a", "d:x=1"});
  Run({"snapshot", "create", path, "s"});
  Run({"put", path, "t", "a", "d:x=2"});
  Run({"export", path, "t", "--files", past, "--snapshot", "s"});
  BOOST_CHECK_EQUAL(Run({"get", past, "t", "a", "--columns", "x", "--output", "raw"}), "1\n");
}

BOOST_AUTO_TEST_CASE(AnInterruptedExportSaysHowToGoOn) {
  TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  Run({"create", path, "t"});
  Run({"import", path, "t", "-", "--format", "csv"}, "key\n@a\n@b\n@c\n");
  const std::atomic<bool> interrupted{true};
  const ProgramRun run = RunProgram({"export", path, "t"}, "", &interrupted);
  BOOST_CHECK_EQUAL(run.exit_code, 130);
  BOOST_CHECK_EQUAL(run.err,
                    "tandem: export: interrupted before the last row; rows written: 1; --start "
                    "'\\x40a' goes on with the last of them\n");
  BOOST_CHECK_EQUAL(std::count(run.out.begin(), run.out.end(), '\n'), 1);
  const std::string rest = Run({"export", path, "t", "--start", "\\x40a"});
  BOOST_CHECK(rest.starts_with(run.out));
  BOOST_CHECK_EQUAL(std::count(rest.begin(), rest.end(), '\n'), 3);
}

std::vector<std::string> Read(const char* format, const std::string& text) {
  return ReadAll(format, text);
}
using Lines = std::vector<std::string>;

BOOST_AUTO_TEST_CASE(ExportedRowsAreRecognisedByTheirShape) {
  const std::string json =
      R"({"row":"r","cells":[{"family":"d","column":"c","timestamp":-7,"value":"v"},)"
      R"({"family_b64":"AA==","column":"","timestamp":1,"value_b64":"/w=="}],"continues":true})";
  BOOST_CHECK(Read("jsonl", json) == Lines{"1 [r] d:c@-7=v|" + std::string(1, '\0') + ":@1=\xff"});
  BOOST_CHECK(Read("csv", "row,family,column,timestamp,value\nr\\x2c,d,,5,\"a\\x0ab,\"\n") ==
              Lines{"2 [r,] d:@5=a\nb,"});
  BOOST_CHECK(Read("tsv", "row\tfamily\tcolumn\ttimestamp\tvalue\nr\td\t\\\\\t5\t\\tx\n") ==
              Lines{"2 [r] d:\\@5=\tx"});
  // Other members or names, or --row: records of fields.
  BOOST_CHECK(Read("jsonl", R"({"row":"r","cells":[],"more":1})") ==
              Lines{"1 row=r|cells=[]|more=1"});
  BOOST_CHECK(Read("jsonl", R"({"row":"r","cells":[1]})") == Lines{"1 row=r|cells=[1]"});
  BOOST_CHECK(Read("csv", "row,family\nr,d\n") == Lines{"2 row=r|family=d"});
  BOOST_CHECK(ReadAll({.name = "csv", .exported_rows = false},
                      "row,family,column,timestamp,value\nr,d,c,5,\\x\n") ==
              Lines{"2 row=r|family=d|column=c|timestamp=5|value=\\x"});
  BOOST_CHECK(ReadAll({.name = "jsonl", .exported_rows = false},
                      R"({"row":"r","cells":[{"a":1}]})") == Lines{"1 row=r|cells=[{\"a\":1}]"});
}

BOOST_AUTO_TEST_CASE(MalformedExportedRowsSayWhichCell) {
  const auto json = [](const std::string& cells) {
    return Read("jsonl", R"({"row":"r","cells":[)" + cells + "]}").at(0);
  };
  const std::string good = R"({"family":"d","column":"c","timestamp":1,"value":"v"})";
  BOOST_CHECK_EQUAL(json(good + R"(,{"family":"d","timestamp":1,"value":"v"})"),
                    "1 ! cell 2: has no column");
  BOOST_CHECK_EQUAL(json(R"({"family":"d","column":"c","value":"v"})"),
                    "1 ! cell 1: its timestamp is not a count of microseconds");
  BOOST_CHECK_EQUAL(json(R"({"family":"d","column":"c","timestamp":1.5,"value":"v"})"),
                    "1 ! cell 1: its timestamp is not a count of microseconds");
  BOOST_CHECK_EQUAL(json(R"({"family":"d","column":"c","timestamp":1,"value_b64":"?"})"),
                    "1 ! cell 1: its value_b64 is not base64");
  BOOST_CHECK_EQUAL(json(R"({"family":"d","column":"c","timestamp":1,"value":null})"),
                    "1 ! cell 1: has no value");
  BOOST_CHECK_EQUAL(json(good + ",7"), "1 ! cell 1: expected a list of flat objects");
  BOOST_CHECK_EQUAL(json(R"({"family":"d","column":"c","timestamp":1,"value":"v","x":1})"),
                    "1 ! cell 1: has members that no cell has");
  BOOST_CHECK(
      Read("csv", "row,family,column,timestamp,value\nr,d,c,x,v\nr,d,c,1,\\xg0\n") ==
      (Lines{"2 ! timestamp 'x': expected microseconds since 1970",
             "3 ! value: '\\x5cxg0' at position 1: expected two hex digits after \\x, as in "
             "\\x0a"}));
}

BOOST_AUTO_TEST_CASE(TsvHasEscapesAndAbsentFields) {
  BOOST_CHECK(Read("tsv", "a\tb\tc\r\n\\t\\n\\r\\\\\\x00\t\\N\t\r\n\n1\t2\t3") ==
              (Lines{"2 a=\t\n\r\\" + std::string(1, '\0') + "|c=", "4 a=1|b=2|c=3"}));
  BOOST_CHECK(
      Read("tsv", "a\tb\n1\n1\t\\q\n\\x0\t2\n\"x\ty\"\n") ==
      (Lines{"2 ! 1 fields; the header has 2",
             "3 ! field 2: a backslash that begins no escape (\\t \\n \\r \\xNN); write it \\\\",
             "4 ! field 1: a backslash that begins no escape (\\t \\n \\r \\xNN); write it \\\\",
             "5 a=\"x|b=y\""}));
  BOOST_CHECK(Read("tsv", "a\ta\n1\t2\n") ==
              Lines{"InvalidArgument: text:1: header: name 'a' occurs twice"});
  BOOST_CHECK(Read("tsv", "").empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
