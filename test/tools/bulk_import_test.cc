// import --bulk: the rows of an input, all of them or none.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "test/tools/program.h"

namespace tandem::test {
namespace {

struct BulkImport {
  BulkImport() {
    BOOST_REQUIRE_EQUAL(RunProgram({"create", path, "t", "--index", "by_c=d:c"}).exit_code, 0);
    BOOST_REQUIRE_EQUAL(RunProgram({"put", path, "t", "b", "d:c=0"}).exit_code, 0);
  }
  ProgramRun Import(const std::string& rows, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"import", path, "t", "-", "--format", "csv", "--bulk"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments, rows);
  }
  std::string Count(const std::string& predicate) {
    return RunProgram({"count", path, "t", predicate}).out;
  }

  TemporaryDirectory directory;
  const std::string path = directory.Path("db");
};

BOOST_FIXTURE_TEST_SUITE(bulk_import, BulkImport)

BOOST_AUTO_TEST_CASE(SortedRowsAreLoaded) {
  std::string rows = "id,c\n";
  for (int i = 1000; i < 4000; ++i) {
    rows += "r" + std::to_string(i) + "," + std::to_string(i % 3) + "\n";
  }
  const ProgramRun run = Import("id,c\na,1\nb,1\n" + rows.substr(5));
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  BOOST_CHECK_EQUAL(Count("c = 0"), "1000\n");
  BOOST_CHECK_EQUAL(Count("c = 1"), "1002\n");
  BOOST_CHECK_EQUAL(RunProgram({"verify", path, "--deep"}).exit_code, 0);
}

BOOST_AUTO_TEST_CASE(RowsInAnyOrderAreLoaded) {
  std::string rows = "id,c\n";
  for (int i = 0; i < 4000; ++i) {
    rows += "r" + std::to_string(i * 7 % 3000) + "," + std::to_string(i % 3) + "\n";
  }
  const ProgramRun run = Import(rows);
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  BOOST_CHECK(run.err.find("rows 3,000") != std::string::npos);
  BOOST_CHECK(run.err.find("repeated row keys 1,000") != std::string::npos);
  BOOST_CHECK_EQUAL(Count("c IS NOT NULL"), "3001\n");
  BOOST_CHECK_EQUAL(RunProgram({"verify", path, "--deep"}).exit_code, 0);
}

// Its records are not malformed: each of them would be refused.
BOOST_AUTO_TEST_CASE(ATableThatTakesNoLoadIsNamedOnce) {
  BOOST_REQUIRE_EQUAL(RunProgram({"observers", path, "t", "audit"}).exit_code, 0);
  const ProgramRun run = Import("id,c\na,1\nb,2\n");
  BOOST_CHECK_EQUAL(run.exit_code, 2);
  BOOST_CHECK_EQUAL(run.err,
                    "tandem: import: table 't' has the observer 'audit', which a load of files "
                    "would not ask; use Write, or take its observers off first\n");
  BOOST_CHECK_EQUAL(Count("c IS NOT NULL"), "1\n");
}

BOOST_AUTO_TEST_CASE(ARecordThatEndsTheImportLoadsNothing) {
  const ProgramRun run = Import("id,c\nm,1\nd,1\nn,1,2\n", {"--batch", "1", "--strict"});
  BOOST_CHECK_EQUAL(run.exit_code, 2);
  BOOST_CHECK(run.err.find("no row was loaded") != std::string::npos);
  BOOST_CHECK_EQUAL(Count("c = 1"), "0\n");
  BOOST_CHECK_EQUAL(RunProgram({"verify", path}).exit_code, 0);
}

BOOST_AUTO_TEST_CASE(AcknowledgementsDoNotGoWithIt) {
  const ProgramRun run = Import("id,c\nm,1\n", {"--acknowledge"});
  BOOST_CHECK_EQUAL(run.exit_code, 2);
  BOOST_CHECK_EQUAL(Count("c = 1"), "0\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
