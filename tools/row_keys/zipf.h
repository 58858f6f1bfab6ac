// Ranks of a Zipf distribution: rank k is drawn as often as 1 / k^exponent says. By rejection and
// inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone
// discrete distributions", ACM TOMACS 6, 1996): constant time and memory, whatever the number of
// ranks.
#pragma once

#include <cstdint>

namespace tandem::row_keys {

class Zipf {
 public:
  /// Requires: ranks > 0, exponent > 0.
  Zipf(uint64_t ranks, double exponent);

  /// A rank, 1 to `ranks`. `draw(i)` is the i-th of any number of random 64 bits.
  template <typename Draw>
  uint64_t Rank(Draw draw) const {
    for (uint64_t i = 0;; ++i) {
      const uint64_t rank = Try(draw(i));
      if (rank != 0) return rank;
    }
  }

 private:
  /// 0: rejected.
  uint64_t Try(uint64_t bits) const;
  double Area(double x) const;
  double AreaInverse(double area) const;
  double Density(double x) const;

  double ranks_;
  double exponent_;
  double least_, most_;  ///< Between them lies the area that is drawn from.
  double accepted_;      ///< A rank that is so near to x needs no second look.
};

}  // namespace tandem::row_keys
