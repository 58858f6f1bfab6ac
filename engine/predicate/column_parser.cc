// Functions nest at most kFunctionsMax deep, so that no text can exhaust the stack.
#include "engine/predicate/column_parser.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "format/function/concat.h"
#include "format/functions.h"
#include "format/value_text.h"
#include "tandem/limits.h"
#include "tandem/predicate.h"

namespace tandem::engine {
namespace {

// In any case; nullopt: no function has that name.
std::optional<FunctionKind> FunctionNamed(std::string_view name) {
  const auto is_it = [name](std::string_view known) {
    return std::ranges::equal(name, known, {},
                              [](char c) { return std::tolower(static_cast<unsigned char>(c)); });
  };
  for (int number = 1; number <= format::kFunctionKinds; ++number) {
    const auto kind = static_cast<FunctionKind>(number);
    if (is_it(format::FunctionName(kind))) return kind;
  }
  return std::nullopt;
}

class ColumnParser {
 public:
  explicit ColumnParser(TokenReader* tokens) : tokens_(*tokens) {}

  Result<ParsedColumn> Run(std::string_view expected) {
    RETURN_IF_ERROR(ParseOperand(expected));
    const bool is_bare_key = column_.is_row_key && column_.functions.empty();
    if (is_bare_key || !tokens_.TakeSymbol("::")) return std::move(column_);
    const Token& token = tokens_.Peek();
    if (token.kind == Token::Kind::kName) column_.type = ColumnTypeNamed(token.text);
    if (!column_.type.has_value()) return SyntaxError(token, "a type (bytes, text, int64, ...)");
    tokens_.Take();
    return std::move(column_);
  }

 private:
  Status ParseOperand(std::string_view expected) {
    const bool is_name =
        tokens_.Peek().kind == Token::Kind::kName && !IsReserved(tokens_.Peek().text);
    if (is_name && tokens_.IsBeforeSymbol("(")) return ParseFunction();
    return ParseName(expected);
  }

  Status ParseName(std::string_view expected) {
    const Token first = tokens_.Peek();
    ASSIGN_OR_RETURN(column_.qualifier, tokens_.ExpectName(expected));
    if (tokens_.TakeSymbol(":")) {
      column_.family = std::move(column_.qualifier);
      ASSIGN_OR_RETURN(column_.qualifier, tokens_.ExpectName("a column's name"));
      return {};
    }
    if (first.kind != Token::Kind::kName) return {};
    const std::string_view field = KeyFieldOf(first.text);
    column_.is_row_key = first.text == kRowKeyColumn || !field.empty();
    if (column_.is_row_key) column_.qualifier = field;
    if (field.empty() || depth_ == 0) return {};
    return SyntaxError(first, "a column or _row: functions take no field of the row key");
  }

  Status ParseFunction() {
    const Token name = tokens_.Take();
    const std::optional<FunctionKind> kind = FunctionNamed(name.text);
    if (!kind.has_value()) return SyntaxError(name, "a function: " + FunctionNames());
    if (++depth_ > kFunctionsMax) {
      return SyntaxError(name, "at most " + std::to_string(kFunctionsMax) + " functions");
    }
    Function function{.kind = *kind};
    RETURN_IF_ERROR(tokens_.ExpectSymbol("("));
    if (*kind == FunctionKind::kConcat) {
      RETURN_IF_ERROR(ParseParts(name, &function));
      return AddFunction(name, std::move(function));
    }
    if (*kind == FunctionKind::kDateTrunc || *kind == FunctionKind::kCall) {
      const bool is_call = *kind == FunctionKind::kCall;
      ASSIGN_OR_RETURN(function.text,
                       ExpectText(is_call ? "a function's name in quotes" : "a unit in quotes"));
      RETURN_IF_ERROR(tokens_.ExpectSymbol(","));
    }
    const Token operand = tokens_.Peek();
    RETURN_IF_ERROR(ParseOperand("a column"));
    if (*kind == FunctionKind::kTimestampOf && column_.is_row_key) {
      return SyntaxError(name, "a function of the row key, which has no timestamp");
    }
    if (column_.functions.empty() && TakeFamily({function})) RETURN_IF_ERROR(TakeName(operand));
    RETURN_IF_ERROR(ParseArguments(&function));
    return AddFunction(name, std::move(function));
  }

