// What put says is what came of the write: under every limit of descriptors it fails and leaves
// nothing, or it succeeds.
#define BOOST_TEST_DYN_LINK
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include "test/support/temporary_directory.h"
#include "test/tools/program.h"

namespace tandem::test {
namespace {

BOOST_AUTO_TEST_SUITE(write_verbs)

BOOST_AUTO_TEST_CASE(PutSucceedsExactlyWhenTheRowIsThere) {
  const char* const program = std::getenv("TANDEM");
  BOOST_REQUIRE_MESSAGE(program != nullptr, "TANDEM names no program");
  const TemporaryDirectory directory;
  const std::string path = directory.Path("db"), words = directory.Path("words");
  BOOST_REQUIRE_EQUAL(RunProgram({"create", path, "t", "--index", "c=d:c"}).exit_code, 0);
  int refused = 0, done = 0;
  for (int limit = 4; limit <= 32; ++limit) {
    const std::string row = "row" + std::to_string(limit);
    const std::string command = "ulimit -n " + std::to_string(limit) + "; exec " + program +
                                " put " + path + " t " + row + " d:c=v 2>" + words;
    const int status = std::system(command.c_str());
    BOOST_REQUIRE(WIFEXITED(status));
    const bool is_there = RunProgram({"get", path, "t", row}).exit_code == 0;
    BOOST_CHECK_MESSAGE((WEXITSTATUS(status) == 0) == is_there,
                        "ulimit -n " << limit << ": exit " << WEXITSTATUS(status) << ", the row is "
                                     << (is_there ? "there" : "not there"));
    (is_there ? done : refused) += 1;
  }
  BOOST_CHECK_GT(refused, 0);
  BOOST_CHECK_GT(done, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
