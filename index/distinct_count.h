// Counts distinct hashes in bounded memory: exactly up to a limit, then by estimate.
//
// Source: Z. Bar-Yossef et al., "Counting distinct elements in a data stream", RANDOM 2002. It
// keeps the k smallest hashes. The largest of them, as a share of all hashes, tells how dense they
// lie.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tandem::format {

/// Threads: one at a time.
class DistinctCount {
 public:
  /// Hashes that are kept. Up to here the count is exact; above, its standard error is 0.4 %. At
  /// most twice as many are in memory, 1 MiB.
  static constexpr size_t kKept = 1 << 16;

  /// `hash` is uniform over 64 bits.
  void Add(uint64_t hash) {
    if (hash > largest_) return;
    hashes_.push_back(hash);
    if (hashes_.size() == 2 * kKept) Shrink();
  }
  uint64_t Estimate() {
    Shrink();
    if (hashes_.size() < kKept) return hashes_.size();
    const double share = static_cast<double>(hashes_.back()) /
                         static_cast<double>(std::numeric_limits<uint64_t>::max());
    return static_cast<uint64_t>(static_cast<double>(kKept - 1) / share);
  }

 private:
  void Shrink() {
    std::sort(hashes_.begin(), hashes_.end());
    hashes_.erase(std::unique(hashes_.begin(), hashes_.end()), hashes_.end());
    if (hashes_.size() < kKept) return;
    hashes_.resize(kKept);
    largest_ = hashes_.back();
  }

  std::vector<uint64_t> hashes_;
  uint64_t largest_ = std::numeric_limits<uint64_t>::max();  // Larger ones are not kept.
};

}  // namespace tandem::format
