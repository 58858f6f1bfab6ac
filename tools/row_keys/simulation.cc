// See simulation.h.
#include "tools/row_keys/simulation.h"

#include <algorithm>

namespace tandem::row_keys {
namespace {

Skew SkewOfCounts(const std::vector<uint64_t>& counts) {
  return SkewOf(std::vector<double>(counts.begin(), counts.end()));
}

}  // namespace

Simulation::Simulation(std::span<const std::string> split_keys, uint64_t window_keys)
    : router_(split_keys),
      window_keys_(window_keys),
      counts_(router_.regions()),
      totals_(router_.regions()) {}

void Simulation::CloseWindow() {
  windows_.push_back({.first = keys_, .keys = pending_, .skew = SkewOfCounts(counts_)});
  for (size_t region = 0; region < counts_.size(); ++region) totals_[region] += counts_[region];
  std::ranges::fill(counts_, 0);
  keys_ += pending_;
  pending_ = 0;
}

Skew Simulation::TotalSkew() const { return SkewOfCounts(totals_); }

double Simulation::HottestShareOfAWindow() const {
  double share = 0;
  for (const Window& window : windows_) share = std::max(share, window.skew.hottest_share);
  return share;
}

}  // namespace tandem::row_keys
