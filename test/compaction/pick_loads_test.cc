// Which runs merges take of a region that is written to for years: what that comes to. A load is
// simulated flush by flush, which are also its clock: a run is what the flushes [first, end) wrote,
// and the load says what is in it. Bounds are about 15 % above what the policy comes to.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <vector>

#include "compaction/pick.h"
#include "engine/region/size_rules.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using compaction::kMergeRunsMax;
using compaction::MergePolicy;
using compaction::RunDescription;
using compaction::RunRange;

constexpr double kRowBytes = 100, kMarkerBytes = 20;
constexpr double kFlushRows = 1000;

/// What a run has: rows, markers of other rows, and rows of ten times the bytes.
struct Contents {
  double rows = 0, markers = 0, large_rows = 0;

  double bytes() const { return (rows + 10 * large_rows) * kRowBytes + markers * kMarkerBytes; }
  RunDescription described() const {
    return {.bytes = static_cast<uint64_t>(bytes()),
            .rows = static_cast<uint64_t>(rows + markers + large_rows),
            .deletes = static_cast<uint64_t>(markers),
            .dead = 0};
  }
};

/// What the flushes [first, end) wrote.
struct Flushes {
  uint64_t first = 0, end = 0;
};

struct Load {
  uint64_t flushes = 0;
  /// What the flushes [first, end) leave in one run. The oldest run keeps no marker.
  std::function<Contents(uint64_t first, uint64_t end)> run;
  /// Rows that are live after so many flushes; a large one counts as ten.
  std::function<double(uint64_t flushes)> live_rows;
  /// Rows of one run that a newer one has too; empty: none.
  std::function<double(Flushes older, Flushes newer)> shared = {};
  /// Files of so many bytes join the run before them: keys ascend. 0: keys of runs interleave.
  uint64_t join_bytes = 0;
  uint64_t warm = 0;  ///< Flushes after which the space is looked at.
  MergePolicy policy = {};
};

struct Outcome {
  double written = 0;  ///< Bytes by flushes and merges for each byte that flushes wrote.
  double runs = 0;     ///< Mean after flushes and what follows them.
  size_t runs_max = 0, inputs_max = 0;
  double space = 0;  ///< Bytes of the runs for each byte of live rows, at its peak.
  uint64_t base_rewrites = 0;
};

class Region {
 public:
  explicit Region(const Load& load) : load_(load) {}

  /// Flushes one after the other, with all merges that are due between them.
  Outcome Run() {
    for (uint64_t flush = 0; flush < load_.flushes; ++flush) {
      Add({flush, flush + 1}, runs_.size());
      flushed_ += BytesOf({flush, flush + 1});
      do {
        Measure(flush + 1);
      } while (Merge());
      outcome_.runs += static_cast<double>(runs_.size()) / static_cast<double>(load_.flushes);
      outcome_.runs_max = std::max(outcome_.runs_max, runs_.size());
    }
    outcome_.written = (flushed_ + merged_) / flushed_;
    return outcome_;
  }

 private:
  double BytesOf(Flushes run) const { return load_.run(run.first, run.end).bytes(); }

  // As engine/jobs/joined_files does.
  void Add(Flushes run, size_t place) {
    const auto bytes = static_cast<uint64_t>(BytesOf(run));
    const bool is_after_run = load_.join_bytes > 0 && place > 0;
    if (engine::JoinsRun(is_after_run, std::array{bytes}, load_.join_bytes)) {
      runs_[place - 1].end = run.end;
    } else {
      runs_.insert(runs_.begin() + static_cast<ptrdiff_t>(place), run);
    }
  }

  void Measure(uint64_t flushes) {
    if (flushes <= load_.warm) return;
    double stored = 0;
    for (const Flushes& run : runs_) stored += BytesOf(run);
    outcome_.space = std::max(outcome_.space, stored / (kRowBytes * load_.live_rows(flushes)));
  }

