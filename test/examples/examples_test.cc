// The programs in tools/examples do what their comments say: each runs in a process of its own,
// and what it prints is compared.
#define BOOST_TEST_DYN_LINK
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

/// The path of a program beside the one that the build names.
std::string ProgramPath(const std::string& name) {
  const char* program = std::getenv("TANDEM");
  return std::filesystem::path(program == nullptr ? "build/tandem" : program).parent_path() / name;
}

struct Run {
  std::string out;
  int exit_code = 0;
};

Run RunCommand(const std::string& command) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  BOOST_REQUIRE(pipe != nullptr);
  Run run;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof(buffer), pipe)) {
    run.out.append(buffer, count);
  }
  run.exit_code = WEXITSTATUS(pclose(pipe));
  return run;
}

/// Runs an example on a new directory.
void CheckExample(const std::string& name, const std::string& expected) {
  const TemporaryDirectory directory;
  const std::string program = ProgramPath(name);
  const Run run = RunCommand(program + " " + directory.Path("db") + " 2>/dev/null");
  BOOST_CHECK_EQUAL(run.out, expected);
  BOOST_CHECK_EQUAL(run.exit_code, 0);
  BOOST_CHECK_EQUAL(RunCommand(program + " 2>&1").exit_code, 2);
  BOOST_CHECK_EQUAL(RunCommand(program + " /nowhere/at/all 2>&1").exit_code, 1);
}

BOOST_AUTO_TEST_SUITE(examples)

BOOST_AUTO_TEST_CASE(ACacheForgets) {
  CheckExample("example_cache",
               "/index.html: <h1>Hello</h1>\n"
               "/fresh: computed a minute ago\n"
               "/stale: not cached\n"
               "/removed: not cached\n");
}

BOOST_AUTO_TEST_CASE(OrdersComeInPagesAndByIndex) {
  CheckExample("example_orders",
               R"(page 1
  2026-0001 bob 700
  2026-0002 eva 1400
  2026-0003 ann 2100
  2026-0004 bob 2800
page 2
  2026-0005 eva 500
  2026-0006 ann 1200
  2026-0007 bob 1900
  2026-0008 eva 2600
page 3
  2026-0009 ann 300
  2026-0010 bob 1000
bob's from 500
  2026-0001 bob 700
  2026-0004 bob 2800
  2026-0007 bob 1900
  2026-0010 bob 1000
bob's from 500, largest first
  2026-0004 bob 2800
  2026-0007 bob 1900
  2026-0010 bob 1000
  2026-0001 bob 700
refused: InvalidArgument: row '2026-9999', column 'd:total', index 'by_total': )"
               R"(value 'a lot' of column 'total' does not fit the index type int64
)");
}

BOOST_AUTO_TEST_CASE(AListenerHearsOfFlushesAndCompactions) {
  CheckExample("example_watch", R"(flush of sensors: 1000 rows in memory, 1000 written: OK
flush of sensors: 1000 rows in memory, 1000 written: OK
flush of sensors: 1000 rows in memory, 1000 written: OK
compaction of sensors: 3 files of 3000 rows to 1 of 1000: OK
operations 3000
flushes 3
flushed_rows 3000
compactions 1
compacted_rows 1000
stalls 0
listener_failures 0
)");
}

BOOST_AUTO_TEST_CASE(WritesAreSpreadByACopyWhileTheyGoOn) {
  CheckExample("example_regions", R"(4 regions, each with 25 to 25 % of the sample
events: 0 % 0 % 0 % 100 % of the writes
salted: 26 % 24 % 22 % 26 % of the writes
12000 of 12000 events
)");
}

BOOST_AUTO_TEST_CASE(AnObserverKeepsTotalsExact) {
  CheckExample("example_totals",
               R"(ann: 2 orders, 350
bob: 1 orders, 100
refused: InvalidArgument: observer 'totals' in BeforeWrite: )"
               R"(an order is written and deleted as a whole
ann: the total equals a recount
bob: the total equals a recount
eva: the total equals a recount
)");
}

BOOST_AUTO_TEST_CASE(AJobQueueLosesNothingWhenItIsKilled) {
  const Run run =
      RunCommand("python3 test/examples/job_queue_test.py " + ProgramPath("example_job_queue") +
                 " " + ProgramPath("tandem") + " 2>&1");
  BOOST_CHECK_MESSAGE(run.exit_code == 0, run.out);
  std::printf("note: %s", run.out.c_str());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
