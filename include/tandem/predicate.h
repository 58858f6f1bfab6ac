// What a query asks for, as a tree built by the functions below or parsed from text that reads like
// SQL's WHERE: `section = 'games' AND size BETWEEN 1000000 AND 2000000 AND NOT maintainer IS NULL`.
//
// Grammar: OR over AND over NOT over ( ... ), comparisons (= != <> < <= > >=), [NOT] BETWEEN a AND
// b, [NOT] IN (a, ...), [NOT] PREFIX 'p' (also LIKE 'p%'), [NOT] CONTAINS 'p' (also LIKE '%p%'),
// [NOT] REGEXP 'pattern', IS [NOT] NULL. A column is a name, family:name, or "quoted"; without a
// family it is in the table's first. Functions may be applied to it, as in lower(name)
// (function.h); ::type may follow. `_row` is the row key: it compares as bytes, and functions take
// it as they take a column: split_part(_row, '/', 2) = 'x'. A value is 'text', x'hex', a number,
// TRUE or FALSE, or a parameter. A quote inside quotes is doubled. IN () matches no row. Keywords
// are not case-sensitive.
//
// `_row.user` is a field of a typed row key (row_key.h), in any condition but without functions and
// casts: `_row.user = 'ann' AND _row.at >= '2026-01-01'`. It compares as its type, and values are
// those of RowKeyField. One that does not fit, or a name of no field, is an error; a key that has
// no fields, since it is none of the table's declarations, counts as absent. Conditions that every
// match satisfies become ranges of keys: those on the first fields, and where only a later field
// has one, those of each value of the fields before it if these are few. A column of such a name
// is written "_row.user".
//
// CONTAINS looks for the bytes of its text; of words(title) it looks for each word of its text, in
// any order: words(title) CONTAINS 'Storage engine'. A text without a word is in no row, nor is one
// with a word that is too long.
//
// REGEXP looks for a part of the value that matches a pattern in RE2's syntax
// (github.com/google/re2/wiki/Syntax): without ^ and $ anywhere in it, case-sensitive without (?i).
// A text column is matched by characters, a bytes column byte by byte: there . is one byte, and [ä]
// either of two; cast it, title::text REGEXP '[ä]', where it is text. A predicate has at most 16
// conditions with REGEXP, which WHERE of an index does not take. Matching takes time in proportion
// to the value, about 1.3 ms for a MiB, and a hundred times that where a pattern like 1[01]{20}x
// keeps many places open at once; a query is cancelled between values.
//
// Meaning: a column compares as its type (ColumnOptions), functions as what they return, or either
// as the type that it is cast to: `size::int64 < 10`. Stored text that does not fit the type counts
// as absent. A comparison with an absent column is false; NOT turns true into false and false into
// true. A value must parse as the type (a number, a time, true or false). A value outside the
// type's range, too long for an index, or not UTF-8 is allowed: it equals no row and compares as
// larger or smaller than each. A number may begin with '+'.
//
// Tuples compare from the left: the first column whose value is not the one it is compared with
// decides, and columns after it do not matter. If an absent column is reached before, the
// comparison is false. So (price, _row) > (5, 'k') is price > 5 OR (price = 5 AND _row > 'k'): the
// rows after that one in the order of an index over price.
//
// Parameters are for Database::Prepare: ? takes the number after the largest one so far, ?7 is
// number 7, and one number may be used several times. LIKE takes none.
//
// Depth: at most kPredicateDepthMax levels of AND, OR and NOT.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/function.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::engine {
class PredicateParser;
}  // namespace tandem::engine

#pragma GCC visibility push(default)

