// The verbs stress and replay: what they print and return, that runs repeat, and that a wrong
// answer, planted in the database or in what is expected of it, is found in each kind of run.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/tools/program.h"
#include "test/tools/require_ok.h"
#include "test/tools/shell.h"
#include "tools/simulation/same_observer.h"
#include "tools/stress/expected.h"
#include "tools/stress/workload.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

/// The value after `name` in the summary of a run.
std::string Figure(const ProgramRun& run, const std::string& name) {
  std::istringstream lines(run.out);
  for (std::string word, value; lines >> word >> value;) {
    if (word == name) return value;
  }
  return "none";
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void CheckFinding(const ProgramRun& run, const std::string& part) {
  BOOST_TEST(run.exit_code == 8, run.err);
  BOOST_TEST(run.err.find("tandem: a mismatch") != std::string::npos, run.err);
  BOOST_TEST(run.err.find(part) != std::string::npos, run.err);
  BOOST_TEST(std::ranges::count(run.err, '\n') <= 42);
}

BOOST_AUTO_TEST_SUITE(stress_verb)

BOOST_AUTO_TEST_CASE(SeedAndCommandComeFirstAndRunsRepeat) {
  const TemporaryDirectory directory;
  for (const std::string mode : {"--crash", "--faults"}) {
    std::string trace;
    for (const char* const name : {"a", "b"}) {
      const std::string path = directory.Path(name + mode);
      const ProgramRun run = RunProgram(
          {"stress", path, mode, "--seed", "3", "--operations", "300", "--duration", "10m"});
      BOOST_TEST(run.exit_code == 0, run.err);
      BOOST_TEST(run.err.starts_with("tandem: stress: seed 3\ntandem: again with: tandem stress " +
                                     path + " --seed 3 " + mode));
      if (trace.empty()) trace = Figure(run, "trace");
      BOOST_TEST(Figure(run, "trace") == trace);
      const ProgramRun again = RunProgram({"replay", path + "/operations"});
      BOOST_TEST(again.exit_code == 0, again.err);
      BOOST_TEST(Figure(again, "trace") == trace);
    }
    const ProgramRun other = RunProgram({"stress", directory.Path("c" + mode), mode, "--seed", "4",
                                         "--operations", "300", "--duration", "10m"});
    BOOST_TEST(other.exit_code == 0, other.err);
    BOOST_TEST(Figure(other, "trace") != trace);
  }
}

BOOST_AUTO_TEST_CASE(ARecordedLieIsFoundAndShrunk) {
  const TemporaryDirectory directory;
  const std::string run_path = directory.Path("run");
  BOOST_TEST(RunProgram({"stress", run_path, "--crash", "--seed", "5", "--operations", "400",
                         "--duration", "10m"})
                 .exit_code == 0);
  std::string text = ReadFile(run_path + "/operations");
  // Before checks, so that no power cut takes it back: what one of them reads may leave it out.
  const size_t at = text.find("check south");
  BOOST_REQUIRE(at != std::string::npos);
  std::string lie = "lie written put south told d 5 note lies\n";
  for (int seed = 1; seed <= 10; ++seed) lie += "check south " + std::to_string(seed) + "\n";
  text.insert(at, lie);
  std::ofstream(directory.Path("lie")) << text;
  const ProgramRun found = RunProgram({"replay", directory.Path("lie"), "--shrink"});
  CheckFinding(found, "told");
  const size_t kept = found.err.find("database: ");
  BOOST_REQUIRE(kept != std::string::npos);
  const std::string database = found.err.substr(kept + 10, found.err.find('\n', kept) - kept - 10);
  BOOST_TEST(RunProgram({"get", database, "south", "told"}).exit_code == 0);
  fs::remove_all(fs::path(database).parent_path());

  const std::string shrunk = ReadFile(directory.Path("lie.shrunk"));
  BOOST_TEST(std::ranges::count(shrunk, '\n') <= 4 + 2, shrunk);
  BOOST_TEST(shrunk.find("lie written put south told") != std::string::npos);
  const ProgramRun again = RunProgram({"replay", directory.Path("lie.shrunk")});
  CheckFinding(again, "told");
  const size_t scratch = again.err.find("/db\n");
  const size_t begin = again.err.rfind(' ', scratch) + 1;
  fs::remove_all(again.err.substr(begin, scratch - begin));
}

/// A recorded run in memory, from its steps.
ProgramRun ReplaySteps(const TemporaryDirectory& directory, const std::string& steps) {
  const std::string path = directory.Path("steps");
  std::ofstream(path) << "tandem-operations 1\nmode crash\nseed 3\nrows 20\n" << steps;
  return RunProgram({"replay", path});
}

BOOST_AUTO_TEST_CASE(TablesAndSnapshotsChangeInARecordedRun) {
  const TemporaryDirectory directory;
  const ProgramRun run =
      ReplaySteps(directory,
                  "write synced put north a d - gen 7 word old ; put south a d - word old\n"
                  "change-index north 1\nchange-index south 1\nobserve south\n"
                  "load put north b d - word new ; put north c h - tag z\n"
                  "load put south b d - word new\n"  // It is observed.
                  "write written put south c d - word new ; increment south c d - gen 4\n"
                  "snapshot\nname-snapshot\nrename north\nwrite written put north d d - word late\n"
                  "check north 3\ncheck north 1\ncheck north 2\n"
                  "truncate south\ndrop north\nwrite written put north e d - word none\n"
                  "check north 3\ncheck north 1\ncheck north 2\n"
                  "crash none 1 whole 0\ncreate north\ncheck north 1\ncheck north 2\n"
                  "change-index north 1\nobserve south\nkill\n"
                  "name-snapshot\ndrop-snapshot 0\nreopen\nverify\n");
  BOOST_TEST(run.exit_code == 0, run.err);
  const std::pair<const char*, const char*> figures[] = {
      {"index_changes", "3"},     {"observer_changes", "2"}, {"bulk_loads", "1"},
      {"truncations", "1"},       {"tables_dropped", "1"},   {"tables_created", "1"},
      {"tables_renamed", "1"},    {"named_snapshots", "2"},  {"snapshots_dropped", "1"},
      {"snapshots_checked", "3"}, {"changes_failed", "0"},   {"kills", "1"}};
  for (const auto& [name, value] : figures) BOOST_TEST(Figure(run, name) == value, name);
  // LearnTime writes to it after every opening.
  BOOST_TEST(std::stoi(Figure(run, "observed_writes")) >= 1);
}

// Each power cut comes inside a change, or right before it.
BOOST_AUTO_TEST_CASE(ACutInsideAChangeLeavesItOrNot) {
  const TemporaryDirectory directory;
  uint64_t failed = 0, done = 0;
  for (const std::string change :
       {"change-index north 1", "observe south", "truncate south", "rename north", "drop north",
        "name-snapshot", "load put north b d - word new ; put north c h - tag z"}) {
    std::string steps;
    for (int cut = 1; cut <= 12; ++cut) {
      steps += "write buffered put north a d - gen 7 ; put south a d - word x\npower-off-at " +
               std::to_string(cut) + "\n" + change + "\ncrash random " + std::to_string(cut) +
               " torn 0\ncreate north\ncheck north 1\ncheck south 2\ndrop-snapshot 0\n";
    }
    const ProgramRun run = ReplaySteps(directory, steps);
    BOOST_TEST(run.exit_code == 0, run.err);
    BOOST_TEST(Figure(run, "power_cuts") == "12");
    BOOST_TEST(std::stoul(Figure(run, "changes_failed")) > 0u, change);
    failed += std::stoul(Figure(run, "changes_failed"));
    done += std::stoul(Figure(run, "tables_renamed")) + std::stoul(Figure(run, "truncations"));
  }
  BOOST_TEST(failed >= 20u);
  BOOST_TEST(done >= 1u);
}

// The snapshot has what the model does not know of; the table has lost it since.
BOOST_AUTO_TEST_CASE(ALieInANamedSnapshotIsFound) {
  const TemporaryDirectory directory;
  const std::string lie =
      "lie written put north told d 5 note lies\nname-snapshot\n"
      "write written delete-row north told 9\ncheck north 2\n";
  BOOST_TEST(ReplaySteps(directory, lie).exit_code == 0);
  const ProgramRun run = ReplaySteps(directory, lie + "check north 1\n");
  CheckFinding(run, "told");
  BOOST_TEST(run.err.find("at a snapshot") != std::string::npos, run.err);
  const size_t scratch = run.err.find("/db\n");
  const size_t begin = run.err.rfind(' ', scratch) + 1;
  fs::remove_all(run.err.substr(begin, scratch - begin));
}

/// A finished run of threads in the directory, and what a run that goes on says after `damage`.
ProgramRun GoOnAfter(const std::string& path, const std::function<void()>& damage) {
  const ProgramRun first = RunProgram({"stress", path, "--threads", "2", "--rows", "60",
                                       "--operations", "600", "--seed", "8", "--duration", "10m"});
  BOOST_TEST(first.exit_code == 0, first.err);
  damage();
  return RunProgram({"stress", path, "--threads", "2", "--keep-going", "--operations", "200",
                     "--seed", "9", "--duration", "10m"});
}

void WriteTo(const std::string& path, const std::function<void(WriteBatch*)>& fill) {
  Options options;
  options.observers[kSameObserver] = NewSameObserver();  // South may have it.
  auto database = Database::Open(path + "/db", options);
  RequireOk(database.status());
  WriteBatch batch;
  fill(&batch);
  RequireOk((*database)->Write({}, batch));
  RequireOk((*database)->Close());
}

BOOST_AUTO_TEST_CASE(ThreadsGoOnWhereTheyLeft) {
  const TemporaryDirectory directory;
  const ProgramRun run = GoOnAfter(directory.Path("run"), [] {});
  BOOST_TEST(run.exit_code == 0, run.err);
  BOOST_TEST(std::stoul(Figure(run, "writes")) > 100u);
  BOOST_TEST(std::stoul(Figure(run, "verifications")) >= 2u);
  BOOST_TEST(Figure(run, "recoveries") == "1");
  BOOST_TEST(Figure(run, "batches_lost_unkept") == "0");
  BOOST_TEST(Figure(run, "echoes") == Figure(run, "increments"));
  BOOST_TEST(std::stoul(Figure(run, "echoes")) > 0u);
}

BOOST_AUTO_TEST_CASE(ALostWriteIsFound) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  // What is expected is one generation more than what is there.
  const ProgramRun run = GoOnAfter(path, [&] {
    const auto expected = stress::Expected::Open(path + "/expected");
    RequireOk(expected.status());
    ++(*expected)->slot(7).acked;
    ++(*expected)->slot(7).begun;
  });
  CheckFinding(run, "slot 7 of thread 1");
  BOOST_TEST(run.err.find("expected: ") != std::string::npos);
  BOOST_TEST(run.err.find("found: ") != std::string::npos);
  BOOST_TEST(run.err.find(path + "/db") != std::string::npos);
  BOOST_TEST(fs::exists(path + "/db/ROOT"));
}

