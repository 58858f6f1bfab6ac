// Costs as functions of size. A cost is counted, never timed, at n and at 16 n, and compared with
// the bound that docs/performance.md promises for it in the table "Growth". A cost that is beyond
// its bound today is a known miss: it is stated here and in the table, and fails as soon as it is
// within the bound, so that both are put right.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tandem::test {

/// What a cost may be at size n. `text` is the table's.
struct Bound {
  std::string text;
  std::function<double(double n)> at;
};

/// At most `limit`, whatever n is.
Bound AtMost(double limit);
/// At most `first` + `each` * n.
Bound AtMostLinear(double first, double each);
/// At most `first` + `each` * log2(n).
Bound AtMostLogarithmic(double first, double each);

enum class Kept { kYes, kKnownMiss };

/// One line of the table.
struct Growth {
  std::string_view cost;  ///< What is counted; the same words begin the line of the table.
  uint64_t n = 1;
  Bound bound;
  /// Makes the thing of size n from nothing and counts.
  std::function<double(uint64_t n)> measure;
  Kept kept = Kept::kYes;
};

/// Measures at n and 16 n, prints both, and checks them against the bound, and the line against the
/// table: the same bound, and "missed" in it where the bound is not kept.
void Check(const Growth& growth);

}  // namespace tandem::test
