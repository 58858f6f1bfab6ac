// The benchmark program itself, on a few rows: every phase of every engine that was built. Figures
// of so few rows mean nothing; what counts is that engines agree and that results can be read.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "test/bench/bench_program.h"
#include "test/support/temporary_directory.h"
#include "tools/bench/compare.h"
#include "tools/bench/json_file.h"
#include "tools/bench/phases.h"

namespace tandem::bench {
namespace {

// Whether `series` has a value of this phase for the engine.
bool Has(const std::vector<Series>& all, const std::string& engine, const Phase& phase) {
  return std::any_of(all.begin(), all.end(), [&](const Series& series) {
    return series.name == engine + "/" + phase.name && series.values.size() == 1 &&
           series.values[0] >= 0;
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bench)

BOOST_AUTO_TEST_CASE(EveryPhaseRunsAndEnginesAgree) {
  const test::TemporaryDirectory folder;
  const std::string json = folder.Path("run.json");
  const ProgramRun run = RunProgram("--rows 1000 --rounds 1 --seconds 0.002 --directory '" +
                                    folder.path() + "' --json '" + json + "'");
  BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.output);
  BOOST_CHECK(run.output.find("goals reached") != std::string::npos);

  const std::vector<Series> all = ReadSeries(json);
  std::vector<std::string> engines;
  for (const Series& series : all) {
    const std::string engine = series.name.substr(0, series.name.find('/'));
    if (std::find(engines.begin(), engines.end(), engine) == engines.end())
      engines.push_back(engine);
  }
  BOOST_REQUIRE(!engines.empty() && engines[0] == "tandem");
  for (const std::string& engine : engines) {
    for (const Phase& phase : Phases()) {
      const bool is_tandems = phase.name == "dead entries, %";
      if (!IsMeasured(phase.family, engine) || (engine != "tandem" && is_tandems)) continue;
      BOOST_CHECK_MESSAGE(Has(all, engine, phase), engine << " has no '" << phase.name << "'");
    }
  }
  // Databases and the file for the device are gone.
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    BOOST_CHECK_EQUAL(entry.path().filename().string(), "run.json");
}

BOOST_AUTO_TEST_CASE(CompareExitsWithEightOnARegression) {
  const test::TemporaryDirectory folder;
  const auto write = [&](const char* name, double rate) {
    Figure figure;
    figure.engine = "tandem";
    figure.phase = "get";
    figure.value = rate;
    figure.items = 1;
    figure.seconds = 1 / rate;
    Figures figures;
    figures.Add(figure);
    Arguments arguments;
    arguments.engines = {"tandem"};
    const std::string path = folder.Path(name);
    WriteFile(path, ToJson(arguments, Phases(), figures, {}));
    return "'" + path + "'";
  };
  const std::string fast = write("fast.json", 1000), slow = write("slow.json", 500);
  BOOST_CHECK_EQUAL(RunProgram("compare " + fast + " " + fast).exit_code, 0);
  BOOST_CHECK_EQUAL(RunProgram("compare " + slow + " " + fast).exit_code, 0);
  const ProgramRun worse = RunProgram("compare " + fast + " " + slow);
  BOOST_CHECK_EQUAL(worse.exit_code, 8);
  BOOST_CHECK(worse.output.find("tandem/get") != std::string::npos);
  BOOST_CHECK(worse.output.find("REGRESSION") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(TheLargeSetIsLoadedAndQueried) {
  const test::TemporaryDirectory folder;
  std::string contents;
  for (int i = 0; i < 900; ++i) {
    contents += "usr/share/vim/file " + std::to_string(i) + (i % 2 == 0 ? ".html" : "") +
                "   doc/libboost1.81-dev,perl-" + std::to_string(i % 7) + "\n";
  }
  WriteFile(folder.Path("contents"), contents);
  const ProgramRun run =
      RunProgram("contents '" + folder.Path("contents") + "' '" + folder.path() + "'");
  BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.output);  // 8: engines returned different rows.
  for (const char* line : {"load settled, s", "disk, MiB", "count of section = doc, ms",
                           "cold key prefix usr/share/vim/, ms"})
    BOOST_CHECK_MESSAGE(run.output.find(line) != std::string::npos, line);
  BOOST_CHECK_EQUAL(RunProgram("contents '" + folder.Path("absent") + "'").exit_code, 1);
}

BOOST_AUTO_TEST_CASE(WrongArgumentsAndFilesAreRefused) {
  const test::TemporaryDirectory folder;
  BOOST_CHECK_EQUAL(RunProgram("--rows few").exit_code, 2);
  BOOST_CHECK_EQUAL(RunProgram("--rows 10").exit_code, 2);
  BOOST_CHECK_EQUAL(RunProgram("--engines berkeley").exit_code, 2);
  BOOST_CHECK_EQUAL(RunProgram("--phases loud").exit_code, 2);
  BOOST_CHECK_EQUAL(RunProgram("--rows").exit_code, 2);
  BOOST_CHECK_EQUAL(RunProgram("compare one.json").exit_code, 2);
  const std::string absent = folder.Path("absent.json");
  BOOST_CHECK_EQUAL(RunProgram("compare '" + absent + "' '" + absent + "'").exit_code, 1);
  const std::string broken = folder.Path("broken.json");
  WriteFile(broken, "{\"benchmarks\":[{\"name\":\"tandem/get\",");
  BOOST_CHECK_EQUAL(RunProgram("compare '" + broken + "' '" + broken + "'").exit_code, 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::bench