BOOST_AUTO_TEST_CASE(ARowThatNobodyWroteIsFound) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  CheckFinding(GoOnAfter(path,
                         [&] {
                           WriteTo(path, [](WriteBatch* batch) {
                             batch->Put("loose", "nobody", "d", "note", "x");
                           });
                         }),
               "nobody");
}

BOOST_AUTO_TEST_CASE(AChangeOfOneMirrorIsFound) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  const stress::Workload workload(8, 60, 2);
  CheckFinding(GoOnAfter(path,
                         [&] {
                           WriteTo(path, [&](WriteBatch* batch) {
                             batch->Put("south", workload.key(11), "h", "more", "x", 1);
                           });
                         }),
               "south");
}

BOOST_AUTO_TEST_CASE(AnEchoThatNoObserverWroteIsFound) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  const ProgramRun run = GoOnAfter(path, [&] {
    WriteTo(path, [](WriteBatch* batch) { batch->Put("echo", "sum-0", "d", "sum", "1000000"); });
  });
  CheckFinding(run, "echo: the rows that the observer of sums has added");
}

BOOST_AUTO_TEST_CASE(ARowOfAShelfThatNobodyWroteIsFound) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  CheckFinding(GoOnAfter(path,
                         [&] {
                           WriteTo(path, [](WriteBatch* batch) {
                             batch->Put("stock", "stock-03-00", "d", "check", "x");
                           });
                         }),
               "stock");
}

