// files: every file deleted, swapped with any other, overwritten by any other, rolled
// back to each of its earlier versions, and taken from a twin database.
#include <set>

#include "test/reliability/damage.h"
#include "test/reliability/rounds.h"

namespace tandem::reliability {
namespace {

using DamageKind = Damage::Kind;

class FileChanges {
 public:
  explicit FileChanges(const DamageTrials& trials) : trials_(trials) {}

  std::vector<Damage> All() {
    for (shape_ = 0; shape_ < trials_.shapes().size(); ++shape_) {
      for (file_ = 0; file_ < trials_.names(shape_).size(); ++file_) AddFile();
    }
    return std::move(damages_);
  }

 private:
  void Add(DamageKind kind, uint8_t other, uint32_t at) {
    for (const auto mode : {Damage::Mode::kRead, Damage::Mode::kWrite, Damage::Mode::kCompact}) {
      damages_.push_back(
          {.kind = kind, .mode = mode, .shape = shape_, .file = file_, .other = other, .at = at});
    }
  }
  void AddFile() {
    const Shape& shape = trials_.shapes()[shape_];
    const std::string& name = trials_.names(shape_)[file_];
    const std::string* bytes = trials_.Bytes(shape_, file_);
    if (bytes != nullptr) {
      Add(DamageKind::kDelete, 0, 0);
      if (shape.twin.contains(name)) Add(DamageKind::kTwin, 0, 0);
      AddPairs();
    }
    AddHistory(shape, name, bytes);
  }
  void AddPairs() {
    for (uint8_t other = 0; other < trials_.names(shape_).size(); ++other) {
      if (other == file_ || trials_.Bytes(shape_, other) == nullptr) continue;
      Add(DamageKind::kCopyOver, other, 0);
      if (other > file_) Add(DamageKind::kSwapFiles, other, 0);
    }
  }
  /// Each earlier version once; a file that is gone comes back.
  void AddHistory(const Shape& shape, const std::string& name, const std::string* bytes) {
    std::set<std::string> seen;
    if (bytes != nullptr) seen.insert(*bytes);
    for (uint32_t moment = 0; moment < shape.history.size(); ++moment) {
      const auto found = shape.history[moment].find(name);
      if (found == shape.history[moment].end() || !seen.insert(found->second).second) continue;
      Add(DamageKind::kRollBack, 0, moment);
    }
  }

  const DamageTrials& trials_;
  uint8_t shape_ = 0, file_ = 0;
  std::vector<Damage> damages_;
};

}  // namespace

Report RunFiles(const Plan& plan) {
  Report report;
  const Rounds rounds(plan);
  for (uint64_t round = 0; rounds.Continues(round) && report.failures.empty(); ++round) {
    const DamageTrials trials(plan, plan.seed + round, round);
    trials.Run(plan, FileChanges(trials).All(), "files", rounds.seconds_left(), &report);
  }
  return report;
}

}  // namespace tandem::reliability
