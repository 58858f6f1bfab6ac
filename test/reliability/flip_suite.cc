// flip: one bit changed in every byte of every file, and zeroed sectors of logs. By hand also the
// other bits, in eight rounds, and sectors of two sizes that are zeroed, set to ones or exchanged,
// within a file and between two; and files of random workloads besides.
#include <functional>

#include "test/reliability/damage.h"
#include "test/reliability/rounds.h"

namespace tandem::reliability {
namespace {

using DamageKind = Damage::Kind;

/// A third of the trials is opened in each way; another third by the next round.
Damage::Mode ModeOf(uint64_t seed, uint64_t number) {
  return static_cast<Damage::Mode>((seed + number) % 3);
}

/// ROOT is alike in all shapes: of those that were closed and of those that were killed one is
/// enough where time is short.
bool IsOneRootOfMany(const DamageTrials& trials, size_t shape, size_t file) {
  const bool first_of_its_kind =
      shape == 0 || trials.shapes()[shape].is_closed != trials.shapes()[shape - 1].is_closed;
  return trials.names(shape)[file] == "ROOT" && !first_of_its_kind;
}

void AddFlips(const DamageTrials& trials, const Plan& plan, uint64_t round,
              std::vector<Damage>* damages) {
  const uint64_t seed = plan.seed;
  for (uint8_t shape = 0; shape < trials.shapes().size(); ++shape) {
    for (uint8_t file = 0; file < trials.names(shape).size(); ++file) {
      const std::string* bytes = trials.Bytes(shape, file);
      if (plan.seconds == 0 && IsOneRootOfMany(trials, shape, file)) continue;
      for (uint32_t at = 0; bytes != nullptr && at < bytes->size(); ++at) {
        const auto bit = static_cast<uint8_t>((at * 5 + seed + round) % 8);
        damages->push_back({.kind = DamageKind::kFlip,
                            .mode = ModeOf(seed + round, at),
                            .shape = shape,
                            .file = file,
                            .bit = bit,
                            .at = at});
      }
    }
  }
}

/// Damage to whole sectors of one size.
class Sectors {
 public:
  Sectors(const DamageTrials& trials, uint64_t seed, uint32_t bytes, std::vector<Damage>* damages)
      : trials_(trials), seed_(seed), bytes_(bytes), damages_(*damages) {}

  void AddAll() {
    ForEach([this](const Damage& place) { AddSector(place); });
  }

  /// Zeros in a log look like space that was reserved and not used yet.
  void AddZerosInLogs() {
    ForEach([this](Damage damage) {
      if (!trials_.names(damage.shape)[damage.file].starts_with("log-")) return;
      damage.kind = DamageKind::kZeroSector;
      Add(damage);
    });
  }

 private:
  void ForEach(const std::function<void(const Damage& place)>& visit) const {
    for (uint8_t shape = 0; shape < trials_.shapes().size(); ++shape) {
      for (uint8_t file = 0; file < trials_.names(shape).size(); ++file) {
        for (uint32_t at = 0; at < SizeOf(shape, file); at += bytes_) {
          visit({.shape = shape, .file = file, .at = at});
        }
      }
    }
  }
  uint32_t SizeOf(uint8_t shape, uint8_t file) const {
    const std::string* const bytes = trials_.Bytes(shape, file);
    return bytes == nullptr ? 0 : static_cast<uint32_t>(bytes->size());
  }
  void Add(Damage damage) {
    damage.mode = ModeOf(seed_, damages_.size());
    damage.sector = bytes_;
    damages_.push_back(damage);
  }
  void AddSector(const Damage& place) {
    for (const DamageKind kind : {DamageKind::kZeroSector, DamageKind::kOnesSector}) {
      Damage damage = place;
      damage.kind = kind;
      Add(damage);
    }
    AddSwaps(place);
    AddSwapsBetween(place);
  }
  /// With every later one of the file, or, of small ones, with one nearby.
  void AddSwaps(Damage damage) {
    damage.kind = DamageKind::kSwapSectors;
    const uint32_t end = SizeOf(damage.shape, damage.file);
    const bool is_small = bytes_ < kDiskSectorBytes;
    damage.to = damage.at + bytes_ * (is_small ? 1 + static_cast<uint32_t>(seed_ % kNear) : 1);
    for (; damage.to < end; damage.to += is_small ? end : bytes_) Add(damage);
  }
  /// With one of each other file; what ROOT may keep to itself is no matter of others.
  void AddSwapsBetween(Damage damage) {
    damage.kind = DamageKind::kSwapBetween;
    const auto& names = trials_.names(damage.shape);
    for (uint8_t other = 0; other < names.size(); ++other) {
      const uint32_t count = SizeOf(damage.shape, other) / bytes_;
      const bool is_root = names[other] == "ROOT" || names[damage.file] == "ROOT";
      if (other == damage.file || count == 0 || is_root) continue;
      damage.other = other;
      damage.to = static_cast<uint32_t>((seed_ + damage.at / bytes_) % count) * bytes_;
      Add(damage);
    }
  }

  static constexpr uint32_t kDiskSectorBytes = 512;
  static constexpr uint32_t kNear = 8;
  const DamageTrials& trials_;
  const uint64_t seed_;
  const uint32_t bytes_;
  std::vector<Damage>& damages_;
};

}  // namespace

Report RunFlip(const Plan& plan) {
  Report report;
  const Rounds rounds(plan);
  for (uint64_t round = 0; rounds.Continues(round) && report.failures.empty(); ++round) {
    const DamageTrials trials(plan, plan.seed + round / 8, round);
    std::vector<Damage> damages;
    AddFlips(trials, plan, round, &damages);
    for (const uint32_t sector : kSectorSizes) {
      Sectors sectors(trials, plan.seed + round, sector, &damages);
      if (plan.seconds > 0) {
        sectors.AddAll();
      } else {
        sectors.AddZerosInLogs();
      }
    }
    trials.Run(plan, damages, "flip", rounds.seconds_left(), &report);
  }
  return report;
}

}  // namespace tandem::reliability