  Status AddFunction(const Token& name, Function function) {
    RETURN_IF_ERROR(tokens_.ExpectSymbol(")"));
    column_.functions.push_back(std::move(function));
    const Status status = format::CheckFunctions(column_.functions);
    if (status.ok()) return status;
    return Status::InvalidArgument("at position " + std::to_string(name.position) + ": " +
                                   std::string(status.message()));
  }

  // Those of concat. The column is what has functions, else the first one.
  Status ParseParts(const Token& name, Function* function) {
    std::vector<std::optional<ParsedColumn>> operands;  // nullopt: of a text.
    do {
      if (function->parts.size() == kConcatPartsMax) {
        return SyntaxError(tokens_.Peek(), "at most " + std::to_string(kConcatPartsMax) + " parts");
      }
      function->parts.emplace_back();
      operands.emplace_back();
      if (tokens_.Peek().kind == Token::Kind::kValue) {
        function->parts.back() = ConcatPart::Text(tokens_.Take().text);
        continue;
      }
      ColumnParser operand(&tokens_);
      operand.depth_ = depth_;
      RETURN_IF_ERROR(operand.ParseOperand("a column or a text in quotes"));
      operands.back() = std::move(operand.column_);
    } while (tokens_.TakeSymbol(","));
    const auto is_column = [](const auto& operand) { return operand.has_value(); };
    const auto is_made = [](const auto& operand) {
      return operand.has_value() && (operand->is_row_key || !operand->functions.empty());
    };
    auto own = std::ranges::find_if(operands, is_made);
    if (own == operands.end()) own = std::ranges::find_if(operands, is_column);
    if (own == operands.end()) return SyntaxError(name, "a column among the parts of concat");
    column_ = **own;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i].has_value()) continue;
      ParsedColumn& operand = *operands[i];
      if (operand == column_) continue;
      if (is_made(operands[i])) {
        return SyntaxError(name, "a concat with functions of one column alone, or around it");
      }
      function->parts[i] =
          ConcatPart::Column(std::move(operand.family), std::move(operand.qualifier));
    }
    if (!column_.is_row_key || !format::JoinsColumns(*function)) return {};
    return SyntaxError(name, "a concat of _row and texts, without columns");
  }

  // The operand is a family, not a column.
  Status TakeName(const Token& operand) {
    const bool is_name = column_.family.empty() && !column_.is_row_key;
    if (!is_name) return SyntaxError(operand, "the name of a family alone");
    column_.family = std::exchange(column_.qualifier, {});
    return {};
  }

  // Those after the column.
  Status ParseArguments(Function* function) {
    switch (function->kind) {
      case FunctionKind::kSubstring:
      case FunctionKind::kSubstringBytes:
        RETURN_IF_ERROR(ParseNumber(&function->first));
        return tokens_.Peek().text == "," ? ParseNumber(&function->count) : Status();
      case FunctionKind::kBucket:
        return ParseNumber(&function->first);
      case FunctionKind::kJson:
      case FunctionKind::kJsonEach:
        return ParseText("a path in quotes", function);
      case FunctionKind::kSplit:
        return ParseText("a separator in quotes", function);
      case FunctionKind::kSplitPart:
        RETURN_IF_ERROR(ParseText("a separator in quotes", function));
        return ParseNumber(&function->first);
      default:
        return {};
    }
  }

  Status ParseText(std::string_view expected, Function* function) {
    RETURN_IF_ERROR(tokens_.ExpectSymbol(","));
    ASSIGN_OR_RETURN(function->text, ExpectText(expected));
    return {};
  }

  Result<std::string> ExpectText(std::string_view expected) {
    if (tokens_.Peek().kind != Token::Kind::kValue) return SyntaxError(tokens_.Peek(), expected);
    return tokens_.Take().text;
  }

  Status ParseNumber(uint64_t* number) {
    RETURN_IF_ERROR(tokens_.ExpectSymbol(","));
    const Token& token = tokens_.Peek();
    std::optional<uint64_t> parsed;
    if (token.kind == Token::Kind::kValue) parsed = format::ParseUint64(token.text);
    if (!parsed.has_value() || *parsed == 0) return SyntaxError(token, "a number from 1");
    *number = *parsed;
    tokens_.Take();
    return {};
  }

  static std::string FunctionNames() {
    std::string names;
    for (int number = 1; number <= format::kFunctionKinds; ++number) {
      if (number > 1) names += ", ";
      names += format::FunctionName(static_cast<FunctionKind>(number));
    }
    return names;
  }

  TokenReader& tokens_;
  ParsedColumn column_;
  size_t depth_ = 0;
};

}  // namespace

