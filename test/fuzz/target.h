// Fuzz targets: each takes any bytes and lets one decoder, or a family of them, make what it can of
// them. A target finds something when the process dies: a sanitizer, a CHECK, a limit on time or
// memory, or Expect().
#pragma once

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::fuzz {

struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
  /// Inputs to start from: sound ones, so that the fuzzer begins behind the first checks.
  std::vector<std::string> (*seeds)();
};

std::span<const Target> RecordTargets();     ///< Records without blocks: headers, catalog, log.
std::span<const Target> StoreFileTargets();  ///< Store files whose checksums are made right.
std::span<const Target> TextTargets();       ///< Predicates and what import reads.

/// Ends the process where what must hold of any input does not.
inline void Expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace tandem::fuzz
