// Columns that a read names besides those of its predicate, bound to the table.
#pragma once

#include <string>
#include <string_view>

#include "engine/predicate/column_parser.h"
#include "format/registry/registered.h"
#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Reads a column, or functions of one or of the row key, and nothing after it. Errors:
/// kInvalidArgument with the position.
Result<ParsedColumn> ParseWholeColumn(std::string_view text);
/// The column, ascending. `_row` alone is of type kBytes and has no functions. Errors:
/// kInvalidArgument (functions that are none, or that the program did not register; a type that
/// they do not return), kNotFound (a family). `functions`: that it may call; null: none.
Result<format::IndexColumnRecord> BindColumn(const ParsedColumn& parsed,
                                             const format::TableRecord& table,
                                             const format::FunctionRegistry* functions);

}  // namespace tandem::engine
