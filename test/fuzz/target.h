// Fuzz targets: each takes any bytes and lets one decoder, or a family of them, make what it can of
// them. A target finds something when the process dies: a sanitizer, a CHECK, a limit on time or
// memory, or Expect().
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::fuzz {

/// What the bytes of an input are, for the mutator.
enum class Shape : uint8_t {
  kPlain,   ///< What the decoder gets.
  kSealed,  ///< A byte of flags, then bytes with checksums.
  kEdits,   ///< A byte of flags, one that chooses a sample, then edits of eight bytes.
};

/// Flag of kSealed and kEdits: checksums are made correct after the changes. The mutator sets it in
/// half of the inputs; other flags are the target's.
inline constexpr uint8_t kChecksumsRight = 1;

struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
  /// Inputs to start from: sound ones, so that the fuzzer gets past the first checks.
  std::vector<std::string> (*seeds)();
  Shape shape = Shape::kPlain;
  size_t bytes_max = 512;  ///< Longer inputs are not made.
};

std::span<const Target> BlockTargets();      ///< Blocks by themselves.
std::span<const Target> RecordTargets();     ///< Catalog edits, operations, lists, keys.
std::span<const Target> ChainTargets();      ///< Files of frames, and ROOT.
std::span<const Target> StoreFileTargets();  ///< Store files, and what salvage makes of them.
std::span<const Target> DumpTargets();       ///< What the program shows of files of every kind.
std::span<const Target> TextTargets();       ///< Predicates, what import reads, scripts.

/// The flags of an input that is not kPlain, and what follows them.
struct Flagged {
  uint8_t flags = 0;
  std::string_view bytes;
  bool is_sealed() const { return (flags & kChecksumsRight) != 0; }
};
inline Flagged FlagsOf(std::string_view input) {
  if (input.empty()) return {};
  return {static_cast<uint8_t>(input[0]), input.substr(1)};
}

/// Ends the process where what must hold of any input does not.
inline void Expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace tandem::fuzz