namespace tandem {

/// In the place of a value: the parameter with that number, from 1 to kParametersMax.
struct Parameter {
  explicit Parameter(uint32_t parameter_number) : number(parameter_number) {}
  uint32_t number;
};

/// A value type with deep copies. Columns and values are checked against the table when it is used.
/// A comparison of another kind or with the wrong number of values, and a tree that is too deep,
/// become kInvalid, which Query, Count and Explain refuse with kInvalidArgument.
/// Errors: the functions that build one throw std::bad_alloc, Parse returns kOutOfMemory. Threads:
/// any number may use one that none of them changes.
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
    kContains,        ///< column contains values[0], or its words; bytes and text only
    kRegexp,          ///< a part of column matches the pattern values[0]; bytes and text only
    kIsNull,
    kIsNotNull,
    kAnd,
    kOr,       ///< Over children, one or more.
    kNot,      ///< Of children[0].
    kTuple,    ///< Of children, comparisons of one kind: each a column with its values.
    kInvalid,  ///< No predicate; values[0] says why.
  };

  Predicate() = default;  ///< Every row.
  /// The same comparison, of the column cast to `type`. kInvalid for what is no comparison of a
  /// column or of functions of the row key.
  Predicate As(ColumnType type) const;
  /// The same comparison, of what the functions make of the column or row key. kInvalid for what is
  /// no comparison of one, and for functions with wrong arguments.
  Predicate WithFunctions(Functions functions) const;
  // Comparisons. `column`: "name", "family:name" (cut at the first colon), "_row" or "_row.field".
  static Predicate Equal(std::string column, std::string value);
  static Predicate NotEqual(std::string column, std::string value);
  static Predicate Less(std::string column, std::string value);
  static Predicate LessOrEqual(std::string column, std::string value);
  static Predicate Greater(std::string column, std::string value);
  static Predicate GreaterOrEqual(std::string column, std::string value);
  /// Both ends inclusive.
  static Predicate Between(std::string column, std::string low, std::string high);
  /// Equal to one of `values`. Without values it matches no row.
  static Predicate In(std::string column, std::vector<std::string> values);
  static Predicate Prefix(std::string column, std::string prefix);
  static Predicate Contains(std::string column, std::string part);
  /// `pattern`: in RE2's syntax, at most kRegexpBytesMax. One that RE2 does not take is an error of
  /// the query.
  static Predicate Regexp(std::string column, std::string pattern);
  static Predicate IsNull(std::string column);
  static Predicate IsNotNull(std::string column);
  /// The comparison of `kind`, kEqual to kIsNotNull, for a kind that is only known at run time.
  /// kInvalid unless there are as many `values` as the kind takes.
  static Predicate Compare(Kind kind, std::string column, std::vector<std::string> values);
  /// The same with parameters in the place of values.
  static Predicate Equal(std::string column, Parameter value);
  static Predicate NotEqual(std::string column, Parameter value);
  static Predicate Less(std::string column, Parameter value);
  static Predicate LessOrEqual(std::string column, Parameter value);
  static Predicate Greater(std::string column, Parameter value);
  static Predicate GreaterOrEqual(std::string column, Parameter value);
  static Predicate Between(std::string column, Parameter low, Parameter high);
  static Predicate Prefix(std::string column, Parameter prefix);
  static Predicate Contains(std::string column, Parameter part);
  static Predicate Regexp(std::string column, Parameter pattern);
  /// kInvalid unless there are as many `values` as the kind takes, and where a number is too large
  /// or 0.
  static Predicate CompareWith(Kind kind, std::string column, std::span<const Parameter> values);
  /// And({}) matches every row, Or({}) none. A child of the same kind is replaced by its children,
  /// so a chain of any length has one level. kInvalid above kPredicateDepthMax levels.
  static Predicate And(std::vector<Predicate> children);
  static Predicate Or(std::vector<Predicate> children);
  static Predicate Not(Predicate child);
  /// The tuple of the columns compares with the tuple of their values, as `comparisons` all do:
  /// kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual or kBetween. kInvalid unless they are
  /// of one such kind and 1 to kTupleColumnsMax. Where it is used, a multi-valued column is
  /// refused.
  ///   Tuple({Greater("price", "5"), Greater("_row", "k")})  // (price, _row) > (5, 'k')
  static Predicate Tuple(std::vector<Predicate> comparisons);

  /// Errors: kInvalidArgument "at position N: expected ..., found ...", N from 1 in bytes.
  static Result<Predicate> Parse(std::string_view text);
  /// Text that Parse reads back; for kInvalid, text that it refuses.
  std::string ToString() const;

  Kind kind() const { return kind_; }
  /// "name" or "family:name" as given. Names with special characters are stored plain here. The
  /// qualifier of the row key is the field that is compared; empty: the key, or functions of it.
  const std::string& family() const { return family_; }  ///< Empty: the table's first.
  const std::string& qualifier() const { return qualifier_; }
  bool is_row_key() const { return is_row_key_; }  ///< Perhaps with functions.
  /// What is applied to the column, the innermost first.
  const Functions& functions() const { return functions_; }
  /// What the column is cast to; nullopt: it has its own type.
  std::optional<ColumnType> type() const { return type_; }
  /// As the user wrote them: text of a value of the column's type.
  const std::vector<std::string>& values() const { return values_; }
  /// For each of the values: 0, or the number of the parameter in its place. Empty if no value is a
  /// parameter.
  const std::vector<uint32_t>& parameters() const { return parameters_; }
  /// The largest number of a parameter in the tree; 0: it has none.
  uint32_t parameter_count() const;
  const std::vector<Predicate>& children() const { return children_; }
  /// Levels of AND, OR and NOT.
  uint32_t depth() const { return depth_; }

 private:
  friend class engine::PredicateParser;
  static Predicate Invalid(std::string why);
  void AddParameter(uint32_t number);
  static Predicate Group(Kind kind, std::vector<Predicate> children);

  Kind kind_ = Kind::kTrue;
  bool is_row_key_ = false;
  std::optional<ColumnType> type_;
  Functions functions_;
  uint32_t depth_ = 0;
  std::string family_, qualifier_;
  std::vector<std::string> values_;
  std::vector<uint32_t> parameters_;
  std::vector<Predicate> children_;
};

}  // namespace tandem

#pragma GCC visibility pop