  bool Merge() {
    std::vector<RunDescription> described;
    for (const Flushes& run : runs_) {
      described.push_back(load_.run(run.first, run.end).described());
    }
    if (load_.shared) {
      double dead = 0;
      for (size_t i = 1; i < runs_.size(); ++i) dead += load_.shared(runs_[0], runs_[i]);
      described[0].dead = std::min(static_cast<uint64_t>(dead), described[0].rows);
    }
    const std::optional<RunRange> range = compaction::PickMerge(described, load_.policy);
    if (!range.has_value()) return false;
    BOOST_REQUIRE_LT(range->first + 1, range->end);
    BOOST_REQUIRE_LE(range->end, runs_.size());
    outcome_.inputs_max = std::max(outcome_.inputs_max, range->end - range->first);
    outcome_.base_rewrites += range->first == 0;
    const Flushes merged{runs_[range->first].first, runs_[range->end - 1].end};
    runs_.erase(runs_.begin() + static_cast<ptrdiff_t>(range->first),
                runs_.begin() + static_cast<ptrdiff_t>(range->end));
    Add(merged, range->first);
    merged_ += BytesOf(merged);
    return true;
  }

  const Load& load_;
  std::vector<Flushes> runs_;
  Outcome outcome_;
  double flushed_ = 0, merged_ = 0;
};

Outcome Run(const Load& load) { return Region(load).Run(); }

/// `rows` of `keys` possible ones, chosen at random: how many are different. No keys: all are.
double Different(double rows, double keys) {
  return keys == 0 ? rows : keys * (1 - std::exp(-rows / keys));
}

/// Keys that get a share of the writes.
struct KeyClass {
  double share = 1, keys = 0;
};

/// Of rows without markers, whose keys are drawn from the classes.
Load PutsOf(uint64_t flushes, std::vector<KeyClass> classes) {
  Load load{.flushes = flushes, .run = {}, .live_rows = {}};
  const auto of_class = [](const KeyClass& one, uint64_t count) {
    return Different(one.share * kFlushRows * static_cast<double>(count), one.keys);
  };
  load.live_rows = [=](uint64_t count) {
    double different = 0;
    for (const KeyClass& one : classes) different += of_class(one, count);
    return different;
  };
  load.run = [rows = load.live_rows](uint64_t first, uint64_t end) {
    return Contents{.rows = rows(end - first)};
  };
  load.shared = [=](Flushes older, Flushes newer) {
    double shared = 0;
    for (const KeyClass& one : classes) {
      if (one.keys == 0) continue;
      shared += of_class(one, older.end - older.first) * of_class(one, newer.end - newer.first) /
                one.keys;
    }
    return shared;
  };
  return load;
}

Load Uniform(uint64_t flushes, double keys = 0) {
  return PutsOf(flushes, {{.share = 1, .keys = keys}});
}

/// Flush by flush so many rows with keys of their own.
Load Unlike(const std::vector<double>& rows) {
  std::vector<double> before = {0};
  for (const double more : rows) before.push_back(before.back() + more);
  Load load{.flushes = rows.size(), .run = {}, .live_rows = {}};
  load.run = [before](uint64_t first, uint64_t end) {
    return Contents{.rows = before[end] - before[first]};
  };
  load.live_rows = [before](uint64_t count) { return before[count]; };
  return load;
}

/// By Zipf's law: each of 16 classes of keys gets as many writes, and has twice the keys of the one
/// before it.
Load Skewed(uint64_t flushes) {
  constexpr int kClasses = 16;
  std::vector<KeyClass> classes;
  for (int i = 0; i < kClasses; ++i) classes.push_back({1.0 / kClasses, std::exp2(i)});
  Load load = PutsOf(flushes, classes);
  load.warm = 8;
  return load;
}

/// Nine of ten writes are of a hundredth of the keys.
Load OfAHotHundredth(uint64_t flushes, double keys) {
  Load load = PutsOf(flushes, {{0.9, 0.01 * keys}, {0.1, 0.99 * keys}});
  load.warm = 8;
  return load;
}

/// The first flush brings large rows; each later one puts small ones in the place of 1,000 of them,
/// or of small ones, at random.
Load Shrinking(uint64_t flushes, double keys) {
  const auto updated = [keys](Flushes run) {
    const uint64_t first = std::max<uint64_t>(run.first, 1);
    return Different(kFlushRows * static_cast<double>(run.end - std::min(first, run.end)), keys);
  };
  Load load{.flushes = flushes, .run = {}, .live_rows = {}};
  load.run = [=](uint64_t first, uint64_t end) {
    const double small = updated({first, end});
    return Contents{.rows = small, .markers = 0, .large_rows = first == 0 ? keys - small : 0};
  };
  load.live_rows = [=](uint64_t count) {
    const double small = updated({0, count});
    return small + 10 * (keys - small);
  };
  load.shared = [=](Flushes older, Flushes newer) {
    return (older.first == 0 ? keys : updated(older)) * updated(newer) / keys;
  };
  load.warm = 8;
  return load;
}

