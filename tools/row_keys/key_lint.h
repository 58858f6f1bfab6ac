// What a stream of row keys says about their design: how long they are, what they have in common,
// and whether those that come at one time lie at one place. Only the last needs a sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/generator/dice.h"

namespace tandem::row_keys {

struct KeyFigures {
  uint64_t keys = 0;
  uint64_t bytes = 0;  ///< Of all keys.
  uint64_t shortest_bytes = 0, longest_bytes = 0;
  std::string common_prefix;  ///< Of all keys; at most kLintKeyBytes of it.
  uint64_t sampled = 0;
  /// Of neighbours in time, the share whose second key is the larger one: 0.5 of keys in random
  /// order. nullopt: too few keys, or of most nobody knows which came first.
  std::optional<double> rising_share;
  /// Time and keys are cut into kLintParts with as many keys each. Of each time, the share of the
  /// part of the keys that got most; the mean over the times. nullopt: as above.
  std::optional<double> hottest_share;

  double mean_bytes() const {
    return keys == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(keys);
  }
};

/// Keys that are kept to find their order; a table has rows in the order of their keys, not of
/// their coming, so they are drawn from all of them.
inline constexpr size_t kLintSample = 65'536;
/// What is kept of each: keys that begin with as many equal bytes count as equal.
inline constexpr size_t kLintKeyBytes = 256;
inline constexpr size_t kLintParts = 16;
/// Fewer say nothing about times.
inline constexpr size_t kLintKeysMin = 1024;

/// Threads: one at a time. Memory: the sample.
class KeyLint {
 public:
  /// The same sample of the same keys for one seed.
  explicit KeyLint(uint64_t seed) : dice_(seed) {}
  /// `time`: anything that rises as keys come: their number, or microseconds.
  void Add(std::string_view key, int64_t time);
  /// Sorts the sample.
  KeyFigures Finish();

 private:
  struct Sampled {
    int64_t time;
    std::string key;
  };
  void FindOrder();

  test::Dice dice_;
  KeyFigures figures_;
  std::vector<Sampled> sample_;
};

/// Advice: what was found, and what it costs.
struct LintFinding {
  enum class Level : uint8_t { kHint, kWarning };
  Level level = Level::kHint;
  std::string rule;     ///< A short name, as "monotone".
  std::string subject;  ///< "keys", a column, a family, a region.
  std::string text;     ///< With figures, and what to do.
};

/// By the rules that HBase's users have learnt: 10 to 100 bytes, better 16 or fewer; no keys that
/// rise with time; no place where all writes go.
std::vector<LintFinding> FindingsOf(const KeyFigures& figures);

}  // namespace tandem::row_keys
