// How unevenly things lie in regions.
#pragma once

#include <cstddef>
#include <span>

namespace tandem::row_keys {

struct Skew {
  double least = 0, most = 0;  ///< Of a region.
  size_t hottest = 0;          ///< The first region that has the most.
  double hottest_share = 0;    ///< Of all; 0 where there is nothing.
  /// 0: all regions have the same; near 1: one has all. Gini, "Variabilità e mutabilità" (1912).
  double gini = 0;

  /// Most by least; 0 where a region has nothing.
  double ratio() const { return least > 0 ? most / least : 0; }
};

/// What each region has, in their order. Requires: there is a region, and none has less than 0.
Skew SkewOf(std::span<const double> regions);

}  // namespace tandem::row_keys
