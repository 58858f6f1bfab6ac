// cut: every file cut to every length, and extended by zeros, by garbage and by its own old bytes.
// By hand opened in all three ways, and files of random workloads besides.
#include "test/reliability/damage.h"
#include "test/reliability/rounds.h"

namespace tandem::reliability {
namespace {

using DamageKind = Damage::Kind;

/// What a file system or a failed copy may leave after the end.
constexpr uint32_t kExtensions[] = {1, 7, 8, 48, 64, 512, 4096};

class Cuts {
 public:
  Cuts(const DamageTrials& trials, uint64_t seed) : trials_(trials), seed_(seed) {}

  std::vector<Damage> All() {
    for (uint8_t shape = 0; shape < trials_.shapes().size(); ++shape) {
      for (uint8_t file = 0; file < trials_.names(shape).size(); ++file) {
        if (const std::string* bytes = trials_.Bytes(shape, file)) AddFile(shape, file, *bytes);
      }
    }
    return std::move(damages_);
  }

 private:
  void Add(DamageKind kind, uint8_t shape, uint8_t file, uint32_t at) {
    const auto mode = static_cast<Damage::Mode>((seed_ + at + at / 8) % 3);
    damages_.push_back({.kind = kind, .mode = mode, .shape = shape, .file = file, .at = at});
  }
  void AddFile(uint8_t shape, uint8_t file, const std::string& bytes) {
    const auto size = static_cast<uint32_t>(bytes.size());
    for (uint32_t length = 0; length < size; ++length) Add(DamageKind::kCut, shape, file, length);
    for (const uint32_t count : kExtensions) {
      Add(DamageKind::kExtendZeros, shape, file, count);
      Add(DamageKind::kExtendGarbage, shape, file, count);
    }
    // The end of a log or manifest once more is a chain of good frames in a wrong place.
    for (uint32_t from = 0; from < size; from += size / 64 + 1) {
      Add(DamageKind::kExtendOwn, shape, file, from / 8 * 8);
    }
  }

  const DamageTrials& trials_;
  const uint64_t seed_;
  std::vector<Damage> damages_;
};

}  // namespace

Report RunCut(const Plan& plan) {
  Report report;
  const Rounds rounds(plan);
  for (uint64_t round = 0; rounds.Continues(round) && report.failures.empty(); ++round) {
    const DamageTrials trials(plan, plan.seed + round / 3, round);
    trials.Run(plan, Cuts(trials, plan.seed + round).All(), "cut", rounds.seconds_left(), &report);
  }
  return report;
}

}  // namespace tandem::reliability
