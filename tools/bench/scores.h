// Figures of engines against each other, round by round, and against the goals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/bench/device.h"
#include "tools/bench/figures.h"
#include "tools/bench/phases.h"

namespace tandem::bench {

struct Ratio {
  double median = 0, low = 0, high = 0;
};

/// The engine's figure of each round: where the phase has another way and the engine is a peer, the
/// better of both. Empty: not measured.
std::vector<double> ValuesOf(const Figures& figures, const Phase& phase, const std::string& engine);

/// How many times better `engine` is than `other`, pair by pair; nullopt when either was not
/// measured.
std::optional<Ratio> RatioOf(const Figures& figures, const Phase& phase, const std::string& engine,
                             const std::string& other);

/// Engines but Tandem that were measured in this phase, the best median first.
std::vector<std::string> RankedPeers(const Figures& figures, const Phase& phase);

struct GoalScore {
  std::optional<double> measured;  ///< nullopt: something it needs was not measured.
  std::string against;             ///< "sqlite", "own scan", ...
  bool reached = false;
};

GoalScore ScoreOf(const Goal& goal, const Figures& figures, const Device& device);

}  // namespace tandem::bench
