// The predicate of a partial index.
#pragma once

#include <string>

#include "format/registry/registered.h"
#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Reads IndexOptions::where and binds it to the table, whose types it keeps from now on. Errors:
/// kInvalidArgument (its syntax, length or depth; a parameter; _row; a column of several values, or
/// of several columns; REGEXP), kNotFound (a family).
Result<format::IndexPredicate> BindIndexPredicate(const std::string& text,
                                                  const format::FunctionRegistry& functions,
                                                  const format::TableRecord& table);

}  // namespace tandem::engine
