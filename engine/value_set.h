// A set of values of one column as disjoint intervals: what any condition on a present value is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::engine {

/// One end of an interval.
struct ValueBound {
  std::string key;      ///< Compares as the column's values do.
  std::string literal;  ///< As the user wrote it; equal to `key` for bytes and text.
  bool inclusive = true;
};

/// The values between two bounds; an absent bound leaves that side open.
struct ValueInterval {
  std::optional<ValueBound> low, high;
  bool Contains(std::string_view key) const;
  bool empty() const;
};

/// Threads: const methods from any.
class ValueSet {
 public:
  ValueSet() = default;  ///< No value.
  /// Intervals in any order, overlapping or empty ones included.
  explicit ValueSet(std::vector<ValueInterval> intervals);
  static ValueSet All() { return ValueSet({ValueInterval{}}); }

  bool Contains(std::string_view key) const;
  ValueSet Complement() const;
  ValueSet Intersect(const ValueSet& other) const;
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