BOOST_AUTO_TEST_CASE(ALostLoadIsFound) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  const ProgramRun run = GoOnAfter(path, [&] {
    const auto expected = stress::Expected::Open(path + "/expected");
    RequireOk(expected.status());
    stress::ShelfState& shelf = (*expected)->thread(1).shelf;
    shelf.begun += shelf.begun % 8 == 7 ? 2 : 1;  // One that has rows.
    shelf.kept = shelf.begun.load();
    stress::Stamps& write = shelf.writes[shelf.kept % stress::kEntries];
    write.began = (*expected)->NextStamp();
    write.ended = (*expected)->NextStamp();
  });
  CheckFinding(run, "after recovery: scan of stock: shelf-01");
}

BOOST_AUTO_TEST_CASE(ASnapshotThatNobodyCreatedIsFound) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  const ProgramRun run = GoOnAfter(path, [&] {
    auto database = Database::Open(path + "/db");
    RequireOk(database.status());
    RequireOk((*database)->CreateSnapshot("saved-9"));
    RequireOk((*database)->Close());
  });
  CheckFinding(run, "named snapshots");
}

BOOST_AUTO_TEST_CASE(ACopyThatHasAnotherRowIsFound) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  const ProgramRun run = GoOnAfter(path, [&] {
    auto database = Database::Open(path + "/db");
    RequireOk(database.status());
    // It may be there.
    (*database)->CreateTable({.name = "copy-0", .families = {{.name = "d"}}}).Ignore("as said");
    WriteBatch batch;
    batch.Put("copy-0", "nobody", "d", "note", "x");
    RequireOk((*database)->Write({}, batch));
    RequireOk((*database)->Close());
  });
  CheckFinding(run, "table copy-0");
}

