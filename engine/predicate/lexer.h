// The tokens of a predicate's text, with their positions for error messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/function/names.h"
#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::engine {

using format::ColumnNameText;
using format::IsPlainName;
using format::IsReserved;
using format::KeyFieldOf;
using format::kRowKeyColumn;
using format::NameText;

struct Token {
  enum class Kind : uint8_t {
    kName,        ///< As written, perhaps a keyword.
    kQuotedName,  ///< "..." without its quotes.
    kValue,       ///< 'text', x'hex' or a number; `text` is the value.
    kParameter,   ///< ? or ?N; `text` is N, empty without.
    kSymbol,      ///< ( ) , : = != < <= > >=; `text` is the symbol, <> reads as !=.
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string text;
  size_t position = 1;  ///< Of its first byte, from 1.
};

/// The tokens of `text`, the last being kEnd. Errors: kInvalidArgument with the position.
Result<std::vector<Token>> Tokenize(std::string_view text);

/// Whether `token` is the keyword `word` (given in capitals), in any case.
bool IsKeyword(const Token& token, std::string_view word);

/// "at position N: expected `expected`, found ...".
Status SyntaxError(const Token& found, std::string_view expected);

}  // namespace tandem::engine
