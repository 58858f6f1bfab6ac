// Randomness from the kernel, and the repeatable sequence xoshiro256** (Blackman and Vigna, 2018)
// with its state seeded by splitmix64, as its authors advise.
#include "base/random.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/mutex.h"

namespace tandem::base {
namespace {

class SystemRandom final : public RandomSource {
 public:
  void Fill(std::span<char> bytes) override {
    while (!bytes.empty()) {
      const ssize_t count = getrandom(bytes.data(), bytes.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      CHECK(count > 0);  // Names drawn from anything else could repeat.
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
  }
};

uint64_t SplitMix64(uint64_t& state) {
  uint64_t mixed = (state += 0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(uint64_t seed) {
    for (uint64_t& word : state_) word = SplitMix64(seed);
  }

  void Fill(std::span<char> bytes) override {
    MutexLock lock(mutex_);
    while (!bytes.empty()) {
      const uint64_t word = Advance();
      const size_t count = std::min(bytes.size(), sizeof(word));
      for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(word >> (8 * i));
      bytes = bytes.subspan(count);
    }
  }

 private:
  uint64_t Advance() REQUIRES(mutex_) {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  Mutex mutex_;
  uint64_t state_[4] GUARDED_BY(mutex_);
};

}  // namespace

uint64_t RandomSource::Next64() {
  char bytes[sizeof(uint64_t)];
  Fill(bytes);
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

std::unique_ptr<RandomSource> NewSystemRandom() { return std::make_unique<SystemRandom>(); }

std::unique_ptr<RandomSource> NewSeededRandom(uint64_t seed) {
  return std::make_unique<SeededRandom>(seed);
}

}  // namespace tandem::base
