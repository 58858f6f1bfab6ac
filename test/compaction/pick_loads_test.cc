// Which runs merges take of a region that is written to for years: what that comes to.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

#include "compaction/pick.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using compaction::kMergeRunsMax;
using compaction::MergePolicy;
using compaction::RunDescription;
using compaction::RunRange;

/// `rows` of `keys` possible ones, chosen at random: how many are different. No keys: all are.
double Different(double rows, double keys) {
  return keys == 0 ? rows : keys * (1 - std::exp(-rows / keys));
}

struct Load {
  uint64_t flushes = 0;
  double keys = 0;  ///< Uniform; 0: no key comes twice.
  std::function<double(uint64_t flush)> rows = [](uint64_t) { return 1000.0; };
  MergePolicy policy = {};
};

struct Outcome {
  double written = 0;  ///< Bytes by flushes and merges for each byte that flushes wrote.
  double runs = 0;     ///< Mean after flushes and what follows them.
  size_t runs_max = 0, inputs_max = 0;
  double space = 0;  ///< Bytes of the runs for each byte of live rows, at its peak.
  uint64_t base_rewrites = 0;
};

/// Flushes one after the other, with all merges that are due between them.
Outcome Run(const Load& load) {
  constexpr double kRowBytes = 100;
  std::vector<double> written_rows;  // Of each run, those that are the same counted, too.
  Outcome outcome;
  double flushed = 0, merged = 0, total_rows = 0;
  const auto bytes_of = [&](double rows) { return kRowBytes * Different(rows, load.keys); };
  for (uint64_t flush = 0; flush < load.flushes; ++flush) {
    written_rows.push_back(load.rows(flush));
    total_rows += written_rows.back();
    flushed += bytes_of(written_rows.back());
    while (true) {
      std::vector<RunDescription> runs;
      double stored = 0;
      for (const double rows : written_rows) {
        const auto bytes = static_cast<uint64_t>(bytes_of(rows));
        runs.push_back({.bytes = bytes, .rows = bytes / 100, .deletes = 0});
        stored += bytes_of(rows);
      }
      outcome.space = std::max(outcome.space, stored / bytes_of(total_rows));
      const std::optional<RunRange> range = compaction::PickMerge(runs, load.policy);
      if (!range.has_value()) break;
      BOOST_REQUIRE_LT(range->first + 1, range->end);
      BOOST_REQUIRE_LE(range->end, runs.size());
      outcome.inputs_max = std::max(outcome.inputs_max, range->end - range->first);
      outcome.base_rewrites += range->first == 0;
      const auto first = written_rows.begin() + static_cast<ptrdiff_t>(range->first);
      const auto end = written_rows.begin() + static_cast<ptrdiff_t>(range->end);
      double rows = 0;
      for (auto run = first; run != end; ++run) rows += *run;
      *first = rows;
      written_rows.erase(first + 1, end);
      merged += bytes_of(rows);
    }
    outcome.runs += static_cast<double>(written_rows.size());
    outcome.runs_max = std::max(outcome.runs_max, written_rows.size());
  }
  outcome.written = (flushed + merged) / flushed;
  outcome.runs /= static_cast<double>(load.flushes);
  return outcome;
}

void Print(const char* what, uint64_t flushes, const Outcome& outcome) {
  std::printf("%s, %llu flushes: written %.2f, runs %.1f (at most %zu), space %.2f\n", what,
              static_cast<unsigned long long>(flushes), outcome.written, outcome.runs,
              outcome.runs_max, outcome.space);
}

BOOST_AUTO_TEST_SUITE(Pick)

// One record into a large table, again and again.
BOOST_AUTO_TEST_CASE(ALargeRunIsNotRewrittenForTinyOnes) {
  const auto rows = [](uint64_t flush) { return flush == 0 ? 1e9 : 1.0; };
  const Outcome outcome = Run({.flushes = 3000, .rows = rows});
  BOOST_CHECK_EQUAL(outcome.base_rewrites, 0u);
  BOOST_CHECK_LE(outcome.runs_max, 8u);
}

BOOST_AUTO_TEST_CASE(FlushesOfUnlikeSizesAreRewrittenAFewTimes) {
  TestRandom random("pick/FlushesOfUnlikeSizesAreRewrittenAFewTimes");
  const auto rows = [&](uint64_t) { return std::exp2(static_cast<double>(random.Below(14))); };
  const Outcome outcome = Run({.flushes = 1024, .rows = rows});
  Print("skewed sizes", 1024, outcome);
  BOOST_CHECK_LE(outcome.written, 12.0);
  BOOST_CHECK_LE(outcome.runs_max, 8u);
}

BOOST_AUTO_TEST_CASE(UniformKeysAreRewrittenAFewTimes) {
  const struct {
    uint64_t flushes;
    double written_max;
  } kCases[] = {{16, 5.5}, {64, 5.5}, {256, 7}, {1024, 12}};
  for (const auto& [flushes, written_max] : kCases) {
    const Outcome inserted = Run({.flushes = flushes});
    Print("new keys", flushes, inserted);
    BOOST_CHECK_LE(inserted.written, written_max);
    BOOST_CHECK_LT(inserted.runs, 6);
    BOOST_CHECK_LE(inserted.runs_max, 8u);
    BOOST_CHECK_LE(inserted.inputs_max, kMergeRunsMax);
    if (flushes < 64) continue;  // Fewer keys than a flush or two bring.
    const Outcome overwritten =
        Run({.flushes = flushes, .keys = 250.0 * static_cast<double>(flushes)});
    Print("each key four times", flushes, overwritten);
    BOOST_CHECK_LE(overwritten.written, written_max);
    BOOST_CHECK_LT(overwritten.runs, 6);
    BOOST_CHECK_LE(overwritten.space, 1.5);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