bool TokenReader::IsBeforeSymbol(std::string_view symbol) const {
  if (at_ + 1 >= tokens_.size()) return false;
  const Token& next = tokens_[at_ + 1];
  return next.kind == Token::Kind::kSymbol && next.text == symbol;
}

bool TokenReader::IsInList() const {
  size_t open = 1;
  for (size_t at = at_; at < tokens_.size(); ++at) {
    if (tokens_[at].kind != Token::Kind::kSymbol) continue;
    const std::string& symbol = tokens_[at].text;
    if (symbol == "(") ++open;
    if (symbol == ")" && --open == 0) return false;
    if (symbol == "," && open == 1) return true;
  }
  return false;
}

bool TokenReader::TakeKeyword(std::string_view word) {
  if (!IsKeyword(Peek(), word)) return false;
  Take();
  return true;
}

bool TokenReader::TakeSymbol(std::string_view symbol) {
  if (Peek().kind != Token::Kind::kSymbol || Peek().text != symbol) return false;
  Take();
  return true;
}

Status TokenReader::ExpectKeyword(std::string_view word) {
  return TakeKeyword(word) ? Status() : SyntaxError(Peek(), word);
}

Status TokenReader::ExpectSymbol(std::string_view symbol) {
  if (TakeSymbol(symbol)) return {};
  return SyntaxError(Peek(), "'" + std::string(symbol) + "'");
}

Result<std::string> TokenReader::ExpectName(std::string_view expected) {
  const bool is_plain = Peek().kind == Token::Kind::kName && !IsReserved(Peek().text);
  if (!is_plain && Peek().kind != Token::Kind::kQuotedName) return SyntaxError(Peek(), expected);
  return Take().text;
}

bool TakeFamily(const Functions& functions) {
  return !functions.empty() && (functions.front().kind == FunctionKind::kMapKeys ||
                                functions.front().kind == FunctionKind::kMapValues);
}

std::string KeyFieldText(std::string_view field) {
  return std::string(kRowKeyColumn).append(".").append(field);
}

std::string ColumnText(const ParsedColumn& column) {
  if (column.is_row_key && !column.qualifier.empty()) return KeyFieldText(column.qualifier);
  const std::string name = column.is_row_key ? std::string(kRowKeyColumn)
                           : TakeFamily(column.functions)
                               ? NameText(column.family)
                               : ColumnNameText(column.family, column.qualifier);
  return TextOf(column.functions, name);
}

Result<ParsedColumn> ParseColumn(std::string_view expected, TokenReader* tokens) {
  return ColumnParser(tokens).Run(expected);
}

Result<IndexColumn> ParseIndexColumn(TokenReader* tokens) {
  const Token first = tokens->Peek();
  ASSIGN_OR_RETURN(ParsedColumn parsed, ParseColumn("a column", tokens));
  if (parsed.is_row_key && parsed.functions.empty()) {
    return SyntaxError(first, parsed.qualifier.empty()
                                  ? "a column: rows are in the order of their keys"
                                  : "a column: fields of the row key are for conditions alone");
  }
  const bool descending = tokens->TakeKeyword("DESC");
  if (!descending) tokens->TakeKeyword("ASC");
  return IndexColumn{.family = std::move(parsed.family),
                     .qualifier = std::move(parsed.qualifier),
                     .type = parsed.type.value_or(ColumnType::kBytes),
                     .descending = descending,
                     .functions = std::move(parsed.functions),
                     .is_row_key = parsed.is_row_key};
}

