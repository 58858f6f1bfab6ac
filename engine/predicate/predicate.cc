// Building predicates and printing them. Parsing the printed text yields an equal tree: names that
// are not plain, or that are keywords, are quoted; values are quoted text if they are printable
// ASCII, hexadecimal otherwise.
//
// No tree is deeper than kPredicateDepthMax, because the builders check it: so copying, destroying,
// printing and binding one may recurse.
#include "tandem/predicate.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/quote.h"
#include "engine/predicate/column_parser.h"
#include "engine/predicate/given_values.h"
#include "engine/predicate/lexer.h"
#include "format/functions.h"
#include "tandem/limits.h"

namespace tandem {
namespace {

using Kind = Predicate::Kind;

std::string ValueText(std::string_view value) {
  bool printable = true;
  for (const char c : value) printable &= c >= 0x20 && c < 0x7f;
  if (printable) return base::QuoteDoubling(value, '\'');
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "x'";
  for (const char c : value) {
    out += kDigits[static_cast<uint8_t>(c) >> 4];
    out += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return out += '\'';
}

std::string_view OperatorText(Kind kind) {
  switch (kind) {
    case Kind::kEqual:
      return " = ";
    case Kind::kNotEqual:
      return " != ";
    case Kind::kLess:
      return " < ";
    case Kind::kLessOrEqual:
      return " <= ";
    case Kind::kGreater:
      return " > ";
    case Kind::kGreaterOrEqual:
      return " >= ";
    case Kind::kContains:
      return " CONTAINS ";
    case Kind::kRegexp:
      return " REGEXP ";
    default:
      return " PREFIX ";
  }
}

std::string ColumnText(const Predicate& leaf) {
  std::string text = engine::ColumnText({.family = leaf.family(),
                                         .qualifier = leaf.qualifier(),
                                         .is_row_key = leaf.is_row_key(),
                                         .functions = leaf.functions()});
  if (leaf.type().has_value()) text.append("::").append(ColumnTypeName(*leaf.type()));
  return text;
}

// Values for parameters; null: parameters are printed.
using Values = const engine::ParameterValues*;

// The value at `place` of a comparison, or the parameter that is there.
std::string OperandText(const Predicate& leaf, Values values, size_t place) {
  const uint32_t parameter = leaf.parameters().empty() ? 0 : leaf.parameters()[place];
  if (parameter == 0) return ValueText(leaf.values()[place]);
  const bool has_value =
      values != nullptr && parameter <= values->size() && (*values)[parameter - 1].has_value();
  return has_value ? ValueText(*(*values)[parameter - 1]) : "?" + std::to_string(parameter);
}

std::string ListText(const Predicate& leaf, Values given) {
  std::string out = "(";
  for (size_t place = 0; place < leaf.values().size(); ++place) {
    if (place > 0) out += ", ";
    out += OperandText(leaf, given, place);
  }
  return out += ')';
}

// The columns of a tuple, or their values at `place`.
template <typename Text>
std::string TupleText(const Predicate& tuple, const Text& text) {
  std::string out = "(";
  for (const Predicate& child : tuple.children()) {
    if (out.size() > 1) out += ", ";
    out += text(child);
  }
  return out += ')';
}

std::string WholeTupleText(const Predicate& tuple, Values given) {
  const auto values = [&](size_t place) {
    return TupleText(tuple,
                     [&](const Predicate& child) { return OperandText(child, given, place); });
  };
  const Kind kind = tuple.children()[0].kind();
  const std::string columns = TupleText(tuple, ColumnText);
  if (kind == Kind::kBetween) return columns + " BETWEEN " + values(0) + " AND " + values(1);
  return columns + std::string(OperatorText(kind)) + values(0);
}

std::string LeafText(const Predicate& leaf, Values given) {
  switch (leaf.kind()) {
    case Kind::kIsNull:
      return ColumnText(leaf) + " IS NULL";
    case Kind::kIsNotNull:
      return ColumnText(leaf) + " IS NOT NULL";
    case Kind::kIn:
      return ColumnText(leaf) + " IN " + ListText(leaf, given);
    case Kind::kBetween:
      return ColumnText(leaf) + " BETWEEN " + OperandText(leaf, given, 0) + " AND " +
             OperandText(leaf, given, 1);
    default:
      return ColumnText(leaf) + std::string(OperatorText(leaf.kind())) +
             OperandText(leaf, given, 0);
  }
}

// How many values a comparison of this kind takes; nullopt: any number.
std::optional<size_t> ValuesNeeded(Kind kind) {
  switch (kind) {
    case Kind::kIn:
      return std::nullopt;
    case Kind::kBetween:
      return 2;
    case Kind::kIsNull:
    case Kind::kIsNotNull:
      return 0;
    default:
      return 1;
  }
}

bool IsComparison(const Predicate& predicate) {
  return predicate.kind() >= Kind::kEqual && predicate.kind() <= Kind::kIsNotNull;
}

bool IsOfBareKey(const Predicate& predicate) {
  return predicate.is_row_key() && predicate.functions().empty();
}

bool IsGroup(const Predicate& predicate) {
  return predicate.kind() == Kind::kAnd || predicate.kind() == Kind::kOr;
}

std::string TextOf(const Predicate& predicate, Values given);

std::string Operand(const Predicate& predicate, Values given) {
  const std::string text = TextOf(predicate, given);
  return IsGroup(predicate) ? "(" + text + ")" : text;
}

std::string TextOf(const Predicate& predicate, Values given) {
  const Kind kind = predicate.kind();
  switch (kind) {
    case Kind::kTrue:
      return "TRUE";
    case Kind::kInvalid:
      return "! " + predicate.values()[0];
    case Kind::kNot:
      return "NOT " + Operand(predicate.children()[0], given);
    case Kind::kTuple:
      return WholeTupleText(predicate, given);
    case Kind::kAnd:
    case Kind::kOr:
      break;
    default:
      return LeafText(predicate, given);
  }
  std::string out;
  for (const Predicate& child : predicate.children()) {
    if (!out.empty()) out += kind == Kind::kAnd ? " AND " : " OR ";
    out += Operand(child, given);
  }
  return out;
}

}  // namespace

Predicate Predicate::Invalid(std::string why) {
  Predicate invalid;
  invalid.kind_ = Kind::kInvalid;
  invalid.values_.push_back(std::move(why));
  return invalid;
}

Predicate Predicate::Compare(Kind kind, std::string column, std::vector<std::string> values) {
  if (kind < Kind::kEqual || kind > Kind::kIsNotNull) {
    return Invalid("a condition on column '" + column + "' is no comparison: its kind is " +
                   std::to_string(static_cast<int>(kind)));
  }
  const size_t needed = ValuesNeeded(kind).value_or(values.size());
  if (values.size() != needed) {
    return Invalid("a condition on column '" + column + "' has " + std::to_string(values.size()) +
                   " values, expected " + std::to_string(needed));
  }
  Predicate leaf;
  leaf.kind_ = kind;
  leaf.values_ = std::move(values);
  leaf.qualifier_ = engine::KeyFieldOf(column);
  leaf.is_row_key_ = column == engine::kRowKeyColumn || !leaf.qualifier_.empty();
  if (leaf.is_row_key_) return leaf;
  const size_t colon = column.find(':');
  if (colon == std::string::npos) {
    leaf.qualifier_ = std::move(column);
  } else {
    leaf.family_ = column.substr(0, colon);
    leaf.qualifier_ = column.substr(colon + 1);
  }
  return leaf;
}

Predicate Predicate::WithFunctions(Functions functions) const {
  if (kind_ == Kind::kInvalid) return *this;
  if (!IsComparison(*this)) {
    return Invalid("only a comparison of a column has functions, not " + ToString());
  }
  if (is_row_key_ && !qualifier_.empty() && !functions.empty()) {
    return Invalid("functions do not take a field of the row key, as in " + ToString());
  }
  if (const Status status = format::CheckFunctions(functions); !status.ok()) {
    return Invalid("a condition on column '" + qualifier_ + "': " + std::string(status.message()));
  }
  if (is_row_key_ && !functions.empty() && functions.front().kind == FunctionKind::kTimestampOf) {
    return Invalid("timestamp_of: the row key has no timestamp");
  }
  Predicate applied = *this;
  if (engine::TakeFamily(functions)) {
    if (family_.empty()) applied.family_ = std::exchange(applied.qualifier_, {});
    if (is_row_key_ || applied.family_.empty() || !applied.qualifier_.empty()) {
      return Invalid(TextOf(functions, is_row_key_ ? std::string(engine::kRowKeyColumn)
                                                   : family_ + ":" + qualifier_) +
                     ": expected the name of a family alone");
    }
  }
  applied.functions_ = std::move(functions);
  return applied;
}

Predicate Predicate::As(ColumnType type) const {
  if (kind_ == Kind::kInvalid) return *this;
  if (!IsComparison(*this) || IsOfBareKey(*this)) {
    return Invalid("only a comparison of a column is cast, not " + ToString());
  }
  if (ColumnTypeName(type) == "unknown") {
    return Invalid("a condition on column '" + qualifier_ + "' is cast to an unknown type");
  }
  Predicate cast = *this;
  cast.type_ = type;
  return cast;
}

Predicate Predicate::Equal(std::string column, std::string value) {
  return Compare(Kind::kEqual, std::move(column), {std::move(value)});
}

Predicate Predicate::NotEqual(std::string column, std::string value) {
  return Compare(Kind::kNotEqual, std::move(column), {std::move(value)});
}

Predicate Predicate::Less(std::string column, std::string value) {
  return Compare(Kind::kLess, std::move(column), {std::move(value)});
}

Predicate Predicate::LessOrEqual(std::string column, std::string value) {
  return Compare(Kind::kLessOrEqual, std::move(column), {std::move(value)});
}

Predicate Predicate::Greater(std::string column, std::string value) {
  return Compare(Kind::kGreater, std::move(column), {std::move(value)});
}

Predicate Predicate::GreaterOrEqual(std::string column, std::string value) {
  return Compare(Kind::kGreaterOrEqual, std::move(column), {std::move(value)});
}

Predicate Predicate::Between(std::string column, std::string low, std::string high) {
  return Compare(Kind::kBetween, std::move(column), {std::move(low), std::move(high)});
}

Predicate Predicate::In(std::string column, std::vector<std::string> values) {
  return Compare(Kind::kIn, std::move(column), std::move(values));
}

Predicate Predicate::Prefix(std::string column, std::string prefix) {
  return Compare(Kind::kPrefix, std::move(column), {std::move(prefix)});
}

Predicate Predicate::Contains(std::string column, std::string part) {
  return Compare(Kind::kContains, std::move(column), {std::move(part)});
}

Predicate Predicate::Regexp(std::string column, std::string pattern) {
  return Compare(Kind::kRegexp, std::move(column), {std::move(pattern)});
}

Predicate Predicate::IsNull(std::string column) {
  return Compare(Kind::kIsNull, std::move(column), {});
}

Predicate Predicate::IsNotNull(std::string column) {
  return Compare(Kind::kIsNotNull, std::move(column), {});
}

Predicate Predicate::CompareWith(Kind kind, std::string column, std::span<const Parameter> values) {
  for (const Parameter parameter : values) {
    if (parameter.number > 0 && parameter.number <= kParametersMax) continue;
    return Invalid("a condition on column '" + column + "' has the parameter " +
                   std::to_string(parameter.number) + ", expected 1 to " +
                   std::to_string(kParametersMax));
  }
  Predicate leaf = Compare(kind, std::move(column), std::vector<std::string>(values.size()));
  if (leaf.kind_ == Kind::kInvalid) return leaf;
  for (const Parameter parameter : values) leaf.parameters_.push_back(parameter.number);
  return leaf;
}

Predicate Predicate::Equal(std::string column, Parameter value) {
  return CompareWith(Kind::kEqual, std::move(column), {&value, 1});
}

Predicate Predicate::NotEqual(std::string column, Parameter value) {
  return CompareWith(Kind::kNotEqual, std::move(column), {&value, 1});
}

Predicate Predicate::Less(std::string column, Parameter value) {
  return CompareWith(Kind::kLess, std::move(column), {&value, 1});
}

Predicate Predicate::LessOrEqual(std::string column, Parameter value) {
  return CompareWith(Kind::kLessOrEqual, std::move(column), {&value, 1});
}

Predicate Predicate::Greater(std::string column, Parameter value) {
  return CompareWith(Kind::kGreater, std::move(column), {&value, 1});
}

Predicate Predicate::GreaterOrEqual(std::string column, Parameter value) {
  return CompareWith(Kind::kGreaterOrEqual, std::move(column), {&value, 1});
}

Predicate Predicate::Between(std::string column, Parameter low, Parameter high) {
  const Parameter ends[] = {low, high};
  return CompareWith(Kind::kBetween, std::move(column), ends);
}

Predicate Predicate::Prefix(std::string column, Parameter prefix) {
  return CompareWith(Kind::kPrefix, std::move(column), {&prefix, 1});
}

Predicate Predicate::Contains(std::string column, Parameter part) {
  return CompareWith(Kind::kContains, std::move(column), {&part, 1});
}

Predicate Predicate::Regexp(std::string column, Parameter pattern) {
  return CompareWith(Kind::kRegexp, std::move(column), {&pattern, 1});
}

// Adds a value in whose place the parameter is.
void Predicate::AddParameter(uint32_t number) {
  parameters_.resize(values_.size());
  values_.emplace_back();
  parameters_.push_back(number);
}

uint32_t Predicate::parameter_count() const {
  uint32_t count = 0;
  for (const uint32_t parameter : parameters_) count = std::max(count, parameter);
  for (const Predicate& child : children_) count = std::max(count, child.parameter_count());
  return count;
}

Predicate Predicate::And(std::vector<Predicate> children) {
  if (children.empty()) return {};
  return Group(Kind::kAnd, std::move(children));
}

Predicate Predicate::Or(std::vector<Predicate> children) {
  if (children.empty()) return Not({});
  return Group(Kind::kOr, std::move(children));
}

Predicate Predicate::Not(Predicate child) {
  std::vector<Predicate> children;
  children.push_back(std::move(child));
  return Group(Kind::kNot, std::move(children));
}

Predicate Predicate::Tuple(std::vector<Predicate> comparisons) {
  if (comparisons.empty() || comparisons.size() > kTupleColumnsMax) {
    return Invalid("a tuple has " + std::to_string(comparisons.size()) +
                   " columns, expected 1 to " + std::to_string(kTupleColumnsMax));
  }
  const Kind kind = comparisons[0].kind_;
  for (Predicate& comparison : comparisons) {
    if (comparison.kind_ == Kind::kInvalid) return std::move(comparison);
    const bool compares =
        comparison.kind_ == Kind::kEqual || comparison.kind_ == Kind::kBetween ||
        (comparison.kind_ >= Kind::kLess && comparison.kind_ <= Kind::kGreaterOrEqual);
    if (compares && comparison.kind_ == kind) continue;
    return Invalid(
        "a tuple compares all its columns by one of =, <, <=, >, >= and BETWEEN, not by " +
        comparison.ToString());
  }
  if (comparisons.size() == 1) return std::move(comparisons[0]);
  Predicate tuple;
  tuple.kind_ = Kind::kTuple;
  tuple.children_ = std::move(comparisons);
  return tuple;
}

// Requires: one child or more.
Predicate Predicate::Group(Kind kind, std::vector<Predicate> children) {
  if (kind != Kind::kNot && children.size() == 1) return std::move(children[0]);
  Predicate group;
  group.kind_ = kind;
  for (Predicate& child : children) {
    if (child.kind_ == Kind::kInvalid) return std::move(child);
    if (child.kind_ == kind && kind != Kind::kNot) {
      group.depth_ = std::max(group.depth_, child.depth_);
      // Reuses the first child's list, so that appending to a long chain costs one move.
      if (group.children_.empty()) group.children_ = std::exchange(child.children_, {});
      std::move(child.children_.begin(), child.children_.end(),
                std::back_inserter(group.children_));
      continue;
    }
    group.depth_ = std::max(group.depth_, child.depth_ + 1);
    group.children_.push_back(std::move(child));
  }
  if (group.depth_ <= kPredicateDepthMax) return group;
  return Invalid("a predicate has more than " + std::to_string(kPredicateDepthMax) +
                 " levels of AND, OR and NOT");
}

std::string Predicate::ToString() const { return TextOf(*this, nullptr); }

std::string engine::TextWith(const Predicate& predicate, const ParameterValues& values) {
  return TextOf(predicate, &values);
}

}  // namespace tandem
