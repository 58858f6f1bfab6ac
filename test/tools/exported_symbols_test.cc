// The shared library exports the public API, all of it and nothing else; and the script that proves
// it finds what is too much or missing.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "test/support/temporary_directory.h"
#include "test/tools/shell.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

/// The folder of the libraries: beside the program that the build names.
fs::path Libraries() {
  const char* program = std::getenv("TANDEM");
  return fs::path(program == nullptr ? "build/tandem" : program).parent_path();
}

/// What the script prints, and its exit code as the last line.
std::string Check(const fs::path& shared, const std::string& headers) {
  return OutputOf("python3 tools/install/exported_symbols.py " + shared.string() + " " +
                  (Libraries() / "libtandem.a").string() + " " + headers + " 2>&1; echo $?");
}

struct SharedLibrary {
  fs::path path = Libraries() / "libtandem.so";
  boost::test_tools::assertion_result IsBuilt() const { return fs::exists(path); }
};

BOOST_FIXTURE_TEST_SUITE(exported_symbols, SharedLibrary)

BOOST_AUTO_TEST_CASE(ThePublicApiIsExportedAndNothingElse) {
  if (!IsBuilt()) {
    std::printf("skipped: no shared library is built under a sanitizer\n");
    return;
  }
  const std::string said = Check(path, "include/tandem");
  BOOST_CHECK_MESSAGE(said.ends_with("all of the public API\n0\n"), said);
}

BOOST_AUTO_TEST_CASE(WhatIsNotDeclaredIsFound) {
  if (!IsBuilt()) return;
  const TemporaryDirectory headers;
  fs::copy("include/tandem", headers.path(), fs::copy_options::recursive);
  fs::remove(headers.Path("row.h"));
  const std::string said = Check(path, headers.path());
  BOOST_CHECK_MESSAGE(said.starts_with("exported, but no part of the public API: tandem::Row") &&
                          said.ends_with("\n1\n"),
                      said);
}

BOOST_AUTO_TEST_CASE(WhatIsMissingIsFound) {
  const TemporaryDirectory directory;
  const std::string empty = directory.Path("empty.so");
  BOOST_REQUIRE_EQUAL(OutputOf("g++ -shared -x c++ /dev/null -o " + empty + "; echo $?"), "0\n");
  const std::string said = Check(empty, "include/tandem");
  BOOST_CHECK_MESSAGE(
      said.find("public, but not exported: tandem::Database::Open(") != std::string::npos &&
          said.ends_with("\n1\n"),
      said);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
