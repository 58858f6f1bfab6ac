// The loads of the benchmark that are about their size: one long load, and loads of several sizes.
// The program runs on a few rows and with so little memory that there are flushes and merges; the
// figures have to be possible ones.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "test/bench/bench_program.h"
#include "test/support/temporary_directory.h"
#include "tools/bench/growth.h"
#include "tools/bench/json_file.h"
#include "tools/bench/large_load.h"
#include "tools/bench/report.h"
#include "tools/bench/size_phases.h"
#include "tools/bench/work_directory.h"

namespace tandem::bench {
namespace {

// The value of each name, of a run of one round.
std::map<std::string, double> ValuesOf(const std::string& json) {
  std::map<std::string, double> values;
  for (const Series& series : ReadSeries(json)) {
    BOOST_REQUIRE_EQUAL(series.values.size(), 1);
    values[series.name] = series.values.front();
  }
  return values;
}

bool IsEmpty(const std::string& directory) { return std::filesystem::is_empty(directory); }

void CheckBetween(const std::map<std::string, double>& values, const std::string& name, double low,
                  double high) {
  const auto value = values.find(name);
  BOOST_REQUIRE_MESSAGE(value != values.end(), "no " << name);
  BOOST_CHECK_MESSAGE(
      value->second >= low && value->second <= high,
      name << ": expected " << low << " to " << high << ", found " << value->second);
}

Figure FigureOf(const std::string& engine, const std::string& phase, double value) {
  Figure figure;
  figure.engine = engine;
  figure.phase = phase;
  figure.value = value;
  figure.items = 1;
  figure.seconds = 1;
  return figure;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sizes)

BOOST_AUTO_TEST_CASE(ALoadIsReportedPartByPart) {
  const test::TemporaryDirectory folder;
  const std::string json = folder.Path("run.json"), data = folder.Path("data");
  std::filesystem::create_directory(data);
  const ProgramRun run = RunProgram("large --rows 40000 --memory-mib 8 --directory '" + data +
                                    "' --json '" + json + "'");
  BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.output);
  BOOST_CHECK(IsEmpty(data));
  const std::map<std::string, double> values = ValuesOf(json);
  BOOST_CHECK_EQUAL(values.size(), LargeLoadPhases().size());
  uint64_t rows = 0;
  double most = 0;
  for (int part = 0; part < kLoadParts; ++part) {
    const auto name = [part](const std::string& column) {
      return "tandem/part " + std::to_string(part + 1) + " of 20, " + column;
    };
    rows += 2000;
    BOOST_CHECK_MESSAGE(run.output.find("\n" + std::string(12 - std::to_string(rows).size(), ' ') +
                                        std::to_string(rows) + " ") != std::string::npos,
                        "no line for " << rows << " rows");
    CheckBetween(values, name("rows/s"), 100, 1e8);
    CheckBetween(values, name("waits"), 0, 1e5);
    CheckBetween(values, name("regions"), 1, 1);
    CheckBetween(values, name("runs"), 0, 16);
    CheckBetween(values, name("files"), 0, 100);
    CheckBetween(values, name("written"), 1, 20);  // The log has each row once.
    CheckBetween(values, name("space"), 0.3, 40);
    CheckBetween(values, name("memory"), 1 << 20, 96 << 20);
    CheckBetween(values, name("counted"), 1 << 10, 56 << 20);
    CheckBetween(values, name("first"), 0, 1e5);
    CheckBetween(values, name("0.01 %"), 0, 1e6);
    CheckBetween(values, name("0.1 %"), 0, 1e6);
    most = std::max(most, values.at(name("runs")));
  }
  // 8 MiB of memory have 1.6 MiB for memstores, a sixth of these rows: there are several runs.
  CheckBetween(values, "tandem/runs at most", std::max(2.0, most), 16);
  CheckBetween(values, "tandem/of these by flushes", 0.3, 2);
  CheckBetween(values, "tandem/of these by merges", 0.3, 20);
  CheckBetween(values, "tandem/of these by log and manifest", 1, 2);
  const double written = values.at("tandem/of these by flushes") +
                         values.at("tandem/of these by merges") +
                         values.at("tandem/of these by log and manifest");
  CheckBetween(values, "tandem/written per byte, settled", written - 0.01, written + 0.01);
  BOOST_CHECK_LE(values.at("tandem/written per byte, loaded"),
                 values.at("tandem/written per byte, idle"));
  BOOST_CHECK_LE(values.at("tandem/written per byte, idle"),
                 values.at("tandem/written per byte, settled"));
  CheckBetween(values, "tandem/space per byte, settled", 0.3, 1.2);
  BOOST_CHECK_LE(values.at("tandem/load settled"), values.at("tandem/load idle"));
  BOOST_CHECK_LE(values.at("tandem/load idle"), values.at("tandem/load"));
  BOOST_CHECK_LE(values.at("tandem/batch, 99.9 %"), values.at("tandem/batch, longest"));
  CheckBetween(values, "tandem/longest due merge", 0.1, 1e5);
  CheckBetween(values, "tandem/largest due merge", 0.05 * 241 * 40'000, 241 * 40'000);
  CheckBetween(values, "tandem/memory budget, MiB", 8, 8);
  CheckBetween(values, "tandem/peak memory, MiB", 4, 96);
  CheckBetween(values, "tandem/open killed", 0.01, 60'000);
  // A batch at least: the process was killed before it flushed its last rows.
  CheckBetween(values, "tandem/operations replayed", 1, 4 * 40'000);
}

BOOST_AUTO_TEST_CASE(LoadsOfSeveralSizesAreCompared) {
  const test::TemporaryDirectory folder;
  const std::string json = folder.Path("run.json"), data = folder.Path("data");
  const ProgramRun run = RunProgram("growth --sizes 2000,40000 --memory-mib 8 --directory '" +
                                    data + "' --json '" + json + "'");
  BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.output);
  BOOST_CHECK(!std::filesystem::exists(data));
  BOOST_CHECK(run.output.find("goals reached") != std::string::npos);
  const std::map<std::string, double> values = ValuesOf(json);
  const bool has_rocksdb = values.contains("rocksdb/disk, 2000 rows");
  for (const std::string engine : {"tandem", "rocksdb"}) {
    if (engine == "rocksdb" && !has_rocksdb) continue;
    for (const uint64_t rows : {2000, 40'000}) {
      const auto name = [&](const std::string& phase) {
        return engine + "/" + AtSize(phase, rows);
      };
      for (const std::string state : kLoadStates) {
        CheckBetween(values, name("time " + state), 0.1, 1e5);
        CheckBetween(values, name("CPU " + state), 0.1, 1e5);
        CheckBetween(values, name("written " + state), 1, 20);
      }
      BOOST_CHECK_LE(values.at(name("time loaded")), values.at(name("time idle")));
      BOOST_CHECK_LE(values.at(name("written idle")), values.at(name("written settled")));
      // Each byte is in the log and in a file, and there are more entries than bytes are saved.
      CheckBetween(values, name("written idle"), 1.3, 20);
      CheckBetween(values, name("disk"), 0.3 * 241 * static_cast<double>(rows), 1e8);
      CheckBetween(values, name("peak memory, MiB"), 4, 96);
    }
    const double growth =
        values.at(engine + "/time idle, 40000 rows") / values.at(engine + "/time idle, 2000 rows");
    CheckBetween(values, engine + "/growth of time idle", growth * 0.999, growth * 1.001);
  }
  BOOST_CHECK_EQUAL(values.contains("tandem/written beside rocksdb idle, 40000 rows"), has_rocksdb);
}

BOOST_AUTO_TEST_CASE(GrowthIsJudged) {
  const std::vector<uint64_t> sizes = {1000, 4000};
  Figures figures;
  for (const std::string engine : {"tandem", "rocksdb"}) {
    const bool is_tandem = engine == "tandem";
    for (const std::string state : kLoadStates) {
      figures.Add(FigureOf(engine, AtSize("time " + state, 1000), 2));
      figures.Add(FigureOf(engine, AtSize("time " + state, 4000), is_tandem ? 3.3 : 3));
      figures.Add(FigureOf(engine, AtSize("written " + state, 1000), 4));
      figures.Add(FigureOf(engine, AtSize("written " + state, 4000), is_tandem ? 5 : 8));
    }
  }
  AddGrowth(sizes, &figures);
  BOOST_CHECK_EQUAL(figures.Values("growth of time idle", "tandem").at(0), 1.65);
  BOOST_CHECK_EQUAL(figures.Values("growth of time idle", "rocksdb").at(0), 1.5);
  BOOST_CHECK_EQUAL(figures.Values("written beside rocksdb settled, 4000 rows", "tandem").at(0),
                    0.625);
  const std::string table = GoalTable(GrowthPhases(sizes), GrowthGoals(sizes), figures, {});
  BOOST_CHECK(table.find("4 of 6 goals reached") != std::string::npos);
  BOOST_CHECK(table.find("at most 1.6 ") != std::string::npos);
  for (const Goal& goal : GrowthGoals(sizes))
    BOOST_CHECK_MESSAGE(FindPhase(GrowthPhases(sizes), goal.phase) != nullptr, goal.phase);
}

BOOST_AUTO_TEST_CASE(PartsEndWithBatches) {
  for (const uint64_t rows : {2000ull, 2050ull, 99'999ull, 100'000'000ull}) {
    uint64_t before = 0;
    for (int part = 0; part < kLoadParts; ++part) {
      const uint64_t end = EndOfPart(rows, part);
      BOOST_CHECK_GT(end, before);
      BOOST_CHECK(end % kBatchRows == 0 || part == kLoadParts - 1);
      before = end;
    }
    BOOST_CHECK_EQUAL(before, rows);
  }
}

BOOST_AUTO_TEST_CASE(WrongSizesAndDirectoriesAreRefused) {
  const test::TemporaryDirectory folder;
  std::filesystem::create_directory(folder.Path("full"));
  std::ofstream(folder.Path("full") + "/file") << "1";
  const std::string full = "--directory '" + folder.Path("full") + "'";
  const auto is_refused = [](const std::string& arguments, const std::string& why) {
    const ProgramRun run = RunProgram(arguments);
    BOOST_CHECK_MESSAGE(run.exit_code == 2, arguments << ": " << run.exit_code);
    BOOST_CHECK_MESSAGE(run.output.find(why) != std::string::npos, run.output);
  };
  is_refused("large --rows 0", "expected a number from 1000");
  is_refused("large --rows 1900", "expected at least 2000");
  is_refused("large --rows", "expected a value");
  is_refused("large --engines rocksdb", "unknown argument '--engines'");
  is_refused("large --memory-mib 1", "expected a number from 8");
  is_refused("large --rows 2000 " + full, "is not empty");
  is_refused("large --rows 2000 --directory '" + folder.Path("full/file") + "'", "is no directory");
  is_refused("growth --sizes ''", "expected a number from 1000");
  is_refused("growth --sizes 5,2000", "expected a number from 1000");
  is_refused("growth --sizes 2000", "expected at least two");
  is_refused("growth --sizes 2000,2000", "expected rising numbers");
  is_refused("growth --sizes 2000,many", "found 'many'");
  is_refused("growth --engines sqlite", "sqlite");
  is_refused("growth --rows 2000", "unknown argument '--rows'");
  is_refused("growth " + full, "is not empty");
  is_refused("--sizes 2000,4000", "unknown argument '--sizes'");
  BOOST_CHECK(std::filesystem::exists(folder.Path("full/file")));
  BOOST_CHECK_EQUAL(RunProgram("large --rows 2000 --directory /proc/none").exit_code, 1);
}

BOOST_AUTO_TEST_CASE(AWorkDirectoryLeavesWhatWasThere) {
  const test::TemporaryDirectory folder;
  const std::string there = folder.Path("there"), absent = folder.Path("a/b");
  std::filesystem::create_directory(there);
  for (const std::string& path : {there, absent}) {
    const WorkDirectory directory(path, "test");
    const std::string made = directory.Fresh("data");
    std::ofstream(made + "/file") << "1";
    BOOST_CHECK(!ProblemOfDirectory(path).empty());
    BOOST_CHECK(IsEmpty(directory.Fresh("data")));
  }
  BOOST_CHECK(IsEmpty(there));
  BOOST_CHECK(!std::filesystem::exists(absent));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::bench
