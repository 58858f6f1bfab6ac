// The verb emulate: from its options to records and a page. What cannot be emulated is in
// scripts/emulate.txt, what it computes in emulator_test.cc.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sstream>
#include <string>

#include "test/support/temporary_directory.h"
#include "test/tools/program.h"

namespace tandem::test {
namespace {

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(emulate_verb)

BOOST_AUTO_TEST_CASE(TwoDesignsComeBesideEachOther) {
  const TemporaryDirectory directory;
  const std::string page = directory.Path("page.html");
  const ProgramRun run =
      RunProgram({"emulate", "--generator", "sequence", "--keys", "20000", "--beside", "hash+id",
                  "--beside-splits", "hex:4", "--memory", "8MiB", "--index", "by_value=d:value",
                  "--output", "jsonl", "--html", page});
  BOOST_TEST(run.err == "");
  BOOST_REQUIRE_EQUAL(run.exit_code, 0);
  BOOST_TEST(Count(run.out, R"("kind":"total")") == 2u);
  BOOST_TEST(Count(run.out, R"("kind":"row")") == 2u);
  BOOST_TEST(Count(run.out, R"("kind":"moment")") >= 40u);
  BOOST_TEST(Count(run.out, R"("rows_in_files":20000,)") == 2u);
  BOOST_TEST(Count(run.out, R"("index_bytes":0,)") == 0u);
  BOOST_TEST(Has(run.out, R"("design":"hash+id","rows_put":20000,"regions":4)"));
  const std::string html = Contents(page);
  BOOST_TEST(Has(html, "<title>sequence beside hash+id</title>"));
  BOOST_TEST(Count(html, "<svg") == 6u);

  const ProgramRun table =
      RunProgram({"emulate", "--generator", "sequence", "--keys", "20000", "--beside", "hash+id"});
  BOOST_TEST(Has(table.out, "total "));
  BOOST_TEST(Has(table.out, "rows_in_files "));
  BOOST_TEST(Has(table.out, "file_median "));
}

BOOST_AUTO_TEST_CASE(SizesOfHBaseAreListed) {
  const TemporaryDirectory directory;
  const std::string site = directory.Path("site.xml");
  std::ofstream(site) << "<configuration><property><name>hbase.hregion.max.filesize</name>"
                         "<value>1048576</value></property><property>"
                         "<name>hbase.hregion.memstore.flush.size</name><value>0</value>"
                         "</property></configuration>";
  const ProgramRun run = RunProgram({"emulate", "--generator", "reverse", "--keys", "50000",
                                     "--hbase-site", site, "--output", "jsonl"});
  BOOST_REQUIRE_EQUAL(run.exit_code, 0);
  BOOST_TEST(
      Has(run.out, R"("name":"hbase.hregion.max.filesize","value":1048576,"note":"from the)"));
  BOOST_TEST(Has(run.out, "HBase's default: expected 65536 to 1099511627776, found '0'"));
  BOOST_TEST(Has(run.out, R"("name":"memstores_total_bytes","value":536870912)"));
  BOOST_TEST(!Has(run.out, R"("splits":0,"joins")"));
}

BOOST_AUTO_TEST_CASE(RowsMayBeLikeThoseOfATable) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  BOOST_REQUIRE_EQUAL(
      RunProgram({"create", path, "t", "--family", "f", "--index", "by_a=f:a"}).exit_code, 0);
  for (const char* row : {"r1", "r2", "r3"}) {
    BOOST_REQUIRE_EQUAL(RunProgram({"put", path, "t", row, "f:a=some", "f:b=value"}).exit_code, 0);
  }
  const ProgramRun run = RunProgram({"emulate", "--generator", "sequence", "--keys", "3000",
                                     "--like", path, "--like-table", "t", "--output", "jsonl"});
  BOOST_TEST(run.err == "");
  BOOST_REQUIRE_EQUAL(run.exit_code, 0);
  BOOST_TEST(Has(run.out, R"("raw_bytes":23.0,)"));  // 12 of a key, a, b, some, value.
  const ProgramRun empty = RunProgram({"emulate", "--database", path, "--table", "none"});
  BOOST_TEST(empty.exit_code == 3);
}

BOOST_AUTO_TEST_CASE(KeysOfAFileStandForMany) {
  const TemporaryDirectory directory;
  const std::string keys = directory.Path("keys");
  {
    std::ofstream file(keys);
    for (int i = 0; i < 5'000; ++i) file << "key" << 10'000 + i * 7 % 5'000 << "\n";
  }
  const ProgramRun run = RunProgram(
      {"emulate", "--file", keys, "--weight", "1000", "--memory", "64MiB", "--output", "jsonl"});
  BOOST_TEST(run.err == "");
  BOOST_REQUIRE_EQUAL(run.exit_code, 0);
  BOOST_TEST(Has(run.out, R"("rows_in_files":5000000,)"));
}

BOOST_AUTO_TEST_CASE(CtrlCEndsAnEmulation) {
  const std::atomic<bool> interrupted{true};
  const ProgramRun run = RunProgram({"emulate", "--generator", "hash+id"}, "", &interrupted);
  BOOST_TEST(run.exit_code == 130);
  BOOST_TEST(run.err == "tandem: emulate: interrupted after 65,536 keys\n");
  BOOST_TEST(run.out == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
