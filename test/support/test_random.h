// Random choices of a test, all from one seed that is printed first. TANDEM_SEED repeats a run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/random.h"

namespace tandem::test {

/// Threads: one.
class TestRandom {
 public:
  /// `what` names the test in the printed line.
  explicit TestRandom(const char* what) {
    const char* given = std::getenv("TANDEM_SEED");
    seed_ =
        given != nullptr ? std::strtoull(given, nullptr, 10) : base::NewSystemRandom()->Next64();
    std::fprintf(stderr, "%s: TANDEM_SEED=%llu\n", what, static_cast<unsigned long long>(seed_));
    source_ = base::NewSeededRandom(seed_);
  }

  uint64_t Next() { return source_->Next64(); }
  /// 0 to n - 1. Requires: n > 0.
  uint64_t Below(uint64_t n) { return Next() % n; }
  /// True once in n times.
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  /// Bytes of `alphabet`, 0 to `size_max` of them.
  std::string Text(size_t size_max, std::string_view alphabet) {
    std::string text(Below(size_max + 1), '\0');
    for (char& c : text) c = alphabet[Below(alphabet.size())];
    return text;
  }

 private:
  uint64_t seed_ = 0;
  std::unique_ptr<base::RandomSource> source_;
};

/// How many trials of a random test to run instead of the usual ones: TANDEM_TRIALS multiplies
/// them; TANDEM_QUICK, for sanitizers, leaves an eighth.
inline size_t Trials(size_t usual) {
  if (std::getenv("TANDEM_QUICK") != nullptr) return (usual + 7) / 8;
  const char* factor = std::getenv("TANDEM_TRIALS");
  return factor == nullptr ? usual : usual * std::strtoull(factor, nullptr, 10);
}

/// Of the points of a test that takes each in turn, every how many-eth is taken: each one; under
/// TANDEM_QUICK every `quick`-th. A prime, so that what alternates from point to point is met.
inline uint64_t Stride(uint64_t quick = 7) {
  return std::getenv("TANDEM_QUICK") != nullptr ? quick : 1;
}

}  // namespace tandem::test
