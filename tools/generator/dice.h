// Random choices, each stream from one number.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace tandem::test {

/// A number that depends on both in no simple way; chained for more than two.
inline uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = a + 0x9e3779b97f4a7c15 * (b + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// One seed, one sequence of choices. Threads: one.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  uint64_t Next() { return random_(); }
  /// 0 to n - 1. Requires: n > 0.
  uint64_t Below(uint64_t n) { return Next() % n; }
  bool Chance(uint64_t percent) { return Below(100) < percent; }
  /// Requires: there are some.
  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[Below(items.size())];
  }

 private:
  // Takes no lock, unlike base/random.h: the scheduler of the interleaving tests may draw.
  std::mt19937_64 random_;
};

}  // namespace tandem::test
