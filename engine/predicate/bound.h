// A predicate bound to a table: columns are resolved, literals are converted, negations are pushed
// down to the leaves, and the conditions of a group on one column are combined. Logic is
// two-valued: a leaf is a set of values plus a flag that says whether an absent column matches, and
// NOT complements both. Matches is the reference that every other way to answer a query must agree
// with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancellation.h"
#include "engine/predicate/column_set.h"
#include "engine/predicate/given_values.h"
#include "engine/predicate/text_test.h"
#include "format/cell/cell.h"
#include "format/condition.h"
#include "format/registry/registered.h"
#include "format/row_key/key_fields.h"
#include "format/schema.h"
#include "index/key.h"
#include "index/put_key.h"
#include "tandem/predicate.h"
#include "tandem/status.h"

namespace tandem::engine {

using format::ValueBound;
using format::ValueInterval;
using format::ValueSet;

/// A condition on one column or on the row key.
struct BoundLeaf {
  bool is_row_key = false;  ///< Of the key itself. One of functions of it is on `column`.
  /// Perhaps a part of the row key. Ascending; of the type that the condition is cast to, else of
  /// what its functions return, else of the column's own.
  format::IndexColumnRecord column;
  ValueSet values;            ///< True for a present value in it that fits the type...
  bool accepts_null = false;  ///< ... and for an absent one if this is set.
  /// All visible versions of the column decide, as several values of one would.
  bool any_version = false;
  /// Where several values decide: every one that fits the type has to be in the set. False: one of
  /// them.
  bool every = false;
  /// In the place of `values`: true for a present value that satisfies it.
  std::optional<TextTest> test = std::nullopt;
  /// It is on a field of the row key, whose place among them `field` is: `column` is of the row key
  /// and has the field's name, and values are plain bytes (format/row_key/field.h). nullptr: it is
  /// not.
  std::shared_ptr<const format::KeyFields> key_fields = nullptr;
  size_t field = 0;

  /// Of a value that compares as the column's do.
  bool Accepts(std::string_view value) const {
    return test.has_value() ? test->Accepts(value) : values.Contains(value);
  }
  /// Whether a row may satisfy it by one value, and not by another.
  bool has_several_values() const {
    return !is_row_key && (any_version || format::IsMultiValued(column));
  }
  /// Whether the rows that match are those with an entry in ranges of values.
  bool has_ranges() const { return !every && !test.has_value(); }
};

struct BoundNode {
  enum class Kind : uint8_t { kLeaf, kAnd, kOr };  ///< Without children, kAnd is true, kOr false.
  Kind kind = Kind::kAnd;
  BoundLeaf leaf;
  /// Never exactly one child, none of the node's own kind, and at most one leaf per column and
  /// type, unless several of its values decide.
  std::vector<BoundNode> children;
  /// An OR, of a tuple, in an AND that also has its condition on the first column as a leaf: what
  /// an index says of that column is known without looking into the OR.
  bool is_bounded = false;
};

/// A parameter and what it is compared with.
struct ParameterUse {
  uint32_t parameter = 0;
  bool is_row_key = false;
  bool is_part = false;                                  ///< Or a prefix: any text.
  std::optional<RegexpEncoding> pattern = std::nullopt;  ///< It is a pattern of REGEXP.
  format::IndexColumnRecord column;
  std::shared_ptr<const format::KeyFields> key_fields = nullptr;  ///< As BoundLeaf has them.
  size_t field = 0;
};

/// Which versions of a column decide whether a row satisfies conditions on it.
enum class DecidingVersions : uint8_t { kNewest, kAny };

/// What a predicate is bound by besides the table. Lifetime: that of the call.
struct BindOptions {
  base::Cancellation cancellation = {};
  const ParameterValues* values = nullptr;  ///< Null: no parameter has one.
  DecidingVersions versions = DecidingVersions::kNewest;
  const format::FunctionRegistry* functions = nullptr;  ///< That it may call; null: none.
};

/// Threads: one at a time (it keeps scratch memory).
class BoundPredicate {
 public:
  /// A copy has scratch memory of its own.
  BoundPredicate(const BoundPredicate& other);
  BoundPredicate& operator=(const BoundPredicate& other);
  BoundPredicate(BoundPredicate&&) noexcept;
  BoundPredicate& operator=(BoundPredicate&&) noexcept;
  ~BoundPredicate();
  /// Errors: kNotFound (family), kInvalidArgument (a literal that is not of its column's type: the
  /// message names both; a prefix of a column that is neither bytes nor text; a pattern that RE2
  /// does not take, too many patterns; an invalid predicate; a parameter without a value; a tuple
  /// or columns that are joined, if any version decides; a function of the program that is not
  /// registered), kCancelled.
  static Result<BoundPredicate> Bind(const Predicate& predicate, const format::TableRecord& table,
                                     const BindOptions& options = {});
  /// A predicate that is made without text. Requires: `root` satisfies the rules of BoundNode.
  static BoundPredicate Of(BoundNode root);
  /// Checks all but the values of parameters. Returns where these are used. Errors: as Bind.
  static Result<std::vector<ParameterUse>> FindParameters(const Predicate& predicate,
                                                          const format::TableRecord& table,
                                                          const BindOptions& options = {});

