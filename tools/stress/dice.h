// Random choices of the stress harness, each stream from one number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"

namespace tandem::stress {

/// A number that depends on both in no simple way; chained for more than two.
inline uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = a + 0x9e3779b97f4a7c15 * (b + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Threads: one.
class Dice {
 public:
  explicit Dice(uint64_t seed) : source_(base::NewSeededRandom(seed)) {}

  uint64_t Next() { return source_->Next64(); }
  /// 0 to n - 1. Requires: n > 0.
  uint64_t Below(uint64_t n) { return Next() % n; }
  bool Chance(uint64_t percent) { return Below(100) < percent; }
  template <typename T>
  const T& Pick(const std::vector<T>& list) {
    return list[Below(list.size())];
  }

 private:
  std::unique_ptr<base::RandomSource> source_;
};

}  // namespace tandem::stress