/// The rows of a time series: a period of 500 keys begins with each flush. Half of the writes are
/// of the newest period, a quarter of the one before it, and so on. A merge drops what is older
/// than `kept` periods.
Load TimeSeries(uint64_t flushes, uint64_t kept) {
  constexpr double kPeriodKeys = 500;
  constexpr uint64_t kPeriodsWritten = 12;
  // Of the period, by the flushes [first, end).
  const auto different = [](uint64_t period, uint64_t first, uint64_t end) {
    const auto share_after = [&](uint64_t flush) {
      return std::exp2(-static_cast<double>(std::max(flush, period) - period));
    };
    return Different(kFlushRows * (share_after(first) - share_after(end)), kPeriodKeys);
  };
  Load load{.flushes = flushes, .run = {}, .live_rows = {}};
  load.run = [=](uint64_t first, uint64_t end) {
    uint64_t period = first - std::min(first, kPeriodsWritten);
    if (end - first > 1) period = std::max(period, end - std::min(end, kept));  // It was merged.
    Contents run;
    for (; period < end; ++period) run.rows += different(period, first, end);
    return run;
  };
  load.live_rows = [=](uint64_t count) {
    double rows = 0;
    for (uint64_t i = count - std::min(count, kept); i < count; ++i) rows += different(i, 0, count);
    return rows;
  };
  load.warm = 8;
  return load;
}

/// Each flush has 1,000 new rows and deletes those of the flush `kept` before it.
Load Queue(uint64_t flushes, uint64_t kept) {
  Load load{.flushes = flushes, .run = {}, .live_rows = {}};
  load.run = [kept](uint64_t first, uint64_t end) {
    const auto rows_of = [](uint64_t count) { return kFlushRows * static_cast<double>(count); };
    // Of a row and its delete in one run nothing is left.
    const uint64_t deleted_through = end - std::min(end, kept);
    const uint64_t deleted_before = first - std::min(first, kept);
    Contents run{.rows = rows_of(end - std::max(first, deleted_through))};
    run.markers = rows_of(std::min(first, deleted_through) - deleted_before);
    return run;
  };
  load.live_rows = [kept](uint64_t count) {
    return kFlushRows * static_cast<double>(std::min(count, kept));
  };
  load.warm = kept;
  return load;
}

/// Half of the operations are deletes; keys are uniform.
Load DeletesAtRandom(uint64_t flushes, double keys) {
  Load load{.flushes = flushes, .run = {}, .live_rows = {}};
  load.run = [keys](uint64_t first, uint64_t end) {
    const double last = Different(kFlushRows * static_cast<double>(end - first), keys) / 2;
    return Contents{.rows = last, .markers = first == 0 ? 0 : last};
  };
  load.live_rows = [keys](uint64_t count) {
    return Different(kFlushRows * static_cast<double>(count), keys) / 2;
  };
  load.warm = 8;
  return load;
}

void Print(const char* what, uint64_t flushes, const Outcome& outcome) {
  std::printf("%s, %llu flushes: written %.2f, runs %.1f (at most %zu), space %.2f\n", what,
              static_cast<unsigned long long>(flushes), outcome.written, outcome.runs,
              outcome.runs_max, outcome.space);
}

struct Bounds {
  double written = 0, runs = 0, space = 0;
};

void Check(const char* what, const Load& load, const Bounds& bounds) {
  const Outcome outcome = Run(load);
  Print(what, load.flushes, outcome);
  BOOST_TEST_CONTEXT(what << ", " << load.flushes << " flushes") {
    BOOST_CHECK_LE(outcome.written, bounds.written);
    BOOST_CHECK_LE(outcome.runs, bounds.runs);
    BOOST_CHECK_LE(outcome.space, bounds.space);
    BOOST_CHECK_LE(outcome.runs_max, 8u);
    BOOST_CHECK_LE(outcome.inputs_max, kMergeRunsMax);
  }
}

BOOST_AUTO_TEST_SUITE(Pick)

