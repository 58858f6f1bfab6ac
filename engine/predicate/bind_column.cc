// See bind_column.h.
#include "engine/predicate/bind_column.h"

#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "format/functions.h"

namespace tandem::engine {
Result<ParsedColumn> ParseWholeColumn(std::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Token> list, Tokenize(text));
  TokenReader tokens(std::move(list));
  ASSIGN_OR_RETURN(ParsedColumn parsed, ParseColumn("a column", &tokens));
  if (tokens.Peek().kind != Token::Kind::kEnd) return SyntaxError(tokens.Peek(), "the end");
  return parsed;
}

Result<format::IndexColumnRecord> BindColumn(const ParsedColumn& parsed,
                                             const format::TableRecord& table,
                                             const format::FunctionRegistry* functions) {
  format::IndexColumnRecord column;
  column.family = format::kRowKeyFamily;
  if (parsed.is_row_key && !parsed.qualifier.empty()) {
    return Status::InvalidArgument(KeyFieldText(parsed.qualifier) +
                                   ": fields of the row key are for conditions alone");
  }
  if (!parsed.is_row_key) {
    const format::FamilyRecord* const family =
        parsed.family.empty() ? &table.first_family() : table.FindFamily(parsed.family);
    if (family == nullptr) {
      return Status::NotFound("table '" + table.name + "' has no family '" + parsed.family + "'");
    }
    column.family = family->id;
    column.qualifier = parsed.qualifier;
  }
  column.functions = parsed.functions;
  format::PinFunctions(column.functions);
  RETURN_IF_ERROR(
      format::PinCalls(functions == nullptr ? format::kNoFunctions : *functions, column.functions));
  RETURN_IF_ERROR(format::JoinColumns(table, &column));
  if (!column.functions.empty()) {
    ASSIGN_OR_RETURN(column.type, format::TypeOfFunctions(column.functions, parsed.type));
  } else if (!parsed.is_row_key) {
    column.type = parsed.type.value_or(table.TypeOf(column.family, column.qualifier));
  }
  return column;
}

}  // namespace tandem::engine
