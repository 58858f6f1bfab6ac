// What is measured and what is to be reached, as data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::bench {

enum class Unit : uint8_t { kPerSecond, kNanos, kMicros, kMillis, kBytes, kNumber };

struct Phase {
  std::string name;
  const char* family;  ///< By which --phases chooses it.
  Unit unit = Unit::kPerSecond;
  /// A phase that returns the same rows another way: a peer's figure is the better of the two, as
  /// its user would take the better way. Tandem's figure is that of the way it chose.
  std::string other_way = {};
};

/// All phases, in the order of the report.
const std::vector<Phase>& Phases();
/// Null: no such phase.
const Phase* FindPhase(const std::vector<Phase>& phases, std::string_view name);
const Phase* FindPhase(std::string_view name);
std::vector<std::string> Families();
/// Whether the engine is measured in the phases of the family.
bool IsMeasured(std::string_view family, std::string_view engine);

enum class Against : uint8_t {
  kBestPeer,          ///< At least `factor` times as good as the best peer.
  kSecondPeer,        ///< As the second best peer.
  kRocksDb,           ///< As RocksDB.
  kOwnPhase,          ///< At least `factor` times Tandem's own rate of the phase `other`.
  kLimit,             ///< At most `factor`, in the phase's unit.
  kDeviceRandom,      ///< Rows/s at least `factor` times the device's random reads/s at depth 32.
  kDeviceSequential,  ///< At least `factor` times the device's sequential rate, or of zstd's.
};

struct Goal {
  std::string phase;
  Against against;
  double factor;
  std::string other = {};
};

const std::vector<Goal>& Goals();

/// Whether more is better.
bool IsRate(Unit unit);

}  // namespace tandem::bench
