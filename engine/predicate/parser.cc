// Predicate::Parse: recursive descent over the tokens, one function per level of the grammar:
//
//   or          and { OR and }
//   and         not { AND not }
//   not         { NOT } primary
//   primary     ( or ) | TRUE | FALSE | column condition
//   condition   operator value | IS [NOT] NULL
//               | [NOT] ( BETWEEN value AND value | IN ( [ value {, value} ] ) | PREFIX value
//                         | LIKE 'text%' )
//   column      ( name | name : name, each perhaps "quoted" ) [ :: type ]; _row
//   value       'text' | x'hex' | number | TRUE | FALSE | ?[number]
//
// Nesting is limited so that no text can exhaust the stack; redundant parentheses count too.
#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/predicate/lexer.h"
#include "tandem/limits.h"
#include "tandem/predicate.h"

namespace tandem::engine {

class PredicateParser {
 public:
  explicit PredicateParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<Predicate> Run() {
    ASSIGN_OR_RETURN(Predicate predicate, ParseOr());
    if (Peek().kind != Token::Kind::kEnd) return SyntaxError(Peek(), "AND, OR or the end");
    if (predicate.kind() == Kind::kInvalid) return TooDeep();
    return predicate;
  }

 private:
  using Kind = Predicate::Kind;
  const Token& Peek() const { return tokens_[at_]; }
  Token Take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool TakeKeyword(std::string_view word) {
    if (!IsKeyword(Peek(), word)) return false;
    ++at_;
    return true;
  }
  bool IsSymbol(std::string_view symbol) const {
    return Peek().kind == Token::Kind::kSymbol && Peek().text == symbol;
  }
  bool TakeSymbol(std::string_view symbol) {
    if (!IsSymbol(symbol)) return false;
    ++at_;
    return true;
  }
  Status ExpectSymbol(std::string_view symbol) {
    if (TakeSymbol(symbol)) return {};
    return SyntaxError(Peek(), "'" + std::string(symbol) + "'");
  }
  Status ExpectKeyword(std::string_view word) {
    return TakeKeyword(word) ? Status() : SyntaxError(Peek(), word);
  }

  Result<Predicate> ParseOr() {
    std::vector<Predicate> children;
    do {
      ASSIGN_OR_RETURN(Predicate child, ParseAnd());
      children.push_back(std::move(child));
    } while (TakeKeyword("OR"));
    return Predicate::Or(std::move(children));
  }

  Result<Predicate> ParseAnd() {
    std::vector<Predicate> children;
    do {
      ASSIGN_OR_RETURN(Predicate child, ParseNot());
      children.push_back(std::move(child));
    } while (TakeKeyword("AND"));
    return Predicate::And(std::move(children));
  }

  Result<Predicate> ParseNot() {
    // One call is for the condition below the deepest NOT.
    if (depth_ > kPredicateDepthMax) return TooDeep();
    ++depth_;
    Result<Predicate> result = TakeKeyword("NOT") ? Negated(ParseNot()) : ParsePrimary();
    --depth_;
    return result;
  }

  Status TooDeep() const {
    return SyntaxError(Peek(),
                       "at most " + std::to_string(kPredicateDepthMax) + " levels of nesting");
  }

  static Result<Predicate> Negated(Result<Predicate> child) {
    if (!child.has_value()) return child;
    return Predicate::Not(*std::move(child));
  }

  Result<Predicate> ParsePrimary() {
    if (TakeSymbol("(")) {
      ASSIGN_OR_RETURN(Predicate group, ParseOr());
      RETURN_IF_ERROR(ExpectSymbol(")"));
      return group;
    }
    if (TakeKeyword("TRUE")) return Predicate();
    if (TakeKeyword("FALSE")) return Predicate::Not({});
    Predicate leaf;
    RETURN_IF_ERROR(ParseColumn(&leaf));
    return ParseCondition(std::move(leaf));
  }

  Status ParseColumn(Predicate* leaf) {
    RETURN_IF_ERROR(ParseColumnName(leaf));
    if (leaf->is_row_key_ || !TakeSymbol("::")) return {};
    const Token& token = Peek();
    if (token.kind == Token::Kind::kName) leaf->type_ = ColumnTypeNamed(token.text);
    if (!leaf->type_.has_value()) return SyntaxError(token, "a type (bytes, text, int64, ...)");
    Take();
    return {};
  }

  Status ParseColumnName(Predicate* leaf) {
    const bool is_quoted = Peek().kind == Token::Kind::kQuotedName;
    RETURN_IF_ERROR(ParseName("a condition", &leaf->qualifier_));
    if (TakeSymbol(":")) {
      leaf->family_ = std::move(leaf->qualifier_);
      return ParseName("a column's name", &leaf->qualifier_);
    }
    leaf->is_row_key_ = !is_quoted && leaf->qualifier_ == engine::kRowKeyColumn;
    if (leaf->is_row_key_) leaf->qualifier_.clear();
    return {};
  }

