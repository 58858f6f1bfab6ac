// See bench_program.h.
#include "test/bench/bench_program.h"

#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace tandem::bench {
namespace {

std::string ProgramPath() {
  const char* tandem = std::getenv("TANDEM");
  const std::filesystem::path path = tandem == nullptr ? "build/tandem" : tandem;
  return (path.parent_path() / "tandem_bench").string();
}

}  // namespace

ProgramRun RunProgram(const std::string& arguments) {
  std::FILE* pipe = popen(("'" + ProgramPath() + "' " + arguments + " 2>&1").c_str(), "r");
  BOOST_REQUIRE(pipe != nullptr);
  ProgramRun run;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, pipe))
    run.output.append(buffer, count);
  const int status = pclose(pipe);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

}  // namespace tandem::bench
