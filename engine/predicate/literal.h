// Converts a literal of a predicate to a position in the order of a column's values.
#pragma once

#include <string>
#include <string_view>

#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A position in the order of a column's values, keyed as in ValueBound.
struct Literal {
  /// Of the value itself, or, when the type has no such value, the first key after it.
  std::string key;
  bool is_value = true;
};

/// Reads `text` as the column's type. Numbers out of the type's range, values too long for an index
/// and text that is not UTF-8 have a position in the order, but no row can have such a value.
/// Errors: kInvalidArgument (not a number, time or boolean); the message names column and type.
Result<Literal> ReadLiteral(const format::IndexColumnRecord& column, std::string_view text);

}  // namespace tandem::engine
