// With the regions sorted, x_1 the least of n: Gini = 2 * sum(i * x_i) / (n * sum(x_i)) - (n + 1) /
// n.
#include "tools/row_keys/skew.h"

#include <algorithm>
#include <vector>

namespace tandem::row_keys {

Skew SkewOf(std::span<const double> regions) {
  Skew skew;
  skew.hottest = static_cast<size_t>(std::ranges::max_element(regions) - regions.begin());
  std::vector<double> sorted(regions.begin(), regions.end());
  std::ranges::sort(sorted);
  skew.least = sorted.front();
  skew.most = sorted.back();
  double sum = 0, weighted = 0, place = 0;
  for (const double region : sorted) {
    sum += region;
    weighted += ++place * region;
  }
  if (sum == 0) return skew;
  skew.hottest_share = skew.most / sum;
  // Rounding may leave a trace below 0 where all are the same.
  skew.gini = std::max(0.0, 2 * weighted / (place * sum) - (place + 1) / place);
  return skew;
}

}  // namespace tandem::row_keys
