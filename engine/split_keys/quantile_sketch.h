// The order of many keys in little memory: about how much weight lies below any key. From Greenwald
// and Khanna, "Space-efficient online computation of quantile summaries" (SIGMOD 2001), in the form
// that takes a batch of sorted keys at a time (Luo, Wang, Yi and Cormode, "Quantiles over data
// streams", VLDB Journal 2016), with weights.
//
// The sketch keeps some of the keys, in order. Of each entry it knows
//   weight  what was added of this key while it was kept
//   gap     the weight of keys that were dropped between this entry and the one before it
//   spread  how much of the gap that follows may in truth lie before this entry
// so the weight below entry i is between `below` and `below` + spread, where `below` sums gap and
// weight of all entries before i and the gap of i. An entry is dropped into the gap of its
// successor as long as that keeps gap + spread <= error share * weight added. A key with more
// weight than that is never dropped.
//
// Of sorted keys, and of keys in random order, about 1.5 / error share entries are kept, however
// many keys come; where all come in the middle of the former ones, 1 / error share more with each
// doubling (test/growth).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::engine {

/// Threads: one at a time.
class QuantileSketch {
 public:
  struct Entry {
    std::string key;
    uint64_t gap = 0;
    uint64_t weight = 0;
    uint64_t spread = 0;
  };
  /// Bounds of the weight of all keys below one.
  struct Rank {
    uint64_t least = 0, most = 0;
  };

  /// The bounds of a rank are at most `error_share` of the added weight apart.
  /// Requires: 0 <= error_share < 1.
  explicit QuantileSketch(double error_share);

  /// Requires: weight > 0; all weights together fit 63 bits.
  void Add(std::string_view key, uint64_t weight = 1);

  /// The weight that was added, and the number of additions.
  uint64_t weight() const { return weight_; }
  uint64_t keys() const { return keys_; }

  /// What is kept, sorted. Lifetime: until the next Add.
  const std::vector<Entry>& entries();
  Rank RankOf(std::string_view key);
  /// How far the bounds of any rank are apart at most; 0: the sketch has every key.
  uint64_t error();

  /// What entries and their keys take.
  size_t memory_bytes() const;

 private:
  void Settle();

  double error_share_;
  uint64_t weight_ = 0;
  uint64_t keys_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, uint64_t>> added_;  ///< Since entries_ were made, unsorted.
};

}  // namespace tandem::engine
