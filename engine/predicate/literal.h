// What a value that a user wrote in a predicate means among the values of a column.
#pragma once

#include <string>
#include <string_view>

#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A place in the order of a column's values, as ValueBound keys it.
struct Literal {
  /// Of the value itself, or, when the type has no such value, the first key after it.
  std::string key;
  bool is_value = true;
};

/// Reads `text` as the column's type. Numbers out of the type's range, values too long for an index
/// and text that is no UTF-8 have their place in the order, and are no value that a row can have.
/// Errors: kInvalidArgument (no number, time or truth value); the message names column and type.
Result<Literal> ReadLiteral(const format::IndexColumnRecord& column, std::string_view text);

}  // namespace tandem::engine
