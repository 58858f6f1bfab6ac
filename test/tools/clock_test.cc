// The verb clock, and what info says of the clock, over databases that another clock has written.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include "base/file_system.h"
#include "base/random.h"
#include "engine/engine.h"
#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/tools/program.h"
#include "test/tools/require_ok.h"
#include "test/tools/shell.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"

namespace tandem::test {
namespace {

constexpr int64_t kDay = 24 * 3'600'000'000ll;

/// Makes a database whose time is so far from that of this machine, with a row that lives ten days.
void MakeDatabase(const std::string& path, int64_t ahead_micros) {
  const auto files = base::NewPosixFileSystem();
  const auto random = base::NewSeededRandom(1);
  ManualClock clock(base::NewSystemClock()->WallMicros() + ahead_micros);
  InlineExecutor executor(clock);
  engine::Environment environment;
  environment.file_system = files.get();
  environment.clock = &clock;
  environment.random = random.get();
  environment.executor = &executor;
  Options options;
  options.create_if_missing = true;
  auto engine = engine::Engine::Open(path, options, engine::Tuning(), environment);
  RequireOk(engine.status());
  TableOptions table;
  table.name = "t";
  table.families = {{.name = "d", .ttl_micros = 10 * kDay}};
  RequireOk((*engine)->CreateTable(table));
  WriteBatch batch;
  batch.Put("t", "row", "d", "c", "1");
  RequireOk((*engine)->Write({}, batch));
  RequireOk((*engine)->Close());
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct ClockDatabase {
  std::string Clock(const std::string& path) {
    return RunProgram({"clock", path, "--output", "jsonl"}).out;
  }
  std::string Rows(const std::string& path) {
    return RunProgram({"count", path, "t", "--output", "raw"}).out;
  }
  const TemporaryDirectory directory;
  const std::string path = directory.Path("db");
};

BOOST_FIXTURE_TEST_SUITE(ClockVerb, ClockDatabase)

BOOST_AUTO_TEST_CASE(ADatabaseThatRestedForTwoYearsWaitsForTheVerb) {
  MakeDatabase(path, -730 * kDay);
  BOOST_CHECK(Has(Clock(path), R"("state":"doubted")"));
  BOOST_CHECK(Has(RunProgram({"info", path, "--output", "jsonl"}).out, R"("clock":"doubted")"));
  BOOST_CHECK_EQUAL(RunProgram({"put", path, "t", "second", "d:c=2"}).exit_code, 0);
  BOOST_CHECK_EQUAL(Rows(path), "2\n");
  const ProgramRun verbose = RunProgram({"compact", path, "t", "--verbose"});
  BOOST_CHECK_EQUAL(verbose.exit_code, 0);
  BOOST_CHECK_MESSAGE(Has(verbose.err, "tandem clock DB --accept"), verbose.err);
  BOOST_CHECK_EQUAL(Rows(path), "2\n");

  const ProgramRun accepted = RunProgram({"clock", path, "--accept", "--output", "jsonl"});
  BOOST_CHECK_EQUAL(accepted.exit_code, 0);
  BOOST_CHECK(Has(accepted.out, R"("state":"right")"));
  BOOST_CHECK(Has(Clock(path), R"("state":"right")"));
  BOOST_CHECK_EQUAL(Rows(path), "0\n");
  BOOST_CHECK_EQUAL(RunProgram({"put", path, "t", "third", "d:c=3"}).exit_code, 0);
  BOOST_CHECK_EQUAL(Rows(path), "1\n");
}

BOOST_AUTO_TEST_CASE(TheProgramItselfTakesTheWord) {
  const char* const program = std::getenv("TANDEM");
  if (program == nullptr) return;
  MakeDatabase(path, -730 * kDay);
  const std::string run = std::string(program) + " clock " + path + " --output jsonl";
  BOOST_CHECK(Has(OutputOf(run), R"("state":"doubted")"));
  BOOST_CHECK(Has(OutputOf(run + " --accept"), R"("state":"right")"));
  BOOST_CHECK(Has(OutputOf(run), R"("state":"right")"));
}

BOOST_AUTO_TEST_CASE(AClockBehindCannotBeAccepted) {
  MakeDatabase(path, 30 * 365 * kDay);
  BOOST_CHECK(Has(Clock(path), R"("state":"behind")"));
  const ProgramRun refused = RunProgram({"clock", path, "--accept"});
  BOOST_CHECK_EQUAL(refused.exit_code, 5);
  BOOST_CHECK_MESSAGE(Has(refused.err, "never goes back"), refused.err);
  BOOST_CHECK_EQUAL(Rows(path), "1\n");
}

BOOST_AUTO_TEST_CASE(ARightClockNeedsNoWord) {
  MakeDatabase(path, -5 * kDay);
  BOOST_CHECK(Has(Clock(path), R"("state":"right")"));
  BOOST_CHECK_EQUAL(RunProgram({"clock", path, "--accept"}).exit_code, 0);
  BOOST_CHECK_EQUAL(RunProgram({"clock", directory.Path("none")}).exit_code, 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
