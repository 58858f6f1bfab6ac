// A set of values of one column, as disjoint intervals. Every condition on a present value is such
// a set.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::engine {

/// One end of an interval.
struct ValueBound {
  /// Compares as the column's values do: bytes and text as they are, other values as index keys of
  /// an ascending column.
  std::string key;
  bool inclusive = true;
};

/// The values between two bounds; an absent bound leaves that side open.
struct ValueInterval {
  std::optional<ValueBound> low, high;
  bool Contains(std::string_view key) const;
  bool empty() const;
  /// Whether it is one value. Requires: it is not empty.
  bool is_single() const { return low.has_value() && high.has_value() && low->key == high->key; }
};

/// Threads: const methods from any.
class ValueSet {
 public:
  ValueSet() = default;  ///< No value.
  /// Intervals in any order, overlapping or empty ones included.
  explicit ValueSet(std::vector<ValueInterval> intervals);
  static ValueSet All() { return ValueSet({ValueInterval{}}); }
  /// Both sort the intervals of all sets once: O(n log n) for any number of sets. The union of no
  /// sets is empty, the intersection of no sets contains every value.
  static ValueSet UnionOf(std::span<const ValueSet* const> sets);
  static ValueSet IntersectionOf(std::span<const ValueSet* const> sets);

  bool Contains(std::string_view key) const;
  ValueSet Complement() const;
  bool empty() const { return intervals_.empty(); }
  bool is_all() const {
    return intervals_.size() == 1 && !intervals_[0].low.has_value() &&
           !intervals_[0].high.has_value();
  }
  /// Ascending, disjoint, none empty.
  const std::vector<ValueInterval>& intervals() const { return intervals_; }

 private:
  std::vector<ValueInterval> intervals_;
};

}  // namespace tandem::engine
