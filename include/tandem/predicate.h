// What a query asks for, as a tree built by the functions below or parsed from text that reads like
// SQL's WHERE: `section = 'games' AND size BETWEEN 1000000 AND 2000000 AND NOT maintainer IS NULL`.
//
// Grammar: OR over AND over NOT over ( ... ), comparisons (= != <> < <= > >=), [NOT] BETWEEN a AND
// b, [NOT] IN (a, ...), [NOT] PREFIX 'p' (also LIKE 'p%'), IS [NOT] NULL. A column is a name,
// family:name, or "quoted" (a doubled quote is one); without a family it is in the table's
// first. `_row` is the row key. A value is 'text' (a doubled quote is one), x'hex', a
// number, TRUE or FALSE. IN () holds for no row. Keywords in any case.
//
// Meaning: a column compares as the type that an index declares for it, otherwise as bytes. A
// comparison with an absent column is false; NOT turns true into false and false into true. A value
// must read as the column's type (a number, a time, true or false). It may be larger or smaller
// than every value of the type, longer than an index takes, or no UTF-8: no row equals it, and it
// has its place in the order. A number may begin with '+'.
//
// Depth: at most kPredicateDepthMax levels of AND, OR and NOT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/status.h"

namespace tandem::engine {
class PredicateParser;
}  // namespace tandem::engine

#pragma GCC visibility push(default)

namespace tandem {

/// A value; copies are deep. Columns and values are checked against the table when it is used. What
/// cannot be a predicate (a comparison of another kind or with too few values, too deep a tree) is
/// built as kInvalid, and Query, Count and Explain refuse it with kInvalidArgument.
/// Errors: the functions that build one throw std::bad_alloc, Parse answers kOutOfMemory. Threads:
/// any number may use one that nobody changes.
class Predicate {
 public:
  enum class Kind : uint8_t {
    kTrue,  ///< Every row.
    kEqual,
    kNotEqual,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,  // values[0]
    kBetween,         ///< values[0] <= column <= values[1]
    kIn,              ///< column equals one of values
    kPrefix,          ///< column starts with values[0]; bytes and text only
    kIsNull,
    kIsNotNull,
    kAnd,
    kOr,       ///< Over children, one or more.
    kNot,      ///< Of children[0].
    kInvalid,  ///< No predicate; values[0] says why.
  };

  Predicate() = default;  ///< Every row.
  // Comparisons. `column`: "name", "family:name" (cut at the first colon) or "_row".
  static Predicate Equal(std::string column, std::string value);
  static Predicate NotEqual(std::string column, std::string value);
  static Predicate Less(std::string column, std::string value);
  static Predicate LessOrEqual(std::string column, std::string value);
  static Predicate Greater(std::string column, std::string value);
  static Predicate GreaterOrEqual(std::string column, std::string value);
  /// Both ends inclusive.
  static Predicate Between(std::string column, std::string low, std::string high);
  /// Equal to one of `values`; of none: no row.
  static Predicate In(std::string column, std::vector<std::string> values);
  static Predicate Prefix(std::string column, std::string prefix);
  static Predicate IsNull(std::string column);
  static Predicate IsNotNull(std::string column);
  /// The comparison of `kind`, kEqual to kIsNotNull, for a kind that is only known at run time. As
  /// many `values` as it asks for; kInvalid otherwise.
  static Predicate Compare(Kind kind, std::string column, std::vector<std::string> values);
  /// And of none is every row, Or of none is no row. A child of the same kind hands over its own
  /// children, so a chain of any length has one level. kInvalid above kPredicateDepthMax levels.
  static Predicate And(std::vector<Predicate> children);
  static Predicate Or(std::vector<Predicate> children);
  static Predicate Not(Predicate child);

  /// Errors: kInvalidArgument "at position N: expected ..., found ...", N from 1 in bytes.
  static Result<Predicate> Parse(std::string_view text);
  /// Text that Parse reads back; of a kInvalid one, text that it refuses.
  std::string ToString() const;

  Kind kind() const { return kind_; }
  /// "name" or "family:name" as given; kRowKeyColumn for the row key. Names with special characters
  /// are stored plain here.
  const std::string& family() const { return family_; }  ///< Empty: the table's first.
  const std::string& qualifier() const { return qualifier_; }
  bool is_row_key() const { return is_row_key_; }
  /// As the user wrote them: text of a value of the column's type.
  const std::vector<std::string>& values() const { return values_; }
  const std::vector<Predicate>& children() const { return children_; }
  /// Levels of AND, OR and NOT.
  uint32_t depth() const { return depth_; }

 private:
  friend class engine::PredicateParser;
  static Predicate Invalid(std::string why);
  static Predicate Group(Kind kind, std::vector<Predicate> children);

  Kind kind_ = Kind::kTrue;
  bool is_row_key_ = false;
  uint32_t depth_ = 0;
  std::string family_, qualifier_;
  std::vector<std::string> values_;
  std::vector<Predicate> children_;
};

}  // namespace tandem

#pragma GCC visibility pop
