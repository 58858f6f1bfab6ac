// Randomness. All code gets it through this interface, so that one seed repeats a whole run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace tandem::base {

/// Threads: any.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual void Fill(std::span<char> bytes) = 0;
  uint64_t Next64();
};

/// From the operating system.
std::unique_ptr<RandomSource> NewSystemRandom();
/// A repeatable sequence (xoshiro256**, Blackman and Vigna 2018) from `seed`.
std::unique_ptr<RandomSource> NewSeededRandom(uint64_t seed);

}  // namespace tandem::base