BOOST_AUTO_TEST_CASE(WhatIsAskedWronglyIsRefused) {
  const TemporaryDirectory directory;
  const std::string used = directory.Path("used");
  fs::create_directory(used);
  std::ofstream(used + "/file") << "x";
  const std::string fresh = directory.Path("fresh");
  const std::pair<std::vector<std::string>, int> cases[] = {
      {{"stress", used}, 5},
      {{"stress", used, "--crash"}, 5},
      {{"stress", used, "--kill"}, 5},
      {{"stress", fresh, "--kill", "--crash"}, 2},
      {{"stress", fresh, "--faults", "--crash"}, 2},
      {{"stress", fresh, "--duration", "soon"}, 2},
      {{"stress", fresh, "--rows", "3"}, 2},
      {{"stress", fresh, "--rows", "99999999999999999999"}, 2},
      {{"stress", fresh, "--seed", "18446744073709551616"}, 2},
      {{"stress", fresh, "--duration", "100000000d"}, 2},
      {{"stress", fresh, "--crash", "--threads", "2"}, 2},
      {{"stress", fresh, "--threads", "two"}, 2},
      {{"stress", ""}, 2},
      {{"stress", fresh, "--threads", "0"}, 2},
      {{"stress", fresh, "--threads", "65"}, 2},
      {{"stress", fresh, "--keep-going"}, 3},
      {{"stress", fresh, "--keep-going", "--crash"}, 2},
      {{"replay", fresh}, 3},
      {{"replay", used + "/file"}, 2}};
  for (const auto& [words, code] : cases) {
    const ProgramRun run = RunProgram(words);
    BOOST_TEST(run.exit_code == code, run.err);
    BOOST_TEST(run.err.find("Could not convert") == std::string::npos, run.err);
    BOOST_TEST(!fs::exists(fresh));
  }
  // The harness that cannot work is no finding.
  BOOST_TEST(RunProgram({"stress", used + "/file/below", "--crash"}).exit_code == 1);
}

BOOST_AUTO_TEST_CASE(GoingOnKeepsTheShapeOfTheRun) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  BOOST_TEST(GoOnAfter(path, [] {}).exit_code == 0);
  const ProgramRun run = RunProgram({"stress", path, "--threads", "3", "--keep-going"});
  BOOST_TEST(run.exit_code == 2);
  BOOST_TEST(run.err.find("--rows 60 --threads 2") != std::string::npos, run.err);
  std::ofstream(path + "/expected") << "no state";
  BOOST_TEST(RunProgram({"stress", path, "--threads", "2", "--keep-going"}).exit_code == 2);
}

BOOST_AUTO_TEST_CASE(AnInterruptEndsARunCleanly) {
  const TemporaryDirectory directory;
  const std::atomic<bool> interrupted{true};
  for (const char* const mode : {"--crash", "--threads=2", "--threads=1"}) {
    const std::string path = directory.Path(mode);
    const ProgramRun run = RunProgram({"stress", path, mode, "--rows", "20"}, "", &interrupted);
    BOOST_TEST(run.exit_code == 130, run.err);
    BOOST_TEST(run.err.find("interrupted; no mismatch so far") != std::string::npos, run.err);
    BOOST_TEST(!run.out.empty());
  }
  BOOST_TEST(RunProgram({"verify", directory.Path("--threads=2/db"), "--deep"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(OneThreadIsRecordedOnRealFilesToo) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  const ProgramRun run = RunProgram({"stress", path, "--threads", "1", "--seed", "2",
                                     "--operations", "150", "--duration", "10m"});
  BOOST_TEST(run.exit_code == 0, run.err);
  BOOST_TEST(fs::exists(path + "/db/ROOT"));
  const ProgramRun again = RunProgram({"replay", path + "/operations"});
  BOOST_TEST(again.exit_code == 0, again.err);
  BOOST_TEST(Figure(again, "trace") == Figure(run, "trace"));
}

// The program itself, since it starts itself again.
BOOST_AUTO_TEST_CASE(KilledChildrenLoseNothing) {
  const char* const program = std::getenv("TANDEM");
  const TemporaryDirectory directory;
  const std::string path = directory.Path("run");
  const std::string output =
      OutputOf(std::string(program == nullptr ? "build/tandem" : program) + " stress " + path +
               " --kill --threads 3 --rows 120 --operations 8 --duration 60s --seed 6 2>&1; "
               "echo exit $?");
  const ProgramRun run{.exit_code = 0, .out = output, .err = {}};
  BOOST_TEST(output.ends_with("exit 0\n"), output);
  BOOST_TEST(output.find("kills                8") != std::string::npos, output);
  BOOST_TEST(fs::exists(path + "/expected"));
  BOOST_TEST(RunProgram({"verify", path + "/db", "--deep"}).exit_code == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
