// Sets of values of one column, as disjoint intervals: every condition on a present value is such a
// set. And a condition on a row as the catalog stores it: a tree of AND and OR over sets of values
// of single columns. Negations are in the sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/status.h"

namespace tandem::format {

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

struct Condition {
  enum class Kind : uint8_t { kLeaf = 1, kAnd = 2, kOr = 3 };  ///< Numbers are on disk.
  Kind kind = Kind::kAnd;  ///< Without children, kAnd is true, kOr false.
  std::vector<Condition> children = {};

  // Of a leaf:
  size_t column = 0;          ///< In a list of columns that the condition is kept with.
  ValueSet values = {};       ///< True for a value in it that fits the column's type...
  bool accepts_null = false;  ///< ... and for an absent one if this is set.
  /// In the place of `values`: true for a value that contains it.
  std::optional<std::string> part = std::nullopt;
  bool lacks_part = false;  ///< True for one that does not.

  /// Of a value that compares as the column's do (ValueBound).
  bool Accepts(std::string_view value) const {
    if (!part.has_value()) return values.Contains(value);
    return (value.find(*part) != std::string_view::npos) != lacks_part;
  }
};

/// The encoded record; condition.cc has the table of fields.
std::string EncodeCondition(const Condition& condition);
/// Errors: kCorruption (bounds, counts, a column that is not below `columns`, too many levels),
/// kUnsupported (an unknown critical field or kind).
Result<Condition> DecodeCondition(std::string_view bytes, size_t columns);

}  // namespace tandem::format
