// What an exam does to the files of a shape, and the judgement of what the engine makes of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/prove/exam_shape.h"
#include "test/prove/exam_workers.h"
#include "test/prove/suite.h"

namespace tandem::prove {

/// One change. `at` is an offset, a length, a number of bytes or of a moment, as its kind says.
struct Damage {
  enum class Kind : uint8_t {
    kFlip,           ///< Bit `bit` of the byte at `at`.
    kZeroSector,     ///< 64 bytes from `at` on.
    kOnesSector,     ///< The same, as 0xFF.
    kSwapSectors,    ///< Those at `at` and those 64 * (bit + 1) later.
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
  uint32_t at = 0;
};

/// The shapes and the names by which damage refers to their files.
class Exam {
 public:
  explicit Exam(uint64_t seed);

  const std::vector<ExamShape>& shapes() const { return shapes_; }
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

  uint64_t seed_;
  std::vector<ExamShape> shapes_;
  std::vector<std::vector<std::string>> names_;
};

inline constexpr uint32_t kExamSectorBytes = 64;

}  // namespace tandem::prove
