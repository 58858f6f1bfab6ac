// Built-in designs of row keys. Key number i depends on i and the seed alone, so that a run
// repeats, and a sample can be taken from all over it.
//
//   sequence               the id i in 12 decimal digits
//   reverse                its digits from the last to the first
//   hash+id                8 hex digits of its hash, then the id
//   mod+id:N[:M]           i mod N, with M also i / N mod M (PartitionSpace), then the id
//   salt+time:N            the time's hash mod N, then the time
//   random-salt+time:N     a number below N that is drawn, then the time
//   user+time:N[:E]        one of N users in 10 digits, all alike or Zipf with exponent E; the time
//   zipf:N[:E]             an id of 1 to N, Zipf with exponent E (1)
//
// The time of key i is microseconds since 1970 in 16 digits: i / rate seconds into 2026.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tandem/status.h"
#include "tools/row_keys/key_source.h"

namespace tandem::row_keys {

/// Ids have 12 digits.
inline constexpr uint64_t kGeneratedKeysMax = 1'000'000'000'000;

/// Threads: any.
class Generator {
 public:
  virtual ~Generator() = default;
  /// Appends key number `i`. Requires: i < kGeneratedKeysMax.
  virtual void Append(uint64_t i, std::string* key) const = 0;
};

struct GeneratorOptions {
  std::string spec;
  uint64_t seed = 1;
  uint64_t rate = 10'000;  ///< Keys a second. Requires: > 0.
};
/// Errors: kInvalidArgument.
Result<std::unique_ptr<Generator>> NewGenerator(const GeneratorOptions& options);

/// `count` keys of a generator: with step 1 number 0, 1 and so on; otherwise one of each `step`,
/// which one is as if drawn: every step-th would see few of the remainders that a design has.
/// Requires: step > 0, count * step <= kGeneratedKeysMax.
std::unique_ptr<KeySource> KeysOf(std::unique_ptr<Generator> generator, uint64_t count,
                                  uint64_t step = 1);

}  // namespace tandem::row_keys
