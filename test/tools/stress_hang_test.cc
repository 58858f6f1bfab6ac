// A run of stress in which an operation does not come back ends with a report instead of standing
// still for ever.
#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <future>

#include "test/support/temporary_directory.h"
#include "test/tools/program.h"
#include "test/tools/shell.h"
#include "tools/simulation/watchdog.h"

namespace tandem::test {
namespace {

constexpr int64_t kMillisecond = 1000;

std::function<std::string()> Saying(std::string text) {
  return [text = std::move(text)] { return text; };
}

/// What the program says and how it ends; itself, since a hang ends the whole process.
std::string Output(const std::string& arguments) {
  const char* const program = std::getenv("TANDEM");
  return OutputOf(std::string(program == nullptr ? "build/tandem" : program) + " " + arguments +
                  " 2>&1; echo exit $?");
}

/// A pipe in the place of a file, which nobody reads: writing more than it holds blocks.
class PipeThatFills {
 public:
  explicit PipeThatFills(const std::string& path) {
    std::filesystem::remove(path);
    BOOST_REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    file_ = ::open(path.c_str(), O_RDWR);  // Both ends, so that no open waits for the other one.
    BOOST_REQUIRE(file_ >= 0);
    BOOST_REQUIRE(fcntl(file_, F_SETPIPE_SZ, 1) > 0);  // As little as there can be: a page.
  }
  PipeThatFills(const PipeThatFills&) = delete;
  PipeThatFills& operator=(const PipeThatFills&) = delete;
  ~PipeThatFills() { close(file_); }

 private:
  int file_ = -1;
};

/// A run that goes on with `arguments` where an earlier one ended, and hangs.
std::string HangingOutput(const std::string& path, const std::string& arguments) {
  const ProgramRun first = RunProgram({"stress", path, "--threads", "3", "--rows", "60",
                                       "--operations", "200", "--seed", "1", "--duration", "10m"});
  BOOST_REQUIRE_MESSAGE(first.exit_code == 0, first.err);
  const PipeThatFills log(path + "/operations");
  return Output("stress " + path + " --threads 3 --keep-going --duration 10m --hang-limit 3s " +
                arguments);
}

BOOST_AUTO_TEST_SUITE(stress_hang)

BOOST_AUTO_TEST_CASE(AWatchdogTellsWhatHangs) {
  std::promise<std::vector<Underway>> told;
  Watchdog watchdog({.slots = 4,
                     .limit_micros = 50 * kMillisecond,
                     .on_hang = [&](const auto& all) { told.set_value(all); }});
  watchdog.Begin(0, Saying("over"));
  watchdog.End(0);
  watchdog.Begin(2, Saying("before"));
  watchdog.Begin(2, Saying("slow"));
  const std::vector<Underway> underway = told.get_future().get();
  BOOST_REQUIRE(underway.size() == 1u);
  BOOST_TEST(underway[0].slot == 2u);
  BOOST_TEST(underway[0].what == "slow");
  BOOST_TEST(underway[0].hangs);
  BOOST_TEST(underway[0].micros > 50 * kMillisecond);
}

BOOST_AUTO_TEST_CASE(WhatComesBackInTimeIsNoHang) {
  const auto clock = base::NewSystemClock();
  std::atomic<int> barks{0};
  for (const int64_t limit : {int64_t{0}, 20'000 * kMillisecond}) {
    Watchdog watchdog({.limit_micros = limit, .on_hang = [&](const auto&) { ++barks; }});
    watchdog.Begin(0, Saying("quick"));
    clock->SleepMicros(150 * kMillisecond);  // More than it rests between its looks.
  }
  BOOST_TEST(barks == 0);
}

BOOST_AUTO_TEST_CASE(ThreadsThatHangEndTheRunWithAReport) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  const std::string output = HangingOutput(path, "");
  BOOST_TEST(output.ends_with("exit 8\n"), output);
  BOOST_TEST(output.find("tandem: a hang: ") != std::string::npos, output);
  BOOST_TEST(output.find(" not come back within 3.0 s\n") != std::string::npos, output);
  BOOST_TEST(output.find(": write, for ") != std::string::npos, output);
  BOOST_TEST(output.find("database: " + path + "/db") != std::string::npos, output);
  BOOST_TEST(std::ranges::count(output, '\n') <= 43);
  // What is left is sound.
  BOOST_TEST(RunProgram({"verify", path + "/db", "--deep"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(AChildThatHangsIsNotKilledButHeard) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  // The first child of this seed is to live for 1.7 s.
  const std::string output = HangingOutput(path, "--kill --seed 39");
  BOOST_TEST(output.find("a hang: ") != std::string::npos, output);
  BOOST_TEST(output.find(": write") != std::string::npos, output);  // Also while it recovers.
  BOOST_TEST(output.ends_with("exit 8\n"), output);
  BOOST_TEST(std::ranges::count(output, '\n') <= 43 + 20);  // The summary comes before.
}

BOOST_AUTO_TEST_CASE(ASlowStepOfAScriptIsNamed) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  const std::string output =
      Output("stress " + path + " --crash --seed 1 --duration 10m --rows 4000 --hang-limit 1ms");
  BOOST_TEST(output.ends_with("exit 8\n"), output);
  BOOST_TEST(output.find("tandem: a hang: 1 operation has not come back within 1 ms\n") !=
                 std::string::npos,
             output);
  BOOST_TEST(output.find("operations: " + path + "/operations") != std::string::npos, output);
  BOOST_TEST(std::filesystem::file_size(path + "/operations") > 0u);
}

BOOST_AUTO_TEST_CASE(ALimitThatIsNoDurationIsRefused) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  for (const char* const limit : {"soon", "-1s", "10", "", "999999d"}) {
    const ProgramRun run = RunProgram({"stress", path, "--hang-limit", limit});
    BOOST_TEST(run.exit_code == 2, limit << ": " << run.err);
    BOOST_TEST(std::ranges::count(run.err, '\n') == 1);
    BOOST_TEST(!std::filesystem::exists(path));
  }
  const ProgramRun none = RunProgram({"stress", path, "--threads", "1", "--operations", "20",
                                      "--hang-limit", "0", "--rows", "20"});
  BOOST_TEST(none.exit_code == 0, none.err);
  BOOST_TEST(none.err.find(" --hang-limit 0") != std::string::npos, none.err);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
