// A predicate bound to a table: columns are resolved, literals converted, negations pushed down to
// the leaves, the conditions of a group on one column taken together. Logic has two values, so
// every leaf is a set of values and a word about absence, and NOT is the complement of both.
// Matches is the reference that every way of answering agrees with.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/predicate/column_set.h"
#include "engine/predicate/value_set.h"
#include "format/cell/cell.h"
#include "format/schema.h"
#include "index/key.h"
#include "tandem/predicate.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A condition on one column or on the row key.
struct BoundLeaf {
  bool is_row_key = false;
  /// Ascending; of the type that the first index over the column declares, else bytes.
  format::IndexColumnRecord column;
  ValueSet values;            ///< True for a present value in it...
  bool accepts_null = false;  ///< ... and for an absent one if this is set.
};

struct BoundNode {
  enum class Kind : uint8_t { kLeaf, kAnd, kOr };  ///< kAnd and kOr of no child: true and false.
  Kind kind = Kind::kAnd;
  BoundLeaf leaf;
  /// Not one alone, none of the node's own kind, and at most one leaf over a column.
  std::vector<BoundNode> children;
};

/// Threads: one at a time (it keeps scratch memory).
class BoundPredicate {
 public:
  /// Errors: kNotFound (family), kInvalidArgument (a literal that does not read as its column's
  /// type: both are named; a prefix of a column that is neither bytes nor text; a predicate that is
  /// none).
  static Result<BoundPredicate> Bind(const Predicate& predicate, const format::TableRecord& table);

  /// Whether a row that exists satisfies the predicate. Requires: `cells` are its visible cells, of
  /// the predicate's columns at least, newest first within a column. Far values are read where a
  /// condition asks for them. Errors: kCorruption (also when a stored value does not fit its
  /// index's type), kIoError.
  Result<bool> Matches(std::string_view row, std::span<const format::Cell> cells);

  const BoundNode& root() const { return root_; }
  /// The columns that it reads.
  ColumnSet Columns() const;
  /// Whether a row without any of its columns may match: then existence has to be asked for.
  bool MayAcceptAbsent() const;

 private:
  Result<bool> Matches(const BoundNode& node, std::string_view row,
                       std::span<const format::Cell> cells);
  Result<bool> Matches(const BoundLeaf& leaf, const format::Cell& cell);

  BoundNode root_;
  std::string scratch_;
};

/// The newest cell of a column among visible ones; nullptr when there is none.
const format::Cell* FindNewest(const format::IndexColumnRecord& column,
                               std::span<const format::Cell> cells);
/// Appends the encoded value of a cell to `*key`. Errors: kCorruption (it does not fit the column).
Status AppendStoredKey(const format::IndexColumnRecord& column, const format::Cell& cell,
                       std::string* key);

/// Whether values of the type compare as their bytes do, without being encoded.
inline bool ComparesAsBytes(ColumnType type) {
  return type == ColumnType::kBytes || type == ColumnType::kText;
}

/// The twin of a type that reads the value as text.
ColumnType TextType(ColumnType type);

/// The encoded keys of the leaf's present values in an index over its column, ascending, disjoint.
/// Requires: `column` has the leaf's type, in either direction.
std::vector<format::KeyRange> RangesOf(const BoundLeaf& leaf,
                                       const format::IndexColumnRecord& column);

}  // namespace tandem::engine
