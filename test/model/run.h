// What the environment says about a run of the model test.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace tandem::test {

inline uint64_t NumberFrom(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Where the run begins; the same at every call.
inline uint64_t Seed() {
  static const uint64_t kSeed = NumberFrom("TANDEM_SEED", std::random_device{}());
  return kSeed;
}

/// Operations of the whole run, over all its cases.
inline uint64_t Operations() {
  const bool quick = NumberFrom("TANDEM_QUICK", 0) != 0;
  return NumberFrom("TANDEM_OPERATIONS", quick ? 50'000 : 90'000);
}

}  // namespace tandem::test
