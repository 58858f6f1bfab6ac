// See scores.h.
#include "tools/bench/scores.h"

#include <algorithm>

namespace tandem::bench {
namespace {

constexpr const char* kTandem = "tandem";

double Better(const Phase& phase, double a, double b) {
  return IsRate(phase.unit) ? std::max(a, b) : std::min(a, b);
}

double TimesBetter(const Phase& phase, double value, double other) {
  return IsRate(phase.unit) ? value / other : other / value;
}

// Against the peer at `rank`, 0 the best.
GoalScore AgainstPeer(const Goal& goal, const Figures& figures, size_t rank) {
  const Phase& phase = *FindPhase(goal.phase);
  const std::vector<std::string> peers = RankedPeers(figures, phase);
  if (rank >= peers.size()) return {};
  const auto ratio = RatioOf(figures, phase, kTandem, peers[rank]);
  return {ratio ? std::optional(ratio->median) : std::nullopt, peers[rank]};
}

GoalScore AgainstRocksDb(const Goal& goal, const Figures& figures) {
  const auto ratio = RatioOf(figures, *FindPhase(goal.phase), kTandem, "rocksdb");
  return {ratio ? std::optional(ratio->median) : std::nullopt, "rocksdb"};
}

GoalScore AgainstOwnPhase(const Goal& goal, const Figures& figures) {
  const std::vector<double> values = figures.Values(goal.phase, kTandem);
  const std::vector<double> others = figures.Values(goal.other, kTandem);
  if (values.empty() || values.size() != others.size()) return {std::nullopt, goal.other};
  std::vector<double> ratios;
  for (size_t i = 0; i < values.size(); ++i) ratios.push_back(values[i] / others[i]);
  return {Median(ratios), goal.other};
}

// Bytes from the device against its rate, and values returned against what zstd can unpack: a
// reader that reaches either is held back by nothing else.
GoalScore AgainstSequential(const Goal& goal, const Figures& figures, const Device& device) {
  std::vector<double> by_device, by_zstd;
  for (const Figure* figure : figures.Of(goal.phase, kTandem)) {
    by_device.push_back(static_cast<double>(figure->read_bytes) / figure->seconds /
                        device.sequential_bytes);
    by_zstd.push_back(static_cast<double>(figure->row_bytes) / figure->seconds / device.zstd_bytes);
  }
  if (by_device.empty()) return {std::nullopt, "device, sequential"};
  const double device_share = Median(by_device), zstd_share = Median(by_zstd);
  if (zstd_share > device_share) return {zstd_share, "zstd"};
  return {device_share, "device, sequential"};
}

GoalScore Measured(const Goal& goal, const Figures& figures, const Device& device) {
  const std::vector<double> values = figures.Values(goal.phase, kTandem);
  switch (goal.against) {
    case Against::kBestPeer:
      return AgainstPeer(goal, figures, 0);
    case Against::kSecondPeer:
      return AgainstPeer(goal, figures, 1);
    case Against::kRocksDb:
      return AgainstRocksDb(goal, figures);
    case Against::kOwnPhase:
      return AgainstOwnPhase(goal, figures);
    case Against::kLimit:
      return {values.empty() ? std::nullopt : std::optional(Median(values)), "at most"};
    case Against::kDeviceRandom:
      if (values.empty()) return {std::nullopt, "device, random"};
      return {Median(values) / device.random_reads_32, "device, random"};
    case Against::kDeviceSequential:
      return AgainstSequential(goal, figures, device);
  }
  return {};
}

}  // namespace

std::vector<double> ValuesOf(const Figures& figures, const Phase& phase,
                             const std::string& engine) {
  std::vector<double> values = figures.Values(phase.name, engine);
  if (engine == kTandem || phase.other_way.empty()) return values;
  const std::vector<double> others = figures.Values(phase.other_way, engine);
  for (size_t i = 0; i < values.size() && i < others.size(); ++i)
    values[i] = Better(phase, values[i], others[i]);
  return values;
}

std::optional<Ratio> RatioOf(const Figures& figures, const Phase& phase, const std::string& engine,
                             const std::string& other) {
  const std::vector<double> values = ValuesOf(figures, phase, engine);
  const std::vector<double> others = ValuesOf(figures, phase, other);
  std::vector<double> ratios;
  for (size_t i = 0; i < values.size() && i < others.size(); ++i)
    ratios.push_back(TimesBetter(phase, values[i], others[i]));
  if (ratios.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  return Ratio{Median(ratios), *low, *high};
}

std::vector<std::string> RankedPeers(const Figures& figures, const Phase& phase) {
  std::vector<std::pair<double, std::string>> ranked;
  for (const Figure& figure : figures.all()) {
    const bool known = std::any_of(ranked.begin(), ranked.end(),
                                   [&](const auto& peer) { return peer.second == figure.engine; });
    if (figure.phase != phase.name || figure.engine == kTandem || known) continue;
    ranked.emplace_back(Median(ValuesOf(figures, phase, figure.engine)), figure.engine);
  }
  std::sort(ranked.begin(), ranked.end(), [&](const auto& a, const auto& b) {
    return IsRate(phase.unit) ? a.first > b.first : a.first < b.first;
  });
  std::vector<std::string> names;
  for (const auto& [value, name] : ranked) names.push_back(name);
  return names;
}

GoalScore ScoreOf(const Goal& goal, const Figures& figures, const Device& device) {
  GoalScore score = Measured(goal, figures, device);
  if (score.measured.has_value()) {
    score.reached = goal.against == Against::kLimit ? *score.measured <= goal.factor
                                                    : *score.measured >= goal.factor;
  }
  return score;
}

}  // namespace tandem::bench
