// Figures, ratios, goals and comparisons of the benchmark program, on figures made up here.
#include "tools/bench/scores.h"

#include <boost/test/unit_test.hpp>

#include "tools/bench/compare.h"
#include "tools/bench/figures.h"
#include "tools/bench/phases.h"
#include "tools/bench/report.h"

namespace tandem::bench {
namespace {

void Add(Figures* figures, const std::string& engine, const std::string& phase,
         const std::vector<double>& values) {
  for (size_t round = 0; round < values.size(); ++round) {
    Figure figure;
    figure.engine = engine;
    figure.phase = phase;
    figure.round = static_cast<int>(round);
    figure.value = values[round];
    figure.items = 1;
    figure.seconds = 1;
    figures->Add(figure);
  }
}

void AddProof(Figures* figures, const std::string& engine, const std::string& phase,
              uint64_t proof) {
  Figure figure;
  figure.engine = engine;
  figure.phase = phase;
  figure.value = figure.seconds = 1;
  figure.items = 1;
  figure.rows_name = "1 %";
  figure.proof = proof;
  figures->Add(figure);
}

Change OnlyChange(bool higher_is_better, const std::vector<double>& before,
                  const std::vector<double>& after, const std::string& name = "tandem/get") {
  const auto changes =
      ChangesBetween({{name, higher_is_better, before}}, {{name, higher_is_better, after}});
  BOOST_REQUIRE_EQUAL(changes.size(), 1);
  return changes.front();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(bench)

BOOST_AUTO_TEST_CASE(FiguresPassThroughLines) {
  Figure figure;
  figure.phase = "cold query 0.01 %";
  figure.rows_name = "0.01 %";
  figure.value = 1234.5;
  figure.items = 7;
  figure.seconds = 0.25;
  figure.cpu_seconds = 0.125;
  figure.row_bytes = 1;
  figure.read_bytes = 2;
  figure.written_bytes = 3;
  figure.peak_bytes = 4;
  figure.proof = ~uint64_t{0};
  const auto back = FromLine(ToLine(figure) + "\n");
  BOOST_REQUIRE(back.has_value());
  BOOST_CHECK_EQUAL(ToLine(*back), ToLine(figure));
  BOOST_CHECK_EQUAL(back->phase, figure.phase);
  BOOST_CHECK_EQUAL(back->proof, figure.proof);
  BOOST_CHECK_EQUAL(back->cpu_seconds, figure.cpu_seconds);
  BOOST_CHECK(!FromLine("terminate called").has_value());
  BOOST_CHECK(!FromLine("a\tb\t1 2 3").has_value());
}

BOOST_AUTO_TEST_CASE(OtherRowsAreAFailure) {
  Figures figures;
  AddProof(&figures, "tandem", "query 1 %", 11);
  AddProof(&figures, "rocksdb", "query 1 %", 11);
  AddProof(&figures, "rocksdb", "filter 1 %", 11);
  AddProof(&figures, "lmdb", "get", 0);  // Nothing to compare.
  Arguments arguments;
  arguments.engines = {"tandem", "rocksdb", "lmdb"};
  BOOST_CHECK(figures.Mismatches().empty());
  BOOST_CHECK_EQUAL(Conclude(arguments, figures, {}), 0);

  AddProof(&figures, "lmdb", "cold query 1 %", 12);
  BOOST_REQUIRE_EQUAL(figures.Mismatches().size(), 1);
  BOOST_CHECK_EQUAL(figures.Mismatches()[0],
                    "rows '1 %': lmdb in 'cold query 1 %' returned others than tandem in "
                    "'query 1 %'");
  BOOST_CHECK_EQUAL(Conclude(arguments, figures, {}), 8);
}

BOOST_AUTO_TEST_CASE(RatiosArePairByPair) {
  Figures figures;
  Add(&figures, "tandem", "get", {100, 300, 200});
  Add(&figures, "rocksdb", "get", {50, 100, 200});
  Add(&figures, "sqlite", "get", {60, 60, 60});
  const Phase& get = *FindPhase("get");
  const auto ratio = RatioOf(figures, get, "tandem", "rocksdb");
  BOOST_REQUIRE(ratio.has_value());
  BOOST_CHECK_EQUAL(ratio->median, 2);
  BOOST_CHECK_EQUAL(ratio->low, 1);
  BOOST_CHECK_EQUAL(ratio->high, 3);
  BOOST_CHECK(!RatioOf(figures, get, "tandem", "lmdb").has_value());
  BOOST_CHECK(RankedPeers(figures, get) == std::vector<std::string>({"rocksdb", "sqlite"}));
}

BOOST_AUTO_TEST_CASE(LessIsBetterWhereItIsTimeOrSpace) {
  Figures figures;
  Add(&figures, "tandem", "disk", {50});
  Add(&figures, "rocksdb", "disk", {100});
  Add(&figures, "sqlite", "disk", {75});
  const Phase& disk = *FindPhase("disk");
  BOOST_CHECK_EQUAL(RatioOf(figures, disk, "tandem", "rocksdb")->median, 2);
  BOOST_CHECK(RankedPeers(figures, disk) == std::vector<std::string>({"sqlite", "rocksdb"}));
}

BOOST_AUTO_TEST_CASE(PeersTakeTheBetterWayAndTandemItsOwn) {
  Figures figures;
  for (const char* engine : {"tandem", "rocksdb"}) {
    Add(&figures, engine, "cold query 10 %", {100});
    Add(&figures, engine, "cold filter 10 %", {400});
  }
  const Phase& query = *FindPhase("cold query 10 %");
  BOOST_CHECK_EQUAL(RatioOf(figures, query, "tandem", "rocksdb")->median, 0.25);
  const GoalScore own =
      ScoreOf({"cold query 10 %", Against::kOwnPhase, 0.95, "cold filter 10 %"}, figures, {});
  BOOST_CHECK_EQUAL(own.measured.value(), 0.25);
  BOOST_CHECK(!own.reached);
}

BOOST_AUTO_TEST_CASE(GoalsAreJudgedAgainstWhatTheyName) {
  Figures figures;
  Add(&figures, "tandem", "get", {90});
  Add(&figures, "rocksdb", "get", {30});
  Add(&figures, "lmdb", "get", {60});
  Add(&figures, "tandem", "open closed", {9});
  Device device;
  device.random_reads_32 = 100;
  const auto judge = [&](const Goal& goal) { return ScoreOf(goal, figures, device); };
  BOOST_CHECK(judge({"get", Against::kRocksDb, 3}).reached);
  BOOST_CHECK(!judge({"get", Against::kRocksDb, 3.1}).reached);
  BOOST_CHECK(judge({"get", Against::kBestPeer, 1.5}).reached);
  BOOST_CHECK_EQUAL(judge({"get", Against::kBestPeer, 1.5}).against, "lmdb");
  BOOST_CHECK_EQUAL(judge({"get", Against::kSecondPeer, 1.5}).measured.value(), 3);
  BOOST_CHECK(judge({"get", Against::kDeviceRandom, 0.9}).reached);
  BOOST_CHECK(judge({"open closed", Against::kLimit, 10}).reached);
  BOOST_CHECK(!judge({"open closed", Against::kLimit, 8}).reached);
  BOOST_CHECK(!judge({"scan", Against::kBestPeer, 2}).measured.has_value());
}

BOOST_AUTO_TEST_CASE(GoalsAndOtherWaysNamePhasesThatExist) {
  for (const Goal& goal : Goals()) {
    BOOST_CHECK_MESSAGE(FindPhase(goal.phase) != nullptr, goal.phase);
    BOOST_CHECK_MESSAGE(goal.other.empty() || FindPhase(goal.other) != nullptr, goal.other);
    BOOST_CHECK_EQUAL(goal.other.empty(), goal.against != Against::kOwnPhase);
  }
  for (const Phase& phase : Phases())
    BOOST_CHECK_MESSAGE(phase.other_way.empty() || FindPhase(phase.other_way), phase.other_way);
}

BOOST_AUTO_TEST_CASE(WorseThanTheNoiseIsARegression) {
  BOOST_CHECK(OnlyChange(true, {100}, {80}).is_regression);
  BOOST_CHECK(!OnlyChange(true, {100}, {95}).is_regression);
  BOOST_CHECK(!OnlyChange(true, {100}, {200}).is_regression);
  BOOST_CHECK(OnlyChange(false, {10}, {12}).is_regression);
  BOOST_CHECK(!OnlyChange(false, {10}, {5}).is_regression);
  // Rounds that differ by half make a fifth no finding.
  BOOST_CHECK(!OnlyChange(true, {75, 100, 125}, {80}).is_regression);
  // Peers do not regress: they are the same program.
  BOOST_CHECK(!OnlyChange(true, {100}, {50}, "rocksdb/get").is_regression);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::bench
