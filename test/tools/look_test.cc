// explain and info: figures that depend on the format are not compared, those that do not are.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/support/temporary_directory.h"
#include "test/tools/program.h"

namespace tandem::test {
namespace {

bool Holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Pets {
 public:
  Pets() : path_(directory_.Path("db")) {
    RunProgram({"create", path_, "pets", "--index", "kind=d:kind", "--index", "age=d:age:int64"});
    std::string rows = "name,kind,age\n";
    for (int i = 0; i < 100; ++i) {
      rows +=
          "pet" + std::to_string(i) + (i % 10 == 0 ? ",dog," : ",cat,") + std::to_string(i) + "\n";
    }
    const ProgramRun run = RunProgram({"import", path_, "pets", "-", "--format", "csv"}, rows);
    BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.err);
  }
  std::string Run(const char* verb, std::vector<std::string> words) const {
    words.insert(words.begin(), {verb, path_});
    words.insert(words.end(), {"--output", "jsonl"});
    const ProgramRun run = RunProgram(words);
    BOOST_CHECK_MESSAGE(run.exit_code == 0, run.err);
    return run.out;
  }

 private:
  TemporaryDirectory directory_;
  std::string path_;
};

BOOST_AUTO_TEST_SUITE(look)

BOOST_AUTO_TEST_CASE(ExplainNamesTheIndexAndWhyNotTheOthers) {
  const Pets pets;
  const std::string used = pets.Run("explain", {"pets", "kind = 'dog' AND age >= 0"});
  BOOST_CHECK(Holds(used, R"("index":"kind")"));
  BOOST_CHECK(Holds(used, R"("entries":10)"));
  BOOST_CHECK(Holds(used, R"("rows":10)"));
  BOOST_CHECK(Holds(used, R"("rejected":["index age: )"));
  const std::string scan = pets.Run("explain", {"pets", "kind = 'dog'", "--no-index"});
  BOOST_CHECK(Holds(scan, R"("access":"scan","index":null)"));
  BOOST_CHECK(Holds(scan, R"("rows":10)"));
  const std::string told =
      pets.Run("explain", {"pets", "kind = 'dog' AND age >= 0", "--index", "age"});
  BOOST_CHECK(Holds(told, R"("index":"age")") && Holds(told, R"("rows":10)"));
  BOOST_CHECK(Holds(pets.Run("explain", {"pets", "kind = 'dog'", "--as-of", "5"}), R"("rows":0)"));
}

BOOST_AUTO_TEST_CASE(InfoHasTheRowKeyOfATypedTable) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  RunProgram({"create", path, "typed", "--key", "SALT(8),user:text"});
  RunProgram({"create", path, "plain"});
  const std::string info = RunProgram({"info", path, "--output", "jsonl"}).out;
  BOOST_CHECK(Holds(info, R"({"kind":"row_key","table":"typed","row_key":"salt(8), user:text"})"));
  BOOST_CHECK(!Holds(info, R"("kind":"row_key","table":"plain")"));
}

// What info prints makes the same index again.
BOOST_AUTO_TEST_CASE(InfoPrintsDefinitionsThatIndexCreateReads) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  const std::vector<std::string> definitions = {
      "two=d:city, d:age::int64 DESC",
      "cover=lower(d:name)::text INCLUDE (d:phone, m:size)",
      "some=d:age::int64 WHERE m:size::bytes = '1'",
      "unique mail=lower(d:mail)::text",
      "global rare=d:code",
      "part=split_part(_row, '/', 2)::int64 DESC",
      "both=concat(d:city, '/', d:name)::text"};
  RunProgram({"create", path, "t", "--family", "d", "--family", "m"});
  for (const std::string& definition : definitions) {
    const ProgramRun run = RunProgram({"index", "create", path, "t", definition});
    BOOST_CHECK_MESSAGE(run.exit_code == 0, run.err);
  }
  const std::string info = RunProgram({"info", path, "--output", "jsonl"}).out;
  for (const std::string& definition : definitions) {
    BOOST_CHECK_MESSAGE(Holds(info, "\"definition\":\"" + definition + "\"}"), definition);
  }
}

BOOST_AUTO_TEST_CASE(InfoHasARecordForEveryPart) {
  const Pets pets;
  const std::string info = pets.Run("info", {});
  for (const char* part :
       {R"("kind":"database")", R"("kind":"table","table":"pets","families":1,"indexes":2)",
        R"("rows_in_files":100,"cells":300,"deletes":0)", R"("kind":"family","table":"pets")",
        R"("index":"kind","column":"d:kind","type":"bytes","order":"asc")",
        R"("entries_in_files":100,"values":2,)", R"("index":"age","column":"d:age","type":"int64")",
        R"("entries_in_files":100,"values":100,)", R"("kind":"region")", R"("kind":"file")",
        R"("min_key":"pet0","max_key":"pet99")"}) {
    BOOST_CHECK_MESSAGE(Holds(info, part), part << " is not in\n" << info);
  }
}

BOOST_AUTO_TEST_CASE(InfoShowsRegionsAndTheOptionsOfFamilies) {
  TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  RunProgram({"create", path, "t", "--family",
              "d,versions=3,ttl=7d,compression=none,block-size=16KiB", "--split-keys", "g,0x6d00"});
  std::string rows = "key\n";
  for (char key = 'a'; key <= 'z'; ++key) rows += std::string(1, key) + "\n";
  RunProgram({"import", path, "t", "-", "--format", "csv"}, rows);
  RunProgram({"put", path, "t", "zz", "d:x=1"});
  const std::string info = RunProgram({"info", path, "--output", "jsonl"}).out;
  for (const char* part :
       {R"("family":"d","versions":3,"ttl_micros":604800000000,"compression":"none",)",
        R"("block_size_bytes":16384})", R"("start":null,"end":"g","files":1,"rows_in_files":6,)",
        R"("start":"g","end_b64":"bQA=","files":1,"rows_in_files":7,)",
        R"("start_b64":"bQA=","end":null,"files":)", R"("regions":3,)"}) {
    BOOST_CHECK_MESSAGE(Holds(info, part), part << " is not in\n" << info);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
