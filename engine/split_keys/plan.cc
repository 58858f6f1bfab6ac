// Cuts a sketch in two steps:
//   1. From the front: the next region ends at the key that is nearest to the weight left, divided
//      by the regions left. A key that outweighs a region gets one alone, and the others share the
//      rest.
//   2. Where a heavy key took several ends at once, regions are missing: the heaviest region that
//      has a key inside is cut in its middle until there are enough.
#include "engine/split_keys/plan.h"

#include <algorithm>
#include <queue>
#include <string>
#include <utility>

namespace tandem::engine {
namespace {

using Entry = QuantileSketch::Entry;

/// The entries of a sketch with the weight that is expected below each.
class Weights {
 public:
  explicit Weights(const std::vector<Entry>& entries) {
    uint64_t before = 0;
    for (const Entry& entry : entries) {
      const uint64_t below = before + entry.gap;
      below_.push_back(static_cast<double>(below) + static_cast<double>(entry.spread) / 2);
      before = below + entry.weight;
    }
    below_.push_back(static_cast<double>(before));
  }

  size_t count() const { return below_.size() - 1; }
  /// Below an entry; at count() the whole.
  double At(size_t entry) const { return below_[entry]; }
  double Between(size_t begin, size_t end) const { return below_[end] - below_[begin]; }
  /// The entry from `begin` on and before `end` whose weight below is nearest to `weight`.
  /// Requires: begin < end.
  size_t Nearest(double weight, size_t begin, size_t end) const {
    const auto first = below_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = below_.begin() + static_cast<std::ptrdiff_t>(end);
    auto found = std::lower_bound(first, last, weight);
    if (found == last || (found != first && weight - found[-1] <= *found - weight)) --found;
    return static_cast<size_t>(found - below_.begin());
  }

 private:
  std::vector<double> below_;
};

std::vector<size_t> CutsFromTheFront(const Weights& weights, uint64_t regions) {
  std::vector<size_t> cuts;
  size_t last = 0;
  for (uint64_t left = regions; left > 1 && last + 1 < weights.count(); --left) {
    const double begin = weights.At(last);
    const double end = begin + (weights.At(weights.count()) - begin) / static_cast<double>(left);
    last = weights.Nearest(end, last + 1, weights.count());
    cuts.push_back(last);
  }
  return cuts;
}

void CutTheHeaviest(const Weights& weights, uint64_t regions, std::vector<size_t>* cuts) {
  struct Part {
    double weight;
    size_t begin, end;
    bool operator<(const Part& other) const {
      return std::pair(weight, other.begin) < std::pair(other.weight, begin);
    }
  };
  std::priority_queue<Part> parts;
  const auto add = [&](size_t begin, size_t end) {
    if (end - begin > 1) parts.push({weights.Between(begin, end), begin, end});
  };
  size_t begin = 0;
  for (const size_t cut : *cuts) add(std::exchange(begin, cut), cut);
  add(begin, weights.count());
  while (cuts->size() + 1 < regions && !parts.empty()) {
    const Part part = parts.top();
    parts.pop();
    const double middle = weights.At(part.begin) + part.weight / 2;
    const size_t cut = weights.Nearest(middle, part.begin + 1, part.end);
    cuts->push_back(cut);
    add(part.begin, cut);
    add(cut, part.end);
  }
  std::ranges::sort(*cuts);
}

std::string Counted(uint64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string NoteOf(const SplitPlan& plan) {
  if (plan.regions() == plan.regions_asked) return "";
  const std::string regions = Counted(plan.regions(), "region") + " instead of " +
                              std::to_string(plan.regions_asked) + ": the sample has only ";
  if (plan.error_share == 0) return regions + Counted(plan.distinct, "distinct key");
  return regions + Counted(plan.distinct, "key") + " that are far enough apart";
}

}  // namespace

double SketchErrorFor(uint64_t regions) {
  // A cut that is off by a 32nd of a region; of few regions less, since it costs nothing. The least
  // keeps a sketch below some hundred MiB.
  constexpr double kMost = 1e-4, kLeast = 1.0 / (1 << 20);
  return std::clamp(1.0 / (32.0 * static_cast<double>(regions)), kLeast, kMost);
}

SplitPlan PlanFromSketch(QuantileSketch* sketch, uint64_t regions) {
  const std::vector<Entry>& entries = sketch->entries();
  const Weights weights(entries);
  std::vector<size_t> cuts = CutsFromTheFront(weights, regions);
  CutTheHeaviest(weights, regions, &cuts);

  SplitPlan plan;
  plan.regions_asked = regions;
  plan.sample_keys = sketch->keys();
  plan.distinct = entries.size();
  plan.weighted = sketch->weight() != sketch->keys();
  const auto total = static_cast<double>(sketch->weight());
  plan.error_share = static_cast<double>(sketch->error()) / total;
  size_t begin = 0;
  for (const size_t cut : cuts) {
    plan.keys.push_back(entries[cut].key);
    plan.shares.push_back(weights.Between(std::exchange(begin, cut), cut) / total);
  }
  plan.shares.push_back(weights.Between(begin, weights.count()) / total);
  plan.note = NoteOf(plan);
  return plan;
}

}  // namespace tandem::engine
