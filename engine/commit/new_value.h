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
/// The same, and a value above kValueBytesMax.
Status CheckNewValue(const format::TableRecord& table, std::string_view row,
                     const format::Cell& column, std::string_view value);

/// The stored integer plus the one that `change.value` holds (EncodeInt64Be); an absent column
/// (nullptr) counts as 0. Errors: kInvalidArgument (not an integer; the sum is past int64).
Result<int64_t> AddToStored(const format::TableRecord& table, std::string_view row,
                            const format::Cell& change, const format::Cell* stored);
/// As the column keeps integers: eight bytes, big-endian, where its index has such a type, else
/// decimal text.
std::string EncodeInteger(const format::TableRecord& table, const format::Cell& column,
                          int64_t value);

}  // namespace tandem::engine
