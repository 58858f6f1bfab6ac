// Tables of typed row keys whose rows have the fields of their keys in columns too, and conditions
// on fields that are judged by these columns alone.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/small_database.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"

namespace tandem::test {

/// A row of the reference.
struct FieldRow {
  std::string key;
  std::vector<std::string> fields;  ///< Their values as text; empty: the key has none.
  std::string c;                    ///< Of the column "c".
};

/// A condition, with its own meaning beside Predicate's.
struct FieldCondition {
  enum class Kind { kCompare, kAnd, kOr, kNot };
  Kind kind = Kind::kCompare;
  Predicate::Kind comparison = Predicate::Kind::kEqual;
  size_t field = 0;  ///< As many as there are fields: the column "c".
  std::vector<std::string> values = {};
  std::vector<FieldCondition> children = {};
};

/// Fields of a declaration and values that are given to them, ascending as values compare.
struct FieldPool {
  std::string name;
  bool is_text = false;  ///< Or bytes.
  std::vector<std::string> values;

  size_t PlaceOf(const std::string& value) const {
    return static_cast<size_t>(std::ranges::find(values, value) - values.begin());
  }
};

struct FieldDesign {
  std::vector<std::string> declarations;  ///< All of a table in turn; the first one at first.
  std::vector<FieldPool> fields;
};

/// Whether a row satisfies the condition.
inline bool Satisfies(const FieldRow& row, const FieldCondition& condition,
                      const FieldDesign& design) {
  using Kind = FieldCondition::Kind;
  const auto of_child = [&](const FieldCondition& child) { return Satisfies(row, child, design); };
  if (condition.kind == Kind::kAnd) return std::ranges::all_of(condition.children, of_child);
  if (condition.kind == Kind::kOr) return std::ranges::any_of(condition.children, of_child);
  if (condition.kind == Kind::kNot) return !of_child(condition.children.front());
  using Comparison = Predicate::Kind;
  const bool is_of_c = condition.field == design.fields.size();
  const bool is_absent = is_of_c ? row.c.empty() : row.fields.empty();
  if (condition.comparison == Comparison::kIsNull) return is_absent;
  if (condition.comparison == Comparison::kIsNotNull) return !is_absent;
  if (is_absent) return false;
  const std::string& value = is_of_c ? row.c : row.fields[condition.field];
  if (condition.comparison == Comparison::kPrefix) return value.starts_with(condition.values[0]);
  if (condition.comparison == Comparison::kContains) {
    return value.find(condition.values[0]) != std::string::npos;
  }
  // Values are of the pool, which ascends; those of "c" have one digit.
  const auto place = [&](const std::string& text) {
    return is_of_c ? static_cast<size_t>(text[0]) : design.fields[condition.field].PlaceOf(text);
  };
  const size_t own = place(value);
  const auto at = [&](size_t i) { return place(condition.values[i]); };
  switch (condition.comparison) {
    case Comparison::kEqual:
      return own == at(0);
    case Comparison::kNotEqual:
      return own != at(0);
    case Comparison::kLess:
      return own < at(0);
    case Comparison::kLessOrEqual:
      return own <= at(0);
    case Comparison::kGreater:
      return own > at(0);
    case Comparison::kGreaterOrEqual:
      return own >= at(0);
    case Comparison::kBetween:
      return at(0) <= own && own <= at(1);
    default:
      return std::ranges::find(condition.values, value) != condition.values.end();
  }
}

inline Predicate PredicateOf(const FieldCondition& condition, const FieldDesign& design) {
  using Kind = FieldCondition::Kind;
  if (condition.kind == Kind::kCompare) {
    const bool is_of_c = condition.field == design.fields.size();
    return Predicate::Compare(condition.comparison,
                              is_of_c ? "c" : "_row." + design.fields[condition.field].name,
                              condition.values);
  }
  std::vector<Predicate> children;
  for (const FieldCondition& child : condition.children) {
    children.push_back(PredicateOf(child, design));
  }
  if (condition.kind == Kind::kNot) return Predicate::Not(std::move(children.front()));
  return condition.kind == Kind::kAnd ? Predicate::And(std::move(children))
                                      : Predicate::Or(std::move(children));
}

}  // namespace tandem::test
