// flip: one bit changed in every byte of every file; by hand also the other bits, and sectors that
// are zeroed, set to ones or exchanged.
#include "test/prove/exam_damage.h"
#include "test/prove/exam_rounds.h"

namespace tandem::prove {
namespace {

using Kind = Damage::Kind;

/// A third of the trials is opened in each way; another third by the next round.
Damage::Mode ModeOf(uint64_t seed, uint64_t number) {
  return static_cast<Damage::Mode>((seed + number) % 3);
}

/// ROOT is alike in all shapes: of those that were closed and of those that were killed one is
/// enough where time is short.
bool IsOneRootOfMany(const Exam& exam, size_t shape, size_t file) {
  const bool first_of_its_kind =
      shape == 0 || exam.shapes()[shape].is_closed != exam.shapes()[shape - 1].is_closed;
  return exam.names(shape)[file] == "ROOT" && !first_of_its_kind;
}

void AddFlips(const Exam& exam, const Plan& plan, uint64_t round, std::vector<Damage>* damages) {
  const uint64_t seed = plan.seed;
  for (uint8_t shape = 0; shape < exam.shapes().size(); ++shape) {
    for (uint8_t file = 0; file < exam.names(shape).size(); ++file) {
      const std::string* bytes = exam.Bytes(shape, file);
      if (plan.seconds == 0 && IsOneRootOfMany(exam, shape, file)) continue;
      for (uint32_t at = 0; bytes != nullptr && at < bytes->size(); ++at) {
        const auto bit = static_cast<uint8_t>((at * 5 + seed + round) % 8);
        damages->push_back({Kind::kFlip, ModeOf(seed + round, at), shape, file, 0, bit, at});
      }
    }
  }
}

void AddSectors(const Exam& exam, uint64_t seed, uint64_t round, std::vector<Damage>* damages) {
  for (uint8_t shape = 0; shape < exam.shapes().size(); ++shape) {
    for (uint8_t file = 0; file < exam.names(shape).size(); ++file) {
      const std::string* bytes = exam.Bytes(shape, file);
      for (uint32_t at = 0; bytes != nullptr && at < bytes->size(); at += kExamSectorBytes) {
        for (const Kind kind : {Kind::kZeroSector, Kind::kOnesSector, Kind::kSwapSectors}) {
          damages->push_back({kind, ModeOf(seed + round, at / kExamSectorBytes), shape, file, 0,
                              static_cast<uint8_t>(round), at});
        }
      }
    }
  }
}

}  // namespace

Report RunFlip(const Plan& plan) {
  Report report;
  const ExamRounds rounds(plan);
  for (uint64_t round = 0; rounds.Continues(round) && report.failures.empty(); ++round) {
    const Exam exam(plan.seed + round / 8);
    std::vector<Damage> damages;
    AddFlips(exam, plan, round, &damages);
    if (plan.seconds > 0) AddSectors(exam, plan.seed, round, &damages);
    exam.Run(plan, damages, "flip", rounds.seconds_left(), &report);
  }
  return report;
}

}  // namespace tandem::prove
