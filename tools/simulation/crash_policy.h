// What a power cut leaves of the effects that no sync had made durable: the policy that a test
// chooses, and the decisions that follow from it.
//
// Effects have places: 0, 1, ... in the order in which they happened over all files and directories
// that a crash can leave a name to. A write beyond the end of its file is two effects, first the
// growth of the file and then the bytes. SimulatedDisk::PendingEffects lists them by place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace tandem::test {

/// What becomes of the pending effects in a power cut.
struct CrashPolicy {
  enum class Kept : uint8_t {
    kNone,
    kAll,
    kRandom,  ///< `seed` decides everything.
    kPrefix,  ///< Those at places below `at`.
    kAllBut,  ///< All except the one at place `at`.
    kOnly,    ///< The one at place `at` alone.
    /// Those below `at`, and of the write at place `at` the units that `units` names. What is no
    /// write cannot tear and survives whole.
    kTorn,
    kTornAmongAll,  ///< As kTorn, and all after it survive too.
  };
  Kept kept = Kept::kNone;
  uint64_t seed = 0;
  bool torn = true;  ///< kRandom: some writes survive in part.
  uint64_t at = 0;
  /// Writes tear where the offset in the file is a multiple of this: 512, 4096, or less than a
  /// sector for disks that keep no promise. Requires: not 0.
  uint32_t unit_bytes = 512;
  /// Bit i: the i-th unit of the torn write survives; the last bit speaks for all further units.
  uint64_t units = 0;

  /// What a block holds that its file was given and whose bytes did not survive, where the file's
  /// size did. Blocks with bytes that were durable before the crash have zeros beside them.
  enum class Unwritten : uint8_t {
    kUsual,  ///< With kRandom one of the others, by `seed`; kZeros with the rest.
    kZeros,
    kGarbage,
    kStale,  ///< What was in blocks of removed files; zeros while there are none.
  };
  Unwritten unwritten = Unwritten::kUsual;
  /// Reserved blocks read as zeros until they are written, as file systems promise. A disk that
  /// breaks even this treats them as all others.
  bool fills_reserved = false;

  /// Whether `at` has a meaning.
  bool names_a_place() const { return kept >= Kept::kPrefix; }
};

/// "torn at 7, unit 512, units 0x3": for messages.
std::string Describe(const CrashPolicy& policy);

/// One change of a file's state.
struct Effect {
  enum class Kind : uint8_t { kBytes, kGrow, kResize, kReserve };
  Kind kind = Kind::kBytes;
  uint64_t id = 0;  // In the order in which effects happened, over the whole disk.
  uint64_t offset = 0;
  std::string bytes{};
  uint64_t size = 0;  // kGrow: at least this size. kResize: exactly. kReserve: reserved bytes.
};

/// One pending effect as a test sees it.
struct PendingEffect {
  enum class Kind : uint8_t { kBytes, kGrow, kResize, kReserve, kCreate, kRemove };
  Kind kind = Kind::kBytes;
  uint64_t id = 0;
  std::string directory{};  ///< Path; empty when the file has no name.
  std::string name{};       ///< Of the file.
  uint64_t offset = 0;      ///< kBytes.
  uint64_t size = 0;        ///< Bytes written; the size for kGrow, kResize and kReserve.
};

/// "bytes /db/000001.log at 4096, 100 bytes".
std::string Describe(const PendingEffect& effect);

/// Decides in a crash what survives.
class Survival {
 public:
  static constexpr uint64_t kNoEffect = UINT64_MAX;

  /// `id_at` is the id of the effect at place policy.at, kNoEffect where there is none.
  explicit Survival(const CrashPolicy& policy, uint64_t id_at = kNoEffect);
  /// Whether the effect with that id survives, in part at least.
  bool Keeps(uint64_t id);
  /// The parts of `effect` that survive, in the order of their offsets.
  std::vector<Effect> Survivors(const Effect& effect);

 private:
  template <typename KeepsUnit>
  std::vector<Effect> Torn(const Effect& effect, KeepsUnit keeps_unit) const;
  std::vector<Effect> TornAtRandom(const Effect& effect);

  CrashPolicy policy_;
  uint64_t id_at_;
  std::unique_ptr<base::RandomSource> random_;
  uint64_t kept_of_eight_;
};

}  // namespace tandem::test
