// Predicate::Parse: recursive descent over the tokens, one function per level of the grammar:
//
//   or          and { OR and }
//   and         not { AND not }
//   not         { NOT } primary
//   primary     ( or ) | TRUE | FALSE | column condition | tuple
//   tuple       ( column {, column} ) ( operator values | [NOT] BETWEEN values AND values )
//   values      ( value {, value} ), as many as there are columns
//   condition   operator value | IS [NOT] NULL
//               | [NOT] ( BETWEEN value AND value | IN ( [ value {, value} ] ) | PREFIX value
//                         | CONTAINS value | REGEXP value | LIKE 'text%' | LIKE '%text%' )
//   column      in column_parser.h; _row.name, a field of the row key
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
#include "engine/predicate/column_parser.h"
#include "engine/predicate/lexer.h"
#include "engine/predicate/regexp.h"
#include "tandem/limits.h"
#include "tandem/predicate.h"

namespace tandem::engine {

class PredicateParser {
 public:
  explicit PredicateParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<Predicate> Run() {
    ASSIGN_OR_RETURN(Predicate predicate, ParseOr());
    if (tokens_.Peek().kind != Token::Kind::kEnd)
      return SyntaxError(tokens_.Peek(), "AND, OR or the end");
    if (predicate.kind() == Kind::kInvalid) return TooDeep();
    return predicate;
  }

 private:
  using Kind = Predicate::Kind;

  Result<Predicate> ParseOr() {
    std::vector<Predicate> children;
    do {
      ASSIGN_OR_RETURN(Predicate child, ParseAnd());
      children.push_back(std::move(child));
    } while (tokens_.TakeKeyword("OR"));
    return Predicate::Or(std::move(children));
  }

  Result<Predicate> ParseAnd() {
    std::vector<Predicate> children;
    do {
      ASSIGN_OR_RETURN(Predicate child, ParseNot());
      children.push_back(std::move(child));
    } while (tokens_.TakeKeyword("AND"));
    return Predicate::And(std::move(children));
  }

  Result<Predicate> ParseNot() {
    // One call is for the condition below the deepest NOT.
    if (depth_ > kPredicateDepthMax) return TooDeep();
    ++depth_;
    Result<Predicate> result = tokens_.TakeKeyword("NOT") ? Negated(ParseNot()) : ParsePrimary();
    --depth_;
    return result;
  }

  Status TooDeep() const {
    return SyntaxError(tokens_.Peek(),
                       "at most " + std::to_string(kPredicateDepthMax) + " levels of nesting");
  }

  static Result<Predicate> Negated(Result<Predicate> child) {
    if (!child.has_value()) return child;
    return Predicate::Not(*std::move(child));
  }

  Result<Predicate> ParsePrimary() {
    if (tokens_.TakeSymbol("(")) {
      if (tokens_.IsInList()) return ParseTuple();
      ASSIGN_OR_RETURN(Predicate group, ParseOr());
      RETURN_IF_ERROR(tokens_.ExpectSymbol(")"));
      return group;
    }
    if (tokens_.TakeKeyword("TRUE")) return Predicate();
    if (tokens_.TakeKeyword("FALSE")) return Predicate::Not({});
    Predicate leaf;
    RETURN_IF_ERROR(ParseLeafColumn(&leaf));
    return ParseCondition(std::move(leaf));
  }

  Status ParseLeafColumn(Predicate* leaf) {
    ASSIGN_OR_RETURN(ParsedColumn column, ParseColumn("a condition", &tokens_));
    leaf->family_ = std::move(column.family);
    leaf->qualifier_ = std::move(column.qualifier);
    leaf->is_row_key_ = column.is_row_key;
    leaf->functions_ = std::move(column.functions);
    leaf->type_ = column.type;
    return {};
  }

  // After the opening parenthesis.
  Result<Predicate> ParseTuple() {
    std::vector<Predicate> columns;
    do {
      if (columns.size() == kTupleColumnsMax) {
        return SyntaxError(tokens_.Peek(),
                           "at most " + std::to_string(kTupleColumnsMax) + " columns in a tuple");
      }
      RETURN_IF_ERROR(ParseLeafColumn(&columns.emplace_back()));
    } while (tokens_.TakeSymbol(","));
    RETURN_IF_ERROR(tokens_.ExpectSymbol(")"));
    const bool is_negated = tokens_.TakeKeyword("NOT");
    Kind kind = Kind::kBetween;
    if (!tokens_.TakeKeyword("BETWEEN")) {
      const Token found = tokens_.Peek();
      if (is_negated) return SyntaxError(found, "BETWEEN");
      if (!TakeOperator(&kind) || kind == Kind::kNotEqual) {
        return SyntaxError(found, "=, <, <=, >, >= or BETWEEN (of tuples)");
      }
    }
    RETURN_IF_ERROR(ParseTupleValues(&columns));
    if (kind == Kind::kBetween) {
      RETURN_IF_ERROR(tokens_.ExpectKeyword("AND"));
      RETURN_IF_ERROR(ParseTupleValues(&columns));
    }
    for (Predicate& column : columns) column.kind_ = kind;
    Predicate tuple = Predicate::Tuple(std::move(columns));
    return is_negated ? Predicate::Not(std::move(tuple)) : tuple;
  }