namespace {

Result<std::vector<IndexColumn>> ParseIndexColumns(TokenReader* tokens) {
  std::vector<IndexColumn> columns;
  do {
    ASSIGN_OR_RETURN(columns.emplace_back(), ParseIndexColumn(tokens));
  } while (tokens->TakeSymbol(","));
  return columns;
}

Result<ColumnName> ParseIncludedColumn(TokenReader* tokens) {
  const Token first = tokens->Peek();
  ASSIGN_OR_RETURN(ParsedColumn parsed, ParseColumn("a column", tokens));
  const bool is_plain = !parsed.is_row_key && parsed.functions.empty() && !parsed.type.has_value();
  if (!is_plain) return SyntaxError(first, "a column by its name alone");
  return ColumnName{.family = std::move(parsed.family), .qualifier = std::move(parsed.qualifier)};
}

// What follows the word INCLUDE.
Result<std::vector<ColumnName>> ParseIncluded(TokenReader* tokens) {
  std::vector<ColumnName> columns;
  RETURN_IF_ERROR(tokens->ExpectSymbol("("));
  do {
    ASSIGN_OR_RETURN(columns.emplace_back(), ParseIncludedColumn(tokens));
  } while (tokens->TakeSymbol(","));
  RETURN_IF_ERROR(tokens->ExpectSymbol(")"));
  return columns;
}

}  // namespace

}  // namespace tandem::engine

namespace tandem {

Result<IndexColumn> IndexColumn::Parse(std::string_view text) {
  return engine::Guarded([text]() -> Result<IndexColumn> {
    ASSIGN_OR_RETURN(std::vector<engine::Token> list, engine::Tokenize(text));
    engine::TokenReader tokens(std::move(list));
    ASSIGN_OR_RETURN(IndexColumn column, engine::ParseIndexColumn(&tokens));
    if (tokens.Peek().kind == engine::Token::Kind::kEnd) return column;
    return engine::SyntaxError(tokens.Peek(), "ASC, DESC or the end");
  });
}

Result<std::vector<IndexColumn>> IndexColumn::ParseList(std::string_view text) {
  return engine::Guarded([text]() -> Result<std::vector<IndexColumn>> {
    ASSIGN_OR_RETURN(std::vector<engine::Token> list, engine::Tokenize(text));
    engine::TokenReader tokens(std::move(list));
    ASSIGN_OR_RETURN(std::vector<IndexColumn> columns, engine::ParseIndexColumns(&tokens));
    if (tokens.Peek().kind == engine::Token::Kind::kEnd) return columns;
    return engine::SyntaxError(tokens.Peek(), "ASC, DESC, ',' or the end");
  });
}

Result<IndexOptions> IndexOptions::Parse(std::string_view text) {
  return engine::Guarded([text]() -> Result<IndexOptions> {
    ASSIGN_OR_RETURN(std::vector<engine::Token> list, engine::Tokenize(text));
    engine::TokenReader tokens(std::move(list));
    IndexOptions index;
    ASSIGN_OR_RETURN(index.columns, engine::ParseIndexColumns(&tokens));
    if (tokens.TakeKeyword("INCLUDE")) {
      ASSIGN_OR_RETURN(index.include, engine::ParseIncluded(&tokens));
    }
    if (tokens.TakeKeyword("WHERE")) {
      if (tokens.Peek().kind == engine::Token::Kind::kEnd) {
        return engine::SyntaxError(tokens.Peek(), "a predicate");
      }
      const size_t begin = tokens.Peek().position - 1;
      // Blanks keep the positions of errors.
      RETURN_IF_ERROR(
          Predicate::Parse(std::string(begin, ' ').append(text.substr(begin))).status());
      index.where = text.substr(begin);
      return index;
    }
    if (tokens.Peek().kind == engine::Token::Kind::kEnd) return index;
    return engine::SyntaxError(tokens.Peek(), index.include.empty()
                                                  ? "ASC, DESC, ',', INCLUDE, WHERE or the end"
                                                  : "WHERE or the end");
  });
}

std::string IndexOptions::ToString() const {
  std::string text;
  for (const IndexColumn& column : columns) {
    if (!text.empty()) text += ", ";
    text += column.ToString();
  }
  for (size_t i = 0; i < include.size(); ++i) {
    text += i == 0 ? " INCLUDE (" : ", ";
    text += engine::ColumnNameText(include[i].family, include[i].qualifier);
  }
  if (!include.empty()) text += ')';
  return where.empty() ? text : text + " WHERE " + where;
}

std::string IndexColumn::ToString() const {
  std::string text = engine::ColumnText(
      {.family = family, .qualifier = qualifier, .is_row_key = is_row_key, .functions = functions});
  if (type != ColumnType::kBytes) text.append("::").append(ColumnTypeName(type));
  return descending ? text + " DESC" : text;
}

}  // namespace tandem
