// Building predicates and writing them as text. The text is what the parser reads back to an equal
// tree: names that are not plain, or that would read as keywords, are quoted; values are quoted
// text where that is lossless to the eye, hexadecimal otherwise.
#include "tandem/predicate.h"

#include <utility>

#include "engine/predicate_lexer.h"

namespace tandem {
namespace {

using Kind = Predicate::Kind;

std::string Quoted(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote) out += quote;
    out += c;
  }
  return out += quote;
}

std::string NameText(std::string_view name) {
  return engine::IsPlainName(name) ? std::string(name) : Quoted(name, '"');
}

std::string ValueText(std::string_view value) {
  bool printable = true;
  for (const char c : value) printable &= c >= 0x20 && c < 0x7f;
  if (printable) return Quoted(value, '\'');
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
    default:
      return " PREFIX ";
  }
}

std::string ColumnText(const Predicate& leaf) {
  if (leaf.is_row_key()) return std::string(engine::kRowKeyColumn);
  if (leaf.family().empty()) return NameText(leaf.qualifier());
  return NameText(leaf.family()) + ":" + NameText(leaf.qualifier());
}

std::string ListText(const std::vector<std::string>& values) {
  std::string out = "(";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ", ";
    out += ValueText(value);
  }
  return out += ')';
}

std::string LeafText(const Predicate& leaf) {
  const std::vector<std::string>& values = leaf.values();
  switch (leaf.kind()) {
    case Kind::kIsNull:
      return ColumnText(leaf) + " IS NULL";
    case Kind::kIsNotNull:
      return ColumnText(leaf) + " IS NOT NULL";
    case Kind::kIn:
      return ColumnText(leaf) + " IN " + ListText(values);
    case Kind::kBetween:
      return ColumnText(leaf) + " BETWEEN " + ValueText(values[0]) + " AND " + ValueText(values[1]);
    default:
      return ColumnText(leaf) + std::string(OperatorText(leaf.kind())) + ValueText(values[0]);
  }
}

bool IsGroup(const Predicate& predicate) {
  return predicate.kind() == Kind::kAnd || predicate.kind() == Kind::kOr;
}

std::string Operand(const Predicate& predicate) {
  return IsGroup(predicate) ? "(" + predicate.ToString() + ")" : predicate.ToString();
}

}  // namespace

Predicate Predicate::Compare(Kind kind, std::string column, std::vector<std::string> values) {
  Predicate leaf;
  leaf.kind_ = kind;
  leaf.values_ = std::move(values);
  leaf.is_row_key_ = column == engine::kRowKeyColumn;
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

Predicate Predicate::Equal(std::string column, std::string value) {
  return Compare(Kind::kEqual, std::move(column), {std::move(value)});
}

Predicate Predicate::Between(std::string column, std::string low, std::string high) {
  return Compare(Kind::kBetween, std::move(column), {std::move(low), std::move(high)});
}

Predicate Predicate::And(std::vector<Predicate> children) {
  if (children.empty()) return {};
  if (children.size() == 1) return std::move(children[0]);
  Predicate group;
  group.kind_ = Kind::kAnd;
  group.children_ = std::move(children);
  return group;
}

Predicate Predicate::Or(std::vector<Predicate> children) {
  if (children.empty()) return Not({});
  if (children.size() == 1) return std::move(children[0]);
  Predicate group;
  group.kind_ = Kind::kOr;
  group.children_ = std::move(children);
  return group;
}

Predicate Predicate::Not(Predicate child) {
  Predicate negation;
  negation.kind_ = Kind::kNot;
  negation.children_.push_back(std::move(child));
  return negation;
}

std::string Predicate::ToString() const {
  switch (kind_) {
    case Kind::kTrue:
      return "TRUE";
    case Kind::kNot:
      return "NOT " + Operand(children_[0]);
    case Kind::kAnd:
    case Kind::kOr:
      break;
    default:
      return LeafText(*this);
  }
  std::string out;
  for (const Predicate& child : children_) {
    if (!out.empty()) out += kind_ == Kind::kAnd ? " AND " : " OR ";
    out += Operand(child);
  }
  return out;
}

}  // namespace tandem