  // Adds a value to each of the columns.
  Status ParseTupleValues(std::vector<Predicate>* columns) {
    RETURN_IF_ERROR(tokens_.ExpectSymbol("("));
    for (size_t i = 0; i < columns->size(); ++i) {
      if (i > 0 && !tokens_.TakeSymbol(",")) {
        return SyntaxError(tokens_.Peek(),
                           ", and " + std::to_string(columns->size()) + " values in all");
      }
      RETURN_IF_ERROR(ParseValue(&(*columns)[i]));
    }
    return tokens_.ExpectSymbol(")");
  }

  Result<Predicate> ParseCondition(Predicate leaf) {
    if (tokens_.TakeKeyword("IS")) {
      leaf.kind_ = tokens_.TakeKeyword("NOT") ? Kind::kIsNotNull : Kind::kIsNull;
      RETURN_IF_ERROR(tokens_.ExpectKeyword("NULL"));
      return leaf;
    }
    if (tokens_.TakeKeyword("NOT")) {
      RETURN_IF_ERROR(ParseWordOperator("BETWEEN, IN, PREFIX, CONTAINS, REGEXP or LIKE", &leaf));
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
      if (!tokens_.TakeSymbol(symbol)) continue;
      *kind = meaning;
      return true;
    }
    return false;
  }

  Status ParseWordOperator(std::string_view expected, Predicate* leaf) {
    if (tokens_.TakeKeyword("BETWEEN")) {
      leaf->kind_ = Kind::kBetween;
      RETURN_IF_ERROR(ParseValue(leaf));
      RETURN_IF_ERROR(tokens_.ExpectKeyword("AND"));
      return ParseValue(leaf);
    }
    if (tokens_.TakeKeyword("IN")) {
      leaf->kind_ = Kind::kIn;
      RETURN_IF_ERROR(tokens_.ExpectSymbol("("));
      if (tokens_.TakeSymbol(")")) return {};
      do {
        RETURN_IF_ERROR(ParseValue(leaf));
      } while (tokens_.TakeSymbol(","));
      return tokens_.ExpectSymbol(")");
    }
    leaf->kind_ = Kind::kContains;
    if (tokens_.TakeKeyword("CONTAINS")) return ParseValue(leaf);
    leaf->kind_ = Kind::kPrefix;
    if (tokens_.TakeKeyword("PREFIX")) return ParseValue(leaf);
    if (tokens_.TakeKeyword("REGEXP")) return ParseRegexp(leaf);
    if (tokens_.TakeKeyword("LIKE")) return ParseLike(leaf);
    return SyntaxError(tokens_.Peek(), expected);
  }

  Status ParseRegexp(Predicate* leaf) {
    leaf->kind_ = Kind::kRegexp;
    const Token pattern = tokens_.Peek();
    RETURN_IF_ERROR(ParseValue(leaf));
    if (pattern.kind == Token::Kind::kParameter) return {};
    const Status status = CheckRegexp(leaf->values_.back());
    if (status.ok()) return {};
    return Status::InvalidArgument("at position " + std::to_string(pattern.position) + ": " +
                                   std::string(status.message()));
  }

  // The only patterns are a prefix and a part: a % at the end or at both, and no other wildcard.
  Status ParseLike(Predicate* leaf) {
    const Token pattern = tokens_.Peek();
    if (pattern.kind == Token::Kind::kParameter) {
      return SyntaxError(pattern, "a pattern in quotes (PREFIX and CONTAINS take a parameter)");
    }
    RETURN_IF_ERROR(ParseValue(leaf));
    std::string& text = leaf->values_.back();
    const bool is_part = text.size() > 1 && text.front() == '%';
    if (is_part) text.erase(0, 1);
    if (text.find_first_of("%_") != text.size() - 1 || text.empty() || text.back() != '%') {
      return Status::InvalidArgument(
          "at position " + std::to_string(pattern.position) +
          ": expected a pattern with a % at its end, or one at each end, and no other wildcard, "
          "found another (PREFIX and CONTAINS take any text)");
    }
    if (is_part) leaf->kind_ = Kind::kContains;
    text.pop_back();
    return {};
  }

  // Without a number it is the next one after the largest so far.
  Status ParseParameter(Predicate* leaf) {
    const Token token = tokens_.Take();
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
    if (tokens_.Peek().kind == Token::Kind::kParameter) return ParseParameter(leaf);
    RETURN_IF_ERROR(ParseLiteral(leaf));
    if (!leaf->parameters_.empty()) leaf->parameters_.push_back(0);
    return {};
  }

  Status ParseLiteral(Predicate* leaf) {
    if (tokens_.Peek().kind == Token::Kind::kValue) {
      leaf->values_.push_back(tokens_.Take().text);
    } else if (tokens_.TakeKeyword("TRUE")) {
      leaf->values_.push_back("true");
    } else if (tokens_.TakeKeyword("FALSE")) {
      leaf->values_.push_back("false");
    } else {
      return SyntaxError(tokens_.Peek(), "a value");
    }
    return {};
  }

  TokenReader tokens_;
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
