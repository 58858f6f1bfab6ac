// Damage to the files of a shape, and the check of what the engine then returns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/reliability/shape.h"
#include "test/reliability/suite.h"
#include "test/reliability/trial_workers.h"

namespace tandem::reliability {

/// One change. `at` is an offset, a length, a number of bytes or of a moment, as its kind says.
struct Damage {
  enum class Kind : uint8_t {
    kFlip,           ///< Bit `bit` of the byte at `at`.
    kZeroSector,     ///< The sector at `at`.
    kOnesSector,     ///< The same, as 0xFF.
    kSwapSectors,    ///< That at `at` and that at `to`.
    kSwapBetween,    ///< That at `at` and that of file `other` at `to`.
    kCut,            ///< To `at` bytes.
    kExtendZeros,    ///< By `at` bytes.
    kExtendGarbage,  ///< By `at` bytes.
    kExtendOwn,      ///< By a copy of its own bytes from `at` on.
    kDelete,
    kSwapFiles,  ///< With file `other`.
    kCopyOver,   ///< By the bytes of file `other`.
    kRollBack,   ///< To what it was at the moment `at`.
    kTwin,       ///< By the twin's file of the same name.
  };
  /// How the damaged database is opened.
  enum class Mode : uint8_t {
    kRead,
    kWrite,
    kCompact,  ///< Also everything is compacted, closed, opened and read once more.
  };
  Kind kind = Kind::kFlip;
  Mode mode = Mode::kRead;
  uint8_t shape = 0, file = 0, other = 0, bit = 0;
  uint32_t at = 0, to = 0;
  uint32_t sector = 64;  ///< How long a sector is.
};
inline constexpr size_t kDamageKinds = 14;

/// The shapes and the names by which damage refers to their files.
class DamageTrials {
 public:
  /// By hand shapes of random workloads come with the fixed ones, which `round` decides.
  DamageTrials(const Plan& plan, uint64_t seed, uint64_t round);

  const std::vector<Shape>& shapes() const { return shapes_; }
  /// Of a shape's files at its end and at all moments before it.
  const std::vector<std::string>& names(size_t shape) const { return names_[shape]; }
  /// The bytes at the end; nullptr when the file was gone by then.
  const std::string* Bytes(size_t shape, size_t file) const;

  std::string Describe(const Damage& damage) const;
  TrialResult Try(const Damage& damage) const;

  /// Runs all of them and adds the outcomes to the report of the suite of that name.
  void Run(const Plan& plan, std::vector<Damage> damages, const std::string& suite, double seconds,
           Report* report) const;

 private:
  Files Apply(const Damage& damage) const;
  uint64_t FloorAfter(const Damage& damage) const;

  uint64_t seed_;
  std::vector<Shape> shapes_;
  std::vector<std::vector<std::string>> names_;
};

/// What the engine aligns to, and what a disk writes at once.
inline constexpr uint32_t kSectorSizes[] = {64, 512};

}  // namespace tandem::reliability