  Status ParseName(std::string_view expected, std::string* name) {
    const Token& token = Peek();
    const bool is_plain = token.kind == Token::Kind::kName && !engine::IsReserved(token.text);
    if (!is_plain && token.kind != Token::Kind::kQuotedName) return SyntaxError(token, expected);
    *name = Take().text;
    return {};
  }

  Result<Predicate> ParseCondition(Predicate leaf) {
    if (TakeKeyword("IS")) {
      leaf.kind_ = TakeKeyword("NOT") ? Kind::kIsNotNull : Kind::kIsNull;
      RETURN_IF_ERROR(ExpectKeyword("NULL"));
      return leaf;
    }
    if (TakeKeyword("NOT")) {
      RETURN_IF_ERROR(ParseWordOperator("BETWEEN, IN, PREFIX or LIKE", &leaf));
      return Predicate::Not(std::move(leaf));
    }
    if (TakeOperator(&leaf.kind_)) {
      RETURN_IF_ERROR(ParseValue(&leaf));
      return leaf;
    }
    RETURN_IF_ERROR(ParseWordOperator("an operator", &leaf));
    return leaf;
  }

  bool TakeOperator(Kind* kind) {
    static constexpr std::pair<std::string_view, Kind> kOperators[] = {
        {"=", Kind::kEqual},        {"!=", Kind::kNotEqual}, {"<", Kind::kLess},
        {"<=", Kind::kLessOrEqual}, {">", Kind::kGreater},   {">=", Kind::kGreaterOrEqual}};
    for (const auto& [symbol, meaning] : kOperators) {
      if (!TakeSymbol(symbol)) continue;
      *kind = meaning;
      return true;
    }
    return false;
  }

  Status ParseWordOperator(std::string_view expected, Predicate* leaf) {
    if (TakeKeyword("BETWEEN")) {
      leaf->kind_ = Kind::kBetween;
      RETURN_IF_ERROR(ParseValue(leaf));
      RETURN_IF_ERROR(ExpectKeyword("AND"));
      return ParseValue(leaf);
    }
    if (TakeKeyword("IN")) {
      leaf->kind_ = Kind::kIn;
      RETURN_IF_ERROR(ExpectSymbol("("));
      if (TakeSymbol(")")) return {};
      do {
        RETURN_IF_ERROR(ParseValue(leaf));
      } while (TakeSymbol(","));
      return ExpectSymbol(")");
    }
    leaf->kind_ = Kind::kPrefix;
    if (TakeKeyword("PREFIX")) return ParseValue(leaf);
    if (TakeKeyword("LIKE")) return ParseLike(leaf);
    return SyntaxError(Peek(), expected);
  }

  // The only pattern is a prefix: one % at the end and no other wildcard.
  Status ParseLike(Predicate* leaf) {
    const Token pattern = Peek();
    if (pattern.kind == Token::Kind::kParameter) {
      return SyntaxError(pattern, "a pattern in quotes (PREFIX takes a parameter)");
    }
    RETURN_IF_ERROR(ParseValue(leaf));
    std::string& text = leaf->values_.back();
    if (text.find_first_of("%_") != text.size() - 1 || text.empty() || text.back() != '%') {
      return Status::InvalidArgument(
          "at position " + std::to_string(pattern.position) +
          ": expected a pattern with one wildcard, a % at its end, found another (PREFIX takes any "
          "text)");
    }
    text.pop_back();
    return {};
  }

  // Without a number it is the next one after the largest so far.
  Status ParseParameter(Predicate* leaf) {
    const Token token = Take();
    uint32_t number = parameters_ + 1;
    if (!token.text.empty()) {
      const char* const end = token.text.data() + token.text.size();
      if (std::from_chars(token.text.data(), end, number).ec != std::errc()) number = UINT32_MAX;
    }
    if (number == 0 || number > kParametersMax) {
      return SyntaxError(token, "a parameter from ?1 to ?" + std::to_string(kParametersMax));
    }
    parameters_ = std::max(parameters_, number);
    leaf->AddParameter(number);
    return {};
  }

  Status ParseValue(Predicate* leaf) {
    if (Peek().kind == Token::Kind::kParameter) return ParseParameter(leaf);
    RETURN_IF_ERROR(ParseLiteral(leaf));
    if (!leaf->parameters_.empty()) leaf->parameters_.push_back(0);
    return {};
  }

  Status ParseLiteral(Predicate* leaf) {
    if (Peek().kind == Token::Kind::kValue) {
      leaf->values_.push_back(Take().text);
    } else if (TakeKeyword("TRUE")) {
      leaf->values_.push_back("true");
    } else if (TakeKeyword("FALSE")) {
      leaf->values_.push_back("false");
    } else {
      return SyntaxError(Peek(), "a value");
    }
    return {};
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
  uint32_t parameters_ = 0;  // The largest number.
};

}  // namespace tandem::engine

namespace tandem {

Result<Predicate> Predicate::Parse(std::string_view text) {
  return engine::Guarded([text]() -> Result<Predicate> {
    ASSIGN_OR_RETURN(std::vector<engine::Token> tokens, engine::Tokenize(text));
    return engine::PredicateParser(std::move(tokens)).Run();
  });
}

}  // namespace tandem
