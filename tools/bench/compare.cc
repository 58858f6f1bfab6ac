// See compare.h.
#include "tools/bench/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/bench/figures.h"
#include "tools/bench/peer.h"
#include "tools/tandem/format_text.h"

namespace tandem::bench {
namespace {

constexpr double kLeastNoise = 0.1;

bool IsTandem(const std::string& name) { return name.starts_with("tandem/"); }

double SpreadOf(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double median = Median(values);
  return median == 0 ? 0 : (*high - *low) / median;
}

Change ChangeOf(const Series& before, const Series& after) {
  Change change;
  change.name = before.name;
  change.before = Median(before.values);
  change.after = Median(after.values);
  const double up = before.higher_is_better ? change.after : change.before;
  const double down = before.higher_is_better ? change.before : change.after;
  // Nothing is as good as nothing; it is not compared with something.
  change.better = up == down || up == 0 || down == 0 ? 1 : up / down;
  change.noise = std::max({kLeastNoise, SpreadOf(before.values), SpreadOf(after.values)});
  change.is_regression = IsTandem(change.name) && change.better < 1 / (1 + change.noise);
  return change;
}

// The mean of the peers' factors as a factor; 1 without peers.
double PeersMoved(const std::vector<Change>& changes) {
  double sum = 0;
  int count = 0;
  for (const Change& change : changes) {
    if (IsTandem(change.name)) continue;
    sum += std::log(change.better);
    ++count;
  }
  return count == 0 ? 1 : std::exp(sum / count);
}

}  // namespace

std::vector<Change> ChangesBetween(const std::vector<Series>& before,
                                   const std::vector<Series>& after) {
  std::vector<Change> changes;
  for (const Series& old : before) {
    const auto now = std::find_if(after.begin(), after.end(),
                                  [&](const Series& series) { return series.name == old.name; });
    if (now != after.end()) changes.push_back(ChangeOf(old, *now));
  }
  return changes;
}

int Compare(const std::string& before_path, const std::string& after_path) {
  const std::vector<Change> changes =
      ChangesBetween(ReadSeries(before_path), ReadSeries(after_path));
  if (changes.empty()) Fail(before_path + " and " + after_path + " have no figure in common");
  std::string table = tools::Format("{:<40}{:>14}{:>14}{:>8}{:>8}\n", "figure", "before", "after",
                                    "better", "noise");
  int regressions = 0;
  for (const Change& change : changes) {
    regressions += change.is_regression ? 1 : 0;
    table += tools::Format("{:<40}{:>14.2f}{:>14.2f}{:>7.2f}x{:>7.0f}%{}\n", change.name,
                           change.before, change.after, change.better, change.noise * 100,
                           change.is_regression ? " REGRESSION" : "");
  }
  std::fputs(table.c_str(), stdout);
  std::printf("peers: %.2f x; %d regressions beyond the noise\n", PeersMoved(changes), regressions);
  return regressions == 0 ? 0 : kFoundExitCode;
}

}  // namespace tandem::bench