  /// Whether a row that exists satisfies the predicate. Requires: `cells` are its visible cells, of
  /// the predicate's columns at least, column by column, newest first within one. Overflow values
  /// are read if a condition needs them. Errors: kCorruption, kIoError.
  Result<bool> Matches(std::string_view row, std::span<const format::Cell> cells);
  /// For a row whose columns are not all in memory: begins to decide its conditions on the
  /// columns of families, which AddColumn gives. The next Matches goes by what these say, and needs
  /// the cells of NamedColumns alone.
  void BeginColumns();
  /// `visible` are the visible cells of the next column of WholeFamilies, newest first. False: more
  /// columns would change nothing. Errors: those of Matches.
  Result<bool> AddColumn(std::span<const format::Cell> visible);

  const BoundNode& root() const { return *root_; }
  /// The columns that it reads: NamedColumns and WholeFamilies.
  ColumnSet Columns() const;
  ColumnSet NamedColumns() const;
  /// Families with conditions on all of their columns.
  ColumnSet WholeFamilies() const;
  /// Whether a row without any of its columns may match. The caller must then check that the row
  /// exists.
  bool MayAcceptAbsent() const;

 private:
  class Evaluator;
  explicit BoundPredicate(std::unique_ptr<const BoundNode> root);
  Evaluator& evaluator();

  // Behind pointers: a query moves them several times, and may come to no row.
  std::unique_ptr<const BoundNode> root_;
  std::unique_ptr<Evaluator> evaluator_;  // Null until a row is looked at.
};

/// Whether a condition in the tree is on the row key, or on a part of it.
bool AsksRowKey(const BoundNode& node);

/// The newest cell of a column among visible ones; nullptr when there is none.
const format::Cell* FindNewest(const format::IndexColumnRecord& column,
                               std::span<const format::Cell> cells);
/// Replaces `*puts` by those of the columns that the column joins.
void FindJoined(const format::IndexColumnRecord& column, std::span<const format::Cell> cells,
                std::vector<const format::Cell*>* puts);
/// Whether values of the type compare as their bytes do, without being encoded.
inline bool ComparesAsBytes(ColumnType type) {
  return type == ColumnType::kBytes || type == ColumnType::kText;
}

/// The variant of a type that parses the value from text.
ColumnType TextType(ColumnType type);

/// The encoded keys of the leaf's present values in an index over its column, or with it as the
/// first one, ascending, disjoint. Requires: `column` has the leaf's type, in either direction.
std::vector<format::KeyRange> RangesOf(const BoundLeaf& leaf,
                                       const format::IndexColumnRecord& column);
/// The same of one value, keyed as in ValueBound.
format::KeyRange RangeOf(const std::string& value, const format::IndexColumnRecord& column);

}  // namespace tandem::engine
