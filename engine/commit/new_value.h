// The values that increments and appends make of stored ones, and what a value must be for the
// indexes of its column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/cell/cell.h"
#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::engine {

/// "row 'r', column 'd:q'".
std::string Where(const format::TableRecord& table, std::string_view row,
                  const format::Cell& column);

/// Refuses a value that does not fit an index of its column. Errors: kInvalidArgument (row, column
/// and index are named).
Status CheckIndexes(const format::TableRecord& table, std::string_view row,
                    const format::Cell& column, std::string_view value);
/// An increment or append of a column.
struct ColumnUpdate {
  std::string_view row;
  const format::Cell& change;  ///< Its value is what is added (EncodeInt64Be), or appended.
  bool adds = false;
};
/// What it makes of the column.
struct NewValue {
  /// Integers as the column keeps them: eight bytes, big-endian, where its type says so, else
  /// decimal text.
  std::string stored;
  std::string returned;  ///< An integer as text.
};
/// `stored` is the column's newest visible version. nullptr: it counts as 0, or as an empty value.
/// Errors: kInvalidArgument (an increment of what is no integer, or past int64; a value above
/// kValueBytesMax; those of CheckIndexes).
Result<NewValue> MakeNewValue(const format::TableRecord& table, const ColumnUpdate& update,
                              const format::Cell* stored);

}  // namespace tandem::engine