// One record into a large table, again and again.
BOOST_AUTO_TEST_CASE(ALargeRunIsNotRewrittenForTinyOnes) {
  std::vector<double> rows(3000, 1.0);
  rows[0] = 1e9;
  const Outcome outcome = Run(Unlike(rows));
  BOOST_CHECK_EQUAL(outcome.base_rewrites, 0u);
  BOOST_CHECK_LE(outcome.runs_max, 8u);
}

BOOST_AUTO_TEST_CASE(FlushesOfUnlikeSizesAreRewrittenAFewTimes) {
  TestRandom random("pick/FlushesOfUnlikeSizesAreRewrittenAFewTimes");
  std::vector<double> rows(1024);
  for (double& of_flush : rows) of_flush = std::exp2(static_cast<double>(random.Below(14)));
  const Outcome outcome = Run(Unlike(rows));
  Print("skewed sizes", rows.size(), outcome);
  BOOST_CHECK_LE(outcome.written, 12.0);
  BOOST_CHECK_LE(outcome.runs_max, 8u);
}

BOOST_AUTO_TEST_CASE(UniformKeysAreRewrittenAFewTimes) {
  const struct {
    uint64_t flushes;
    double written_max;
  } kCases[] = {{16, 5.5}, {64, 5.5}, {256, 7}, {1024, 12}};
  for (const auto& [flushes, written_max] : kCases) {
    Check("new keys", Uniform(flushes), {written_max, 6, 1});
    if (flushes < 64) continue;  // Fewer keys than a flush or two bring.
    Check("each key four times", Uniform(flushes, 250.0 * static_cast<double>(flushes)),
          {written_max, 6, 1.5});
  }
}

BOOST_AUTO_TEST_CASE(AscendingKeysAreRewrittenOnceAtMost) {
  Load load = Uniform(256);
  load.join_bytes = static_cast<uint64_t>(kFlushRows * kRowBytes);
  Check("ascending keys, large flushes", load, {1, 1, 1});
  load.join_bytes = 11 * load.join_bytes / 4;  // Four flushes have that.
  Check("ascending keys, small flushes", load, {2.4, 2.9, 1});
  load.flushes = 1024;
  Check("ascending keys, small flushes", load, {2.1, 2.9, 1});
}

BOOST_AUTO_TEST_CASE(SkewedKeysAreRewrittenAFewTimes) {
  Check("Zipf's law", Skewed(64), {4.2, 3.1, 1.5});
  Check("Zipf's law", Skewed(256), {4.5, 4.2, 1.5});
  Check("Zipf's law", Skewed(1024), {4.6, 5.3, 1.5});
  // Four flushes of the same hot keys are in the region before the first merge.
  Check("a hot hundredth", OfAHotHundredth(256, 64'000), {3.1, 3.6, 2.2});
  Check("a hot hundredth", OfAHotHundredth(1024, 64'000), {3, 4.9, 2.2});
}

BOOST_AUTO_TEST_CASE(TimeSeriesAreRewrittenAFewTimes) {
  Check("a time series", TimeSeries(256, 64), {4.5, 4.2, 1.6});
  Check("a time series", TimeSeries(1024, 64), {4.5, 4.5, 1.6});
  Check("a time series that is kept", TimeSeries(1024, 1024), {5.7, 6, 1.5});
}

// Without the rule for deletes the space of the queues would be 1.45 and 1.375.
BOOST_AUTO_TEST_CASE(DeletesFreeTheirSpace) {
  Check("a queue of 16 flushes", Queue(1024, 16), {5, 2.9, 1.35});
  Check("a queue of 64 flushes", Queue(1024, 64), {5.8, 4.6, 1.35});
  Check("deletes at random", DeletesAtRandom(64, 16'000), {4.4, 2.7, 1.6});
  Check("deletes at random", DeletesAtRandom(256, 64'000), {5.5, 4.1, 1.5});
  Check("deletes at random", DeletesAtRandom(1024, 256'000), {7.2, 5.5, 1.5});
}

// Without the rule for replaced rows the space would be 13, 10 and 13.
BOOST_AUTO_TEST_CASE(ReplacedRowsFreeTheirSpace) {
  Check("values that shrink", Shrinking(256, 16'000), {3.9, 3.1, 1.75});
  Check("values that shrink", Shrinking(256, 64'000), {3.7, 4.7, 1.75});
  Check("values that shrink", Shrinking(1024, 64'000), {4.5, 4.7, 1.75});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
