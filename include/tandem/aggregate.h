// Groups of rows, and what is computed of each: counts, sums, minima, maxima, distinct values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/cursor.h"
#include "tandem/status.h"

#pragma GCC visibility push(default)

namespace tandem {

/// What is computed of the rows of a group. A row whose column is absent, or does not fit its type,
/// counts for kRows alone.
enum class AggregateKind : uint8_t {
  kRows,     ///< The number of rows; takes no column.
  kCount,    ///< Of rows that have the column.
  kMin,      ///< The smallest value, as the column's type compares; absent without one.
  kMax,      ///< The largest value.
  kSum,      ///< Of numbers: int64, uint64 and double. 0 without one.
  kAverage,  ///< Of numbers, as a double; absent without one.
};

struct Aggregation {
  AggregateKind kind = AggregateKind::kRows;
  /// As a predicate names it: "amount", "d:amount::int64", "lower(name)". Empty for kRows.
  std::string column = {};
};

/// How Database::Aggregate groups rows and what it computes. There has to be a column to group by
/// or a value to compute.
struct AggregateOptions {
  /// Columns as a predicate names them, at most kGroupColumnsMax. Rows with equal values, as the
  /// columns' types compare, are one group; an absent column is a value of its own, the smallest.
  /// Empty: all rows are one group, also if there are none. Neither the row key nor functions that
  /// make several values are allowed.
  std::vector<std::string> group_by = {};
  /// At most kAggregationsMax. None: the distinct values of `group_by`.
  std::vector<Aggregation> values = {};
  bool descending = false;  ///< The largest group first. Otherwise groups rise.
  uint64_t limit = 0;       ///< Of groups, the first ones in their order; 0: no limit.
  // As in QueryOptions, for the rows that are grouped. An index over the columns of `group_by` that
  // is asked for gives the groups one after the other, in bounded memory.
  std::vector<std::string> use_indexes = {};
  bool no_index = false;
  bool no_scan = false;
  bool any_version = false;
};

/// The groups of a read, in the order of their columns.
///   while (groups.Next()) Use(groups.keys(), groups.values());
///   if (!groups.status().ok()) ...
/// Lifetime, threads and errors: as a Cursor; also kInvalidArgument (a sum that its type does not
/// hold), kOverBudget (more groups than memory is allowed for: ReadBudget::memory, without it a
/// share of Options::memory_bytes).
class GroupCursor {
 public:
  /// Moves to the next group. False at the end or on an error, and on every later call.
  bool Next();
  /// The group's values, one for each column of AggregateOptions::group_by: numbers as decimal
  /// text, times as microseconds since 1970, bytes as they are; nullopt: absent. Lifetime: until
  /// the next call of Next.
  std::span<const std::optional<std::string_view>> keys() const;
  /// One for each of AggregateOptions::values, in the same form.
  std::span<const std::optional<std::string_view>> values() const;
  const Status& status() const { return rows_.status(); }

 private:
  friend class Database;
  GroupCursor(Cursor rows, size_t keys) : rows_(std::move(rows)), key_count_(keys) {}

  Cursor rows_;  // A row for each group, with a cell for each value.
  size_t key_count_;
  std::vector<std::optional<std::string_view>> texts_;
};

}  // namespace tandem

#pragma GCC visibility pop
