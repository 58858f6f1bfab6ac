// Columns in text, of predicates and of declarations of indexes:
//
//   index       column [ ASC | DESC ], ... [ INCLUDE ( name [ : name ], ... ) ]
//   column      operand [ :: type ]; _row; in conditions also _row.name, a field of the row key
//   operand     name [ : name ], each perhaps "quoted", | _row
//               | map_keys ( name ) | map_values ( name )
//               | function ( operand ) | substr ( operand , number [ , number ] )
//               | substr_bytes ( operand , number [ , number ] )
//               | split_part ( operand , 'separator' , number )
//               | bucket ( operand , number ) | json ( operand , 'path' )
//               | date_trunc ( 'unit' , operand )
//               | concat ( part , part , ... )
//   part        'text' | operand: the first name of a column, or what functions make of one, and
//               then plain names of columns or the same again
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/predicate/lexer.h"
#include "tandem/function.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Takes tokens one after the other; the last one, kEnd, stays.
class TokenReader {
 public:
  explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& Peek() const { return tokens_[at_]; }
  bool IsBeforeSymbol(std::string_view symbol) const;
  /// Whether, after an opening parenthesis, a comma comes before its closing one, not in others.
  bool IsInList() const;
  Token Take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  /// Takes the next token if it is the one.
  bool TakeKeyword(std::string_view word);
  bool TakeSymbol(std::string_view symbol);
  /// Errors: kInvalidArgument with the position.
  Status ExpectKeyword(std::string_view word);
  Status ExpectSymbol(std::string_view symbol);
  /// A name that is no keyword, or a quoted one.
  Result<std::string> ExpectName(std::string_view expected);

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

/// Whether they are applied to all columns of a family, which has no qualifier then.
bool TakeFamily(const Functions& functions);

struct ParsedColumn {
  std::string family, qualifier;  ///< With is_row_key, `qualifier` is a field of it; empty: none.
  bool is_row_key = false;
  Functions functions = {};
  std::optional<ColumnType> type = {};
  bool operator==(const ParsedColumn&) const = default;
};

/// `expected` says in an error what should begin here. Errors: kInvalidArgument with the position.
Result<ParsedColumn> ParseColumn(std::string_view expected, TokenReader* tokens);
/// A column of an index, with its direction. Errors: the same.
Result<IndexColumn> ParseIndexColumn(TokenReader* tokens);
/// The field as a predicate names it: "_row.user".
std::string KeyFieldText(std::string_view field);
/// What ParseColumn reads, without a type.
std::string ColumnText(const ParsedColumn& column);

}  // namespace tandem::engine
